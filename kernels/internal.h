/*
 * What the kernel files share among themselves: byte order, loop unrolling,
 * and the names of the ops tables of every level.
 */
#ifndef BC_INTERNAL_H
#define BC_INTERNAL_H

#include <stdint.h>
#include <string.h>

#include "kernels.h"

/* gcc 12 at -O2 leaves loops over vectors rolled and the vectors in memory, at
 * half the speed. clang takes gcc's words too, but then unrolls so late that
 * the vectors stay in memory all the same; its own words work. Put it before
 * every loop over vectors. */
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* For functions that are to become part of their caller, whatever the compiler
 * thinks of their size; and for those that are not, so that a caller's short
 * way does not pay for the registers that the long one saves. */
#define INLINE static inline __attribute__((always_inline))
#define APART static __attribute__((noinline))

/* A word of the processor's byte order as one of the other, and back. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LE(x, bits) (x)
#define BE(x, bits) __builtin_bswap##bits(x)
#else
#define LE(x, bits) __builtin_bswap##bits(x)
#define BE(x, bits) (x)
#endif

/* Whole words, not byte by byte: gcc 12 sees two stores of 8 bytes that way as
 * one vector of 16, takes the words apart, and brings the parts together on the
 * stack (the tag of Poly1305 took 7 ns longer), and clang 14 leaves loads that
 * overlap in single bytes (a partial block of GCM, 3 ns). */
static inline uint32_t load_le32(const void *p)
{
    uint32_t x;

    memcpy(&x, p, 4);
    return LE(x, 32);
}

static inline uint64_t load_le64(const void *p)
{
    uint64_t x;

    memcpy(&x, p, 8);
    return LE(x, 64);
}

static inline uint32_t load_be32(const void *p)
{
    uint32_t x;

    memcpy(&x, p, 4);
    return BE(x, 32);
}

static inline uint64_t load_be64(const void *p)
{
    uint64_t x;

    memcpy(&x, p, 8);
    return BE(x, 64);
}

static inline void store_le32(void *p, uint32_t x)
{
    x = LE(x, 32);
    memcpy(p, &x, 4);
}

static inline void store_le64(void *p, uint64_t x)
{
    x = LE(x, 64);
    memcpy(p, &x, 8);
}

static inline void store_be32(void *p, uint32_t x)
{
    x = BE(x, 32);
    memcpy(p, &x, 4);
}

static inline void store_be64(void *p, uint64_t x)
{
    x = BE(x, 64);
    memcpy(p, &x, 8);
}

/*
 * Part of a block: 16 bytes as two little-endian halves, so that bytes can be
 * moved and cut off without a loop. Bytes outside of the part are zero.
 */
struct half2 {
    uint64_t lo, hi;
};

static inline struct half2 load_16(const void *p)
{
    struct half2 x = {load_le64(p), load_le64((const uint8_t *)p + 8)};

    return x;
}

/* One store of 16 bytes, not two of 8: a vector load that follows soon, in a
 * kernel, is served from the store buffer only if a single store holds all of
 * it, and else waits for both to reach the cache. */
static inline void store_16(void *p, struct half2 x)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    typedef uint64_t u64x2 __attribute__((vector_size(16)));
    u64x2 v = {x.lo, x.hi};

    memcpy(p, &v, 16);
#else
    store_le64(p, x.lo);
    store_le64((uint8_t *)p + 8, x.hi);
#endif
}

/* Four words, with one store for the same reason. */
static inline void store_row(uint32_t *p, uint32_t a, uint32_t b, uint32_t c,
                             uint32_t d)
{
    typedef uint32_t u32x4 __attribute__((vector_size(16)));
    u32x4 v = {a, b, c, d};

    memcpy(p, &v, 16);
}

/* Loads len bytes, 1 <= len <= 15, and touches no other. The loads overlap,
 * and bytes that two of them bring stand in the same place of both. */
static inline struct half2 load_part(const uint8_t *p, size_t len)
{
    struct half2 x = {0, 0};

    if (len >= 8) {
        x.lo = load_le64(p);
        x.hi = load_le64(p + len - 8) >> 8 * (15 - len) >> 8;
    } else if (len >= 4) {
        x.lo = load_le32(p) | (uint64_t)load_le32(p + len - 4) << 8 * (len - 4);
    } else {
        x.lo = p[0] | (uint64_t)p[len / 2] << 8 * (len / 2) |
               (uint64_t)p[len - 1] << 8 * (len - 1);
    }
    return x;
}

