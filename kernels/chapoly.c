/*
 * ChaCha20-Poly1305 (RFC 8439, 2.8): which bytes meet which key stream, what
 * goes into the MAC, and in what order. Head, bulk and tail of the message are
 * here; whole blocks are the level's.
 *
 * A pass of ChaCha20 takes about as long for one block as for the several that
 * a level computes side by side. So block 0, the one-time key of the MAC, is
 * made when the length of the message (or of its first piece) is known, along
 * with as much key stream as that needs, and what is left of a pass is kept
 * for the bytes to come.
 */
#include "internal.h"

/* Bytes that pass through cipher and MAC in turn, where a level has no joint
 * pass: source and destination stay in a first-level cache of 32 KiB. */
#define CHUNK 8192

static const uint8_t zeros[BC_CHAPOLY_STREAM];

void bc_chapoly_init(struct bc_chapoly *c, const struct bc_chapoly_ops *ops)
{
    memset(c, 0, offsetof(struct bc_chapoly, mac));
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

/* Wipes the key stream that no byte has used. */
static void drop_stream(struct bc_chapoly *c)
{
    if (c->at < c->end)
        bc_wipe(c->stream + c->at, c->end - c->at);
    c->at = 0;
    c->end = 0;
}

void bc_chapoly_start(struct bc_chapoly *c, const uint8_t nonce[12])
{
    uint32_t middle = load_le32(nonce + 4);

    /* Or else clang 14 loads the last 8 bytes as one; a caller who has just
     * copied the nonce has stored 8 and then 4. */
    __asm__("" : "+r"(middle));
    store_row(c->state + 12, 0, load_le32(nonce), middle, load_le32(nonce + 8));
    c->aad_len = 0;
    c->msg_len = 0;
    drop_stream(c); /* of a message that was left unfinished */
    c->keyed = 0;
}

/* Makes the next nblocks of key stream, when there is none left. */
static void make_stream(struct bc_chapoly *c, size_t nblocks)
{
    c->ops->chacha20(c->state, c->stream, zeros, nblocks);
    c->at = 0;
    c->end = 64 * (uint32_t)nblocks;
}

/* Rounds up to the blocks of a pass. A single one stays single: there are
 * faster ways for that than a pass. */
static size_t whole_pass(const struct bc_chapoly *c, size_t nblocks)
{
    const struct bc_chapoly_ops *ops = c->ops;

    if (nblocks <= 1)
        return 1;
    if (nblocks > ops->several)
        return ops->many;
    return (nblocks + ops->few - 1) & ~(size_t)(ops->few - 1);
}

/* Block 0 and nblocks - 1 more. Half of block 0 is not used (RFC 8439, 2.6). */
static void make_key(struct bc_chapoly *c, size_t nblocks)
{
    make_stream(c, nblocks);
    bc_poly1305_set_key(&c->mac, c->stream);
    wipe_inline(c->stream, 64);
    c->at = 64;
    c->keyed = 1;
    bc_poly1305_update(&c->mac, c->early, (size_t)c->aad_len);
}

void bc_chapoly_aad(struct bc_chapoly *c, const uint8_t *aad, size_t len)
{
    if (!c->keyed) {
        if (len <= sizeof(c->early) - (size_t)c->aad_len) {
            if (len)
                memcpy(c->early + c->aad_len, aad, len);
            c->aad_len += len;
            return;
        }
        make_key(c, c->ops->few);
    }
    c->aad_len += len;
    bc_poly1305_update(&c->mac, aad, len);
}

/* Zeros up to a multiple of 16 bytes, after the AAD and after the message. */
static void mac_pad(struct bc_chapoly *c)
{
    bc_poly1305_update(&c->mac, zeros, (size_t)(0 - c->mac.len) & 15);
}

/* Before the first byte of a message of len bytes, or of which that many are
 * at hand. The first pass takes what is no multiple of the longest one. */
static void begin(struct bc_chapoly *c, size_t len)
{
    size_t nblocks = 1 + len / 64 + (len % 64 != 0), many = c->ops->many;

    if (!c->keyed)
        make_key(c, nblocks <= many ? whole_pass(c, nblocks)
                                    : whole_pass(c, nblocks % many));
    mac_pad(c);
}

/* The key stream over len bytes, and no MAC. */
static void cipher(struct bc_chapoly *c, uint8_t *out, const uint8_t *in,
                   size_t len)
{
    size_t n, many = c->ops->many;

    for (;;) {
        n = c->end - c->at;
        if (n > len)
            n = len;
        if (n) { /* head, and tail: key stream made before */
            c->ops->use_stream(out, in, c->stream + c->at, n);
            c->at += (uint32_t)n;
            in += n;
            out += n;
            len -= n;
        }
        n = len / 64 & ~(many - 1);
        if (n) {
            c->ops->chacha20(c->state, out, in, n);
            c->at = 0;
            c->end = 0;
            in += 64 * n;
            out += 64 * n;
            len -= 64 * n;
        }
        if (len == 0)
            return;
        /* A message in small pieces: look further ahead with each pass. */
        n = len / 64 + (len % 64 != 0);
        if (n < 2 * (c->end / 64))
            n = 2 * (c->end / 64);
        make_stream(c, whole_pass(c, n));
    }
}

/* Cipher and MAC, one after the other: of decryption the MAC comes first, for
 * out may be in. */
static void two_passes(struct bc_chapoly *c, uint8_t *out, const uint8_t *in,
                       size_t len, int decrypt)
{
    if (decrypt)
        bc_poly1305_update(&c->mac, in, len);
    cipher(c, out, in, len);
    if (!decrypt)
        bc_poly1305_update(&c->mac, out, len);
}

/* Whole longest passes, when no key stream is open, where the level has a joint
 * pass. Returns how many bytes it did, fewer than a pass short of len. */
static size_t joint_pass(struct bc_chapoly *c, uint8_t *out, const uint8_t *in,
                         size_t len, int decrypt)
{
    size_t nblocks = len / 64 & ~(size_t)(c->ops->many - 1);

    if (nblocks == 0)
        return 0;
    c->at = 0;
    c->end = 0;
    c->mac.len += 64 * nblocks;
    (decrypt ? c->ops->decrypt : c->ops->encrypt)(c, out, in, nblocks);
    return 64 * nblocks;
}

static inline void crypt(struct bc_chapoly *c, uint8_t *out, const uint8_t *in,
                         size_t len, int decrypt)
{
    size_t n;

    if (len == 0)
        return;
    if (c->msg_len == 0)
        begin(c, len);
    c->msg_len += len;
    if (c->ops->encrypt && len >= c->end - c->at) {
        n = c->end - c->at;
        two_passes(c, out, in, n, decrypt);
        n += joint_pass(c, out + n, in + n, len - n, decrypt);
        in += n;
        out += n;
        len -= n;
    }
    for (; len; len -= n) {
        /* Ends with a longest pass, unless the message ends. */
        n = c->end - c->at + CHUNK;
        if (n > len)
            n = len;
        two_passes(c, out, in, n, decrypt);
        in += n;
        out += n;
    }
}

void bc_chapoly_encrypt(struct bc_chapoly *c, uint8_t *out, const uint8_t *in,
                        size_t len)
{
    crypt(c, out, in, len, 0);
}

void bc_chapoly_decrypt(struct bc_chapoly *c, uint8_t *out, const uint8_t *in,
                        size_t len)
{
    crypt(c, out, in, len, 1);
}

void bc_chapoly_tag(struct bc_chapoly *c, uint8_t tag[16])
{
    uint8_t lengths[16];

    if (c->msg_len == 0)
        begin(c, 0);
    mac_pad(c);
    store_le64(lengths, c->aad_len);
    store_le64(lengths + 8, c->msg_len);
    bc_poly1305_update(&c->mac, lengths, 16);
    bc_poly1305_tag(&c->mac, tag);
    drop_stream(c);
}

void bc_chapoly_wipe(struct bc_chapoly *c)
{
    bc_poly1305_wipe(&c->mac);
    drop_stream(c);
    bc_wipe(c, offsetof(struct bc_chapoly, mac));
}
