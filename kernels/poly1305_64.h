/*
 * Poly1305 over whole blocks in limbs of 64 bits, one block after the other:
 * the portable level where the compiler multiplies 64 by 64 bits to 128. The
 * one-pass ChaCha20-Poly1305 of AVX2 runs it block by block.
 */
#ifndef BC_POLY1305_64_H
#define BC_POLY1305_64_H

#include "internal.h"
#include "u128.h"

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
struct poly1305_64 {
    uint64_t h0, h1, h2, r0, r1, s1;
};

static inline struct poly1305_64 poly1305_64_load(const struct bc_poly1305 *p)
{
    struct poly1305_64 x = {p->h[0], p->h[1], p->h[2],
                            p->r[0], p->r[1], p->r[1] + (p->r[1] >> 2)};

    /* Or else gcc 12 loads and stores h0 and h1 as one vector, and a load that
     * spans two earlier stores waits for both to reach the cache. */
    __asm__("" : "+r"(x.h0), "+r"(x.h1));
    return x;
}

static inline void poly1305_64_store(struct bc_poly1305 *p,
                                     struct poly1305_64 x)
{
    __asm__("" : "+r"(x.h0), "+r"(x.h1));
    p->h[0] = x.h0;
    p->h[1] = x.h1;
    p->h[2] = x.h2;
}

static inline void poly1305_64_block(struct poly1305_64 *p, const uint8_t *in,
                                     uint32_t hibit)
{
    struct u128 d0, d1, x;

    add192(&p->h0, &p->h1, &p->h2, load_le64(in), load_le64(in + 8), hibit);
    d0 = mul64(p->h0, p->r0);
    x = mul64(p->h1, p->s1);
    add128(&d0, x.lo, x.hi);
    d1 = mul64(p->h0, p->r1);
    x = mul64(p->h1, p->r0);
    add128(&d1, x.lo, x.hi);
    add128(&d1, p->h2 * p->s1, 0);
    add128(&d1, d0.hi, 0);
    p->h2 = p->h2 * p->r0 + d1.hi;

    p->h0 = d0.lo;
    p->h1 = d1.lo;
    x.lo = (p->h2 >> 2) + (p->h2 & ~UINT64_C(3));
    p->h2 &= 3;
    add192(&p->h0, &p->h1, &p->h2, x.lo, 0, 0);
}

#endif
