/*
 * Poly1305 over whole blocks in plain C: h = (h + block) r mod 2^130 - 5. For
 * processors without vector kernels, for what those leave over, and as the
 * reference they are tested against. Where the compiler multiplies 64 by 64
 * bits to 128, h is worked on as it is stored, in limbs of 64 bits; elsewhere
 * in five limbs of 26. Both read and leave the same stored form
 * (kernels.h, struct bc_poly1305).
 */
#include "internal.h"

#if defined(__SIZEOF_INT128__)

#include "poly1305_64.h"

/*
 * poly1305_64_block() over and over, arranged for the shortest chain from one
 * block to the next. What h2 holds above 2^130, over = h2 / 4, folds back five
 * times. Added to h0 it would hold up all multiplications; as
 * (h + 5 over) r = h r + over (5 r) it holds up its own two. The sums take
 * their terms in the order in which these are ready. On Zen 5 a block takes
 * 10.4 cycles instead of 13.5. Beside a vector kernel, which leaves the
 * multiplier and not the chain as the limit, the other form is better.
 *
 *   before: h0, h1 < 2^64, h2 < 2^63.3, so over < 2^61.3;
 *           without over and with the block, h2 <= 5
 *   d0 = h0 r0 + h1 s1 + over 5 r0  < 2^124 + 2^125 + 2^123.7
 *   d1 = h0 r1 + h1 r0 + over 5 r1 + h2 s1, and the carry of d0
 *                                   < 2^124 + 2^124 + 2^123.7 + 2^65
 *   h2 = h2 r0 + carry of d1        < 2^62.4 + 2^62 < 2^63.3
 *
 * and the stored form, with 5 over added at last, has h2 <= 4 again.
 *
 * A second chain does not pay. The multiplications and sums of a block take 9
 * cycles of Zen 5's integer units in whatever order, and r^2, which is not
 * clamped, would need more of them. Two halves of a message side by side, the
 * first one times a power of r at the end, took 10.1 cycles a block at 4 KiB
 * and lost up to 1 KiB.
 */
static void blocks(struct bc_poly1305 *p, const uint8_t *in, size_t nblocks,
                   uint32_t hibit)
{
    struct poly1305_64 h = poly1305_64_load(p);
    uint64_t five_r0 = 5 * h.r0, five_r1 = 5 * h.r1, over = 0;
    struct u128 d0, d1, x;

    for (; nblocks; nblocks--, in += 16) {
        add192(&h.h0, &h.h1, &h.h2, load_le64(in), load_le64(in + 8), hibit);
        d0 = mul64(h.h0, h.r0);
        x = mul64(h.h1, h.s1);
        add128(&d0, x.lo, x.hi);
        d1 = mul64(h.h0, h.r1);
        x = mul64(h.h1, h.r0);
        add128(&d1, x.lo, x.hi);
        x = mul64(over, five_r1);
        add128(&d1, x.lo, x.hi);
        x = mul64(over, five_r0);
        add128(&d0, x.lo, x.hi);
        add128(&d1, h.h2 * h.s1, h.h2 * h.r0);
        add128(&d1, d0.hi, 0);
        h.h0 = d0.lo;
        h.h1 = d1.lo;
        h.h2 = d1.hi & 3;
        over = d1.hi >> 2;
    }
    add192(&h.h0, &h.h1, &h.h2, 5 * over, 0, 0);
    poly1305_64_store(p, h);
}

#else

#define M26 0x3ffffffu

static inline uint64_t mul(uint32_t a, uint32_t b)
{
    return (uint64_t)a * b;
}

/*
 * Five limbs of 26 bits; a product at weight 2^130 folds back times 5, which
 * is put into r beforehand: s[i] = 5 r[i] < 2^28.4. Limbs of h are below
 * 2^26 + 2^7 before the block is added and so below 2^27 after; each sum of
 * five products is below 5 * 2^27 * 2^28.4 < 2^58.
 */
static void blocks(struct bc_poly1305 *p, const uint8_t *in, size_t nblocks,
                   uint32_t hibit)
{
    uint32_t r0 = (uint32_t)p->r[0] & M26;
    uint32_t r1 = (uint32_t)(p->r[0] >> 26) & M26;
    uint32_t r2 = (uint32_t)(p->r[0] >> 52 | p->r[1] << 12) & M26;
    uint32_t r3 = (uint32_t)(p->r[1] >> 14) & M26;
    uint32_t r4 = (uint32_t)(p->r[1] >> 40);
    uint32_t s1 = r1 * 5, s2 = r2 * 5, s3 = r3 * 5, s4 = r4 * 5;
    uint32_t h0 = (uint32_t)p->h[0] & M26;
    uint32_t h1 = (uint32_t)(p->h[0] >> 26) & M26;
    uint32_t h2 = (uint32_t)(p->h[0] >> 52 | p->h[1] << 12) & M26;
    uint32_t h3 = (uint32_t)(p->h[1] >> 14) & M26;
    uint32_t h4 = (uint32_t)(p->h[1] >> 40 | p->h[2] << 24);
    uint64_t d0, d1, d2, d3, d4, lo, hi;

    for (; nblocks; nblocks--, in += 16) {
        h0 += load_le32(in) & M26;
        h1 += load_le32(in + 3) >> 2 & M26;
        h2 += load_le32(in + 6) >> 4 & M26;
        h3 += load_le32(in + 9) >> 6;
        h4 += load_le32(in + 12) >> 8 | hibit << 24;

        d0 =
            mul(h0, r0) + mul(h1, s4) + mul(h2, s3) + mul(h3, s2) + mul(h4, s1);
        d1 =
            mul(h0, r1) + mul(h1, r0) + mul(h2, s4) + mul(h3, s3) + mul(h4, s2);
        d2 =
            mul(h0, r2) + mul(h1, r1) + mul(h2, r0) + mul(h3, s4) + mul(h4, s3);
        d3 =
            mul(h0, r3) + mul(h1, r2) + mul(h2, r1) + mul(h3, r0) + mul(h4, s4);
        d4 =
            mul(h0, r4) + mul(h1, r3) + mul(h2, r2) + mul(h3, r1) + mul(h4, r0);

        d1 += d0 >> 26;
        d2 += d1 >> 26;
        d3 += d2 >> 26;
        d4 += d3 >> 26;
        d0 = (d0 & M26) + (d4 >> 26) * 5;
        h0 = (uint32_t)d0 & M26;
        h1 = ((uint32_t)d1 & M26) + (uint32_t)(d0 >> 26);
        h2 = (uint32_t)d2 & M26;
        h3 = (uint32_t)d3 & M26;
        h4 = (uint32_t)d4 & M26;
    }

    /* Back to the stored form: h1 may hold 27 bits or more, so add, and fold
     * nothing: the sum is below 2^130 + 2^60. */
    lo = h0 + ((uint64_t)h1 << 26);
    hi = ((uint64_t)h2 >> 12) + ((uint64_t)h3 << 14) + ((uint64_t)h4 << 40);
    p->h[0] = lo + ((uint64_t)h2 << 52);
    hi += p->h[0] < lo;
    p->h[1] = hi;
    p->h[2] = h4 >> 24;
    /* A carry out of hi happened if the part of h4 kept in it vanished. */
    p->h[2] += hi < (uint64_t)h4 << 40;
}

#endif

const struct bc_poly1305_ops bc_poly1305_ops_c = {
    .name = "c",
    .needs = 0,
    .blocks = blocks,
};
