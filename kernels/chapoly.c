/*
 * ChaCha20-Poly1305 (RFC 8439, 2.8): which bytes meet which key stream, what
 * goes into the MAC, and in what order. Head, bulk and tail of the message are
 * here; whole blocks are the level's.
 *
 * A pass of ChaCha20 takes about as long for one block as for the several that
 * a level computes side by side. So block 0, the one-time key of the MAC, is
 * made when the length of the message (or of its first piece) is known, along
 * with as much key stream as that needs. A message in pieces has passes look
 * ahead, and what they leave is kept for the bytes to come.
 */
#include "internal.h"

/* Bytes that pass through cipher and MAC in turn, where a level has no joint
 * pass: source and destination stay in a first-level cache of 32 KiB. */
#define CHUNK 8192

/*
 * The way of a message in pieces has few calls (hence INLINE): each of them,
 * and what a compiler does around it, delays the next pass by 5 to 10 cycles.
 * What happens once a message is kept APART.
 */

static const uint8_t zeros[16];

void bc_chapoly_init(struct bc_chapoly *c, const struct bc_chapoly_ops *ops)
{
    memset(c, 0, offsetof(struct bc_chapoly, mac));
    c->ops = ops;
    bc_poly1305_init(&c->mac, ops->poly1305);
}

void bc_chapoly_set_key(struct bc_chapoly *c, const uint8_t key[32])
{
    int i;

    /* "expa", "nd 3", "2-by", "te k" */
    store_row(c->state, 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574);
    for (i = 0; i < 32; i += 16)
        store_row(c->state + 4 + i / 4, load_le32(key + i),
                  load_le32(key + i + 4), load_le32(key + i + 8),
                  load_le32(key + i + 12));
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
    c->expected = c->msg_len - c->first_len;
    c->aad_len = 0;
    c->msg_len = 0;
    c->first_len = 0;
    drop_stream(c); /* of a message that was left unfinished */
    c->keyed = 0;
}

/* The next nblocks of key stream when there is none left; n of them are used at
 * once. key, and which nblocks there are: see the ops table. */
static void make_stream(struct bc_chapoly *c, uint8_t *key, size_t nblocks,
                        uint8_t *out, const uint8_t *in, size_t n)
{
    c->ops->pass(c->state, key, c->stream, nblocks, out, in, n);
    c->at = 64 * (uint32_t)n;
    c->end = 64 * (uint32_t)nblocks;
}

/* Block 0, half of which is the key of the MAC (RFC 8439, 2.6), and more. */
static void make_key(struct bc_chapoly *c, size_t nblocks, uint8_t *out,
                     const uint8_t *in, size_t n)
{
    uint8_t key[64];

    make_stream(c, key, nblocks, out, in, n);
    bc_poly1305_set_key(&c->mac, key);
    wipe_inline(key, sizeof(key));
    c->keyed = 1;
}

void bc_chapoly_aad(struct bc_chapoly *c, const uint8_t *aad, size_t len)
{
    if (!c->keyed) {
        if (len <= BC_CHAPOLY_EARLY - (size_t)c->aad_len) {
            if (len == 0)
                return;
            memcpy(c->early + c->aad_len, aad, len);
            c->aad_len += len;
            memset(c->early + c->aad_len, 0, 16);
            return;
        }
        make_key(c, 0, NULL, NULL, 0);
        bc_poly1305_update(&c->mac, c->early, (size_t)c->aad_len);
    }
    c->aad_len += len;
    bc_poly1305_update(&c->mac, aad, len);
}

/* An out behind in does not overlap it (kernels.h). */
static inline int disjoint(const uint8_t *out, const uint8_t *in, size_t len)
{
    return (uintptr_t)out > (uintptr_t)in ||
           (uintptr_t)in - (uintptr_t)out >= len;
}

/*
 * Before the first byte of a message of len bytes, or of which that many are
 * at hand. The first pass takes what is no multiple of the longest one, and
 * looks ahead as far as the message before would have needed. Returns how many
 * bytes it has been used for: none, unless `direct`.
 */
APART size_t begin(struct bc_chapoly *c, uint8_t *out, const uint8_t *in,
                   size_t len, int decrypt)
{
    size_t many = c->ops->many, nblocks, n = 0;

    if (!c->keyed) {
        nblocks = len / 64 + (len % 64 != 0);
        if (nblocks > many) {
            nblocks = (nblocks - 1) % many + 1;
            /* The MAC of the first pass would come by itself. */
            if (nblocks == many && decrypt && c->ops->beside)
                nblocks = 0;
        } else if (c->expected)
            nblocks = nblocks + c->expected / 64 < many
                          ? nblocks + (size_t)c->expected / 64
                          : many;
        if (nblocks > c->ops->several && nblocks < many)
            nblocks = many - 1;
        if (!decrypt || disjoint(out, in, len))
            n = len / 64 < nblocks ? len / 64 : nblocks;
        make_key(c, nblocks, out, in, n);
        bc_poly1305_update(&c->mac, c->early,
                           ((size_t)c->aad_len + 15) & ~(size_t)15);
    } else {
        bc_poly1305_update(&c->mac, zeros, (size_t)(0 - c->mac.len) & 15);
    }
    return 64 * n;
}

