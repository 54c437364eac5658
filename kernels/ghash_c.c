/*
 * GHASH by integer multiplication, and the portable GCM table. Runs on every
 * processor whose integer multiply takes the same time for all operands, which
 * includes the 32-bit ones: there the compiler makes a 64-bit multiply out of
 * 32-bit ones. No tables.
 */
#include "aes_c.h"
#include "internal.h"

/* ---- Carry-less multiplication ------------------------------------------- */

/*
 * The low 64 bits of the carry-less product. An integer product differs from a
 * carry-less one by its carries; if only every fourth bit of both factors can
 * be set, at most 16 products meet at one bit position. Their sum spills into
 * the three empty positions above, whose content the mask drops, and a sum of
 * 16, which would reach the next position in use, arises only in bits 60 to 63
 * of the result, where what it spills is beyond the word. Four by four such
 * parts, put together by the position (i + j) mod 4 of their product, are the
 * whole.
 */
static uint64_t clmul_low(uint64_t x, uint64_t y)
{
    const uint64_t m = UINT64_C(0x1111111111111111);
    uint64_t x0 = x & m, x1 = x & m << 1, x2 = x & m << 2, x3 = x & m << 3;
    uint64_t y0 = y & m, y1 = y & m << 1, y2 = y & m << 2, y3 = y & m << 3;

    return (((x0 * y0) ^ (x1 * y3) ^ (x2 * y2) ^ (x3 * y1)) & m) |
           (((x0 * y1) ^ (x1 * y0) ^ (x2 * y3) ^ (x3 * y2)) & m << 1) |
           (((x0 * y2) ^ (x1 * y1) ^ (x2 * y0) ^ (x3 * y3)) & m << 2) |
           (((x0 * y3) ^ (x1 * y2) ^ (x2 * y1) ^ (x3 * y0)) & m << 3);
}

static uint64_t reverse_bits(uint64_t x)
{
    const uint64_t m1 = UINT64_C(0x5555555555555555);
    const uint64_t m2 = UINT64_C(0x3333333333333333);
    const uint64_t m4 = UINT64_C(0x0f0f0f0f0f0f0f0f);
    const uint64_t m8 = UINT64_C(0x00ff00ff00ff00ff);
    const uint64_t m16 = UINT64_C(0x0000ffff0000ffff);

    x = (x >> 1 & m1) | (x & m1) << 1;
    x = (x >> 2 & m2) | (x & m2) << 2;
    x = (x >> 4 & m4) | (x & m4) << 4;
    x = (x >> 8 & m8) | (x & m8) << 8;
    x = (x >> 16 & m16) | (x & m16) << 16;
    return x >> 32 | x << 32;
}

/* ---- GHASH --------------------------------------------------------------- */

/*
 * H as the multiplication wants it: the two halves, their sum (for Karatsuba),
 * and each of them reversed. Kept in g->powers from the place of H^1 on, which
 * is as far as bc_gcm_wipe() wipes for one power.
 */
#define KEY_AT (16 * (BC_GCM_POWERS - 1))
struct ghash_key {
    uint64_t h[3];
    uint64_t r[3];
};
_Static_assert(KEY_AT + sizeof(struct ghash_key) <=
                   sizeof(((struct bc_gcm *)0)->powers),
               "the key fits into the powers");

/*
 * SP 800-38D, 6.3, counts bits from the left: x^0 is the first bit of the
 * first byte. Read as a big-endian 128-bit integer, a polynomial is reversed:
 * x^i is bit 127 - i. The product of two such integers has x^k at bit 254 - k;
 * one shift to the left brings it to 255 - k, and then the upper 128 bits are
 * x^0 to x^127 in their places, and the lower are x^128 to x^255, reversed in
 * the same way.
 *
 * The upper half of a 64x64 product is not to be had from clmul_low(); but the
 * reversed factors give the reversed 127-bit product, whose low half is, read
 * backwards and shifted by one, the upper half wanted.
 *
 * For the reduction x^128 = 1 + x + x^2 + x^7: a word of the lower half comes
 * back 128 places further up, times 1 + x + x^2 + x^7, which are shifts to the
 * *right* by 0, 1, 2, 7, and the bits shifted out go to the top of the word
 * below. The last word goes first, because what it shifts out falls into the
 * one before.
 */
static void ghash_mul(uint64_t y[2], const struct ghash_key *k)
{
    uint64_t a[3] = {y[0], y[1], y[0] ^ y[1]};
    uint64_t lo[3], hi[3], v0, v1, v2, v3;
    int i;

    for (i = 0; i < 3; i++) {
        lo[i] = clmul_low(a[i], k->h[i]);
        hi[i] = reverse_bits(clmul_low(reverse_bits(a[i]), k->r[i])) >> 1;
    }
    lo[2] ^= lo[0] ^ lo[1];
    hi[2] ^= hi[0] ^ hi[1];

    /* y[0] and h[0] are the more significant halves; v3 is the top word. */
    v3 = hi[0] << 1 | (lo[0] ^ hi[2]) >> 63;
    v2 = (lo[0] ^ hi[2]) << 1 | (hi[1] ^ lo[2]) >> 63;
    v1 = (hi[1] ^ lo[2]) << 1 | lo[1] >> 63;
    v0 = lo[1] << 1;

    v1 ^= v0 << 63 ^ v0 << 62 ^ v0 << 57;
    v2 ^= v0 ^ v0 >> 1 ^ v0 >> 2 ^ v0 >> 7;
    v2 ^= v1 << 63 ^ v1 << 62 ^ v1 << 57;
    v3 ^= v1 ^ v1 >> 1 ^ v1 >> 2 ^ v1 >> 7;
    y[0] = v3;
    y[1] = v2;
}

