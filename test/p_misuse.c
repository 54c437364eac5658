/*
 * Forgeries and misuse: nothing that was tampered with may pass, and no call
 * out of order may crash, leak or be silently wrong. What other software got
 * wrong here is noted with each case.
 */
#include "evp.h"

#include <stdlib.h>
#include <string.h>

/* ---- Forgeries ------------------------------------------------------------
 */

/* Flips each bit of a buffer in turn; the message must be refused each time,
 * and accepted again afterwards. */
static void flip_bits(EVP_CIPHER_CTX *ctx, const struct message *m,
                      uint8_t *bytes, size_t len, const char *what)
{
    uint8_t out[256];
    size_t i;

    for (i = 0; i < 8 * len; i++) {
        check_case("%s, %zu bytes, AAD %zu, tag of %zu: bit %zu of the %s",
                   algorithms[m->alg].name, m->len, m->aad_len, m->tag_len, i,
                   what);
        bytes[i / 8] ^= (uint8_t)(1 << i % 8);
        CHECK_INT(message_run(&ours, ctx, m, out), -1);
        bytes[i / 8] ^= (uint8_t)(1 << i % 8);
        CHECK_QUEUE("");
    }
    CHECK_INT(message_run(&ours, ctx, m, out), m->len);
}

static void check_forgeries(EVP_CIPHER_CTX *ctx, int alg, size_t aad_len,
                            size_t len)
{
    struct fixture f;
    size_t tag_len;

    fixture_make(&f, alg, 0, aad_len, len);
    flip_bits(ctx, &f.m, f.in, f.m.len, "ciphertext");
    flip_bits(ctx, &f.m, f.aad, f.m.aad_len, "AAD");
    for (tag_len = 1; tag_len <= 16; tag_len++) {
        f.m.tag_len = tag_len;
        flip_bits(ctx, &f.m, f.tag, tag_len, "tag");
    }
    fixture_free(&f);
}

/* Bytes moved from the AAD to the data or away, with the same tag. */
static void check_shifts(EVP_CIPHER_CTX *ctx, int alg)
{
    struct fixture f;
    uint8_t out[128];

    fixture_make(&f, alg, 0, 32, 48);
    check_case("%s: lengths changed", algorithms[alg].name);
    f.m.aad_len = 31;
    CHECK_INT(message_run(&ours, ctx, &f.m, out), -1);
    f.m.aad_len = 32;
    f.m.len = 47;
    CHECK_INT(message_run(&ours, ctx, &f.m, out), -1);
    f.m.len = 49; /* one more byte of whatever follows */
    CHECK_INT(message_run(&ours, ctx, &f.m, out), -1);
    f.m.len = 0;
    CHECK_INT(message_run(&ours, ctx, &f.m, out), -1);
    f.m.len = 48;
    f.m.aad_len = 0;
    CHECK_INT(message_run(&ours, ctx, &f.m, out), -1);
    f.m.aad_len = 32;
    f.iv[11] ^= 1;
    CHECK_INT(message_run(&ours, ctx, &f.m, out), -1);
    f.iv[11] ^= 1;
    f.key[15] ^= 0x80;
    CHECK_INT(message_run(&ours, ctx, &f.m, out), -1);
    f.key[15] ^= 0x80;
    CHECK_INT(message_run(&ours, ctx, &f.m, out), 48);
    fixture_free(&f);
}

/* AAD alone, in every way to say "no data", with a good and a bad tag
 * (wolfEngine 68; CVE-2026-75803 for the one-shot final). */
static void check_aad_only(EVP_CIPHER_CTX *ctx, int alg, size_t aad_len)
{
    struct fixture f;
    uint8_t out[16];
    int good, way, n, ret;

    fixture_make(&f, alg, 0, aad_len, 0);
    for (good = 0; good <= 1; good++)
        for (way = 0; way < 5; way++) {
            check_case("%s, AAD of %zu alone, way %d, %s tag",
                       algorithms[alg].name, aad_len, way,
                       good ? "good" : "bad");
            f.tag[way * 3] ^= (uint8_t)!good;
            CHECK(message_init(&ours, ctx, &f.m));
            CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16, f.tag));
            if (aad_len || way == 1)
                CHECK(EVP_CipherUpdate(ctx, NULL, &n, f.aad, (int)aad_len));
            if (way == 2)
                CHECK(EVP_CipherUpdate(ctx, out, &n, f.in, 0));
            if (way == 3)
                CHECK_INT(strict ? EVP_Cipher(ctx, out, f.in, 0) : 0, 0);
            if (way == 4 && strict)
                ret = EVP_Cipher(ctx, NULL, NULL, 0) >= 0;
            else
                ret = EVP_CipherFinal_ex(ctx, out, &n);
            CHECK_INT(ret, good);
            f.tag[way * 3] ^= (uint8_t)!good;
        }
    fixture_free(&f);
}

