/*
 * TLS records under CBC through EVP, as libssl sends them: the same records go
 * through the module and through the default provider. Where the default
 * reads outside the buffer or frees twice, only the module is asked.
 */
#include "evp.h"

#include <string.h>

#define BLOCK 16
#define MAX_REC (16384 + 1024)

static const unsigned int versions[] = {0x0300, 0x0301, 0x0302, 0x0303,
                                        0x0100, 0xfeff, 0xfefd};
static const size_t mac_sizes[] = {0, 16, 20, 32, 48};
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static size_t explicit_iv(unsigned int version)
{
    return version == 0x0300 || version == 0x0301 ? 0 : BLOCK;
}

/* ---- One context on each side -------------------------------------------- */

struct pair {
    EVP_CIPHER_CTX *ours, *theirs;
    int alg; /* 0, 1, 2: AES-128, -192, -256-CBC */
    uint8_t key[32], iv[BLOCK];
};

static EVP_CIPHER_CTX *open_one(const struct side *s, const struct pair *p,
                                int enc)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();

    CHECK(EVP_CipherInit_ex2(ctx, s->cipher[p->alg], p->key, p->iv, enc, NULL));
    return ctx;
}

/* libssl hands the version over as a signed int. */
static int set_record_mode(EVP_CIPHER_CTX *ctx, unsigned int version,
                           size_t mac_size)
{
    int v = (int)version;
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_int(OSSL_CIPHER_PARAM_TLS_VERSION, &v),
        OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_TLS_MAC_SIZE, &mac_size),
        OSSL_PARAM_construct_end()};

    return EVP_CIPHER_CTX_set_params(ctx, params);
}

static void pair_open(struct pair *p, int alg, int enc, unsigned int version,
                      size_t mac_size)
{
    p->alg = alg;
    rnd_bytes(p->key, sizeof(p->key));
    rnd_bytes(p->iv, sizeof(p->iv));
    p->ours = open_one(&ours, p, enc);
    p->theirs = open_one(&theirs, p, enc);
    CHECK(set_record_mode(p->ours, version, mac_size));
    CHECK(set_record_mode(p->theirs, version, mac_size));
}

static void pair_close(struct pair *p)
{
    EVP_CIPHER_CTX_free(p->ours);
    EVP_CIPHER_CTX_free(p->theirs);
}

/* What became of one record. */
struct result {
    int ok;
    int outl;
    struct errors errors;
    uint8_t buf[MAX_REC + BLOCK];
    int has_mac;
    uint8_t mac[64];
};

/* The MAC as libssl asks for it; 0 if there is none. */
static int get_mac(EVP_CIPHER_CTX *ctx, uint8_t *mac, size_t mac_size)
{
    void *at = NULL;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_ptr(
                               OSSL_CIPHER_PARAM_TLS_MAC, &at, mac_size),
                           OSSL_PARAM_construct_end()};

    CHECK(EVP_CIPHER_CTX_get_params(ctx, params));
    CHECK_INT(params[0].return_size, mac_size);
    if (at == NULL)
        return 0;
    memcpy(mac, at, mac_size);
    return 1;
}

static void run(EVP_CIPHER_CTX *ctx, struct result *r, const uint8_t *rec,
                size_t len, size_t mac_size)
{
    memset(r, 0, sizeof(*r));
    memcpy(r->buf, rec, len);
    ERR_clear_error();
    r->ok = EVP_CipherUpdate(ctx, r->buf, &r->outl, r->buf, (int)len);
    r->errors = errors_take();
    if (mac_size)
        r->has_mac = get_mac(ctx, r->mac, mac_size);
}

/* The record as its sender would encrypt it, from whole blocks of plaintext. */
static void seal(const struct pair *p, uint8_t *rec, size_t len)
{
    EVP_CIPHER_CTX *ctx = open_one(&theirs, p, 1);
    int outl;

    EVP_CIPHER_CTX_set_padding(ctx, 0);
    CHECK(EVP_CipherUpdate(ctx, rec, &outl, rec, (int)len));
    EVP_CIPHER_CTX_free(ctx);
}

static struct result got, want; /* too large for the stack of some */
static uint8_t rec[MAX_REC];

/* ---- Encryption ---------------------------------------------------------- */