static void gcm_ghash(struct bc_gcm *g, const uint8_t *in, size_t nblocks)
{
    uint64_t y[2] = {load_be64(g->acc), load_be64(g->acc + 8)};
    struct ghash_key k;

    memcpy(&k, (const uint8_t *)g->powers + KEY_AT, sizeof(k));
    if (g->open)
        ghash_mul(y, &k);
    g->open = 0;
    for (; nblocks > 0; nblocks--, in += 16) {
        y[0] ^= load_be64(in);
        y[1] ^= load_be64(in + 8);
        ghash_mul(y, &k);
    }
    store_be64(g->acc, y[0]);
    store_be64(g->acc + 8, y[1]);
}

/* ---- GCM ----------------------------------------------------------------- */

static void gcm_set_key(struct bc_gcm *g, const uint8_t *raw, size_t keylen)
{
    uint8_t h[16] = {0};
    struct ghash_key k;
    int i;

    bc_aes_c_set_key(&g->key, raw, keylen);
    bc_aes_c_encrypt(&g->key, h, h, 1);
    k.h[0] = load_be64(h);
    k.h[1] = load_be64(h + 8);
    k.h[2] = k.h[0] ^ k.h[1];
    for (i = 0; i < 3; i++)
        k.r[i] = reverse_bits(k.h[i]);
    memcpy((uint8_t *)g->powers + KEY_AT, &k, sizeof(k));
    g->npowers = 1;
    bc_wipe(h, sizeof(h));
    bc_wipe(&k, sizeof(k));
}

static void gcm_block(const struct bc_gcm *g, uint8_t out[16],
                      const uint8_t in[16])
{
    bc_aes_c_encrypt(&g->key, out, in, 1);
}

/* Up to four blocks of CTR; the key stream is left in `stream`. Four counters
 * are made in any case: with nblocks as the bound, gcc 12 ends the loop by the
 * value of the counter, which is secret if GHASH made it. */
static void ctr_blocks(struct bc_gcm *g, uint8_t stream[64], size_t nblocks)
{
    uint32_t n = load_be32(g->ctr + 12), i;

    for (i = 0; i < 4; i++) {
        memcpy(stream + 16 * i, g->ctr, 12);
        store_be32(stream + 16 * i + 12, n + i);
    }
    store_be32(g->ctr + 12, n + (uint32_t)nblocks);
    bc_aes_c_encrypt(&g->key, stream, stream, nblocks);
}

static void gcm_encrypt(struct bc_gcm *g, uint8_t *out, const uint8_t *in,
                        size_t nblocks)
{
    uint8_t x[64];

    while (nblocks > 0) {
        size_t n = nblocks < 4 ? nblocks : 4, i;

        ctr_blocks(g, x, n);
        for (i = 0; i < 16 * n; i += 16)
            store_16(x + i, xor_16(load_16(x + i), load_16(in + i)));
        gcm_ghash(g, x, n);
        memcpy(out, x, 16 * n);
        in += 16 * n;
        out += 16 * n;
        nblocks -= n;
    }
}

static void gcm_decrypt(struct bc_gcm *g, uint8_t *out, const uint8_t *in,
                        size_t nblocks)
{
    uint8_t x[64];

    while (nblocks > 0) {
        size_t n = nblocks < 4 ? nblocks : 4, i;

        gcm_ghash(g, in, n); /* first, as `out` may lie over `in` */
        ctr_blocks(g, x, n);
        for (i = 0; i < 16 * n; i += 16)
            store_16(x + i, xor_16(load_16(x + i), load_16(in + i)));
        memcpy(out, x, 16 * n);
        in += 16 * n;
        out += 16 * n;
        nblocks -= n;
    }
    bc_wipe(x, sizeof(x));
}

static void gcm_tag(struct bc_gcm *g, uint8_t tag[16])
{
    uint8_t lengths[16];

    store_be64(lengths, g->aad_len * 8);
    store_be64(lengths + 8, g->msg_len * 8);
    gcm_ghash(g, lengths, 1);
    store_16(tag, xor_16(load_16(g->acc), load_16(g->ej0)));
}

const struct bc_gcm_ops bc_gcm_ops_c = {
    .name = "c",
    .needs = 0,
    .set_key = gcm_set_key,
    .block = gcm_block,
    .ghash = gcm_ghash,
    .encrypt = gcm_encrypt,
    .decrypt = gcm_decrypt,
    .tag = gcm_tag,
};