/* EVP_Cipher(ctx, out, NULL, 0) too ends an empty message (openssl 32258). */
static void check_cipher_final(EVP_CIPHER_CTX *ctx, int alg)
{
    struct fixture f;
    uint8_t out[64];
    int good, n;

    fixture_make(&f, alg, 0, 9, 31);
    for (good = 0; good <= 1; good++) {
        check_case("%s, EVP_Cipher as final, %s tag", algorithms[alg].name,
                   good ? "good" : "bad");
        f.tag[5] ^= (uint8_t)(good ? 0 : 4);
        CHECK(message_init(&ours, ctx, &f.m));
        CHECK_INT(EVP_Cipher(ctx, NULL, f.aad, 9), 9);
        CHECK_INT(EVP_Cipher(ctx, out, f.in, 31), 31);
        CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16, f.tag));
        n = EVP_Cipher(ctx, out, NULL, 0);
        CHECK(good ? n == 0 : n < 0);
        f.tag[5] ^= (uint8_t)(good ? 0 : 4);
    }
    fixture_free(&f);
}

/* Two different splits around an empty EVP_Cipher must not collide, nor may
 * it change the tag (openssl 32741, 32752). */
static void check_empty_cipher(EVP_CIPHER_CTX *ctx, int alg)
{
    struct fixture f;
    uint8_t out[64], tag[16];
    int at, n, where;

    fixture_make(&f, alg, 1, 40, 21);
    message_run(&theirs, ctx, &f.m, out);
    memcpy(tag, f.tag, 16);
    for (at = 0; at <= 40; at++)
        for (where = 0; where < 2; where++) {
            check_case("%s, empty EVP_Cipher after %d bytes of AAD",
                       algorithms[alg].name, at);
            CHECK(message_init(&ours, ctx, &f.m));
            if (at)
                CHECK(EVP_CipherUpdate(ctx, NULL, &n, f.aad, at));
            CHECK_INT(EVP_Cipher(ctx, where ? out : NULL, f.in, 0), 0);
            CHECK(EVP_CipherUpdate(ctx, NULL, &n, f.aad + at, 40 - at));
            CHECK(EVP_CipherUpdate(ctx, out, &n, f.in, 21));
            CHECK(message_final(ctx, &f.m, out, &n));
            CHECK_MEM(f.tag, tag, 16);
        }
    fixture_free(&f);
}

/* ---- CBC padding ----------------------------------------------------------
 */

/* Every value of the last byte, in a block of nothing else, with zeros before
 * it, and with one wrong byte at the far end of an otherwise right padding. */
static void check_padding(EVP_CIPHER_CTX *ctx, int alg)
{
    struct fixture f;
    uint8_t plain[32], text[48], out[48], want[48];
    struct message m;
    int pad, shape;
    long n;

    fixture_make(&f, alg, 1, 0, 32);
    for (pad = 0; pad < 256; pad++)
        for (shape = 0; shape < 3; shape++) {
            check_case("%s, last byte %d, shape %d", algorithms[alg].name, pad,
                       shape);
            memset(plain, shape == 1 ? 0 : pad, sizeof(plain));
            plain[31] = (uint8_t)pad;
            if (shape == 2 && pad >= 1 && pad <= 32)
                plain[32 - pad] ^= 1;
            m = f.m;
            m.nopad = 1;
            m.in = plain;
            CHECK_INT(message_run(&theirs, ctx, &m, text), 32);
            m.nopad = 0;
            m.enc = 0;
            m.in = text;
            n = message_run(&theirs, ctx, &m, want);
            ERR_clear_error();
            CHECK_INT(message_run(&ours, ctx, &m, out), n);
            CHECK_QUEUE(n < 0 ? "P100" : "");
            if (n > 0)
                CHECK_MEM(out, want, (size_t)n);
            /* PKCS #7: 1 to 16 bytes of their number. */
            if (shape == 0)
                CHECK_INT(n, pad >= 1 && pad <= 16 ? 32 - pad : -1);
            if (shape == 2)
                CHECK_INT(n, -1);
        }
    fixture_free(&f);
}