static void encrypt_both(struct pair *p, size_t len)
{
    rnd_bytes(rec, len);
    run(p->ours, &got, rec, len, 0);
    run(p->theirs, &want, rec, len, 0);
    CHECK_INT(got.ok, want.ok);
    CHECK_INT(got.outl, want.outl);
    CHECK_ERRORS(got.errors, want.errors);
    if (got.ok && got.outl == want.outl)
        CHECK_MEM(got.buf, want.buf, (size_t)want.outl);
}

static void encryption(void)
{
    /* 0x0304 is none that CBC is used with; encryption does not mind. */
    static const unsigned int more[] = {0x0300, 0x0301, 0x0303, 0x0304};
    size_t v, len;
    int k;

    for (k = 0; k < 3; k++)
        for (v = 0; v < COUNT(more); v++) {
            struct pair p;

            pair_open(&p, k, 1, more[v], 20);
            for (len = 0; len <= 300; len += k == 2 ? 1 : 37) {
                check_case("encrypt, key %d, version %x, %zu bytes", k, more[v],
                           len);
                encrypt_both(&p, len); /* one context: the IV is carried on */
            }
            check_case("encrypt, key %d, version %x, long", k, more[v]);
            encrypt_both(&p, 16384);
            encrypt_both(&p, 16383);
            pair_close(&p);
        }
}

/* ---- Decryption ---------------------------------------------------------- */

enum damage {
    NONE,
    FIRST_BYTE, /* of the padding */
    LAST_BYTE,  /* of the padding, in front of its length */
    LENGTH,     /* more than the record has */
    DAMAGES
};

/* A plaintext record with n bytes of padding; 0 if it cannot be damaged so. */
static int make_record(size_t len, size_t n, enum damage damage)
{
    size_t first = n < len ? len - 1 - n : 0;

    rnd_bytes(rec, len);
    memset(rec + first, (int)n, len - first);
    switch (damage) {
    case FIRST_BYTE:
        rec[len - 1 - n] ^= 0x10;
        return n > 0;
    case LAST_BYTE:
        rec[len - 2] ^= 1;
        return n > 1;
    case LENGTH:
        rec[len - 1] = (uint8_t)(len < 256 ? len : 255);
        return len < 256 && n > 0;
    default:
        return 1;
    }
}

static void compare_decryption(const uint8_t *plain, size_t len, size_t iv,
                               size_t mac_size)
{
    CHECK_INT(got.ok, want.ok);
    CHECK_ERRORS(got.errors, want.errors);
    if (!got.ok || !want.ok) {
        size_t i, left = 0;

        /* Here we are stricter: nothing of it is left. */
        for (i = 0; i < len; i++)
            left |= got.buf[i];
        CHECK(!strict || left == 0);
        return;
    }
    CHECK_INT(got.outl, want.outl);
    CHECK_MEM(got.buf + iv, plain + iv, len - iv);
    CHECK_INT(got.has_mac, want.has_mac);
    if (mac_size && want.outl >= 0) {
        const uint8_t *mac = plain + iv + want.outl;
        int good = memcmp(want.mac, mac, mac_size) == 0;

        /* Bad padding: the default's MAC is random, and so is ours. */
        if (good)
            CHECK_MEM(got.mac, mac, mac_size);
        else
            CHECK(memcmp(got.mac, mac, mac_size) != 0);
        if (!good && strict)
            CHECK(memcmp(got.mac, want.mac, mac_size) != 0);
    }
}

static void decrypt_both(int alg, unsigned int version, size_t mac_size,
                         size_t len)
{
    static uint8_t plain[MAX_REC];
    struct pair p;

    pair_open(&p, alg, 0, version, mac_size);
    memcpy(plain, rec, len);
    seal(&p, rec, len);
    run(p.ours, &got, rec, len, mac_size);
    run(p.theirs, &want, rec, len, mac_size);
    compare_decryption(plain, len, explicit_iv(version), mac_size);
    pair_close(&p);
}

/* n bytes of padding in the shortest record that has room for them, or in one
 * that is longer than any padding. */
static void decrypt_padding(unsigned int version, size_t mac_size, size_t n,
                            int longer)
{
    size_t least = explicit_iv(version) + mac_size + n + 1;
    size_t len = (least + BLOCK - 1) / BLOCK * BLOCK + (longer ? 512 : 0);
    int damage;

    for (damage = 0; damage < DAMAGES; damage++) {
        if (!make_record(len, n, (enum damage)damage))
            continue;
        check_case("decrypt, version %x, MAC %zu, %zu bytes, padding %zu, "
                   "damage %d",
                   version, mac_size, len, n, damage);
        decrypt_both((int)(n % 3), version, mac_size, len);
    }
}