/* The key stream over len bytes, and no MAC. */
INLINE void cipher(struct bc_chapoly *c, uint8_t *out, const uint8_t *in,
                   size_t len)
{
    size_t many = c->ops->many, n = c->end - c->at, nblocks, made;

    if (len == 0)
        return;
    if (n) { /* head: key stream made before */
        if (n > len)
            n = len;
        c->ops->use_stream(out, in, c->stream + c->at, n);
        c->at += (uint32_t)n;
        if (n == len)
            return;
        in += n;
        out += n;
        len -= n;
    }
    n = len / 64 & ~(many - 1);
    if (n) {
        c->ops->chacha20(c->state, out, in, n);
        c->at = 0;
        c->end = 0;
        if (64 * n == len)
            return;
        in += 64 * n;
        out += 64 * n;
        len -= 64 * n;
    }
    n = len / 64;
    nblocks = n + (len % 64 != 0);
    if (c->msg_len > c->first_len) {
        /* A message in pieces: look ahead, further with each pass. */
        made = c->state[12] - 1;
        if (made < many / 2)
            made *= 3;
        if (nblocks < made)
            nblocks = made;
    }
    if (nblocks > c->ops->several)
        nblocks = many;
    make_stream(c, NULL, nblocks, out, in, n);
    if (64 * n < len) { /* tail */
        c->ops->use_stream(out + 64 * n, in + 64 * n, c->stream + c->at,
                           len - 64 * n);
        c->at += (uint32_t)(len - 64 * n);
    }
}

/* bc_poly1305_update(), without its call for whole blocks. */
INLINE void mac(struct bc_chapoly *c, const uint8_t *in, size_t len)
{
    if (((c->mac.len | len) & 15) == 0) {
        c->mac.len += len;
        c->mac.ops->blocks(&c->mac, in, len / 16, 1);
    } else {
        bc_poly1305_update(&c->mac, in, len);
    }
}

/* Cipher and MAC, one after the other: of decryption the MAC comes first, for
 * out may be in. The first `done` bytes the cipher has seen. */
INLINE void two_passes(struct bc_chapoly *c, uint8_t *out, const uint8_t *in,
                       size_t len, int decrypt, size_t done)
{
    if (decrypt)
        mac(c, in, len);
    cipher(c, out + done, in + done, len - done);
    if (!decrypt)
        mac(c, out, len);
}

/*
 * Longest passes with the MAC beside them, if the level has such. Decryption
 * takes the MAC of what it is about to decrypt. Encryption's is a pass behind;
 * so is decryption's if the first pass has been used before the MAC had a key.
 * Returns how many bytes it did: none, or less than a pass short of len.
 */
APART size_t joint_passes(struct bc_chapoly *c, uint8_t *out, const uint8_t *in,
                          size_t len, int decrypt, size_t done)
{
    const uint8_t *text = decrypt ? in : out;
    size_t pass = 64 * (size_t)c->ops->many, behind = pass;
    size_t n = done + (c->end - c->at), whole;

    if (n != pass || done != pass) { /* no pass yet to be behind of */
        behind = decrypt ? 0 : pass;
        if (len < n + behind + pass)
            return 0;
        two_passes(c, out, in, n, decrypt, done);
        c->ops->chacha20(c->state, out + n, in + n, behind / 64);
        n += behind;
    } else if (len < n + pass) {
        return 0;
    }
    c->at = 0;
    c->end = 0;
    whole = (len - n) / pass * pass;
    c->mac.len += whole;
    c->ops->beside(c, out + n, in + n, text + n - behind, whole / 64);
    n += whole;
    bc_poly1305_update(&c->mac, text + n - behind, behind);
    return n;
}

INLINE void crypt(struct bc_chapoly *c, uint8_t *out, const uint8_t *in,
                  size_t len, int decrypt)
{
    size_t n, done = 0;

    if (len == 0)
        return;
    if (c->msg_len == 0) {
        /* The key of the MAC comes with the first pass. */
        done = begin(c, out, in, len, decrypt);
        c->first_len = len;
    }
    c->msg_len += len;
    if (c->ops->beside) {
        n = joint_passes(c, out, in, len, decrypt, done);
        if (n)
            done = 0;
        in += n;
        out += n;
        len -= n;
    }
    for (; len; len -= n) {
        /* Ends with a longest pass, unless the message ends. */
        n = done + (c->end - c->at) + CHUNK;
        if (n > len)
            n = len;
        two_passes(c, out, in, n, decrypt, done);
        done = 0;
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
    size_t fill;
    uint8_t last[32];

    if (c->msg_len == 0)
        begin(c, NULL, NULL, 0, 0);
    store_le64(last + 16, c->aad_len);
    store_le64(last + 24, c->msg_len);
    fill = (size_t)c->mac.len & 15;
    if (fill) {
        /* The open block with the zeros behind it is taken back, to go with
         * the lengths: one call of the level takes less time than two. */
        memcpy(last, c->mac.buf, 16);
        c->mac.len -= fill;
        bc_poly1305_update(&c->mac, last, 32);
    } else {
        bc_poly1305_update(&c->mac, last + 16, 16);
    }
    bc_poly1305_tag(&c->mac, tag);
    drop_stream(c);
}

void bc_chapoly_wipe(struct bc_chapoly *c)
{
    bc_poly1305_wipe(&c->mac);
    drop_stream(c);
    bc_wipe(c, offsetof(struct bc_chapoly, mac));
}
