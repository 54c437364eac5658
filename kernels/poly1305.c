/*
 * Poly1305 (RFC 8439, 2.5) as a stream: the key, bytes in any number of
 * pieces, and the last step from h to the tag. Head, bulk and tail are here;
 * the multiplications are the level's blocks().
 */
#include "internal.h"

void bc_poly1305_init(struct bc_poly1305 *p, const struct bc_poly1305_ops *ops)
{
    memset(p, 0, offsetof(struct bc_poly1305, powers));
    p->ops = ops;
}

/* Of the key before, which a message may have left unfinished. */
static void forget_powers(struct bc_poly1305 *p)
{
    if (p->npowers)
        bc_wipe(p->powers, p->ops->powers);
    p->npowers = 0;
    p->in_lanes = 0;
}

void bc_poly1305_set_key(struct bc_poly1305 *p, const uint8_t key[32])
{
    p->h[0] = 0;
    p->h[1] = 0;
    p->h[2] = 0;
    /* The clamp of RFC 8439, 2.5: it keeps the products small. */
    p->r[0] = load_le64(key) & UINT64_C(0x0ffffffc0fffffff);
    p->r[1] = load_le64(key + 8) & UINT64_C(0x0ffffffc0ffffffc);
    p->s[0] = load_le64(key + 16);
    p->s[1] = load_le64(key + 24);
    p->len = 0;
    forget_powers(p);
}

/* Behind the bytes of an open block there are zeros in buf: its first piece
 * brings them, and the next ones are put over them. */
void bc_poly1305_update(struct bc_poly1305 *p, const uint8_t *in, size_t len)
{
    size_t fill = (size_t)p->len & 15, n;
    struct half2 x;

    if (len == 0)
        return;
    p->len += len;
    if (fill) {
        n = 16 - fill < len ? 16 - fill : len;
        memcpy(p->buf + fill, in, n);
        if (fill + n < 16)
            return;
        p->ops->blocks(p, p->buf, 1, 1);
        in += n;
        len -= n;
    }
    if (len >= 16)
        p->ops->blocks(p, in, len / 16, 1);
    if (len & 15) {
        x = load_part(in + (len & ~(size_t)15), len & 15);
        store_le64(p->buf, x.lo);
        store_le64(p->buf + 8, x.hi);
    }
}

void bc_poly1305_tag(struct bc_poly1305 *p, uint8_t tag[16])
{
    size_t fill = (size_t)p->len & 15;
    uint64_t carry, lo, hi;

    if (fill) {
        p->buf[fill] = 1;
        p->ops->blocks(p, p->buf, 1, 0);
    }
    poly1305_settle(p);

    /* h < 2p, so the remainder is h, or h - p = h + 5 - 2^130 exactly if h + 5
     * reaches 2^130: what carry tells, on the way through the limbs. */
    carry = p->h[0] + 5 < 5;
    carry = p->h[1] + carry < carry;
    carry = (p->h[2] + carry) >> 2;
    lo = p->h[0] + p->s[0];
    hi = p->h[1] + p->s[1] + (lo < p->s[0]);
    lo += 5 * carry;
    hi += lo < 5 * carry;
    store_le64(tag, lo);
    store_le64(tag + 8, hi);

    /* One-time key: nothing of it is needed any more. */
    wipe_inline(p, offsetof(struct bc_poly1305, ops));
    forget_powers(p);
}

void bc_poly1305_wipe(struct bc_poly1305 *p)
{
    forget_powers(p);
    bc_wipe(p, offsetof(struct bc_poly1305, powers));
}