static void decryption(void)
{
    size_t v, m, n;

    for (v = 0; v < COUNT(versions); v++)
        for (m = 0; m < COUNT(mac_sizes); m++)
            for (n = 0; n < 256; n += quick ? 7 : 1) {
                decrypt_padding(versions[v], mac_sizes[m], n, 0);
                decrypt_padding(versions[v], mac_sizes[m], n, 1);
            }
}

/* Padding that would eat into the MAC or the explicit IV. */
static void too_much_padding(void)
{
    size_t v, m, len;

    for (v = 0; v < COUNT(versions); v++)
        for (m = 0; m < COUNT(mac_sizes); m++)
            for (len = 32 + 48; len <= 320; len += BLOCK) {
                size_t most = len - explicit_iv(versions[v]) - mac_sizes[m] - 1;
                size_t n;

                for (n = most; n <= most + 2 && n < 256; n++) {
                    check_case("version %x, MAC %zu, %zu bytes, padding %zu of "
                               "at most %zu",
                               versions[v], mac_sizes[m], len, n, most);
                    make_record(len, n, NONE);
                    decrypt_both(2, versions[v], mac_sizes[m], len);
                }
            }
}

/* From nothing to just enough. Zero bytes make the default read in front of
 * the buffer, so it is asked from one byte on. */
static void short_records(void)
{
    size_t v, m, len;

    for (v = 0; v < COUNT(versions); v++)
        for (m = 0; m < COUNT(mac_sizes); m++)
            for (len = 0; len <= 16 + 48 + 32; len++) {
                size_t least = explicit_iv(versions[v]) + mac_sizes[m] + 1;
                struct pair p;

                check_case("short record, version %x, MAC %zu, %zu bytes",
                           versions[v], mac_sizes[m], len);
                pair_open(&p, 2, 0, versions[v], mac_sizes[m]);
                rnd_bytes(rec, len);
                if (len % BLOCK == 0 && len >= least) {
                    make_record(len, 0, NONE);
                    seal(&p, rec, len);
                }
                if (strict || len) {
                    run(p.ours, &got, rec, len, 0);
                    CHECK_INT(got.ok, len % BLOCK == 0 && len >= least);
                    if (!got.ok && len)
                        CHECK(strcmp(got.errors.text, "P102") == 0);
                    if (!got.ok && strict)
                        CHECK_MEM(got.buf, rec, len);
                }
                if (len) {
                    run(p.theirs, &want, rec, len, 0);
                    CHECK_INT(got.ok, want.ok);
                    CHECK_ERRORS(got.errors, want.errors);
                }
                pair_close(&p);
            }
}

/* Records one after the other: the chaining value of each is the last block of
 * the one before (TLS 1.0), and each has its own MAC. */
static void many_records(void)
{
    struct pair p;
    EVP_CIPHER_CTX *sender;
    uint8_t plain[512];
    int i, outl;

    pair_open(&p, 2, 0, 0x0301, 20);
    sender = open_one(&theirs, &p, 1);
    CHECK(set_record_mode(sender, 0x0301, 0));
    for (i = 0; i < 50; i++) {
        size_t len = 20 + rnd_below(400);

        check_case("record %d of %zu bytes", i, len);
        rnd_bytes(rec, len);
        memcpy(plain, rec, len);
        CHECK(EVP_CipherUpdate(sender, rec, &outl, rec, (int)len));
        run(p.ours, &got, rec, (size_t)outl, 20);
        run(p.theirs, &want, rec, (size_t)outl, 20);
        CHECK_INT(got.outl, len - 20);
        CHECK_INT(want.outl, len - 20);
        CHECK_MEM(got.buf, plain, len - 20);
        CHECK_MEM(got.mac, plain + len - 20, 20);
    }
    EVP_CIPHER_CTX_free(sender);

    check_case("a refused record leaves no MAC of the one before it");
    run(p.ours, &got, rec, BLOCK, 20);
    run(p.theirs, &want, rec, BLOCK, 20);
    CHECK(!got.ok && !got.has_mac);
    CHECK(!want.ok && !want.has_mac);
    pair_close(&p);
}

/* ---- Misuse -------------------------------------------------------------- */