/* Stores the first len bytes of x, 1 <= len <= 15, and touches no other. */
static inline void store_part(uint8_t *p, struct half2 x, size_t len)
{
    if (len >= 8) {
        store_le64(p, x.lo);
        if (len > 8)
            store_le64(p + len - 8,
                       x.lo >> 8 * (len - 8) | x.hi << 8 * (16 - len));
    } else if (len >= 4) {
        store_le32(p, (uint32_t)x.lo);
        store_le32(p + len - 4, (uint32_t)(x.lo >> 8 * (len - 4)));
    } else {
        p[0] = (uint8_t)x.lo;
        p[len / 2] = (uint8_t)(x.lo >> 8 * (len / 2));
        p[len - 1] = (uint8_t)(x.lo >> 8 * (len - 1));
    }
}

/* Moves the bytes n places up (towards higher addresses), 0 <= n <= 15. */
static inline struct half2 move_up(struct half2 x, size_t n)
{
    struct half2 y = {0, x.lo};

    if (n < 8) {
        y.lo = x.lo << 8 * n;
        y.hi = x.hi << 8 * n | x.lo >> 8 * (7 - n) >> 8;
    } else {
        y.hi = x.lo << 8 * (n - 8);
    }
    return y;
}

/* Moves the bytes n places down, 0 <= n <= 15. */
static inline struct half2 move_down(struct half2 x, size_t n)
{
    struct half2 y = {x.hi, 0};

    if (n < 8) {
        y.lo = x.lo >> 8 * n | x.hi << 8 * (7 - n) << 8;
        y.hi = x.hi >> 8 * n;
    } else {
        y.lo = x.hi >> 8 * (n - 8);
    }
    return y;
}

/* Keeps the first len bytes, 1 <= len <= 15, and clears the rest. */
static inline struct half2 keep_part(struct half2 x, size_t len)
{
    if (len < 8) {
        x.lo &= ~UINT64_C(0) >> 8 * (8 - len);
        x.hi = 0;
    } else {
        x.hi &= ~UINT64_C(0) >> 8 * (15 - len) >> 8;
    }
    return x;
}

static inline struct half2 xor_16(struct half2 x, struct half2 y)
{
    x.lo ^= y.lo;
    x.hi ^= y.hi;
    return x;
}

/* bc_wipe() for few bytes, without the call. */
static inline void wipe_inline(void *p, size_t len)
{
    memset(p, 0, len);
    __asm__ volatile("" : : "r"(p) : "memory");
}

/* Before anything but blocks() uses h. */
static inline void poly1305_settle(struct bc_poly1305 *p)
{
    if (p->in_lanes)
        p->ops->settle(p);
}

/* The tables, one per family and level. */
extern const struct bc_cbc_ops bc_cbc_ops_c;
extern const struct bc_gcm_ops bc_gcm_ops_c;
extern const struct bc_chapoly_ops bc_chapoly_ops_c;
extern const struct bc_chapoly_ops bc_chapoly_ops_ssse3;
extern const struct bc_chapoly_ops bc_chapoly_ops_avx2;
extern const struct bc_chapoly_ops bc_chapoly_ops_avx512;
extern const struct bc_chapoly_ops bc_chapoly_ops_ifma;
extern const struct bc_poly1305_ops bc_poly1305_ops_c;
extern const struct bc_poly1305_ops bc_poly1305_ops_avx2;
extern const struct bc_poly1305_ops bc_poly1305_ops_avx512;
extern const struct bc_poly1305_ops bc_poly1305_ops_ifma;

#if defined(BC_X86_64) /* by CMake, see cmake/isa.cmake */
extern const struct bc_cbc_ops bc_cbc_ops_aesni;
extern const struct bc_cbc_ops bc_cbc_ops_vaes256;
extern const struct bc_cbc_ops bc_cbc_ops_vaes512;
extern const struct bc_gcm_ops bc_gcm_ops_aesni;
extern const struct bc_gcm_ops bc_gcm_ops_vaes256;
extern const struct bc_gcm_ops bc_gcm_ops_vaes512;
#endif

#endif
