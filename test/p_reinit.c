/*
 * A context used again and again: key then IV, IV then key, one of them,
 * neither, another direction, messages left unfinished at any point, IV
 * lengths set in any order. Every message is compared with what a new context
 * of the default provider makes of the same key and IV.
 */
#include "evp.h"

#include <string.h>

/* The message a context is expected to make now. */
struct expected {
    int alg, enc;
    uint8_t key[32], iv[128];
    size_t iv_len;
};

/* Runs a short message on ctx, which is initialised, and compares. */
static void check_message(EVP_CIPHER_CTX *ctx, const struct expected *e)
{
    static EVP_CIPHER_CTX *reference;
    uint8_t aad[64], plain[300], text[320], out[320], tag[16], made[16];
    size_t aad_len = algorithms[e->alg].mode == CBC ? 0 : rnd_below(64);
    size_t len = rnd_below(4) ? rnd_below(100) : rnd_below(300);
    struct message m = {.alg = e->alg,
                        .enc = 1,
                        .key = e->key,
                        .iv = e->iv,
                        .iv_len = e->iv_len,
                        .aad = aad,
                        .aad_len = aad_len,
                        .in = plain,
                        .len = len,
                        .tag = tag,
                        .tag_len = 16};
    struct message mine;
    int n = 0, last = 0;
    long total;

    if (!reference)
        reference = EVP_CIPHER_CTX_new();
    rnd_bytes(aad, sizeof(aad));
    rnd_bytes(plain, sizeof(plain));
    total = message_run(&theirs, reference, &m, text);
    CHECK(total >= 0);
    mine = m;
    mine.enc = e->enc;
    mine.tag = e->enc ? made : tag;
    if (!e->enc) {
        mine.in = text;
        mine.len = (size_t)total;
    }
    if (aad_len)
        CHECK(EVP_CipherUpdate(ctx, NULL, &n, aad, (int)aad_len));
    n = 0;
    if (mine.len)
        CHECK(EVP_CipherUpdate(ctx, out, &n, mine.in, (int)mine.len));
    CHECK(message_final(ctx, &mine, out + n, &last));
    CHECK_INT(n + last, e->enc ? total : (long)len);
    CHECK_MEM(out, e->enc ? text : plain, (size_t)(n + last));
    if (e->enc && algorithms[e->alg].mode != CBC)
        CHECK_MEM(made, tag, 16);
}

/* Starts a message and leaves it: in AAD, in data, with 0 to 15 bytes held
 * back, or not even started. */
static void abandon(EVP_CIPHER_CTX *ctx, int alg)
{
    uint8_t in[80], out[112];
    int n;

    rnd_bytes(in, sizeof(in));
    if (algorithms[alg].mode != CBC && rnd_below(2))
        CHECK(EVP_CipherUpdate(ctx, NULL, &n, in, (int)rnd_below(80)));
    if (rnd_below(4))
        CHECK(EVP_CipherUpdate(ctx, out, &n, in, (int)rnd_below(80)));
}

enum order {
    KEY_THEN_IV,
    IV_THEN_KEY,
    BOTH,
    IV_ONLY,
    KEY_ONLY,    /* CBC: with the IV as it was; AEADs get the IV too */
    NEITHER,     /* likewise */
    WITH_CIPHER, /* the cipher again */
    AFTER_RESET, /* EVP_CIPHER_CTX_reset first */
    ORDERS
};

static const char *const order_names[ORDERS] = {
    "key then IV", "IV then key", "both",        "IV only",
    "key only",    "neither",     "with cipher", "after reset"};

static void init_in_order(EVP_CIPHER_CTX *ctx, struct expected *e,
                          enum order order, int enc)
{
    int cbc = algorithms[e->alg].mode == CBC;
    const EVP_CIPHER *cipher = ours.cipher[e->alg];

