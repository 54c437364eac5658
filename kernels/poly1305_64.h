/*
 * Poly1305 over whole blocks in limbs of 64 bits, one block after the other:
 * the portable level where the compiler multiplies 64 by 64 bits to 128, and
 * what the vector levels do with short messages.
 */
#ifndef BC_POLY1305_64_H
#define BC_POLY1305_64_H

#include "internal.h"

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

/*
 * r is clamped: r0, r1 < 2^60, and the low two bits of r1 are zero. A product
 * at weight 2^128 is x 2^128 = (x / 4) 2^130 = (x / 4) 5, and with x = h1 r1
 * the division can be done beforehand: s1 = 5 (r1 / 4) = r1 + r1 / 4 < 2^61.
 * What a round does to the stored form:
 *
 *   before: h0, h1 < 2^64, h2 <= 4; adding the block makes h2 <= 6
 *   d0 = h0 r0 + h1 s1          < 2^124 + 2^125
 *   d1 = h0 r1 + h1 r0 + h2 s1  < 2^124 + 2^124 + 2^64, plus the carry of d0
 *   h2 = h2 r0 + carry of d1    < 2^63 + 2^62
 *
 * Then the part of h2 above 2^130 folds back five times: it is at most 2^61.2,
 * so five times it stays below 2^64, and the carries leave h2 <= 4 again.
 */
static inline void poly1305_64(struct bc_poly1305 *p, const uint8_t *in,
                               size_t nblocks, uint32_t hibit)
{
    uint64_t r0 = p->r[0], r1 = p->r[1], s1 = r1 + (r1 >> 2);
    uint64_t h0 = p->h[0], h1 = p->h[1], h2 = p->h[2];
    struct u128 d0, d1, x;

    /* Or else gcc 12 loads and stores h0 and h1 as one vector, and a load that
     * spans two earlier stores waits for both to reach the cache. */
    __asm__("" : "+r"(h0), "+r"(h1));
    for (; nblocks; nblocks--, in += 16) {
        add192(&h0, &h1, &h2, load_le64(in), load_le64(in + 8), hibit);
        d0 = mul64(h0, r0);
        x = mul64(h1, s1);
        add128(&d0, x.lo, x.hi);
        d1 = mul64(h0, r1);
        x = mul64(h1, r0);
        add128(&d1, x.lo, x.hi);
        add128(&d1, h2 * s1, 0);
        add128(&d1, d0.hi, 0);
        h2 = h2 * r0 + d1.hi;

        h0 = d0.lo;
        h1 = d1.lo;
        x.lo = (h2 >> 2) + (h2 & ~UINT64_C(3));
        h2 &= 3;
        add192(&h0, &h1, &h2, x.lo, 0, 0);
    }
    __asm__("" : "+r"(h0), "+r"(h1));
    p->h[0] = h0;
    p->h[1] = h1;
    p->h[2] = h2;
}

#endif
