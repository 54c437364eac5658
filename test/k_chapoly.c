/*
 * ChaCha20-Poly1305: every level against RFC 8439 written out plainly in this
 * file, at every length, in any pieces, at any address, in place, and up to
 * the last value of the block counter.
 */
#include "check.h"
#include "kernels.h"
#include "levels.h"
#include "slow_poly1305.h"

#include <string.h>

#define LONGEST 33100
#define MAX_AAD 2200

/* ---- The reference ---------------------------------------------------------
 */

static void slow_quarter(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d)
{
    static const int by[4] = {16, 12, 8, 7};
    uint32_t *x[4] = {a, b, c, d}, t;
    int i;

    for (i = 0; i < 4; i++) {
        int to = i & 1 ? 2 : 0; /* a += b, d ^= a; then c += d, b ^= c */
        uint32_t *sum = x[to], *turn = x[i & 1 ? 1 : 3];

        *sum += *x[i & 1 ? 3 : 1];
        t = *turn ^ *sum;
        *turn = t << by[i] | t >> (32 - by[i]);
    }
}

/* Block `counter` of the key stream, from the diagonals' definition. */
static void slow_block64(uint8_t out[64], const uint8_t key[32],
                         uint32_t counter, const uint8_t nonce[12])
{
    uint8_t in[64];
    uint32_t x[16], s[16];
    int i, j;

    memcpy(in, "expand 32-byte k", 16);
    memcpy(in + 16, key, 32);
    for (i = 0; i < 4; i++)
        in[48 + i] = (uint8_t)(counter >> 8 * i);
    memcpy(in + 52, nonce, 12);
    for (i = 0; i < 16; i++)
        for (j = 3, s[i] = 0; j >= 0; j--)
            s[i] = s[i] << 8 | in[4 * i + j];
    memcpy(x, s, sizeof(x));
    for (i = 0; i < 20; i++)
        for (j = 0; j < 4; j++) {
            int turn = i & 1; /* row k of a diagonal is k further on */

            slow_quarter(&x[j], &x[4 + (j + turn) % 4],
                         &x[8 + (j + 2 * turn) % 4],
                         &x[12 + (j + 3 * turn) % 4]);
        }
    for (i = 0; i < 64; i++)
        out[i] = (uint8_t)((x[i / 4] + s[i / 4]) >> 8 * (i % 4));
}

/* A message and what it should become; all of it may be sliced. */
struct message {
    uint8_t key[32], nonce[12];
    uint8_t aad[MAX_AAD];
    uint8_t plain[LONGEST + 64], cipher[LONGEST + 64];
    struct slow_num r;
    uint8_t onetime[64];
};

static void message_new(struct message *m)
{
    uint32_t i, j;

    rnd_bytes(m->key, 32);
    rnd_bytes(m->nonce, 12);
    rnd_bytes(m->aad, sizeof(m->aad));
    rnd_bytes(m->plain, sizeof(m->plain));
    slow_block64(m->onetime, m->key, 0, m->nonce);
    slow_r(&m->r, m->onetime);
    for (i = 0; i < sizeof(m->plain) / 64; i++) {
        slow_block64(m->cipher + 64 * i, m->key, i + 1, m->nonce);
        for (j = 0; j < 64; j++)
            m->cipher[64 * i + j] ^= m->plain[64 * i + j];
    }
}

static void slow_padded(struct slow_num *h, const struct slow_num *r,
                        const uint8_t *in, size_t len)
{
    uint8_t block[16];

    for (; len; in += 16, len -= 16) {
        memset(block, 0, 16);
        memcpy(block, in, len < 16 ? len : 16);
        slow_block(h, r, block, 16);
        if (len < 16)
            break;
    }
}

/* The tag over the first bytes of AAD and ciphertext, from h on. */
static void slow_end(uint8_t tag[16], const struct message *m,
                     struct slow_num h, size_t aadlen, size_t len)
{
    uint8_t lengths[16];
    int i;

    for (i = 0; i < 8; i++) {
        lengths[i] = (uint8_t)((uint64_t)aadlen >> 8 * i);
        lengths[8 + i] = (uint8_t)((uint64_t)len >> 8 * i);
    }
    slow_block(&h, &m->r, lengths, 16);
    slow_tag(tag, &h, m->onetime);
}