    if (order != IV_ONLY && order != NEITHER)
        rnd_bytes(e->key, sizeof(e->key));
    if ((order != KEY_ONLY && order != NEITHER) || !cbc)
        rnd_bytes(e->iv, sizeof(e->iv));
    e->enc = enc;
    switch (order) {
    case KEY_THEN_IV:
        CHECK(EVP_CipherInit_ex(ctx, NULL, NULL, e->key, NULL, enc));
        CHECK(EVP_CipherInit_ex(ctx, NULL, NULL, NULL, e->iv, enc));
        break;
    case IV_THEN_KEY:
        CHECK(EVP_CipherInit_ex(ctx, NULL, NULL, NULL, e->iv, enc));
        CHECK(EVP_CipherInit_ex(ctx, NULL, NULL, e->key, NULL, enc));
        break;
    case BOTH:
        CHECK(EVP_CipherInit_ex(ctx, NULL, NULL, e->key, e->iv, enc));
        break;
    case IV_ONLY:
        CHECK(EVP_CipherInit_ex(ctx, NULL, NULL, NULL, e->iv, enc));
        break;
    case KEY_ONLY:
        CHECK(EVP_CipherInit_ex(ctx, NULL, NULL, e->key, NULL, enc));
        if (!cbc)
            CHECK(EVP_CipherInit_ex(ctx, NULL, NULL, NULL, e->iv, enc));
        break;
    case NEITHER:
        CHECK(EVP_CipherInit_ex(ctx, NULL, NULL, NULL, NULL, enc));
        if (!cbc)
            CHECK(EVP_CipherInit_ex(ctx, NULL, NULL, NULL, e->iv, enc));
        break;
    case AFTER_RESET:
        CHECK(EVP_CIPHER_CTX_reset(ctx));
        /* fall through */
    default:
        CHECK(EVP_CipherInit_ex(ctx, cipher, NULL, e->key, e->iv, enc));
        break;
    }
}

static void check_orders(int alg)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    struct expected e = {.alg = alg, .iv_len = algorithms[alg].iv_len};
    int round, rounds = quick ? 120 : 1200;

    check_case("%s, first", algorithms[alg].name);
    init_in_order(ctx, &e, WITH_CIPHER, 1);
    for (round = 0; round < rounds; round++) {
        enum order order = (enum order)rnd_below(ORDERS);
        /* Default needs the key again for another direction of CBC. */
        int other = strict || order == KEY_THEN_IV || order == IV_THEN_KEY ||
                    order == BOTH || order >= WITH_CIPHER;
        int enc = other ? (int)rnd_below(2) : e.enc;

        check_case("%s, round %d: %s, %s", algorithms[alg].name, round,
                   order_names[order], enc ? "enc" : "dec");
        init_in_order(ctx, &e, order, enc);
        if (rnd_below(3))
            check_message(ctx, &e);
        else
            abandon(ctx, alg);
    }
    EVP_CIPHER_CTX_free(ctx);
}

/* CBC, direction changed again and again, the key given once. */
static void check_direction(int alg)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    struct expected e = {.alg = alg, .iv_len = algorithms[alg].iv_len};
    int round, from;

    for (from = 0; from <= 1; from++) {
        init_in_order(ctx, &e, WITH_CIPHER, from);
        for (round = 0; round < 6; round++) {
            check_case("%s, direction changed %d times from %d",
                       algorithms[alg].name, round, from);
            check_message(ctx, &e);
            init_in_order(ctx, &e, round % 2 ? NEITHER : IV_ONLY, !e.enc);
        }
        /* and changed before anything else happens */
        init_in_order(ctx, &e, WITH_CIPHER, from);
        init_in_order(ctx, &e, IV_ONLY, !from);
        check_message(ctx, &e);
    }
    EVP_CIPHER_CTX_free(ctx);
}

/* An AEAD given a new key in mid-message: what was begun is gone, and the
 * message starts anew under the nonce that is there. (Default's GCM goes on
 * with a counter of zero.) */
static void check_key_midway(int alg)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    struct expected e = {.alg = alg, .iv_len = algorithms[alg].iv_len};
    int round;

    for (round = 0; round < 40; round++) {
        check_case("%s, new key in mid-message, round %d", algorithms[alg].name,
                   round);
        init_in_order(ctx, &e, WITH_CIPHER, round % 2);
        abandon(ctx, alg);
        rnd_bytes(e.key, sizeof(e.key));
        CHECK(EVP_CipherInit_ex(ctx, NULL, NULL, e.key, NULL, -1));
        check_message(ctx, &e);
    }
    EVP_CIPHER_CTX_free(ctx);
}

/* CVE-2023-5363 and its kin: the IV length by ctrl, by set_params and by the
 * parameters of init, before and after key and IV. */
enum { ORDERS_OF_LENGTH = 8 };

