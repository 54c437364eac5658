/*
 * Poly1305: every level against long multiplication (slow_poly1305.h), at
 * every length, in any pieces, at any address, and with the inputs on which
 * carries get lost.
 */
#include "check.h"
#include "kernels.h"
#include "levels.h"
#include "slow_poly1305.h"

#include <string.h>

#define LONGEST 33100

static void mac_in_pieces(const struct bc_poly1305_ops *ops, uint8_t tag[16],
                          const uint8_t key[32], const uint8_t *in, size_t len,
                          size_t piece)
{
    static struct bc_poly1305 p;

    bc_poly1305_init(&p, ops);
    bc_poly1305_set_key(&p, key);
    for (; len > piece; in += piece, len -= piece)
        bc_poly1305_update(&p, in, piece);
    bc_poly1305_update(&p, in, len);
    bc_poly1305_tag(&p, tag);
}

static void mac(const struct bc_poly1305_ops *ops, uint8_t tag[16],
                const uint8_t key[32], const uint8_t *in, size_t len)
{
    mac_in_pieces(ops, tag, key, in, len, len);
}

/* ---- Lengths, between unmapped pages ---------------------------------------
 */

/* The lengths worth trying beyond the dense part: around the multiples of
 * every stride, and some in between. */
static int is_tried(size_t len)
{
    size_t off = (len + 20) % 1024;

    if (len <= 2100)
        return !quick() || len < 300 || len % 13 == 0;
    if (quick())
        return len % 8192 < 3 || len == 8300;
    return off < 40 || (len + 2) % 256 < 4 || len == 8300;
}

static void test_lengths(const struct bc_poly1305_ops *ops)
{
    struct guarded g = guard_new(LONGEST);
    uint8_t key[32], msg[LONGEST], tag[16], want[16];
    struct slow_num h = {{0}}, r, last;
    size_t len;

    rnd_bytes(key, sizeof(key));
    rnd_bytes(msg, sizeof(msg));
    slow_r(&r, key);
    for (len = 0; len < LONGEST; len++) {
        if (len && len % 16 == 0)
            slow_block(&h, &r, msg + len - 16, 16);
        if (!is_tried(len))
            continue;
        last = h;
        if (len % 16)
            slow_block(&last, &r, msg + len - len % 16, len % 16);
        slow_tag(want, &last, key);

        check_case("%s, %zu bytes, end at a page's end", ops->name, len);
        memcpy(guard_tail(&g, len), msg, len);
        mac(ops, tag, key, guard_tail(&g, len), len);
        CHECK_MEM(tag, want, 16);

        check_case("%s, %zu bytes, start at a page's start", ops->name, len);
        memcpy(g.begin, msg, len);
        mac(ops, tag, key, g.begin, len);
        CHECK_MEM(tag, want, 16);
    }
    guard_free(&g);
}

/* Key and tag between unmapped pages, and every misalignment. */
static void test_addresses(const struct bc_poly1305_ops *ops)
{
    struct guarded k = guard_new(32), t = guard_new(16), m = guard_new(1200);
    uint8_t msg[1100], want[16];
    size_t i, len;

    rnd_bytes(msg, sizeof(msg));
    for (i = 0; i <= 64; i++) {
        len = 1100 - rnd_below(100);
        check_case("%s, %zu bytes, misaligned by %zu", ops->name, len, i);
        rnd_bytes(guard_tail(&k, 32), 32);
        memcpy(m.begin + i, msg, len);
        slow_poly1305(want, guard_tail(&k, 32), msg, len);
        mac(ops, guard_tail(&t, 16), guard_tail(&k, 32), m.begin + i, len);
        CHECK_MEM(guard_tail(&t, 16), want, 16);
        memcpy(k.begin, guard_tail(&k, 32), 32);
        mac(ops, t.begin, k.begin, m.begin + i, len);
        CHECK_MEM(t.begin, want, 16);
    }
    guard_free(&k);
    guard_free(&t);
    guard_free(&m);
}

/* ---- Pieces ----------------------------------------------------------------
 */