static void slow_aead_tag(uint8_t tag[16], const struct message *m,
                          size_t aadlen, size_t len)
{
    struct slow_num h = {{0}};

    slow_padded(&h, &m->r, m->aad, aadlen);
    slow_padded(&h, &m->r, m->cipher, len);
    slow_end(tag, m, h, aadlen, len);
}

/* ---- One call each ---------------------------------------------------------
 */

static void one_call(struct bc_chapoly *c, const struct message *m, int enc,
                     size_t aadlen, uint8_t *out, const uint8_t *in, size_t len,
                     uint8_t tag[16])
{
    bc_chapoly_start(c, m->nonce);
    bc_chapoly_aad(c, m->aad, aadlen);
    if (enc)
        bc_chapoly_encrypt(c, out, in, len);
    else
        bc_chapoly_decrypt(c, out, in, len);
    bc_chapoly_tag(c, tag);
}

/* As in k_poly1305: dense at first, then around the multiples of strides. */
static int is_tried(size_t len)
{
    if (len <= 1100)
        return !quick() || len < 200 || len % 5 == 0 || (len + 1) % 64 < 3;
    if (quick())
        return (len + 1) % 8192 < 3;
    return (len + 65) % 2048 < 131 || (len + 2) % 512 < 4;
}

static void test_lengths(const struct bc_chapoly_ops *ops, struct message *m)
{
    static struct bc_chapoly c;
    struct guarded in = guard_new(LONGEST + 64), out = guard_new(LONGEST);
    uint8_t tag[16], want[16], untouched[64];
    size_t len, aadlen;
    int enc;

    memset(untouched, 0xa5, sizeof(untouched));
    message_new(m);
    bc_chapoly_init(&c, ops);
    bc_chapoly_set_key(&c, m->key);
    for (len = 0; len < LONGEST; len++) {
        const uint8_t *from, *to;

        if (!is_tried(len))
            continue;
        aadlen = len % 3 ? len % 40 : len % 2000;
        if (len > 1100 && aadlen > 64)
            aadlen = 13;
        slow_aead_tag(want, m, aadlen, len);
        for (enc = 0; enc < 2; enc++) {
            from = enc ? m->plain : m->cipher;
            to = enc ? m->cipher : m->plain;
            check_case("%s, %s %zu bytes, AAD %zu, up to a page's end",
                       ops->name, enc ? "encrypt" : "decrypt", len, aadlen);
            memcpy(guard_tail(&in, len), from, len);
            one_call(&c, m, enc, aadlen, guard_tail(&out, len),
                     guard_tail(&in, len), len, tag);
            CHECK_MEM(guard_tail(&out, len), to, len);
            CHECK_MEM(tag, want, 16);

            check_case("%s, %s %zu bytes, AAD %zu, in place at a page's start",
                       ops->name, enc ? "encrypt" : "decrypt", len, aadlen);
            memcpy(in.begin, from, len);
            memset(in.begin + len, 0xa5, 64);
            one_call(&c, m, enc, aadlen, in.begin, in.begin, len, tag);
            CHECK_MEM(in.begin, to, len);
            CHECK_MEM(tag, want, 16);
            CHECK_MEM(in.begin + len, untouched, 64);
        }
    }
    guard_free(&in);
    guard_free(&out);
}