/* Nothing of a refused padding comes out of final, whatever is in the way. */
static void check_padding_silence(EVP_CIPHER_CTX *ctx, int alg)
{
    struct fixture f;
    uint8_t out[64], before[64];
    int n;

    fixture_make(&f, alg, 0, 0, 40);
    f.in[f.m.len - 1] ^= 0x55;
    rnd_bytes(out, sizeof(out));
    check_case("%s, damaged last block", algorithms[alg].name);
    CHECK(message_init(&ours, ctx, &f.m));
    CHECK(EVP_CipherUpdate(ctx, out, &n, f.in, (int)f.m.len));
    memcpy(before, out, sizeof(out));
    n = 77;
    CHECK_INT(EVP_CipherFinal_ex(ctx, out + 32, &n), 0);
    CHECK_MEM(out, before, sizeof(out));
    fixture_free(&f);
}

/* ---- POLY1305 -------------------------------------------------------------
 */

static void check_mac_misuse(void)
{
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(ours.poly1305);
    uint8_t key[32], in[64], tag[16], want[16];
    size_t n;
    int round;

    rnd_bytes(key, sizeof(key));
    rnd_bytes(in, sizeof(in));
    CHECK(poly1305_run(&theirs, key, in, sizeof(in), want));
    for (round = 0; round < 3; round++) {
        check_case("POLY1305, round %d, before a key", round);
        ERR_clear_error();
        CHECK(!EVP_MAC_update(ctx, in, 5));
        CHECK_QUEUE("P114");
        CHECK(!EVP_MAC_update(ctx, in, 0));
        CHECK_QUEUE("P114");
        CHECK(!EVP_MAC_final(ctx, tag, &n, 16));
        CHECK_QUEUE("P114");
        CHECK(EVP_MAC_init(ctx, NULL, 0, NULL) == (round == 0));
        CHECK(!EVP_MAC_init(ctx, key, 31, NULL));
        CHECK_QUEUE("P105");
        CHECK(!EVP_MAC_update(ctx, in, 5));
        CHECK_QUEUE("P114");
        check_case("POLY1305, round %d, with a key", round);
        CHECK(EVP_MAC_init(ctx, key, 32, NULL));
        CHECK(EVP_MAC_update(ctx, in, sizeof(in)));
        CHECK(EVP_MAC_final(ctx, tag, &n, 16));
        CHECK_MEM(tag, want, 16);
        memset(tag, 0, 16);
        CHECK(!EVP_MAC_final(ctx, tag, &n, 16));
        CHECK_QUEUE("P114");
    }
    EVP_MAC_CTX_free(ctx);
}

int main(void)
{
    EVP_CIPHER_CTX *ctx;
    size_t len;
    int alg;

    evp_open();
    ctx = EVP_CIPHER_CTX_new();
    for (alg = 3; alg < CIPHERS; alg++) {
        check_forgeries(ctx, alg, 0, 0);
        check_forgeries(ctx, alg, 20, 0);
        check_forgeries(ctx, alg, 0, 33);
        check_forgeries(ctx, alg, 17, quick ? 40 : 200);
        check_shifts(ctx, alg);
        for (len = 0; len <= 65; len++)
            check_aad_only(ctx, alg, len);
        if (strict) {
            check_cipher_final(ctx, alg);
            check_empty_cipher(ctx, alg);
        }
    }
    for (alg = 0; alg < 3; alg++) {
        check_padding(ctx, alg);
        check_padding_silence(ctx, alg);
    }
    if (strict)
        check_mac_misuse();
    EVP_CIPHER_CTX_free(ctx);
    evp_close();
    return check_done();
}
