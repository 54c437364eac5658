/*
 * Any way to cut a message gives the same bytes: AAD and data in pieces of
 * four styles, out of place, in place, and into an output that trails the
 * input by any distance. Each call must give out exactly as many bytes as the
 * default provider's (CBC holds blocks back). Overlap in the other direction
 * cannot come out right and has to be refused.
 */
#include "evp.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PIECES 1200
#define LEAD 1200 /* the furthest the output trails the input */

enum style { RANDOM, BYTES, BLOCKS, SMALL, STYLES };

struct cuts {
    size_t count;
    int len[MOST_PIECES];
};

static size_t piece(enum style style, size_t left)
{
    switch (style) {
    case BYTES:
        return 1;
    case BLOCKS:
        return 16 * rnd_below(9);
    case SMALL:
        return rnd_below(4) ? rnd_below(34) : rnd_below(300);
    default:
        return rnd_below((uint32_t)left + 1);
    }
}

static void cut(struct cuts *c, enum style style, size_t len)
{
    c->count = 0;
    while (len > 0) {
        size_t n = piece(style, len);

        if (n > len || c->count + 1 == MOST_PIECES)
            n = len;
        c->len[c->count++] = (int)n;
        len -= n;
    }
    if (rnd_below(2))
        c->len[c->count++] = 0;
}

/* Runs m in pieces; outl[] gets what each call gave out, final's last. Returns
 * the sum, or -1 when a call was refused. */
static long run_cut(const struct side *s, EVP_CIPHER_CTX *ctx,
                    const struct message *m, const struct cuts *aad,
                    const struct cuts *data, uint8_t *out, int *outl)
{
    const uint8_t *in = m->in, *a = m->aad;
    long total = 0;
    size_t i;

    if (!message_init(s, ctx, m))
        return -1;
    for (i = 0; i < aad->count; i++) {
        if (!EVP_CipherUpdate(ctx, NULL, outl, a, aad->len[i]))
            return -1;
        a += aad->len[i];
    }
    for (i = 0; i < data->count; i++) {
        if (!EVP_CipherUpdate(ctx, out + total, &outl[i], in, data->len[i]))
            return -1;
        in += data->len[i];
        total += outl[i];
    }
    if (!message_final(ctx, m, out + total, &outl[i]))
        return -1;
    return total + outl[i];
}

static void check_style(EVP_CIPHER_CTX *ctx, int alg, int enc, int nopad,
                        enum style style, size_t aad_len, size_t len)
{
    static struct cuts aad, data;
    static int got[MOST_PIECES + 1], want[MOST_PIECES + 1];
    struct fixture f;
    uint8_t tag[16], *out, *buffer;
    size_t distance = rnd_below(3) ? rnd_below(70) : rnd_below(LEAD);
    long n;

    fixture_make(&f, alg, enc, aad_len, len);
    f.m.nopad = nopad;
    out = malloc(f.out_size);
    buffer = malloc(f.out_size + LEAD);
    cut(&aad, style, f.m.aad_len);
    cut(&data, style, f.m.len);
    check_case("%s %s, %zu bytes, AAD %zu, style %d, pad %d",
               algorithms[alg].name, enc ? "enc" : "dec", f.m.len, f.m.aad_len,
               style, !nopad);
    n = run_cut(&theirs, ctx, &f.m, &aad, &data, f.out, want);
    CHECK(n >= 0);
    memcpy(tag, f.tag, 16);

    CHECK_INT(run_cut(&ours, ctx, &f.m, &aad, &data, out, got), n);
    CHECK_MEM(got, want, (data.count + 1) * sizeof(*got));
    CHECK_MEM(out, f.out, (size_t)n);
    CHECK_MEM(f.tag, tag, 16);