static void misuse(void)
{
    uint8_t out[64], in[64];
    struct pair p;
    int outl, enc, side;

    for (enc = 0; enc < 2; enc++)
        for (side = 0; side < 2; side++) {
            EVP_CIPHER_CTX *ctx;

            pair_open(&p, 2, enc, 0x0303, 20);
            ctx = side ? p.theirs : p.ours;
            memset(in, 0, sizeof(in));
            ERR_clear_error();

            check_case("enc %d, side %d: not in place", enc, side);
            CHECK_INT(EVP_CipherUpdate(ctx, out, &outl, in, 48), 0);
            CHECK_QUEUE("P102");
            check_case("enc %d, side %d: in is NULL", enc, side);
            CHECK_INT(EVP_CipherUpdate(ctx, out, &outl, NULL, 48), 0);
            CHECK_QUEUE("P102");
            check_case("enc %d, side %d: final", enc, side);
            CHECK_INT(EVP_CipherFinal_ex(ctx, out, &outl), 0);
            CHECK_QUEUE("P102");
            check_case("enc %d, side %d: no padding", enc, side);
            CHECK(EVP_CIPHER_CTX_set_padding(ctx, 0));
            CHECK_INT(EVP_CipherUpdate(ctx, in, &outl, in, 48), 0);
            CHECK_QUEUE("P102");
            check_case("enc %d, side %d: back to plain CBC", enc, side);
            CHECK(set_record_mode(ctx, 0, 0));
            CHECK_INT(EVP_CipherUpdate(ctx, out, &outl, in, 48), 1);
            CHECK_INT(outl, 48);
            CHECK_QUEUE("");
            pair_close(&p);
        }
    for (side = 0; side < 2; side++) {
        EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();

        check_case("side %d: no key", side);
        CHECK(EVP_CipherInit_ex2(ctx, (side ? &theirs : &ours)->cipher[2], NULL,
                                 NULL, 1, NULL));
        CHECK(set_record_mode(ctx, 0x0303, 20));
        CHECK_INT(EVP_CipherUpdate(ctx, in, &outl, in, 48), 0);
        CHECK_QUEUE("P114");
        EVP_CIPHER_CTX_free(ctx);
    }
    /* Versions without CBC records, and a MAC that no hash makes. */
    for (side = 0; side < 2; side++) {
        pair_open(&p, 2, 0, 0x0304, 20);
        check_case("side %d: unknown version", side);
        CHECK_INT(EVP_CipherUpdate(side ? p.theirs : p.ours, in, &outl, in, 64),
                  0);
        CHECK_QUEUE("P102");
        pair_close(&p);
        pair_open(&p, 2, 0, 0x0303, 65);
        check_case("side %d: MAC of 65 bytes", side);
        memset(rec, 0, 256);
        if (!side || !strict) { /* the default stops at an assertion */
            CHECK_INT(EVP_CipherUpdate(p.ours, rec, &outl, rec, 256), 0);
            ERR_clear_error();
        }
        pair_close(&p);
    }
}

/* ---- Parameters ---------------------------------------------------------- */

/* Every type that OSSL_PARAM_get_uint() and _get_size_t() take or refuse. */
static void parameter_types(void)
{
    int i_bad = -1, side, i;
    int32_t i32 = 0x0303;
    int64_t i64 = 0x0303;
    uint32_t u32 = 0x0303;
    uint64_t u64 = 0x0303, u64_big = UINT64_C(1) << 32, mac64 = 20;
    uint32_t mac32 = 20;
    int32_t mac_negative = -20;
    char text[] = "0303";
    OSSL_PARAM cases[] = {
        OSSL_PARAM_construct_int32(OSSL_CIPHER_PARAM_TLS_VERSION, &i32),
        OSSL_PARAM_construct_int64(OSSL_CIPHER_PARAM_TLS_VERSION, &i64),
        OSSL_PARAM_construct_uint32(OSSL_CIPHER_PARAM_TLS_VERSION, &u32),
        OSSL_PARAM_construct_uint64(OSSL_CIPHER_PARAM_TLS_VERSION, &u64),
        OSSL_PARAM_construct_int(OSSL_CIPHER_PARAM_TLS_VERSION, &i_bad),
        OSSL_PARAM_construct_uint64(OSSL_CIPHER_PARAM_TLS_VERSION, &u64_big),
        OSSL_PARAM_construct_utf8_string(OSSL_CIPHER_PARAM_TLS_VERSION, text,
                                         0),
        OSSL_PARAM_construct_uint64(OSSL_CIPHER_PARAM_TLS_MAC_SIZE, &mac64),
        OSSL_PARAM_construct_uint32(OSSL_CIPHER_PARAM_TLS_MAC_SIZE, &mac32),
        OSSL_PARAM_construct_int32(OSSL_CIPHER_PARAM_TLS_MAC_SIZE,
                                   &mac_negative),
    };

    for (i = 0; i < (int)COUNT(cases); i++) {
        int ok[2];
        struct errors errors[2];

        for (side = 0; side < 2; side++) {
            struct pair p;
            OSSL_PARAM params[] = {cases[i], OSSL_PARAM_construct_end()};

            check_case("parameter type %d, side %d", i, side);
            pair_open(&p, 2, 0, 0, 0);
            ERR_clear_error();
            ok[side] =
                EVP_CIPHER_CTX_set_params(side ? p.theirs : p.ours, params);
            errors[side] = errors_take();
            pair_close(&p);
        }
        CHECK_INT(ok[0], ok[1]);
        CHECK_ERRORS(errors[0], errors[1]);
    }
}

