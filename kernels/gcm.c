/*
 * AES-GCM over an ops table (NIST SP 800-38D): cuts AAD and message, which
 * come in any number of pieces, into what is left of an open block, whole
 * blocks for the kernel, and the beginning of the next open block:
 *
 *     gcm_head()    the rest of the block that the last piece left open
 *     ops->...      whole blocks
 *     gcm_tail()    the last partial block, for every instruction set
 *
 * An open block needs no buffer. Its bytes are xored into acc as they come,
 * each in its place, and the multiplication by H waits until the next block
 * begins. How full it is, the low four bits of aad_len or msg_len say. A full
 * block may be open, too: the last of AAD, whose multiplication then is one
 * of those that follow, and where the kernel sees an advantage.
 *
 * Not here: whether a call is allowed at this point, limits of lengths, and
 * the comparison of the tag; the caller sees to them.
 */
#include "internal.h"

/* acc ^= x, whose bytes belong from byte `at` of the block. */
static inline void acc_xor(struct bc_gcm *g, struct half2 x, size_t at)
{
    store_16(g->acc, xor_16(load_16(g->acc), move_up(x, at)));
}

/* len bytes of message that belong from byte `at` of the open block, whose key
 * stream is there; 1 <= len <= 15, at + len <= 16. Inlined: at is 0 in
 * gcm_tail(), where most partial blocks end up, and nothing is moved then. */
INLINE void gcm_part(struct bc_gcm *g, uint8_t *out, const uint8_t *in,
                     size_t at, size_t len, int decrypt)
{
    struct half2 x = load_part(in, len);
    struct half2 y = xor_16(x, move_down(load_16(g->stream), at));

    store_part(out, y, len);
    acc_xor(g, decrypt ? x : keep_part(y, len), at);
}

/* Fills the open block, of which `at` bytes are there; returns the number of
 * bytes taken. */
static size_t gcm_head(struct bc_gcm *g, uint8_t *out, const uint8_t *in,
                       size_t at, int decrypt)
{
    gcm_part(g, out, in, at, 16 - at, decrypt);
    return 16 - at;
}

/* The next counter, in one store of 16 bytes (see store_16()). */
static void next_counter(struct bc_gcm *g)
{
    uint32_t n = load_be32(g->ctr + 12) + 1;
    struct half2 c = load_16(g->ctr);
    uint8_t last[4];

    store_be32(last, n);
    c.hi = (uint32_t)c.hi | (uint64_t)load_le32(last) << 32;
    store_16(g->ctr, c);
}

/* Opens a block; the one before is padded with zeros, which change nothing. */
static void gcm_open(struct bc_gcm *g)
{
    if (g->open)
        g->ops->ghash(g, NULL, 0);
    g->open = 1;
}

/* Opens a block with the last 1 to 15 bytes. */
static void gcm_tail(struct bc_gcm *g, uint8_t *out, const uint8_t *in,
                     size_t len, int decrypt)
{
    gcm_open(g);
    g->ops->block(g, g->stream, g->ctr);
    next_counter(g);
    gcm_part(g, out, in, 0, len, decrypt);
}

static void gcm_bulk(struct bc_gcm *g, uint8_t *out, const uint8_t *in,
                     size_t nblocks, int decrypt)
{
    if (decrypt)
        g->ops->decrypt(g, out, in, nblocks);
    else
        g->ops->encrypt(g, out, in, nblocks);
}

/* SP 800-38D, 7.1 and 7.2, for a piece that ends behind the open block. Never
 * inlined, so that the others do not pay for the registers it saves. */
APART void gcm_piece(struct bc_gcm *g, uint8_t *out, const uint8_t *in,
                     size_t len, int decrypt)
{
    size_t at = g->msg_len & 15, n;

    g->msg_len += len;
    if (at != 0) {
        n = gcm_head(g, out, in, at, decrypt);
        out += n;
        in += n;
        len -= n;
    }
    n = len & ~(size_t)15;
    if (n != 0)
        gcm_bulk(g, out, in, n / 16, decrypt);
    if (len != n)
        gcm_tail(g, out + n, in + n, len - n, decrypt);
}

/* Inlined into both directions, for the sake of short messages and pieces. */
static inline void gcm_crypt(struct bc_gcm *g, uint8_t *out, const uint8_t *in,
                             size_t len, int decrypt)
{
    size_t at = g->msg_len & 15;

    if (len == 0)
        return;
    if (((at | len) & 15) == 0) {
        g->msg_len += len;
        gcm_bulk(g, out, in, len / 16, decrypt);
    } else if (at != 0 && len <= 16 - at) {
        g->msg_len += len;
        gcm_part(g, out, in, at, len, decrypt);
    } else {
        gcm_piece(g, out, in, len, decrypt);
    }
}

