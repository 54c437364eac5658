/*
 * ChaCha20-Poly1305 (RFC 8439, 2.8): which bytes meet which key stream, what
 * goes into the MAC, and in what order. Head, bulk and tail of the message are
 * here; whole blocks are the level's.
 *
 * The MAC covers AAD, zeros to a multiple of 16, ciphertext, zeros to a
 * multiple of 16, and both lengths. How much of a block of key stream is used
 * follows from msg_len; `stream` holds the block that the message stopped in.
 */
#include "internal.h"

/* Bytes that pass through cipher and MAC in turn. Both of the source and the
 * destination stay in a first-level cache of 32 KiB on the second pass. */
#define CHUNK 8192

static const uint8_t zeros[64];

void bc_chapoly_init(struct bc_chapoly *c, const struct bc_chapoly_ops *ops)
{
    memset(c, 0, sizeof(*c));
    c->ops = ops;
    bc_poly1305_init(&c->mac, ops->poly1305);
}

void bc_chapoly_set_key(struct bc_chapoly *c, const uint8_t key[32])
{
    int i;

    c->state[0] = 0x61707865; /* "expa" */
    c->state[1] = 0x3320646e; /* "nd 3" */
    c->state[2] = 0x79622d32; /* "2-by" */
    c->state[3] = 0x6b206574; /* "te k" */
    for (i = 0; i < 8; i++)
        c->state[4 + i] = load_le32(key + 4 * i);
}

void bc_chapoly_start(struct bc_chapoly *c, const uint8_t nonce[12])
{
    int i;

    c->state[12] = 0;
    for (i = 0; i < 3; i++)
        c->state[13 + i] = load_le32(nonce + 4 * i);
    c->aad_len = 0;
    c->msg_len = 0;

    /* Block 0 is the one-time key; half of it is not used (RFC 8439, 2.6). */
    c->ops->chacha20(c->state, c->stream, zeros, 1);
    bc_poly1305_set_key(&c->mac, c->stream);
}

void bc_chapoly_aad(struct bc_chapoly *c, const uint8_t *aad, size_t len)
{
    c->aad_len += len;
    bc_poly1305_update(&c->mac, aad, len);
}

/* Zeros up to a multiple of 16 bytes, after the AAD and after the message. */
static void mac_pad(struct bc_chapoly *c)
{
    bc_poly1305_update(&c->mac, zeros, (size_t)(0 - c->mac.len) & 15);
}

static void xor_bytes(uint8_t *out, const uint8_t *in, const uint8_t *stream,
                      size_t len)
{
    size_t i;

    for (i = 0; i < len; i++)
        out[i] = in[i] ^ stream[i];
}

/* in to out, under the key stream that follows. */
static void cipher(struct bc_chapoly *c, uint8_t *out, const uint8_t *in,
                   size_t len)
{
    size_t used = (size_t)c->msg_len & 63, n;

    c->msg_len += len;
    if (used) { /* head: the open block */
        n = 64 - used < len ? 64 - used : len;
        xor_bytes(out, in, c->stream + used, n);
        out += n;
        in += n;
        len -= n;
    }
    n = len & ~(size_t)63;
    if (n)
        c->ops->chacha20(c->state, out, in, n / 64);
    if (len & 63) { /* tail: opens a block */
        c->ops->chacha20(c->state, c->stream, zeros, 1);
        xor_bytes(out + n, in + n, c->stream, len & 63);
    }
}

void bc_chapoly_encrypt(struct bc_chapoly *c, uint8_t *out, const uint8_t *in,
                        size_t len)
{
    size_t n;

    if (c->msg_len == 0)
        mac_pad(c);
    for (; len; out += n, in += n, len -= n) {
        n = len < CHUNK ? len : CHUNK;
        cipher(c, out, in, n);
        bc_poly1305_update(&c->mac, out, n);
    }
}

void bc_chapoly_decrypt(struct bc_chapoly *c, uint8_t *out, const uint8_t *in,
                        size_t len)
{
    size_t n;

    if (c->msg_len == 0)
        mac_pad(c);
    for (; len; out += n, in += n, len -= n) {
        n = len < CHUNK ? len : CHUNK;
        bc_poly1305_update(&c->mac, in, n);
        cipher(c, out, in, n);
    }
}

void bc_chapoly_tag(struct bc_chapoly *c, uint8_t tag[16])
{
    uint8_t lengths[16];

    mac_pad(c);
    store_le64(lengths, c->aad_len);
    store_le64(lengths + 8, c->msg_len);
    bc_poly1305_update(&c->mac, lengths, 16);
    bc_poly1305_tag(&c->mac, tag);
    bc_wipe(c->stream, sizeof(c->stream));
}
