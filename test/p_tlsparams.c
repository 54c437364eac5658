/*
 * The TLS 1.2 record interface of the AEADs (RFC 5288, RFC 7905), as libssl
 * and OpenSSH drive it: the AAD through a ctrl, the record in place, IVs that
 * the cipher makes. Whole records and every refusal, against the default
 * provider. (The CBC record interface has tests of its own.)
 */
#include "evp.h"

#include <stdlib.h>
#include <string.h>

#define TAG 16
#define EXPLICIT 8 /* the part of a GCM nonce that travels */
#define MOST (16384 + EXPLICIT + TAG)

static EVP_CIPHER_CTX *a, *b; /* the module's, default's */
static uint8_t key[32], iv[12];
static uint8_t sequence[8];

/* One ctrl on both; the answer, return value and errors have to agree. */
static int ctrl(int what, int n, const void *bytes, size_t size)
{
    uint8_t x[64], y[64];
    struct errors errors;
    int ret;

    memset(x, 0x5a, sizeof(x));
    if (bytes)
        memcpy(x, bytes, size);
    memcpy(y, x, sizeof(x));
    ERR_clear_error();
    ret = EVP_CIPHER_CTX_ctrl(b, what, n, y);
    errors = errors_take();
    CHECK_INT(EVP_CIPHER_CTX_ctrl(a, what, n, x), ret);
    CHECK_ERRORS(errors_take(), errors);
    CHECK_MEM(x, y, sizeof(x));
    return ret;
}

static void start(int alg, int enc)
{
    const uint8_t *nonce = algorithms[alg].mode == GCM ? NULL : iv;

    CHECK(EVP_CipherInit_ex(a, ours.cipher[alg], NULL, key, nonce, enc));
    CHECK(EVP_CipherInit_ex(b, theirs.cipher[alg], NULL, key, nonce, enc));
    /* With length -1 the whole IV is given; with 4 bytes encryption would
     * make the rest at random. */
    if (algorithms[alg].mode == GCM)
        CHECK_INT(ctrl(EVP_CTRL_GCM_SET_IV_FIXED, -1, iv, 12), 1);
}

static void make_aad(uint8_t aad[13], size_t announced)
{
    memcpy(aad, sequence, 8);
    aad[8] = 23;
    aad[9] = 3;
    aad[10] = 3;
    aad[11] = (uint8_t)(announced >> 8);
    aad[12] = (uint8_t)announced;
}

/* The record in place on one side. */
static int run(EVP_CIPHER_CTX *ctx, uint8_t *record, size_t len, int one_shot,
               int *outl)
{
    if (one_shot) {
        *outl = 0;
        return EVP_Cipher(ctx, record, record, (unsigned int)len);
    }
    return EVP_CipherUpdate(ctx, record, outl, record, (int)len);
}

/* One record on both sides; the bytes and answers agree. 0 when refused. */
static int record(uint8_t *bytes, size_t len, size_t announced, int one_shot)
{
    static uint8_t x[MOST + 64], y[MOST + 64];
    uint8_t aad[13];
    struct errors errors;
    int n = 0, m = 0, ret;

    make_aad(aad, announced);
    if (ctrl(EVP_CTRL_AEAD_TLS1_AAD, 13, aad, 13) != TAG)
        return 0;
    memcpy(x, bytes, len);
    memcpy(y, bytes, len);
    ERR_clear_error();
    ret = run(b, y, len, one_shot, &m);
    errors = errors_take();
    CHECK_INT(run(a, x, len, one_shot, &n), ret);
    CHECK_ERRORS(errors_take(), errors);
    CHECK_INT(n, m);
    CHECK_MEM(x, y, len);
    memcpy(bytes, x, len);
    return one_shot ? ret >= 0 : ret > 0;
}

static size_t overhead(int alg)
{
    return algorithms[alg].mode == GCM ? EXPLICIT + TAG : TAG;
}

/* What the AAD announces: the payload, and before decryption the record. */
static size_t announced(int alg, int enc, size_t len)
{
    size_t explicit = algorithms[alg].mode == GCM ? EXPLICIT : 0;

    return enc ? len + explicit : len + overhead(alg);
}