    /* In place, and trailing the input. */
    memcpy(buffer, f.in, f.m.len);
    f.m.in = buffer;
    CHECK_INT(run_cut(&ours, ctx, &f.m, &aad, &data, buffer, got), n);
    CHECK_MEM(buffer, f.out, (size_t)n);
    CHECK_MEM(f.tag, tag, 16);

    memcpy(buffer + distance, f.in, f.m.len);
    f.m.in = buffer + distance;
    check_case("%s %s, %zu bytes, style %d, output %zu before the input",
               algorithms[alg].name, enc ? "enc" : "dec", f.m.len, style,
               distance);
    CHECK_INT(run_cut(&ours, ctx, &f.m, &aad, &data, buffer, got), n);
    CHECK_MEM(buffer, f.out, (size_t)n);
    CHECK_MEM(f.tag, tag, 16);
    free(out);
    free(buffer);
    fixture_free(&f);
}

static void check_mac_style(enum style style, size_t len)
{
    static struct cuts c;
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(ours.poly1305);
    uint8_t key[32], tag[16], want[16], *in = malloc(len + 1);
    size_t i, at = 0, n = 0;

    rnd_bytes(key, 32);
    rnd_bytes(in, len);
    cut(&c, style, len);
    check_case("POLY1305, %zu bytes, style %d", len, style);
    CHECK(poly1305_run(&theirs, key, in, len, want));
    CHECK(EVP_MAC_init(ctx, key, 32, NULL));
    for (i = 0; i < c.count; i++) {
        CHECK(EVP_MAC_update(ctx, in + at, (size_t)c.len[i]));
        at += (size_t)c.len[i];
    }
    CHECK(EVP_MAC_final(ctx, tag, &n, sizeof(tag)));
    CHECK_MEM(tag, want, 16);
    EVP_MAC_CTX_free(ctx);
    free(in);
}

/* AAD cut in two at each point. */
static void check_aad_cuts(EVP_CIPHER_CTX *ctx, int alg)
{
    struct fixture f;
    uint8_t tag[16];
    size_t len, at;
    int n, tail;

    for (len = 0; len <= 150; len += quick ? 17 : 1) {
        fixture_make(&f, alg, 1, len, 33);
        check_case("%s, AAD of %zu cut in two", algorithms[alg].name, len);
        CHECK_INT(message_run(&theirs, ctx, &f.m, f.out), 33);
        memcpy(tag, f.tag, 16);
        for (at = 0; at <= len; at++) {
            CHECK(message_init(&ours, ctx, &f.m));
            CHECK(EVP_CipherUpdate(ctx, NULL, &n, f.aad, (int)at));
            CHECK(EVP_CipherUpdate(ctx, NULL, &n, f.aad + at, (int)(len - at)));
            CHECK(EVP_CipherUpdate(ctx, f.out, &n, f.in, 33));
            CHECK(message_final(ctx, &f.m, f.out + 33, &tail));
            CHECK_MEM(f.tag, tag, 16);
        }
        fixture_free(&f);
    }
}

/* Output ahead of the input by less than its length: 0, an error, nothing
 * written, and the message can go on. */