/* tls-mac when there is none, and asked for as what it is not. */
static void asking_for_the_mac(void)
{
    struct pair p;
    uint8_t mac[64];
    int side;

    for (side = 0; side < 2; side++) {
        EVP_CIPHER_CTX *ctx;
        OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string(
                                   OSSL_CIPHER_PARAM_TLS_MAC, mac, sizeof(mac)),
                               OSSL_PARAM_construct_end()};

        check_case("side %d", side);
        pair_open(&p, 2, 1, 0x0303, 20);
        ctx = side ? p.theirs : p.ours;
        CHECK(!get_mac(ctx, mac, 20));
        rnd_bytes(rec, 40);
        run(ctx, &got, rec, 40, 20);
        CHECK(got.ok && !got.has_mac);
        ERR_clear_error();
        CHECK(!EVP_CIPHER_CTX_get_params(ctx, params));
        CHECK_QUEUE("P104");
        pair_close(&p);
    }
}

/* ---- Copies and new keys ------------------------------------------------- */

/* A context that holds a MAC is copied, freed, and both go on. (The default
 * frees the MAC of the two twice.) */
static void copies(void)
{
    EVP_CIPHER_CTX *copy, *copy2;
    struct pair p;
    uint8_t plain[64], mac[48];

    check_case("dup with a MAC in it");
    pair_open(&p, 2, 0, 0x0303, 32);
    make_record(64, 3, NONE);
    memcpy(plain, rec, 64);
    seal(&p, rec, 64);
    run(p.ours, &got, rec, 64, 32);
    CHECK_INT(got.outl, 12);
    CHECK_MEM(got.mac, plain + 28, 32);

    copy = EVP_CIPHER_CTX_new();
    CHECK(EVP_CIPHER_CTX_copy(copy, p.ours));
    copy2 = EVP_CIPHER_CTX_new();
    CHECK(EVP_CIPHER_CTX_copy(copy2, copy));
    /* The original's next record must not change the copies' MAC. */
    make_record(64, 3, NONE);
    run(p.ours, &got, rec, 64, 0);
    EVP_CIPHER_CTX_free(p.ours);
    p.ours = NULL;
    CHECK(get_mac(copy, mac, 32));
    CHECK_MEM(mac, plain + 28, 32);
    EVP_CIPHER_CTX_free(copy);
    CHECK(get_mac(copy2, mac, 32));
    CHECK_MEM(mac, plain + 28, 32);
    EVP_CIPHER_CTX_free(copy2);
    pair_close(&p);
}

/* A new key leaves the record mode as it is. */
static void new_key(void)
{
    struct pair p;
    int side;

    pair_open(&p, 2, 0, 0x0303, 20);
    rnd_bytes(p.key, sizeof(p.key));
    rnd_bytes(p.iv, sizeof(p.iv));
    make_record(96, 11, NONE);
    seal(&p, rec, 96);
    for (side = 0; side < 2; side++) {
        EVP_CIPHER_CTX *ctx = side ? p.theirs : p.ours;

        check_case("new key, side %d", side);
        CHECK(EVP_CipherInit_ex2(ctx, NULL, p.key, p.iv, 0, NULL));
        run(ctx, &got, rec, 96, 20);
        CHECK_INT(got.ok, 1);
        CHECK_INT(got.outl, 96 - 16 - 20 - 12);
    }
    pair_close(&p);
}

int main(void)
{
    evp_open();
    encryption();
    decryption();
    too_much_padding();
    short_records();
    many_records();
    misuse();
    parameter_types();
    asking_for_the_mac();
    if (strict)
        copies();
    new_key();
    evp_close();
    return check_done();
}
