/*
 * Eight numbers modulo 2^130 - 5 in limbs of 44, 44 and 42 bits, for the
 * 52-bit multiplier of AVX-512 IFMA.
 */
#ifndef BC_LIMBS44_H
#define BC_LIMBS44_H

#include <immintrin.h>

#include "../internal.h"

#define LIMBS 3
#define LANES 8
#define M44 ((UINT64_C(1) << 44) - 1)
#define M42 ((UINT64_C(1) << 42) - 1)

struct limbs {
    __m512i v[3];
};

/* Sums of products: each 104-bit product adds its low 52 bits to lo, and the
 * rest, which weighs 2^8 times the next limb, to hi. */
struct sum {
    __m512i lo[3], hi[3];
};

INLINE __m512i every(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

/* Puts blocks into the lanes in the order 0 4 1 5 2 6 3 7; their powers of r
 * are then 8 4 7 3 6 2 5 1. */
INLINE struct limbs load_blocks(const uint8_t *in)
{
    __m512i a = _mm512_loadu_si512(in), b = _mm512_loadu_si512(in + 64);
    __m512i lo = _mm512_unpacklo_epi64(a, b), hi = _mm512_unpackhi_epi64(a, b);
    struct limbs m;

    m.v[0] = _mm512_and_si512(lo, every(M44));
    /* 0xa8: (first | second) & third */
    m.v[1] = _mm512_ternarylogic_epi64(
        _mm512_srli_epi64(lo, 44), _mm512_slli_epi64(hi, 20), every(M44), 0xa8);
    m.v[2] = _mm512_or_si512(_mm512_srli_epi64(hi, 24),
                             every(UINT64_C(1) << 40)); /* 2^128 */
    return m;
}

INLINE void from_stored(uint64_t a[3], uint64_t lo, uint64_t mid, uint64_t top)
{
    a[0] = lo & M44;
    a[1] = (lo >> 44 | mid << 20) & M44;
    a[2] = mid >> 24 | top << 40;
}

/* Adds the stored form h. */
INLINE void add_to_lane0(struct limbs *m, const uint64_t h[3])
{
    uint64_t a[3];
    int i;

    from_stored(a, h[0], h[1], h[2]);
    UNROLL for (i = 0; i < 3; i++)
    {
        m->v[i] = _mm512_add_epi64(
            m->v[i],
            _mm512_zextsi128_si512(_mm_cvtsi64_si128((long long)a[i])));
    }
}

INLINE struct limbs every_lane(const uint64_t r[2])
{
    struct limbs x;
    uint64_t a[3];
    int i;

    from_stored(a, r[0], r[1], 0);
    UNROLL for (i = 0; i < 3; i++) x.v[i] = every(a[i]);
    return x;
}

/* Those lanes of b whose power of r is among the upper i of each 2 i, 1 .. 2 i
 * and so on; else those of a. */
INLINE struct limbs pick(const struct limbs *a, const struct limbs *b, int i)
{
    __mmask8 upper = i == 1 ? 0x33 : i == 2 ? 0x0f : 0x55;
    struct limbs x;
    int j;

    UNROLL for (j = 0; j < 3; j++) x.v[j] =
        _mm512_mask_mov_epi64(a->v[j], upper, b->v[j]);
    return x;
}

INLINE struct limbs lane0_everywhere(const struct limbs *a)
{
    struct limbs x;
    int i;

    UNROLL for (i = 0; i < 3; i++) x.v[i] =
        _mm512_broadcastq_epi64(_mm512_castsi512_si128(a->v[i]));
    return x;
}

INLINE void store_lanes(uint64_t lane[3][8], const struct limbs *a)
{
    int i;

    UNROLL for (i = 0; i < 3; i++) _mm512_storeu_si512(lane[i], a->v[i]);
}

INLINE struct limbs load_lanes(const uint64_t lane[3][8])
{
    struct limbs a;
    int i;

    UNROLL for (i = 0; i < 3; i++) a.v[i] = _mm512_loadu_si512(lane[i]);
    return a;
}

/* 20 a 2^n: a product at weight 2^132 folds back 20 times. The empty statement
 * keeps clang 14 from seeing a constant factor, for which it takes two
 * vpmuludq and what is needed to put their results together. */
INLINE __m512i times20(__m512i a, uint32_t n)
{
    __m512i four = _mm512_slli_epi64(a, 2 + n);

    __asm__("" : "+v"(four));
    return _mm512_add_epi64(_mm512_slli_epi64(a, 4 + n), four);
}

INLINE void store_lane0(uint64_t *p, __m512i a)
{
    _mm_storel_epi64((__m128i *)(void *)p, _mm512_castsi512_si128(a));
}

/* The number in lane 0: its limbs, and 20 times the upper two. */
INLINE void store_step(uint64_t step[5], const struct limbs *a)
{
    int i;

    UNROLL for (i = 0; i < 3; i++) store_lane0(&step[i], a->v[i]);
    store_lane0(&step[3], times20(a->v[1], 0));
    store_lane0(&step[4], times20(a->v[2], 0));
}

INLINE struct limbs load_step(const uint64_t step[5])
{
    struct limbs a = {{every(step[0]), every(step[1]), every(step[2])}};

    return a;
}

INLINE struct sum sum_of(const struct limbs *m)
{
    struct sum s;
    int i;

    UNROLL for (i = 0; i < 3; i++)
    {
        s.lo[i] = m->v[i];
        s.hi[i] = _mm512_setzero_si512();
    }
    return s;
}

/* s += a r, with s1 = 20 r1 and s2 = 20 r2. */
INLINE void mul_add(struct sum *s, const struct limbs *a, __m512i r0,
                    __m512i r1, __m512i r2, __m512i s1, __m512i s2)
{
    const __m512i by[3][3] = {{r0, r1, r2}, {s2, r0, r1}, {s1, s2, r0}};
    int i, j;

    UNROLL for (i = 0; i < 3; i++)
    {
        UNROLL for (j = 0; j < 3; j++)
        {
            s->lo[j] = _mm512_madd52lo_epu64(s->lo[j], a->v[i], by[i][j]);
            s->hi[j] = _mm512_madd52hi_epu64(s->hi[j], a->v[i], by[i][j]);
        }
    }
}

INLINE void mul_add_step(struct sum *s, const struct limbs *a,
                         const uint64_t step[5])
{
    mul_add(s, a, every(step[0]), every(step[1]), every(step[2]),
            every(step[3]), every(step[4]));
}

INLINE struct sum products(const struct limbs *a, const struct limbs *b)
{
    __m512i zero = _mm512_setzero_si512();
    struct limbs none = {{zero, zero, zero}};
    struct sum s = sum_of(&none);

    mul_add(&s, a, b->v[0], b->v[1], b->v[2], times20(b->v[1], 0),
            times20(b->v[2], 0));
    return s;
}

/*
 * The hi parts into the next limbs; from the last one 2^132 = 20. With up to
 * twelve products of limbs below 2^45 and 2^49, lo is below 2^56 and hi below
 * 2^46, so the results are below 2^59.
 */
INLINE struct limbs fold(const struct sum *s)
{
    struct limbs d;

    d.v[0] = _mm512_add_epi64(s->lo[0], times20(s->hi[2], 8));
    d.v[1] = _mm512_add_epi64(s->lo[1], _mm512_slli_epi64(s->hi[0], 8));
    d.v[2] = _mm512_add_epi64(s->lo[2], _mm512_slli_epi64(s->hi[1], 8));
    return d;
}

/* One carry out of every limb at once: what remains is below 2^44 + 2^20. */
INLINE struct limbs carry(const struct sum *s)
{
    struct limbs d = fold(s), h;
    __m512i c0 = _mm512_srli_epi64(d.v[0], 44);
    __m512i c1 = _mm512_srli_epi64(d.v[1], 44);
    __m512i c2 = _mm512_srli_epi64(d.v[2], 42);

    h.v[0] = _mm512_add_epi64(_mm512_and_si512(d.v[0], every(M44)),
                              _mm512_add_epi64(c2, _mm512_slli_epi64(c2, 2)));
    h.v[1] = _mm512_add_epi64(_mm512_and_si512(d.v[1], every(M44)), c0);
    h.v[2] = _mm512_add_epi64(_mm512_and_si512(d.v[2], every(M42)), c1);
    return h;
}

INLINE struct limbs multiply(const struct limbs *a, const struct limbs *b)
{
    struct sum s = products(a, b);

    return carry(&s);
}

/* The sum of all lanes, in the stored form. */
INLINE void add_lanes(uint64_t h[3], const struct sum *s)
{
    struct limbs d = fold(s);
    uint64_t a[3];
    int i;

    UNROLL for (i = 0; i < 3; i++) a[i] =
        (uint64_t)_mm512_reduce_add_epi64(d.v[i]);
    a[1] += a[0] >> 44;
    a[2] += a[1] >> 44;
    a[0] = (a[0] & M44) + 5 * (a[2] >> 42);
    a[1] = (a[1] & M44) + (a[0] >> 44);
    a[2] = (a[2] & M42) + (a[1] >> 44);
    a[0] &= M44;
    a[1] &= M44;
    h[0] = a[0] | a[1] << 44;
    h[1] = a[1] >> 20 | a[2] << 24;
    h[2] = a[2] >> 40;
}

#endif
