/*
 * LANES numbers modulo 2^130 - 5 in five limbs of 26 bits, for the 32-bit
 * multiplier: AVX2 (VL = 32, four lanes) and AVX-512 F (VL = 64, eight).
 */
#ifndef BC_LIMBS26_H
#define BC_LIMBS26_H

#include <immintrin.h>

#include "../internal.h"

#define LIMBS 5
#define LANES (VL / 8)
#define M26 ((UINT64_C(1) << 26) - 1)

/* l_pick(a, b, i): lanes of b where the power of r that belongs to the lane's
 * block (see load_blocks) is among the upper i of each 2 i, else lanes of a. */
#if VL == 32

typedef __m256i lanes;

#define l_load(p) _mm256_loadu_si256((const __m256i *)(p))
#define l_every(x) _mm256_set1_epi64x((long long)(x))
#define l_lane0(x) _mm256_zextsi128_si256(_mm_cvtsi64_si128((long long)(x)))
#define l_add _mm256_add_epi64
#define l_and _mm256_and_si256
#define l_or _mm256_or_si256
#define l_shl _mm256_slli_epi64
#define l_shr _mm256_srli_epi64
#define l_unpacklo _mm256_unpacklo_epi64
#define l_unpackhi _mm256_unpackhi_epi64
#define l_store(p, a) _mm256_storeu_si256((__m256i *)(void *)(p), a)
#define l_low128 _mm256_castsi256_si128
#define l_every_low _mm256_broadcastq_epi64
#define l_pick(a, b, i)                                                        \
    ((i) == 1 ? _mm256_blend_epi32(a, b, 0x0f) : _mm256_blend_epi32(a, b, 0x33))

INLINE uint64_t l_sum(lanes a)
{
    __m128i x = _mm_add_epi64(_mm256_castsi256_si128(a),
                              _mm256_extracti128_si256(a, 1));

    x = _mm_add_epi64(x, _mm_unpackhi_epi64(x, x));
    return (uint64_t)_mm_cvtsi128_si64(x);
}

#elif VL == 64

typedef __m512i lanes;

#define l_load(p) _mm512_loadu_si512(p)
#define l_every(x) _mm512_set1_epi64((long long)(x))
#define l_lane0(x) _mm512_zextsi128_si512(_mm_cvtsi64_si128((long long)(x)))
#define l_add _mm512_add_epi64
#define l_and _mm512_and_si512
#define l_or _mm512_or_si512
#define l_shl _mm512_slli_epi64
#define l_shr _mm512_srli_epi64
#define l_unpacklo _mm512_unpacklo_epi64
#define l_unpackhi _mm512_unpackhi_epi64
#define l_sum(a) (uint64_t) _mm512_reduce_add_epi64(a)
#define l_store(p, a) _mm512_storeu_si512(p, a)
#define l_low128 _mm512_castsi512_si128
#define l_every_low _mm512_broadcastq_epi64
#define l_pick(a, b, i)                                                        \
    _mm512_mask_mov_epi64(a, (i) == 1 ? 0x33 : (i) == 2 ? 0x0f : 0x55, b)

#endif

/*
 * sum += the product of the lower halves of each lane. In assembly, because
 * clang 14 takes the intrinsic for a product of 64-bit numbers, forgets that
 * the upper halves are zero, and makes it out of three; and gcc 12 drifts the
 * products away from their sums and spills 95 vectors in 16 blocks.
 */
INLINE void l_mul_add(lanes *sum, lanes a, lanes b)
{
    lanes product;

    __asm__("vpmuludq %3, %2, %1\n\tvpaddq %1, %0, %0"
            : "+v"(*sum), "=&v"(product)
            : "v"(a), "v"(b));
}

struct limbs {
    lanes v[5];
};

/* Sums of products. */
struct sum {
    lanes v[5];
};

/* Puts blocks into the lanes in the order 0 2 1 3 or 0 4 1 5 2 6 3 7; their
 * powers of r are then 4 2 3 1 or 8 4 7 3 6 2 5 1. */
INLINE struct limbs load_blocks(const uint8_t *in)
{
    lanes a = l_load(in), b = l_load(in + VL);
    lanes lo = l_unpacklo(a, b), hi = l_unpackhi(a, b), m26 = l_every(M26);
    struct limbs m;

    m.v[0] = l_and(lo, m26);
    m.v[1] = l_and(l_shr(lo, 26), m26);
    m.v[2] = l_and(l_or(l_shr(lo, 52), l_shl(hi, 12)), m26);
    m.v[3] = l_and(l_shr(hi, 14), m26);
    m.v[4] = l_or(l_shr(hi, 40), l_every(1u << 24)); /* 2^128 */
    return m;
}

INLINE void from_stored(uint64_t a[5], uint64_t lo, uint64_t mid, uint64_t top)
{
    a[0] = lo & M26;
    a[1] = lo >> 26 & M26;
    a[2] = (lo >> 52 | mid << 12) & M26;
    a[3] = mid >> 14 & M26;
    a[4] = mid >> 40 | top << 24;
}

/* Adds the stored form h. */
INLINE void add_to_lane0(struct limbs *m, const uint64_t h[3])
{
    uint64_t a[5];
    int i;

    from_stored(a, h[0], h[1], h[2]);
    UNROLL for (i = 0; i < 5; i++) m->v[i] = l_add(m->v[i], l_lane0(a[i]));
}

