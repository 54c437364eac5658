/*
 * Poly1305 with the 52-bit multiplier of AVX-512 IFMA, in limbs of 44, 44 and
 * 42 bits, eight blocks in the lanes of a vector.
 *
 * The sum over n blocks m is m[0] r^n + m[1] r^(n-1) + .. + m[n-1] r. Eight
 * interleaved sums, one a lane, each step by r^8: h = h r^8 + m. At the end
 * lane j still lacks r^(8-j), and one more multiplication gives it that. Four
 * steps in one, h = h r^32 + m r^24 + m' r^16 + m'' r^8 + m''', take one carry
 * instead of four, and their products do not wait for each other.
 */
#include <immintrin.h>

#include "../internal.h"
#include "../poly1305_44.h"
#include "../poly1305_64.h"

#define INLINE static inline __attribute__((always_inline))

/*
 * Blocks from which a call is better off here than in poly1305_64(): with the
 * powers to make first, and with the powers there. Cycles on Zen 5.
 */
#define FROM_NEW 20
#define FROM_READY 12
/* A message of fewer blocks does not repay r^16, r^24 and r^32. */
#define FROM_32 64

/* p->powers */
struct powers {
    uint64_t lane[3][8]; /* limbs of r^8 .. r, in the order of blocks */
    uint64_t step[4][5]; /* of r^8, r^16, r^24, r^32: the limbs, and 20
                          * times the upper two */
};
_Static_assert(sizeof(struct powers) <=
                   sizeof(((struct bc_poly1305 *)0)->powers),
               "powers do not fit");

/* Unpacking 64 bytes of blocks 0..3 with 64 of blocks 4..7 puts them into the
 * lanes in the order 0 4 1 5 2 6 3 7. */
static const uint8_t lane_of_block[8] = {0, 2, 4, 6, 1, 3, 5, 7};

struct limbs {
    __m512i v[3];
};

/* A sum of products: each 104-bit product adds its low 52 bits to lo and the
 * rest, which weighs 2^8 times the next limb, to hi. */
struct sum {
    __m512i lo[3], hi[3];
};

static void set_step(struct powers *w, int i, const uint64_t a[3])
{
    w->step[i][0] = a[0];
    w->step[i][1] = a[1];
    w->step[i][2] = a[2];
    w->step[i][3] = 20 * a[1];
    w->step[i][4] = 20 * a[2];
}

static void make_powers(struct bc_poly1305 *p, uint32_t n)
{
    struct powers *w = (struct powers *)(void *)p->powers;
    uint64_t r[9][3], r16[3], r24[3], r32[3];
    int i, j;

    if (p->npowers == 0) {
        limbs44(r[1], p->r[0], p->r[1], 0);
        mul44(r[2], r[1], r[1]);
        mul44(r[3], r[2], r[1]);
        mul44(r[4], r[2], r[2]);
        mul44(r[5], r[4], r[1]);
        mul44(r[6], r[4], r[2]);
        mul44(r[7], r[4], r[3]);
        mul44(r[8], r[4], r[4]);
        for (i = 0; i < 8; i++)
            for (j = 0; j < 3; j++)
                w->lane[j][lane_of_block[i]] = r[8 - i][j];
        set_step(w, 0, r[8]);
        p->npowers = 8;
        bc_wipe(r, sizeof(r));
    }
    if (n > p->npowers) {
        mul44(r16, w->step[0], w->step[0]);
        mul44(r24, r16, w->step[0]);
        mul44(r32, r16, r16);
        set_step(w, 1, r16);
        set_step(w, 2, r24);
        set_step(w, 3, r32);
        p->npowers = 32;
        bc_wipe(r16, sizeof(r16));
        bc_wipe(r24, sizeof(r24));
        bc_wipe(r32, sizeof(r32));
    }
}

INLINE struct limbs load_blocks(const uint8_t *in)
{
    __m512i a = _mm512_loadu_si512(in), b = _mm512_loadu_si512(in + 64);
    __m512i lo = _mm512_unpacklo_epi64(a, b), hi = _mm512_unpackhi_epi64(a, b);
    __m512i m44 = _mm512_set1_epi64((long long)M44);
    struct limbs m;

    m.v[0] = _mm512_and_si512(lo, m44);
    /* 0xa8: (first | second) & third */
    m.v[1] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(lo, 44),
                                       _mm512_slli_epi64(hi, 20), m44, 0xa8);
    m.v[2] = _mm512_or_si512(_mm512_srli_epi64(hi, 24),
                             _mm512_set1_epi64(1ll << 40)); /* 2^128 */
    return m;
}

/* s += a b, where b is limbs r0 r1 r2 and s1 = 20 r1, s2 = 20 r2. */
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
                         const struct powers *w, int i)
{
    mul_add(s, a, _mm512_set1_epi64((long long)w->step[i][0]),
            _mm512_set1_epi64((long long)w->step[i][1]),
            _mm512_set1_epi64((long long)w->step[i][2]),
            _mm512_set1_epi64((long long)w->step[i][3]),
            _mm512_set1_epi64((long long)w->step[i][4]));
}