static int init_with_length(EVP_CIPHER_CTX *ctx, const struct expected *e,
                            int order)
{
    const EVP_CIPHER *c = ours.cipher[e->alg];
    size_t len = e->iv_len;
    OSSL_PARAM p[2] = {
        OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_IVLEN, &len),
        OSSL_PARAM_construct_end()};
    int enc = e->enc;

    switch (order) {
    case 0: /* ctrl, key, IV */
        return EVP_CipherInit_ex(ctx, c, NULL, NULL, NULL, enc) &&
               EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, (int)len,
                                   NULL) > 0 &&
               EVP_CipherInit_ex(ctx, NULL, NULL, e->key, NULL, enc) &&
               EVP_CipherInit_ex(ctx, NULL, NULL, NULL, e->iv, enc);
    case 1: /* ctrl, IV, key */
        return EVP_CipherInit_ex(ctx, c, NULL, NULL, NULL, enc) &&
               EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, (int)len,
                                   NULL) > 0 &&
               EVP_CipherInit_ex(ctx, NULL, NULL, NULL, e->iv, enc) &&
               EVP_CipherInit_ex(ctx, NULL, NULL, e->key, NULL, enc);
    case 2: /* key, ctrl, IV */
        return EVP_CipherInit_ex(ctx, c, NULL, e->key, NULL, enc) &&
               EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, (int)len,
                                   NULL) > 0 &&
               EVP_CipherInit_ex(ctx, NULL, NULL, NULL, e->iv, enc);
    case 3: /* set_params, both */
        return EVP_CipherInit_ex(ctx, c, NULL, NULL, NULL, enc) &&
               EVP_CIPHER_CTX_set_params(ctx, p) &&
               EVP_CipherInit_ex(ctx, NULL, NULL, e->key, e->iv, enc);
    case 4: /* all in one call */
        return EVP_CipherInit_ex2(ctx, c, e->key, e->iv, enc, p);
    case 5: /* with the cipher, then both */
        return EVP_CipherInit_ex2(ctx, c, NULL, NULL, enc, p) &&
               EVP_CipherInit_ex2(ctx, NULL, e->key, e->iv, enc, NULL);
    case 6: /* with the key, then the IV */
        return EVP_CipherInit_ex2(ctx, c, e->key, NULL, enc, p) &&
               EVP_CipherInit_ex2(ctx, NULL, NULL, e->iv, enc, NULL);
    default: /* cipher, then the length with the IV, then the key */
        return EVP_CipherInit_ex2(ctx, c, NULL, NULL, enc, NULL) &&
               EVP_CipherInit_ex2(ctx, NULL, NULL, e->iv, enc, p) &&
               EVP_CipherInit_ex2(ctx, NULL, e->key, NULL, enc, NULL);
    }
}

static void check_iv_lengths(int alg)
{
    static const size_t lengths[] = {1,  2,  3,  4,  7,   8,  11, 12,
                                     13, 15, 16, 17, 20,  24, 31, 32,
                                     48, 63, 64, 96, 127, 128};
    EVP_CIPHER_CTX *used = EVP_CIPHER_CTX_new(), *ctx;
    struct expected e = {.alg = alg};
    size_t i;
    int order, again;

    for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
        for (order = 0; order < ORDERS_OF_LENGTH; order++)
            for (again = 0; again <= 1; again++) {
                ctx = again ? used : EVP_CIPHER_CTX_new();
                e.iv_len = lengths[i];
                e.enc = (int)rnd_below(2);
                rnd_bytes(e.key, sizeof(e.key));
                rnd_bytes(e.iv, sizeof(e.iv));
                check_case("%s, IV of %zu bytes, order %d, %s context",
                           algorithms[alg].name, e.iv_len, order,
                           again ? "used" : "new");
                CHECK(init_with_length(ctx, &e, order));
                CHECK_INT(EVP_CIPHER_CTX_get_iv_length(ctx), e.iv_len);
                check_message(ctx, &e);
                if (!again)
                    EVP_CIPHER_CTX_free(ctx);
            }
    EVP_CIPHER_CTX_free(used);
}

static void check_mac(void)
{
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(ours.poly1305);
    uint8_t key[32], in[300], tag[16], want[16];
    size_t n, len;
    int round;

    for (round = 0; round < 600; round++) {
        check_case("POLY1305, round %d", round);
        rnd_bytes(key, sizeof(key));
        rnd_bytes(in, sizeof(in));
        len = rnd_below(sizeof(in));
        CHECK(EVP_MAC_init(ctx, key, 32, NULL));
        CHECK(EVP_MAC_update(ctx, in, len));
        if (rnd_below(3) == 0)
            continue;
        CHECK(poly1305_run(&theirs, key, in, len, want));
        CHECK(EVP_MAC_final(ctx, tag, &n, sizeof(tag)));
        CHECK_MEM(tag, want, 16);
    }
    EVP_MAC_CTX_free(ctx);
}

int main(void)
{
    int alg;

    evp_open();
    for (alg = 0; alg < CIPHERS; alg++) {
        check_orders(alg);
        if (strict)
            check_direction(alg);
        if (strict && algorithms[alg].mode != CBC)
            check_key_midway(alg);
        if (algorithms[alg].mode == GCM)
            check_iv_lengths(alg);
    }
    check_mac();
    evp_close();
    return check_done();
}