static void test_bytewise(const struct bc_poly1305_ops *ops)
{
    static struct bc_poly1305 p, end;
    uint8_t key[32], msg[900], tag[16], want[16];
    size_t len;

    rnd_bytes(key, sizeof(key));
    rnd_bytes(msg, sizeof(msg));
    bc_poly1305_init(&p, ops);
    bc_poly1305_set_key(&p, key);
    for (len = 0; len < sizeof(msg); len++) {
        check_case("%s, %zu bytes one at a time", ops->name, len);
        if (!quick() || len % 16 < 2) {
            memcpy(&end, &p, sizeof(p)); /* a duplicate ends, p goes on */
            bc_poly1305_tag(&end, tag);
            slow_poly1305(want, key, msg, len);
            CHECK_MEM(tag, want, 16);
        }
        bc_poly1305_update(&p, msg + len, 1);
        bc_poly1305_update(&p, msg, 0);
    }
}

/* Bytes from..to of msg in pieces of up to max; now and then the pieces are
 * multiples of 256, which is what the wide code likes. */
static void in_pieces(struct bc_poly1305 *p, const uint8_t *msg, size_t from,
                      size_t to, uint32_t max)
{
    uint32_t unit = max > 600 && rnd_below(2) ? 256 : 1;

    while (from < to) {
        size_t n = (1 + rnd_below(max / unit)) * unit;

        if (n > to - from)
            n = to - from;
        bc_poly1305_update(p, msg + from, n);
        from += n;
    }
}

/* Random cuts, after a message that was left unfinished; somewhere the state
 * is duplicated, and from there the two go on with bytes of their own. */
static void test_cuts(const struct bc_poly1305_ops *ops)
{
    static const uint32_t most[] = {20, 70, 300, 1100, 5000};
    static struct bc_poly1305 p, dup;
    static uint8_t msg[2][20000];
    uint8_t key[32], tag[16], want[16];
    uint32_t round, rounds = quick() ? 20 : 400, max;
    size_t len, at;

    bc_poly1305_init(&p, ops);
    for (round = 0; round < rounds; round++) {
        max = most[round % 5];
        len = rnd_below(round % 5 < 3 ? 3000 : sizeof(msg[0]));
        at = rnd_below((uint32_t)len + 1);
        rnd_bytes(key, sizeof(key));
        rnd_bytes(msg[0], len);
        memcpy(msg[1], msg[0], at);
        rnd_bytes(msg[1] + at, len - at);

        if (round % 3 == 0)
            bc_poly1305_update(&p, msg[0], rnd_below((uint32_t)len + 1));
        bc_poly1305_set_key(&p, key);
        in_pieces(&p, msg[0], 0, at, max);
        memcpy(&dup, &p, sizeof(p));

        check_case("%s, round %u: %zu bytes in pieces of up to %u", ops->name,
                   round, len, max);
        in_pieces(&p, msg[0], at, len, max);
        bc_poly1305_tag(&p, tag);
        slow_poly1305(want, key, msg[0], len);
        CHECK_MEM(tag, want, 16);

        check_case("%s, round %u: %zu bytes in pieces of up to %u, on from a "
                   "duplicate taken at %zu",
                   ops->name, round, len, max, at);
        in_pieces(&dup, msg[1], at, len, max);
        bc_poly1305_tag(&dup, tag);
        slow_poly1305(want, key, msg[1], len);
        CHECK_MEM(tag, want, 16);
    }
}

/*
 * Whole blocks, so that a level may keep its sums in lanes from one piece to
 * the next. Wherever that is left off, for the tag or for a part of a block,
 * the sum is right; and a duplicate takes along what is in the lanes.
 */
static void test_whole_blocks(const struct bc_poly1305_ops *ops)
{
    static struct bc_poly1305 p, end;
    static struct slow_num h[301];
    uint8_t key[32], msg[16 * 301], tag[16], want[16];
    size_t first, piece, at, i, step = quick() ? 7 : 1;
    struct slow_num r, last;

    rnd_bytes(key, sizeof(key));
    rnd_bytes(msg, sizeof(msg));
    slow_r(&r, key);
    for (i = 0; i < 300; i++) {
        h[i + 1] = h[i];
        slow_block(&h[i + 1], &r, msg + 16 * i, 16);
    }
    bc_poly1305_init(&p, ops);
    for (first = 0; first < 100; first += step) {
        for (piece = 1; piece < 70; piece += step) {
            bc_poly1305_set_key(&p, key);
            bc_poly1305_update(&p, msg, 16 * first);
            for (at = first;; at += piece) {
                check_case("%s, %zu blocks, then up to %zu in pieces of %zu",
                           ops->name, first, at, piece);
                memcpy(&end, &p, sizeof(p));
                bc_poly1305_tag(&end, tag);
                slow_tag(want, &h[at], key);
                CHECK_MEM(tag, want, 16);
                if (at + piece > 300)
                    break;
                bc_poly1305_update(&p, msg + 16 * at, 16 * piece);
            }
            check_case("%s, %zu blocks, then up to %zu in pieces of %zu, and "
                       "5 bytes",
                       ops->name, first, at, piece);
            bc_poly1305_update(&p, msg + 16 * at, 5);
            bc_poly1305_tag(&p, tag);
            last = h[at];
            slow_block(&last, &r, msg + 16 * at, 5);
            slow_tag(want, &last, key);
            CHECK_MEM(tag, want, 16);
        }
    }
}

