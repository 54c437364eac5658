/*
 * Numbers modulo 2^130 - 5 in limbs of 44, 44 and 42 bits: how the vector
 * levels make powers of r, whatever limbs they use themselves.
 */
#ifndef BC_POLY1305_44_H
#define BC_POLY1305_44_H

#include "internal.h"

#define M44 ((UINT64_C(1) << 44) - 1)
#define M42 ((UINT64_C(1) << 42) - 1)

/* From the stored form; the top limb keeps what is above 2^130. */
static inline void limbs44(uint64_t a[3], uint64_t lo, uint64_t mid,
                           uint64_t top)
{
    a[0] = lo & M44;
    a[1] = (lo >> 44 | mid << 20) & M44;
    a[2] = mid >> 24 | top << 40;
}

/* a = a0 + a1 2^44 + a2 2^88 for sums below 2^63: each limb within its bits,
 * but for the top one, which may reach 2^42. */
static inline void carry44(uint64_t a[3])
{
    a[1] += a[0] >> 44;
    a[2] += a[1] >> 44;
    a[0] = (a[0] & M44) + 5 * (a[2] >> 42);
    a[1] = (a[1] & M44) + (a[0] >> 44);
    a[2] = (a[2] & M42) + (a[1] >> 44);
    a[0] &= M44;
    a[1] &= M44;
}

/*
 * out = a b for carried a and b. A product at weight 2^132 = 4 2^130 folds
 * back 20 times. Products stay below 2^44 20 2^44 < 2^93, sums of three and a
 * carry below 2^95; five times the carry out of the top limb below 2^56.
 */
static inline void mul44(uint64_t out[3], const uint64_t a[3],
                         const uint64_t b[3])
{
    typedef unsigned __int128 u128;
    uint64_t s1 = 20 * b[1], s2 = 20 * b[2];
    u128 d0 = (u128)a[0] * b[0] + (u128)a[1] * s2 + (u128)a[2] * s1;
    u128 d1 = (u128)a[0] * b[1] + (u128)a[1] * b[0] + (u128)a[2] * s2;
    u128 d2 = (u128)a[0] * b[2] + (u128)a[1] * b[1] + (u128)a[2] * b[0];

    d1 += (uint64_t)(d0 >> 44);
    d2 += (uint64_t)(d1 >> 44);
    out[0] = ((uint64_t)d0 & M44) + 5 * (uint64_t)(d2 >> 42);
    out[1] = ((uint64_t)d1 & M44) + (out[0] >> 44);
    out[2] = ((uint64_t)d2 & M42) + (out[1] >> 44);
    out[0] &= M44;
    out[1] &= M44;
}

#endif