INLINE struct sum sum_of(const struct limbs *m)
{
    struct sum s;
    int i;

    UNROLL for (i = 0; i < 3; i++)
    {
        s.lo[i] = m ? m->v[i] : _mm512_setzero_si512();
        s.hi[i] = _mm512_setzero_si512();
    }
    return s;
}

/* The hi parts into the next limbs; from the last one 2^132 = 20. Limbs of a
 * and b below 2^45 make lo below 12 2^52 + 2^44 and hi below 12 2^42, so the
 * results stay below 2^57. */
INLINE struct limbs fold(const struct sum *s)
{
    struct limbs d;

    d.v[0] = _mm512_add_epi64(
        s->lo[0], _mm512_add_epi64(_mm512_slli_epi64(s->hi[2], 12),
                                   _mm512_slli_epi64(s->hi[2], 10)));
    d.v[1] = _mm512_add_epi64(s->lo[1], _mm512_slli_epi64(s->hi[0], 8));
    d.v[2] = _mm512_add_epi64(s->lo[2], _mm512_slli_epi64(s->hi[1], 8));
    return d;
}

/* One carry out of every limb at once: what remains is below 2^44 + 2^18. */
INLINE struct limbs carry(const struct limbs *d)
{
    __m512i m44 = _mm512_set1_epi64((long long)M44);
    __m512i m42 = _mm512_set1_epi64((long long)M42);
    __m512i c0 = _mm512_srli_epi64(d->v[0], 44);
    __m512i c1 = _mm512_srli_epi64(d->v[1], 44);
    __m512i c2 = _mm512_srli_epi64(d->v[2], 42);
    struct limbs h;

    h.v[0] = _mm512_add_epi64(_mm512_and_si512(d->v[0], m44),
                              _mm512_add_epi64(c2, _mm512_slli_epi64(c2, 2)));
    h.v[1] = _mm512_add_epi64(_mm512_and_si512(d->v[1], m44), c0);
    h.v[2] = _mm512_add_epi64(_mm512_and_si512(d->v[2], m42), c1);
    return h;
}

/* nblocks: 8, 16, 24 .. */
static void wide(struct bc_poly1305 *p, const uint8_t *in, size_t nblocks)
{
    const struct powers *w = (const struct powers *)(const void *)p->powers;
    struct limbs h, m, d;
    struct sum s;
    uint64_t a[3];
    int i;

    make_powers(p, nblocks >= FROM_32 ? 32 : 8);

    /* The sum so far joins the first block. */
    h = load_blocks(in);
    limbs44(a, p->h[0], p->h[1], p->h[2]);
    UNROLL for (i = 0; i < 3; i++)
    {
        h.v[i] = _mm512_add_epi64(
            h.v[i], _mm512_zextsi128_si512(_mm_cvtsi64_si128((long long)a[i])));
    }
    in += 128;
    nblocks -= 8;

    if (p->npowers == 32) {
        for (; nblocks >= 32; nblocks -= 32, in += 512) {
            m = load_blocks(in + 384);
            s = sum_of(&m);
            m = load_blocks(in + 256);
            mul_add_step(&s, &m, w, 0);
            m = load_blocks(in + 128);
            mul_add_step(&s, &m, w, 1);
            m = load_blocks(in);
            mul_add_step(&s, &m, w, 2);
            mul_add_step(&s, &h, w, 3);
            d = fold(&s);
            h = carry(&d);
        }
    }
    for (; nblocks; nblocks -= 8, in += 128) {
        m = load_blocks(in);
        s = sum_of(&m);
        mul_add_step(&s, &h, w, 0);
        d = fold(&s);
        h = carry(&d);
    }

    /* Each lane by its own power, and all lanes together. */
    {
        __m512i r0 = _mm512_load_si512(w->lane[0]);
        __m512i r1 = _mm512_load_si512(w->lane[1]);
        __m512i r2 = _mm512_load_si512(w->lane[2]);
        __m512i s1 = _mm512_add_epi64(_mm512_slli_epi64(r1, 4),
                                      _mm512_slli_epi64(r1, 2));
        __m512i s2 = _mm512_add_epi64(_mm512_slli_epi64(r2, 4),
                                      _mm512_slli_epi64(r2, 2));

        s = sum_of(NULL);
        mul_add(&s, &h, r0, r1, r2, s1, s2);
        d = fold(&s);
        UNROLL for (i = 0; i < 3; i++) a[i] =
            (uint64_t)_mm512_reduce_add_epi64(d.v[i]);
    }
    carry44(a);
    p->h[0] = a[0] | a[1] << 44;
    p->h[1] = a[1] >> 20 | a[2] << 24;
    p->h[2] = a[2] >> 40;
}

static void blocks(struct bc_poly1305 *p, const uint8_t *in, size_t nblocks,
                   uint32_t hibit)
{
    size_t n;

    if (nblocks >= (p->npowers ? FROM_READY : FROM_NEW)) {
        n = nblocks & ~(size_t)7;
        wide(p, in, n);
        in += 16 * n;
        nblocks -= n;
    }
    poly1305_64(p, in, nblocks, hibit);
}

const struct bc_poly1305_ops bc_poly1305_ops_ifma = {
    .name = "ifma",
    .needs = BC_CPU_AVX512F | BC_CPU_AVX512IFMA | BC_CPU_WIDE512 | BC_CPU_BMI2,
    .blocks = blocks,
};