/* Output in front of the input at any distance, and any misalignment. */
static void test_addresses(const struct bc_chapoly_ops *ops, struct message *m)
{
    static const size_t far[] = {65, 100, 127, 128, 255, 511, 513, 1000};
    static struct bc_chapoly c;
    static uint8_t buf[8000];
    struct guarded key = guard_new(32), nonce = guard_new(12);
    uint8_t tag[16], want[16];
    size_t i, d, len, at, enc;

    message_new(m);
    memcpy(guard_tail(&key, 32), m->key, 32);
    memcpy(guard_tail(&nonce, 12), m->nonce, 12);
    bc_chapoly_init(&c, ops);
    bc_chapoly_set_key(&c, guard_tail(&key, 32));
    for (i = 0; i < 2 * (65 + sizeof(far) / sizeof(far[0])); i++) {
        enc = i & 1;
        d = i / 2 < 65 ? i / 2 : far[i / 2 - 65];
        len = i % 3 ? rnd_below(700) : rnd_below(6900);
        if (quick())
            len %= 1500;
        at = rnd_below(64);
        check_case("%s, %s %zu bytes from %zu to %zu bytes before", ops->name,
                   enc ? "encrypt" : "decrypt", len, at, d);
        memcpy(buf + at + d, enc ? m->plain : m->cipher, len);
        one_call(&c, m, (int)enc, at, buf + at, buf + at + d, len, tag);
        CHECK_MEM(buf + at, enc ? m->cipher : m->plain, len);
        slow_aead_tag(want, m, at, len);
        CHECK_MEM(tag, want, 16);
    }

    check_case("%s, nonce and AAD at a page's end, tag at another's",
               ops->name);
    bc_chapoly_start(&c, guard_tail(&nonce, 12));
    memcpy(guard_tail(&key, 21), m->aad, 21);
    bc_chapoly_aad(&c, guard_tail(&key, 21), 21);
    bc_chapoly_tag(&c, guard_tail(&nonce, 16));
    slow_aead_tag(want, m, 21, 0);
    CHECK_MEM(guard_tail(&nonce, 16), want, 16);
    memcpy(nonce.begin, m->nonce, 12);
    memcpy(key.begin, m->key, 32);
    bc_chapoly_set_key(&c, key.begin);
    bc_chapoly_start(&c, nonce.begin);
    bc_chapoly_tag(&c, nonce.begin);
    slow_aead_tag(want, m, 0, 0);
    CHECK_MEM(nonce.begin, want, 16);
    guard_free(&key);
    guard_free(&nonce);
}

/* ---- Pieces ----------------------------------------------------------------
 */

static void test_bytewise(const struct bc_chapoly_ops *ops, struct message *m)
{
    static struct bc_chapoly c, end;
    uint8_t out, none[1] = {0}, tag[16], want[16];
    size_t len, aadlen, step = quick() ? 13 : 1;
    int enc;

    message_new(m);
    bc_chapoly_init(&c, ops);
    bc_chapoly_set_key(&c, m->key);

    bc_chapoly_start(&c, m->nonce);
    for (aadlen = 0; aadlen < 900; aadlen++) {
        check_case("%s, AAD, %zu bytes one at a time", ops->name, aadlen);
        if (aadlen % step == 0) {
            memcpy(&end, &c, sizeof(c));
            bc_chapoly_tag(&end, tag);
            slow_aead_tag(want, m, aadlen, 0);
            CHECK_MEM(tag, want, 16);
        }
        bc_chapoly_aad(&c, m->aad + aadlen, 1);
        bc_chapoly_aad(&c, none, 0);
    }
    for (enc = 0; enc < 2; enc++) {
        bc_chapoly_start(&c, m->nonce);
        bc_chapoly_aad(&c, m->aad, 21);
        for (len = 0; len < 900; len++) {
            check_case("%s, %s %zu bytes one at a time", ops->name,
                       enc ? "encrypt" : "decrypt", len);
            if (len % step == 0) {
                memcpy(&end, &c, sizeof(c));
                bc_chapoly_tag(&end, tag);
                slow_aead_tag(want, m, 21, len);
                CHECK_MEM(tag, want, 16);
            }
            if (enc) {
                bc_chapoly_encrypt(&c, &out, m->plain + len, 1);
                bc_chapoly_encrypt(&c, none, none, 0);
            } else {
                bc_chapoly_decrypt(&c, &out, m->cipher + len, 1);
                bc_chapoly_decrypt(&c, none, none, 0);
            }
            CHECK_INT(out, enc ? m->cipher[len] : m->plain[len]);
        }
    }
}

/* Key stream that is not waiting for its byte is wiped, and passes rely on it
 * that there are zeros. */
static void check_stream(const struct bc_chapoly *c)
{
    size_t i;

    for (i = 0; i < sizeof(c->stream); i++)
        if (c->stream[i] && (i < c->at || i >= c->end))
            break;
    CHECK_INT(i, sizeof(c->stream));
}

