/*
 * ChaCha20 (RFC 8439, 2.1 to 2.4) in plain C, one 64-byte block at a time: for
 * processors without vector kernels, and the reference the others are tested
 * against. Additions, rotations and xors only, so its time depends on nothing
 * but the number of blocks.
 */
#include "chacha20_block.h"

static void chacha20(uint32_t state[16], uint8_t *out, const uint8_t *in,
                     size_t nblocks)
{
    uint32_t x[16];
    int i;

    for (; nblocks; nblocks--, in += 64, out += 64) {
        memcpy(x, state, sizeof(x));
        for (i = 0; i < 10; i++)
            chacha20_double_round(x);
        /* All of the input is read before any of the output is written, so
         * that out may be in, or lie in front of it. */
        for (i = 0; i < 16; i++)
            x[i] = (x[i] + state[i]) ^ load_le32(in + 4 * i);
        for (i = 0; i < 16; i++)
            store_le32(out + 4 * i, x[i]);
        state[12]++;
    }
    bc_wipe(x, sizeof(x));
}

static void pass(uint32_t state[16], uint8_t *key, uint8_t *stream,
                 size_t nblocks, uint8_t *out, const uint8_t *in, size_t n)
{
    if (key) {
        memset(key, 0, 64);
        chacha20(state, key, key, 1);
    }
    chacha20(state, out, in, n);
    chacha20(state, stream + 64 * n, stream + 64 * n, nblocks - n);
}

/* Upwards and load before store, so that out may lie in front of in. */
static void use_stream(uint8_t *out, const uint8_t *in, uint8_t *stream,
                       size_t len)
{
    const struct half2 zero = {0, 0};
    struct half2 a, b;

    for (; len >= 16; in += 16, out += 16, stream += 16, len -= 16) {
        a = xor_16(load_16(in), load_16(stream));
        store_16(stream, zero);
        store_16(out, a);
    }
    if (len) {
        a = load_part(in, len);
        b = load_part(stream, len);
        store_part(stream, zero, len);
        store_part(out, xor_16(a, b), len);
    }
}

const struct bc_chapoly_ops bc_chapoly_ops_c = {
    .name = "c",
    .needs = 0,
    .poly1305 = &bc_poly1305_ops_c,
    .several = 1,
    .many = 1,
    .chacha20 = chacha20,
    .pass = pass,
    .use_stream = use_stream,
};