/* ---- Carries ---------------------------------------------------------------
 */

#define MAX_PATTERNS 80

/* Numbers below 2^128 (and, for targets, 2^130) whose limbs are all ones or
 * all zeros in the radix of one of the kernels. */
static size_t limb_patterns(struct slow_num pattern[MAX_PATTERNS])
{
    static const uint32_t radix[] = {26, 32, 44, 64};
    size_t n = 0, i;
    uint32_t ones, bit, limbs;

    for (i = 0; i < 4; i++) {
        limbs = (130 + radix[i] - 1) / radix[i];
        for (ones = 0; ones < 1u << limbs; ones++, n++) {
            memset(&pattern[n], 0, sizeof(pattern[n]));
            for (bit = 0; bit < 130; bit++)
                if (ones >> bit / radix[i] & 1)
                    pattern[n].byte[bit / 8] |= 1u << bit % 8;
        }
    }
    return n;
}

static void to_bytes(uint8_t out[16], const struct slow_num *n)
{
    int i;

    for (i = 0; i < 16; i++)
        out[i] = (uint8_t)n->byte[i];
}

/* r and all blocks of a message are such numbers. */
static void test_limbs(const struct bc_poly1305_ops *ops)
{
    static struct slow_num pattern[MAX_PATTERNS];
    size_t n = limb_patterns(pattern), i, j, k, at;
    uint8_t key[32], msg[16 * 40], tag[16], want[16];

    for (i = 0; i < n; i++) {
        for (j = 0; j < n; j += quick() ? 13 : 1) {
            to_bytes(key, &pattern[i]);
            memset(key + 16, i & 1 ? 0xff : 0, 16);
            for (k = 0; k < 40; k++)
                to_bytes(msg + 16 * k, &pattern[j]);
            if (j & 1) /* a third of the blocks of another kind */
                for (k = 0; k < 40; k += 3)
                    to_bytes(msg + 16 * k, &pattern[rnd_below((uint32_t)n)]);
            check_case("%s, limbs: r of kind %zu, blocks of kind %zu",
                       ops->name, i, j);
            slow_poly1305(want, key, msg, sizeof(msg));
            mac(ops, tag, key, msg, sizeof(msg));
            CHECK_MEM(tag, want, 16);
            mac_in_pieces(ops, tag, key, msg, sizeof(msg), 128);
            CHECK_MEM(tag, want, 16);
            at = 1 + rnd_below(600);
            slow_poly1305(want, key, msg, at);
            mac(ops, tag, key, msg, at);
            CHECK_MEM(tag, want, 16);
        }
    }
}

static void slow_mul(struct slow_num *a, const struct slow_num *b)
{
    struct slow_num x = {{0}};
    int i, j;

    for (i = 0; i < 17; i++)
        for (j = 0; j < 17; j++)
            x.byte[i + j] += a->byte[i] * b->byte[j];
    slow_mod(&x);
    *a = x;
}

/* a^(p - 2) = 1 / a; p - 2 is 2^130 - 7: ones, but for bits 1 and 2. */
static void slow_inverse(struct slow_num *out, const struct slow_num *a)
{
    struct slow_num x = {{1}};
    int bit;

    for (bit = 129; bit >= 0; bit--) {
        slow_mul(&x, &x);
        if (bit != 1 && bit != 2)
            slow_mul(&x, a);
    }
    *out = x;
}

/*
 * Finds the block that brings h to (h + block) r = target. As a block comes
 * with its 2^128, target / r - h must lie between 2^128 and 2^129: it does for
 * about one h in four.
 */
static int block_that_reaches(uint8_t block[16], const struct slow_num *target,
                              const struct slow_num *inverse,
                              const struct slow_num *h)
{
    struct slow_num x = *target;
    int i, borrow = 0;

    slow_mul(&x, inverse);
    for (i = 0; i < 17; i++) { /* + (p - h) */
        int d = (i == 0 ? 0xfb : i == 16 ? 3 : 0xff) - borrow;

        d -= (int)h->byte[i];
        borrow = d < 0;
        x.byte[i] += (uint32_t)(d + 256 * borrow);
    }
    slow_mod(&x);
    to_bytes(block, &x);
    return x.byte[16] == 1;
}