INLINE struct limbs every_lane(const uint64_t r[2])
{
    struct limbs x;
    uint64_t a[5];
    int i;

    from_stored(a, r[0], r[1], 0);
    UNROLL for (i = 0; i < 5; i++) x.v[i] = l_every(a[i]);
    return x;
}

INLINE struct limbs pick(const struct limbs *a, const struct limbs *b, int i)
{
    struct limbs x;
    int j;

    UNROLL for (j = 0; j < 5; j++) x.v[j] = l_pick(a->v[j], b->v[j], i);
    return x;
}

INLINE struct limbs lane0_everywhere(const struct limbs *a)
{
    struct limbs x;
    int i;

    UNROLL for (i = 0; i < 5; i++) x.v[i] = l_every_low(l_low128(a->v[i]));
    return x;
}

INLINE void store_lanes(uint64_t lane[5][LANES], const struct limbs *a)
{
    int i;

    UNROLL for (i = 0; i < 5; i++) l_store(lane[i], a->v[i]);
}

INLINE struct limbs load_lanes(const uint64_t lane[5][LANES])
{
    struct limbs a;
    int i;

    UNROLL for (i = 0; i < 5; i++) a.v[i] = l_load(lane[i]);
    return a;
}

/* A product at weight 2^130 folds back five times. */
INLINE lanes times5(lanes a)
{
    return l_add(a, l_shl(a, 2));
}

INLINE void store_lane0(uint64_t *p, lanes a)
{
    _mm_storel_epi64((__m128i *)(void *)p, l_low128(a));
}

/* The number in lane 0: its limbs, and 5 times the upper four. */
INLINE void store_step(uint64_t step[9], const struct limbs *a)
{
    int i;

    UNROLL for (i = 0; i < 5; i++) store_lane0(&step[i], a->v[i]);
    UNROLL for (i = 1; i < 5; i++) store_lane0(&step[4 + i], times5(a->v[i]));
}

INLINE struct limbs load_step(const uint64_t step[9])
{
    struct limbs a;
    int i;

    UNROLL for (i = 0; i < 5; i++) a.v[i] = l_every(step[i]);
    return a;
}

INLINE struct sum sum_of(const struct limbs *m)
{
    struct sum s;
    int i;

    UNROLL for (i = 0; i < 5; i++) s.v[i] = m->v[i];
    return s;
}

/* s += a r for one limb of r, number j, and five times that limb. */
INLINE void mul_add_limb(struct sum *s, const struct limbs *a, int j, lanes r,
                         lanes five_r)
{
    int i;

    UNROLL for (i = 0; i < 5; i++)
    {
        if (i + j < 5)
            l_mul_add(&s->v[i + j], a->v[i], r);
        else
            l_mul_add(&s->v[i + j - 5], a->v[i], five_r);
    }
}

INLINE void mul_add_step(struct sum *s, const struct limbs *a,
                         const uint64_t step[9])
{
    int j;

    UNROLL for (j = 0; j < 5; j++)
        mul_add_limb(s, a, j, l_every(step[j]), l_every(step[j ? 4 + j : 0]));
}

INLINE struct sum products(const struct limbs *a, const struct limbs *b)
{
    lanes zero = l_every(0);
    struct sum s = {{zero, zero, zero, zero, zero}};
    int j;

    UNROLL for (j = 0; j < 5; j++)
        mul_add_limb(&s, a, j, b->v[j], times5(b->v[j]));
    return s;
}

/*
 * Products are below 2^27 5 2^26 < 2^56 and twenty of them below 2^60. Two
 * carries run side by side, from limbs 0 and 3, and meet: what remains is
 * below 2^26 + 2^10.
 */
INLINE struct limbs carry(const struct sum *s)
{
    lanes m26 = l_every(M26), c;
    struct limbs h;
    int i;

    UNROLL for (i = 0; i < 5; i++) h.v[i] = s->v[i];
#define CARRY(from, to)                                                        \
    (c = l_shr(h.v[from], 26), h.v[from] = l_and(h.v[from], m26),              \
     h.v[to] = l_add(h.v[to], c))
    CARRY(0, 1);
    CARRY(3, 4);
    CARRY(1, 2);
    c = l_shr(h.v[4], 26);
    h.v[4] = l_and(h.v[4], m26);
    h.v[0] = l_add(h.v[0], l_add(c, l_shl(c, 2)));
    CARRY(2, 3);
    CARRY(0, 1);
    CARRY(3, 4);
#undef CARRY
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
    uint64_t a[5], lo, mid;
    int i;

    UNROLL for (i = 0; i < 5; i++) a[i] = l_sum(s->v[i]);
    for (i = 0; i < 4; i++) {
        a[i + 1] += a[i] >> 26;
        a[i] &= M26;
    }
    a[0] += 5 * (a[4] >> 26);
    a[4] &= M26;
    a[1] += a[0] >> 26;
    a[0] &= M26;
    /* a[1] may have 27 bits or more, so add: the sum is below 2^130 + 2^64. */
    lo = a[0] + (a[1] << 26);
    h[0] = lo + (a[2] << 52);
    mid = (a[2] >> 12) + (a[3] << 14) + (h[0] < lo);
    h[1] = mid + (a[4] << 40);
    h[2] = (a[4] >> 24) + (h[1] < mid);
}

#endif