static void next(void)
{
    int i = 7;

    while (++sequence[i] == 0 && i > 0)
        i--;
}

static void check_records(int alg, size_t len, int one_shot)
{
    static uint8_t plain[3][MOST], sealed[3][MOST], opened[MOST];
    size_t whole = len + overhead(alg);
    size_t at = algorithms[alg].mode == GCM ? EXPLICIT : 0;
    int i;

    rnd_bytes(key, sizeof(key));
    rnd_bytes(iv, sizeof(iv));
    rnd_bytes(sequence, sizeof(sequence));
    memset(iv + 4, 0xff, 7); /* carries within the next records */
    check_case("%s, records of %zu bytes, one-shot %d", algorithms[alg].name,
               len, one_shot);
    start(alg, 1);
    for (i = 0; i < 3; i++) {
        rnd_bytes(plain[i], whole);
        memcpy(sealed[i], plain[i], whole);
        CHECK(record(sealed[i], whole, announced(alg, 1, len), one_shot));
        next();
    }
    for (i = 0; i < 3; i++)
        if (sequence[7]-- == 0)
            sequence[6]--; /* enough: random, and three steps */
    start(alg, 0);
    for (i = 0; i < 3; i++) {
        memcpy(opened, sealed[i], whole);
        if (CHECK(record(opened, whole, announced(alg, 0, len), one_shot)))
            CHECK_MEM(opened + at, plain[i] + at, len);
        next();
    }
}

/* Damage anywhere: refused, and nothing of the plaintext left in place. */
static void check_damage(int alg, size_t len)
{
    static uint8_t sealed[MOST], bad[MOST], plain[MOST];
    size_t whole = len + overhead(alg), i, j, same;
    size_t at = algorithms[alg].mode == GCM ? EXPLICIT : 0;

    rnd_bytes(plain, sizeof(plain));
    memcpy(sealed, plain, whole);
    start(alg, 1);
    record(sealed, whole, announced(alg, 1, len), 0);
    for (i = 0; i < whole; i += 1 + whole / 90) {
        check_case("%s, record of %zu bytes, byte %zu damaged",
                   algorithms[alg].name, len, i);
        start(alg, 0);
        memcpy(bad, sealed, whole);
        bad[i] ^= (uint8_t)(1 << i % 8);
        CHECK(!record(bad, whole, announced(alg, 0, len), 0));
        for (same = 0, j = 0; j < len; j++)
            same += bad[at + j] == plain[at + j];
        CHECK(same <= 3 + len / 20);
    }
}

/* A little data under the current IV, so that it shows. */
static void show_bytes(int len)
{
    uint8_t x[100], y[100];
    int n = 0, m = 0, ret;

    ret = EVP_CipherUpdate(b, y, &m, key, len);
    CHECK_INT(EVP_CipherUpdate(a, x, &n, key, len), ret);
    CHECK_INT(n, m);
    CHECK_MEM(x, y, (size_t)n);
    ERR_clear_error();
}

/* The record done, a message without a new IV is refused, and with one the
 * context is an ordinary one again. */
static void check_message_after(int alg, int enc)
{
    static uint8_t sealed[MOST];
    struct errors errors;
    int ret, outl;

    check_case("%s %s, message after a record", algorithms[alg].name,
               enc ? "enc" : "dec");
    rnd_bytes(sealed, sizeof(sealed));
    start(alg, enc);
    record(sealed, 40 + overhead(alg), announced(alg, enc, 40), 0);
    if (algorithms[alg].mode == GCM) {
        ret = EVP_CipherUpdate(b, sealed, &outl, sealed, 5);
        errors = errors_take();
        CHECK_INT(EVP_CipherUpdate(a, sealed, &outl, sealed, 5), ret);
        CHECK_ERRORS(errors_take(), errors);
    }
    CHECK(EVP_CipherInit_ex(a, NULL, NULL, NULL, iv, -1));
    CHECK(EVP_CipherInit_ex(b, NULL, NULL, NULL, iv, -1));
    show_bytes(32);
}

/* Lengths that do not fit: announced unlike given, records too short, not in
 * place, AAD of another size. */
