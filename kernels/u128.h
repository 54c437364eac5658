/*
 * Products of 64-bit numbers and sums over two and three limbs, for compilers
 * that know 128-bit integers.
 */
#ifndef BC_U128_H
#define BC_U128_H

#include <stdint.h>

struct u128 {
    uint64_t lo, hi;
};

static inline struct u128 mul64(uint64_t a, uint64_t b)
{
    unsigned __int128 x = (unsigned __int128)a * b;
    struct u128 r = {(uint64_t)x, (uint64_t)(x >> 64)};

    return r;
}

/*
 * Sums over two and three limbs. On x86-64 by hand: gcc 12 takes 128-bit sums
 * apart and through the stack, which costs 18.4 cycles a block instead of 13
 * on Zen 5.
 */
#if defined(__x86_64__)

static inline void add128(struct u128 *a, uint64_t lo, uint64_t hi)
{
    __asm__("add %2, %0\n\tadc %3, %1"
            : "+&r"(a->lo), "+r"(a->hi)
            : "r"(lo), "re"(hi)
            : "cc");
}

static inline void add192(uint64_t *h0, uint64_t *h1, uint64_t *h2, uint64_t x0,
                          uint64_t x1, uint64_t x2)
{
    __asm__("add %3, %0\n\tadc %4, %1\n\tadc %5, %2"
            : "+&r"(*h0), "+&r"(*h1), "+r"(*h2)
            : "r"(x0), "re"(x1), "re"(x2)
            : "cc");
}

#else

static inline void add128(struct u128 *a, uint64_t lo, uint64_t hi)
{
    a->lo += lo;
    a->hi += hi + (a->lo < lo);
}

static inline void add192(uint64_t *h0, uint64_t *h1, uint64_t *h2, uint64_t x0,
                          uint64_t x1, uint64_t x2)
{
    struct u128 upper = {*h1, *h2};

    *h0 += x0;
    add128(&upper, x1, x2);
    add128(&upper, *h0 < x0, 0);
    *h1 = upper.lo;
    *h2 = upper.hi;
}

#endif

#endif