static void in_pieces(struct bc_chapoly *c, int enc, uint8_t *out,
                      const uint8_t *in, size_t from, size_t to, uint32_t max)
{
    uint32_t unit = max > 600 && rnd_below(2) ? 256 : 1;

    while (from < to) {
        size_t n = (1 + rnd_below(max / unit)) * unit;

        if (n > to - from)
            n = to - from;
        if (enc)
            bc_chapoly_encrypt(c, out + from, in + from, n);
        else
            bc_chapoly_decrypt(c, out + from, in + from, n);
        from += n;
        check_stream(c);
    }
}

/*
 * Random cuts of AAD and message, after a message that was left unfinished.
 * Somewhere in the message the state is duplicated; both go on, the duplicate
 * to another end of the message.
 */
static void test_cuts(const struct bc_chapoly_ops *ops, struct message *m)
{
    static const uint32_t most[] = {20, 70, 300, 1100, 5000};
    static struct bc_chapoly c, dup;
    static uint8_t out[LONGEST], out2[LONGEST];
    uint8_t tag[16], want[16];
    uint32_t round, rounds = quick() ? 15 : 400, max;
    size_t len, len2, at, aadlen, n;
    int enc;

    bc_chapoly_init(&c, ops);
    for (round = 0; round < rounds; round++) {
        if (round % 10 == 0)
            message_new(m);
        if (round % 10 == 0 || round % 3 == 0) /* re-key, or the same key */
            bc_chapoly_set_key(&c, m->key);
        enc = round & 1;
        max = most[round % 5];
        len = rnd_below(round % 5 < 3 ? 3000 : quick() ? 6000 : LONGEST);
        at = rnd_below((uint32_t)len + 1);
        len2 = at + rnd_below(LONGEST - (uint32_t)at) % 2500;
        aadlen = rnd_below(round % 4 ? 40 : MAX_AAD);

        if (round % 3 == 1) { /* abandoned in the AAD or in the message */
            bc_chapoly_start(&c, m->nonce);
            bc_chapoly_aad(&c, m->aad, rnd_below(100));
            bc_chapoly_encrypt(&c, out, m->plain, rnd_below(700));
        }
        check_case("%s, round %u: %s %zu bytes, AAD %zu, pieces of up to %u",
                   ops->name, round, enc ? "encrypt" : "decrypt", len, aadlen,
                   max);
        bc_chapoly_start(&c, m->nonce);
        for (n = 0; n < aadlen;) {
            size_t k = 1 + rnd_below(max);

            k = k < aadlen - n ? k : aadlen - n;
            bc_chapoly_aad(&c, m->aad + n, k);
            n += k;
        }
        in_pieces(&c, enc, out, enc ? m->plain : m->cipher, 0, at, max);
        memcpy(&dup, &c, sizeof(c));
        in_pieces(&c, enc, out, enc ? m->plain : m->cipher, at, len, max);
        bc_chapoly_tag(&c, tag);
        CHECK_MEM(out, enc ? m->cipher : m->plain, len);
        slow_aead_tag(want, m, aadlen, len);
        CHECK_MEM(tag, want, 16);

        check_case("%s, round %u: %s %zu bytes, AAD %zu, pieces of up to %u, "
                   "on from a duplicate taken at %zu",
                   ops->name, round, enc ? "encrypt" : "decrypt", len2, aadlen,
                   max, at);
        in_pieces(&dup, enc, out2, enc ? m->plain : m->cipher, at, len2, max);
        bc_chapoly_tag(&dup, tag);
        CHECK_MEM(out2 + at, (enc ? m->cipher : m->plain) + at, len2 - at);
        slow_aead_tag(want, m, aadlen, len2);
        CHECK_MEM(tag, want, 16);
    }
}

/* ---- The counter -----------------------------------------------------------
 */

/*
 * ChaCha20 of a table alone, at every number of blocks and from any counter.
 * A message never takes the counter past 2^32 - 1, but wide kernels compute
 * blocks beyond the last one they use.
 */