static void check_lengths(int alg)
{
    static uint8_t sealed[MOST], other[MOST];
    uint8_t aad[13], again[64];
    size_t whole = 40 + overhead(alg), len, n;
    struct errors errors;
    int enc, m, ret, outl;

    for (enc = 0; enc <= 1; enc++) {
        for (n = 0; n < 70; n++) {
            check_case("%s %s, %zu announced for 40", algorithms[alg].name,
                       enc ? "enc" : "dec", n);
            rnd_bytes(sealed, whole);
            start(alg, enc);
            record(sealed, whole, n, 0);
        }
        for (len = 0; len <= overhead(alg) + 20; len++) {
            check_case("%s %s, %zu bytes given", algorithms[alg].name,
                       enc ? "enc" : "dec", len);
            rnd_bytes(sealed, whole);
            start(alg, enc);
            if (len > 0) /* an empty update is not a record */
                record(sealed, len, len + (enc ? 8 : 24), 0);
            start(alg, enc);
            if (len > 0)
                record(sealed, len, announced(alg, enc, 40), 0);
        }
        for (m = 0; m <= 40; m++) {
            check_case("%s %s, AAD of %d", algorithms[alg].name,
                       enc ? "enc" : "dec", m);
            start(alg, enc);
            memset(again, 1, sizeof(again));
            ctrl(EVP_CTRL_AEAD_TLS1_AAD, m, again, sizeof(again));
        }
        check_case("%s %s, not in place", algorithms[alg].name,
                   enc ? "enc" : "dec");
        start(alg, enc);
        make_aad(aad, announced(alg, enc, 40));
        CHECK_INT(ctrl(EVP_CTRL_AEAD_TLS1_AAD, 13, aad, 13), TAG);
        if (algorithms[alg].mode == GCM) {
            ret = EVP_CipherUpdate(b, other, &outl, sealed, (int)whole);
            errors = errors_take();
            CHECK_INT(EVP_CipherUpdate(a, other, &outl, sealed, (int)whole),
                      ret);
            CHECK_INT(ret, 0);
            CHECK_ERRORS(errors_take(), errors);
        }
        check_message_after(alg, enc);
    }
}

/* A tampered AAD: sequence number, type, version. */
static void check_aad(int alg)
{
    static uint8_t sealed[MOST], bad[MOST];
    uint8_t aad[13];
    size_t whole = 100 + overhead(alg);
    int i, n;

    rnd_bytes(sealed, whole);
    start(alg, 1);
    record(sealed, whole, announced(alg, 1, 100), 0);
    for (i = 0; i < 11; i++) {
        check_case("%s, byte %d of the AAD changed", algorithms[alg].name, i);
        start(alg, 0);
        make_aad(aad, announced(alg, 0, 100));
        aad[i] ^= 1;
        CHECK_INT(ctrl(EVP_CTRL_AEAD_TLS1_AAD, 13, aad, 13), TAG);
        memcpy(bad, sealed, whole);
        CHECK(EVP_CipherUpdate(a, bad, &n, bad, (int)whole) <= 0);
        ERR_clear_error();
    }
}

/* ---- The IV generator of GCM (TLS, SSH) -----------------------------------
 */

static void check_iv_gen(int alg, size_t iv_len)
{
    static const int parts[] = {12, 8, 1, 0, 4, 13, 16, -1};
    uint8_t bytes[64];
    size_t i;
    int round, enc;

    for (enc = 0; enc <= 1; enc++)
        for (i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
            int part = parts[i];

            check_case("%s %s, IV of %zu bytes, IV_GEN %d",
                       algorithms[alg].name, enc ? "enc" : "dec", iv_len, part);
            rnd_bytes(bytes, sizeof(bytes));
            memset(bytes + iv_len - 8, 0xff, 8);
            bytes[iv_len - 1] = 0xfa; /* wraps after six */
            CHECK(
                EVP_CipherInit_ex(a, ours.cipher[alg], NULL, NULL, NULL, enc));
            CHECK(EVP_CipherInit_ex(b, theirs.cipher[alg], NULL, NULL, NULL,
                                    enc));
            CHECK_INT(ctrl(EVP_CTRL_AEAD_SET_IVLEN, (int)iv_len, NULL, 0), 1);
            CHECK_INT(ctrl(EVP_CTRL_GCM_IV_GEN, 8, NULL, 0), 0); /* no key */
            CHECK(EVP_CipherInit_ex(a, NULL, NULL, key, NULL, enc));
            CHECK(EVP_CipherInit_ex(b, NULL, NULL, key, NULL, enc));
            CHECK_INT(ctrl(EVP_CTRL_GCM_IV_GEN, 8, NULL, 0), 0); /* nor IV */
            CHECK_INT(ctrl(EVP_CTRL_GCM_SET_IV_FIXED, -1, bytes, 64), 1);
            for (round = 0; round < 10; round++) {
                ctrl(EVP_CTRL_GCM_IV_GEN, part, NULL, 0);
                show_bytes(20);
            }
            /* What comes from the peer. */
            rnd_bytes(bytes, sizeof(bytes));
            if (part >= 0 && part <= (int)iv_len) {
                ctrl(EVP_CTRL_GCM_SET_IV_INV, part, bytes, sizeof(bytes));
                show_bytes(20);
            }
        }
}