static void check_forward(EVP_CIPHER_CTX *ctx, int alg, int enc, size_t len,
                          size_t ahead)
{
    struct fixture f;
    uint8_t *buffer, *before;
    int n = 0, last = 0;
    long want;

    fixture_make(&f, alg, enc, 5, len);
    len = f.m.len;
    buffer = malloc(2 * len + 32);
    before = malloc(2 * len + 32);
    rnd_bytes(buffer, 2 * len + 32);
    memcpy(buffer, f.in, len);
    memcpy(before, buffer, 2 * len + 32);
    check_case("%s %s, %zu bytes, output %zu after the input",
               algorithms[alg].name, enc ? "enc" : "dec", len, ahead);
    want = message_run(&theirs, ctx, &f.m, f.out);
    CHECK(message_init(&ours, ctx, &f.m));
    if (f.m.aad_len)
        CHECK(EVP_CipherUpdate(ctx, NULL, &n, f.aad, (int)f.m.aad_len));
    ERR_clear_error();
    CHECK_INT(EVP_CipherUpdate(ctx, buffer + ahead, &n, buffer, (int)len), 0);
    CHECK(ERR_get_error() != 0);
    CHECK_MEM(buffer, before, 2 * len + 32);
    CHECK(EVP_CipherUpdate(ctx, buffer, &n, buffer, (int)len));
    CHECK(message_final(ctx, &f.m, buffer + n, &last));
    CHECK_INT(n + last, want);
    CHECK_MEM(buffer, f.out, (size_t)want);
    /* Right behind the input is no overlap. */
    memcpy(buffer, f.in, len);
    CHECK(message_init(&ours, ctx, &f.m));
    CHECK(EVP_CipherUpdate(ctx, buffer + len, &n, buffer, (int)len));
    free(buffer);
    free(before);
    fixture_free(&f);
}

/* CBC with an open block: the output of update begins with the bytes that
 * were held back, so even out == in runs ahead. Right or refused. */
static void check_held_back(EVP_CIPHER_CTX *ctx, int alg, int held)
{
    struct fixture f;
    uint8_t head[32], buffer[256];
    int n = 0, m = 0;

    fixture_make(&f, alg, 1, 0, 200);
    check_case("%s, %d bytes held back, in place", algorithms[alg].name, held);
    message_run(&theirs, ctx, &f.m, f.out);
    memcpy(buffer, f.in + held, 200 - (size_t)held);
    CHECK(message_init(&ours, ctx, &f.m));
    CHECK(EVP_CipherUpdate(ctx, head, &n, f.in, held));
    if (EVP_CipherUpdate(ctx, buffer, &m, buffer, 200 - held)) {
        CHECK_MEM(head, f.out, (size_t)n);
        CHECK_MEM(buffer, f.out + n, (size_t)m);
    } else {
        CHECK_MEM(buffer, f.in + held, 200 - (size_t)held);
    }
    ERR_clear_error();
    fixture_free(&f);
}

int main(void)
{
    EVP_CIPHER_CTX *ctx;
    int alg, enc, style, round, rounds = quick ? 4 : 40, held;

    evp_open();
    ctx = EVP_CIPHER_CTX_new();
    for (alg = 0; alg < CIPHERS; alg++)
        for (enc = 0; enc <= 1; enc++)
            for (style = 0; style < STYLES; style++)
                for (round = 0; round < rounds; round++) {
                    size_t most = style == BYTES ? 900
                                  : round % 8    ? 1100
                                                 : 9000;

                    check_style(ctx, alg, enc, 0, (enum style)style,
                                rnd_below(style == BYTES ? 120 : 600),
                                rnd_below((uint32_t)most));
                    if (algorithms[alg].mode == CBC && enc)
                        check_style(ctx, alg, enc, 1, (enum style)style, 0,
                                    16 * rnd_below((uint32_t)most / 16));
                }
    for (style = 0; style < STYLES; style++)
        for (round = 0; round < rounds; round++)
            check_mac_style((enum style)style,
                            rnd_below(style == BYTES ? 900 : 8300));
    for (alg = 3; alg < CIPHERS; alg++)
        check_aad_cuts(ctx, alg);
    if (strict) {
        for (alg = 0; alg < CIPHERS; alg++)
            for (enc = 0; enc <= 1; enc++)
                for (round = 0; round < rounds; round++) {
                    size_t len = 32 + rnd_below(round % 4 ? 600 : 3000);

                    check_forward(ctx, alg, enc, len,
                                  1 + rnd_below((uint32_t)len - 1));
                }
        for (alg = 0; alg < 3; alg++)
            for (held = 1; held < 16; held++)
                check_held_back(ctx, alg, held);
    }
    EVP_CIPHER_CTX_free(ctx);
    evp_close();
    return check_done();
}