static void test_counter(const struct bc_chapoly_ops *ops, struct message *m)
{
    static const uint32_t start[] = {0,          1,          0xff,
                                     0x7ffffff0, 0xfffffff0, 0xffffffd0};
    static struct bc_chapoly c;
    static uint8_t in[64 * 100], out[64 * 100], want[64 * 100];
    uint32_t i, n, k, from;

    message_new(m);
    rnd_bytes(in, sizeof(in));
    bc_chapoly_init(&c, ops);
    bc_chapoly_set_key(&c, m->key);
    for (i = 0; i < sizeof(start) / sizeof(start[0]); i++) {
        for (n = 0; n <= 100; n += quick() && n > 20 ? 7 : 1) {
            from = start[i];
            if (from > 0x80000000u && from > 0u - n)
                from = 0u - n; /* the last block is number 2^32 - 1 */
            check_case("%s, %u blocks from counter %u", ops->name, n, from);
            bc_chapoly_start(&c, m->nonce);
            c.state[12] = from;
            ops->chacha20(c.state, out, in, n);
            for (k = 0; k < n; k++) {
                uint32_t j;

                slow_block64(want + 64 * k, m->key, from + k, m->nonce);
                for (j = 0; j < 64; j++)
                    want[64 * k + j] ^= in[64 * k + j];
            }
            CHECK_MEM(out, want, 64 * (size_t)n);
            CHECK_INT(c.state[12], (uint32_t)(from + n));
        }
    }
}

/*
 * Passes alone: every number of blocks that they make, with a key block and
 * without, any part of them used at once, in place and not, from any counter.
 * The stream ends at an unmapped page.
 */
static void test_pass(const struct bc_chapoly_ops *ops, struct message *m)
{
    static struct bc_chapoly c;
    static uint8_t want[64 * 33], zeros[BC_CHAPOLY_STREAM];
    struct guarded g = guard_new(64 * ops->many);
    uint8_t key[64], *stream = guard_tail(&g, 64 * ops->many);
    uint8_t in[BC_CHAPOLY_STREAM], out[BC_CHAPOLY_STREAM];
    uint32_t nblocks, with_key, n, k, from;
    size_t i, kept;

    message_new(m);
    bc_chapoly_init(&c, ops);
    bc_chapoly_set_key(&c, m->key);
    for (nblocks = 0; nblocks <= ops->many; nblocks++) {
        for (with_key = 0; with_key < 2; with_key++) {
            if (nblocks > ops->several && nblocks + with_key < ops->many)
                continue;
            for (n = 0; n <= nblocks; n++) {
                if (nblocks + with_key == 0)
                    continue;
                from = rnd_below(2) ? rnd_below(1000) : 0u - nblocks - with_key;
                check_case("%s, a pass of %u blocks%s from counter %u, %u of "
                           "them used",
                           ops->name, nblocks, with_key ? " and a key" : "",
                           from, n);
                bc_chapoly_start(&c, m->nonce);
                c.state[12] = from;
                for (k = 0; k < nblocks + with_key; k++)
                    slow_block64(want + 64 * k, m->key, from + k, m->nonce);
                rnd_bytes(in, sizeof(in));
                memcpy(out, in, sizeof(out));
                memset(stream, 0, 64 * ops->many);
                ops->pass(c.state, with_key ? key : NULL, stream, nblocks, out,
                          rnd_below(2) ? in : out, n);
                CHECK_INT(c.state[12], (uint32_t)(from + nblocks + with_key));
                if (with_key)
                    CHECK_MEM(key, want, 64);
                for (i = 0; i < 64 * n; i++)
                    in[i] ^= want[64 * with_key + i];
                CHECK_MEM(out, in, sizeof(in));
                kept = 64 * (size_t)(nblocks - n);
                CHECK_MEM(stream, zeros, 64 * n);
                CHECK_MEM(stream + 64 * n, want + 64 * (with_key + n), kept);
                CHECK_MEM(stream + 64 * nblocks, zeros,
                          64 * (ops->many - nblocks));
            }
        }
    }
    guard_free(&g);
}

int main(void)
{
    static struct message m;
    size_t i;

    for (i = 0; bc_chapoly_list[i]; i++) {
        const struct bc_chapoly_ops *ops = bc_chapoly_list[i];

        if (!level_runs("chapoly", ops->name, ops->needs))
            continue;
        test_lengths(ops, &m);
        test_addresses(ops, &m);
        test_bytewise(ops, &m);
        test_cuts(ops, &m);
        test_counter(ops, &m);
        test_pass(ops, &m);
    }
    return check_done();
}