void bc_gcm_encrypt(struct bc_gcm *g, uint8_t *out, const uint8_t *in,
                    size_t len)
{
    gcm_crypt(g, out, in, len, 0);
}

void bc_gcm_decrypt(struct bc_gcm *g, uint8_t *out, const uint8_t *in,
                    size_t len)
{
    gcm_crypt(g, out, in, len, 1);
}

void bc_gcm_aad(struct bc_gcm *g, const uint8_t *aad, size_t len)
{
    size_t at = g->aad_len & 15, n;

    g->aad_len += len;
    if (at != 0 && len != 0) {
        n = len < 16 - at ? len : 16 - at;
        acc_xor(g, load_part(aad, n), at);
        aad += n;
        len -= n;
    }
    if (len == 0)
        return;
    n = (len - 1) / 16;
    if (n != 0)
        g->ops->ghash(g, aad, n);
    gcm_open(g);
    aad += 16 * n;
    len -= 16 * n;
    acc_xor(g, len == 16 ? load_16(aad) : load_part(aad, len), 0);
}

/* J0 of an IV that has not 12 bytes. The last partial block is padded, and
 * the block of its length follows at once, so both go together. */
APART void j0_from_ghash(struct bc_gcm *g, uint8_t j0[16], const uint8_t *iv,
                         size_t ivlen)
{
    size_t whole = ivlen / 16, part = ivlen & 15;
    uint8_t last[32] = {0};

    g->ops->ghash(g, iv, whole);
    if (part != 0)
        store_16(last, load_part(iv + 16 * whole, part));
    store_be64(last + 24, (uint64_t)ivlen * 8);
    if (part != 0)
        g->ops->ghash(g, last, 2);
    else
        g->ops->ghash(g, last + 16, 1);
    memcpy(j0, g->acc, 16);
    memset(g->acc, 0, 16);
}

void bc_gcm_start(struct bc_gcm *g, const uint8_t *iv, size_t ivlen)
{
    struct half2 j0;

    memset(g->acc, 0, sizeof(g->acc));
    g->aad_len = 0;
    g->msg_len = 0;
    g->open = 0;
    if (ivlen == 12) {
        /* J0 ends with 00000001, the first counter block with 00000002. */
        j0.lo = load_le64(iv);
        j0.hi = load_le32(iv + 8) | UINT64_C(1) << 56;
        store_16(g->ej0, j0);
        j0.hi += UINT64_C(1) << 56;
        store_16(g->ctr, j0);
    } else {
        j0_from_ghash(g, g->ej0, iv, ivlen);
        memcpy(g->ctr, g->ej0, 16);
        next_counter(g);
    }
    g->ops->block(g, g->ej0, g->ej0);
}

void bc_gcm_tag(struct bc_gcm *g, uint8_t tag[16])
{
    g->ops->tag(g, tag);
}

void bc_gcm_init(struct bc_gcm *g, const struct bc_gcm_ops *ops)
{
    g->ops = ops;
    g->npowers = 0;
    g->oldnpowers = 0;
    memset(g, 0, offsetof(struct bc_gcm, npowers));
    memset(g->powers[BC_GCM_POWERS], 0, sizeof(g->powers) - 16 * BC_GCM_POWERS);
    memset(g->shifted[BC_GCM_SHIFTED], 0,
           sizeof(g->shifted) - 16 * BC_GCM_SHIFTED);
}

void bc_gcm_set_key(struct bc_gcm *g, const uint8_t *key, size_t keylen)
{
    if (g->oldnpowers < g->npowers)
        g->oldnpowers = g->npowers;
    g->ops->set_key(g, key, keylen);
}

/* Of the array of powers, what lies in front of the highest was never written.
 * Most contexts saw one key and short messages: two powers, for which memset()
 * is called with constants. bc_wipe() comes last and keeps all the stores. */
void bc_gcm_wipe(struct bc_gcm *g)
{
    size_t n = g->npowers < g->oldnpowers ? g->oldnpowers : g->npowers;

    memset(g->powers[BC_GCM_POWERS - 2], 0, 6 * sizeof(g->powers[0]));
    memset(g->shifted[BC_GCM_SHIFTED - 2], 0, 6 * sizeof(g->shifted[0]));
    if (n > 2) {
        memset(g->powers[BC_GCM_POWERS - n], 0, n * sizeof(g->powers[0]));
        memset(g->shifted, 0, sizeof(g->shifted));
        memset(g->sums, 0, sizeof(g->sums));
    }
    bc_wipe(g, offsetof(struct bc_gcm, powers));
}