/* The fixed part alone: 4 bytes at least, and 8 left. On encryption the rest
 * is random, so only what is fixed and what follows can be looked at. */
static void check_fixed(int alg)
{
    uint8_t fixed[12], x[12], y[12];
    int n, enc, ret;

    rnd_bytes(fixed, sizeof(fixed));
    for (enc = 0; enc <= 1; enc++)
        for (n = 0; n <= 12; n++) {
            check_case("%s %s, fixed part of %d", algorithms[alg].name,
                       enc ? "enc" : "dec", n);
            CHECK(EVP_CipherInit_ex(a, ours.cipher[alg], NULL, key, NULL, enc));
            CHECK(
                EVP_CipherInit_ex(b, theirs.cipher[alg], NULL, key, NULL, enc));
            ret = ctrl(EVP_CTRL_GCM_SET_IV_FIXED, n, fixed, 12);
            if (ret <= 0)
                continue;
            memset(x, 0, sizeof(x));
            memset(y, 1, sizeof(y));
            CHECK_INT(EVP_CIPHER_CTX_ctrl(a, EVP_CTRL_GCM_IV_GEN, 12, x), 1);
            CHECK_INT(EVP_CIPHER_CTX_ctrl(a, EVP_CTRL_GCM_IV_GEN, 12, y), 1);
            CHECK_MEM(x, fixed, (size_t)n);
            CHECK_MEM(y, fixed, (size_t)n);
            CHECK_INT((uint8_t)(x[11] + 1), y[11]);
            if (enc) { /* another context, another random part */
                CHECK(EVP_CipherInit_ex(b, ours.cipher[alg], NULL, key, NULL,
                                        enc));
                EVP_CIPHER_CTX_ctrl(b, EVP_CTRL_GCM_SET_IV_FIXED, n, fixed);
                CHECK(EVP_CIPHER_CTX_ctrl(b, EVP_CTRL_GCM_IV_GEN, 12, y) > 0);
                CHECK(memcmp(x, y, 12) != 0);
            }
        }
}

int main(void)
{
    static const size_t lengths[] = {0,    1,    15,   16,    17,   31,   63,
                                     64,   100,  255,  256,   257,  1000, 1400,
                                     4095, 4096, 8191, 16383, 16384};
    size_t i;
    int alg;

    evp_open();
    a = EVP_CIPHER_CTX_new();
    b = EVP_CIPHER_CTX_new();
    for (alg = 3; alg < CIPHERS; alg++) {
        for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
            check_records(alg, lengths[i], 0);
            check_records(alg, lengths[i], 1);
        }
        for (i = 0; i < (quick ? 20 : 200); i++)
            check_records(alg, rnd_below(16385), 0);
        check_damage(alg, 0);
        check_damage(alg, 60);
        check_damage(alg, 1000);
        check_lengths(alg);
        check_aad(alg);
        if (algorithms[alg].mode == GCM) {
            check_iv_gen(alg, 12);
            check_iv_gen(alg, 16);
            check_iv_gen(alg, 60);
            check_fixed(alg);
        }
    }
    EVP_CIPHER_CTX_free(a);
    EVP_CIPHER_CTX_free(b);
    evp_close();
    return check_done();
}