/* Messages whose sum, somewhere, is p - 6 ... p + 6 or has limbs of all ones
 * or zeros: there they end, and from there they go on. */
static void test_sums(const struct bc_poly1305_ops *ops)
{
    static const uint8_t prefixes[] = {1,  2,  3,  4,  7,  8,  9, 15,
                                       16, 17, 31, 32, 33, 63, 64};
    static struct slow_num target[MAX_PATTERNS + 13];
    uint8_t key[32], msg[16 * 100], tag[16], want[16];
    struct slow_num r, inverse, h;
    size_t n = limb_patterns(target), i, j, k, nblocks, tries;

    for (i = 0; i < 13; i++, n++) { /* p - 6 + i */
        memset(&target[n], 0, sizeof(target[n]));
        for (k = 0; k < 17; k++)
            target[n].byte[k] = k == 16 ? 3 : 0xff;
        target[n].byte[0] = (uint32_t)(0xfb - 6 + i);
    }
    for (i = 0; i < n; i++)
        slow_mod(&target[i]);
    for (i = 0; i < n; i++) {
        for (j = quick() ? i % 15 : 0; j < sizeof(prefixes);
             j += quick() ? 15 : 1) {
            nblocks = prefixes[j];
            rnd_bytes(key, sizeof(key));
            if (j % 4 == 0) { /* r = 1, 2, ...: the sum is made by adding */
                memset(key, 0, 16);
                key[0] = (uint8_t)(1 + j);
            }
            slow_r(&r, key);
            slow_inverse(&inverse, &r);
            tries = 0;
            do {
                rnd_bytes(msg, sizeof(msg));
                memset(&h, 0, sizeof(h));
                for (k = 0; k < nblocks; k++)
                    slow_block(&h, &r, msg + 16 * k, 16);
            } while (!block_that_reaches(msg + 16 * nblocks, &target[i],
                                         &inverse, &h) &&
                     ++tries < 50);
            if (tries == 50) /* two blocks and r = 1 do not reach all sums */
                continue;
            check_case("%s, sum of kind %zu after %zu blocks", ops->name, i,
                       nblocks + 1);
            slow_block(&h, &r, msg + 16 * nblocks, 16);
            CHECK_MEM(h.byte, target[i].byte, sizeof(h.byte));
            slow_tag(want, &h, key);
            mac(ops, tag, key, msg, 16 * (nblocks + 1));
            CHECK_MEM(tag, want, 16);
            slow_poly1305(want, key, msg, sizeof(msg));
            mac(ops, tag, key, msg, sizeof(msg));
            CHECK_MEM(tag, want, 16);
        }
    }
}

/* r = 0 makes every tag s; s = 0 and s = all ones are keys like others. */
static void test_special_keys(const struct bc_poly1305_ops *ops)
{
    static const size_t lens[] = {0, 1, 15, 16, 17, 64, 255, 256, 1040, 1500};
    uint8_t key[32], msg[1500], tag[16], want[16];
    size_t i, kind;

    for (kind = 0; kind < 5; kind++) {
        for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
            rnd_bytes(key, sizeof(key));
            rnd_bytes(msg, sizeof(msg));
            if (kind == 0)
                memset(key, 0, 16);
            else if (kind < 4)
                memset(key + 16, kind == 1 ? 0 : 0xff, 16);
            if (kind > 2) /* the largest r there is */
                memset(key, 0xff, 16);
            check_case("%s, key of kind %zu, %zu bytes", ops->name, kind,
                       lens[i]);
            mac(ops, tag, key, msg, lens[i]);
            slow_poly1305(want, key, msg, lens[i]);
            CHECK_MEM(tag, want, 16);
            if (kind == 0)
                CHECK_MEM(tag, key + 16, 16);
        }
    }
}

int main(void)
{
    size_t i;

    for (i = 0; bc_poly1305_list[i]; i++) {
        const struct bc_poly1305_ops *ops = bc_poly1305_list[i];

        if (!level_runs("poly1305", ops->name, ops->needs))
            continue;
        test_lengths(ops);
        test_addresses(ops);
        test_bytewise(ops);
        test_cuts(ops);
        test_whole_blocks(ops);
        test_limbs(ops);
        test_sums(ops);
        test_special_keys(ops);
    }
    return check_done();
}
