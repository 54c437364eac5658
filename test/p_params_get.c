/*
 * Reading parameters: the lists, the constants of each cipher, and every
 * context parameter asked for with every type, width and buffer size, at
 * every phase of a message, against the default provider: return value,
 * bytes, return_size and queued errors.
 */
#include "phase.h"

#include <string.h>

#define SENTINEL 0xa7

/* ---- Lists of parameters --------------------------------------------------
 */

static const OSSL_PARAM *find(const OSSL_PARAM *list, const char *key)
{
    for (; list && list->key; list++)
        if (strcmp(list->key, key) == 0)
            return list;
    return NULL;
}

static void check_subset(const OSSL_PARAM *a, const OSSL_PARAM *b,
                         const char *what)
{
    for (; a && a->key; a++) {
        const OSSL_PARAM *other = find(b, a->key);

        check_case("%s: %s", what, a->key);
        /* A pointer in every release; since 3.6 default says otherwise. */
        if (CHECK(other) && strcmp(a->key, "tls-mac") != 0)
            CHECK_INT(a->data_type, other->data_type);
    }
}

static void check_list(const OSSL_PARAM *got, const OSSL_PARAM *want,
                       const char *what)
{
    check_subset(got, want, what);
    check_subset(want, got, what);
}

static void check_lists(int alg)
{
    const EVP_CIPHER *a = ours.cipher[alg], *b = theirs.cipher[alg];

    check_list(EVP_CIPHER_gettable_params(a), EVP_CIPHER_gettable_params(b),
               "gettable params");
    check_list(EVP_CIPHER_gettable_ctx_params(a),
               EVP_CIPHER_gettable_ctx_params(b), "gettable ctx params");
    check_list(EVP_CIPHER_settable_ctx_params(a),
               EVP_CIPHER_settable_ctx_params(b), "settable ctx params");
}

/* ---- Constants ------------------------------------------------------------
 */

static void check_constants(int alg)
{
    const EVP_CIPHER *a = ours.cipher[alg], *b = theirs.cipher[alg];

    check_case("%s: constants", algorithms[alg].name);
    CHECK_INT(EVP_CIPHER_get_flags(a), EVP_CIPHER_get_flags(b));
    CHECK_INT(EVP_CIPHER_get_nid(a), EVP_CIPHER_get_nid(b));
    CHECK_INT(EVP_CIPHER_get_type(a), EVP_CIPHER_get_type(b));
    CHECK_INT(EVP_CIPHER_get_mode(a), EVP_CIPHER_get_mode(b));
    CHECK_INT(EVP_CIPHER_get_key_length(a), algorithms[alg].key_len);
    CHECK_INT(EVP_CIPHER_get_iv_length(a), algorithms[alg].iv_len);
    CHECK_INT(EVP_CIPHER_get_block_size(a), EVP_CIPHER_get_block_size(b));
    CHECK(strcmp(EVP_CIPHER_get0_name(a), EVP_CIPHER_get0_name(b)) == 0);
    if (alg == 2)
        CHECK_INT(EVP_CIPHER_get_flags(a), 0x100002);
    if (alg == 5)
        CHECK_INT(EVP_CIPHER_get_flags(a), 0x300016);
    if (alg == 6)
        CHECK_INT(EVP_CIPHER_get_flags(a), 0x300010);
}

/* ---- Probes ---------------------------------------------------------------
 */

struct kind {
    unsigned int type;
    size_t size;
    int null; /* data == NULL: how large is it? */
};

static const struct kind kinds[] = {
    {OSSL_PARAM_UNSIGNED_INTEGER, 1, 0},
    {OSSL_PARAM_UNSIGNED_INTEGER, 2, 0},
    {OSSL_PARAM_UNSIGNED_INTEGER, 4, 0},
    {OSSL_PARAM_UNSIGNED_INTEGER, 8, 0},
    {OSSL_PARAM_UNSIGNED_INTEGER, 13, 0},
    {OSSL_PARAM_UNSIGNED_INTEGER, 32, 0},
    {OSSL_PARAM_UNSIGNED_INTEGER, 8, 1},
    {OSSL_PARAM_UNSIGNED_INTEGER, 0, 0},
    {OSSL_PARAM_INTEGER, 1, 0},
    {OSSL_PARAM_INTEGER, 4, 0},
    {OSSL_PARAM_INTEGER, 8, 0},
    {OSSL_PARAM_INTEGER, 16, 0},
    {OSSL_PARAM_INTEGER, 4, 1},
    {OSSL_PARAM_REAL, 8, 0},
    {OSSL_PARAM_UTF8_STRING, 16, 0},
    {OSSL_PARAM_UTF8_PTR, 8, 0},
    {OSSL_PARAM_OCTET_STRING, 0, 0},
    {OSSL_PARAM_OCTET_STRING, 1, 0},
    {OSSL_PARAM_OCTET_STRING, 4, 0},
    {OSSL_PARAM_OCTET_STRING, 8, 0},
    {OSSL_PARAM_OCTET_STRING, 11, 0},
    {OSSL_PARAM_OCTET_STRING, 12, 0},
    {OSSL_PARAM_OCTET_STRING, 13, 0},
    {OSSL_PARAM_OCTET_STRING, 15, 0},
    {OSSL_PARAM_OCTET_STRING, 16, 0},
    {OSSL_PARAM_OCTET_STRING, 17, 0},
    {OSSL_PARAM_OCTET_STRING, 32, 0},
    {OSSL_PARAM_OCTET_STRING, 16, 1},
    {OSSL_PARAM_OCTET_PTR, 0, 0},
    {OSSL_PARAM_OCTET_PTR, 8, 0},
    {OSSL_PARAM_OCTET_PTR, 12, 0},
    {OSSL_PARAM_OCTET_PTR, 16, 0},
    {OSSL_PARAM_OCTET_PTR, 32, 0},
    {OSSL_PARAM_OCTET_PTR, 16, 1},
    {99, 8, 0},
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

/* The room of one answer; a pointer's target is copied behind it. */
struct answer {
    int ret;
    size_t return_size;
    uint8_t data[40];
    uint8_t target[40];
    struct errors errors;
};

static void prepare(OSSL_PARAM p[2], struct answer *a, const char *name,
                    const struct kind *k)
{
    memset(a, 0, sizeof(*a));
    memset(a->data, SENTINEL, sizeof(a->data));
    memset(a->target, SENTINEL, sizeof(a->target));
    p[0] = (OSSL_PARAM){name, k->type, k->null ? NULL : a->data, k->size,
                        OSSL_PARAM_UNMODIFIED};
    if (!k->null &&
        (k->type == OSSL_PARAM_OCTET_PTR || k->type == OSSL_PARAM_UTF8_PTR))
        memset(a->data, 0, sizeof(void *));
    p[1] = OSSL_PARAM_construct_end();
    ERR_clear_error();
}

static void collect(const OSSL_PARAM *p, struct answer *a)
{
    uint8_t *target;

    a->return_size = p->return_size;
    a->errors = errors_take();
    if (p->data_type != OSSL_PARAM_OCTET_PTR || !p->data)
        return;
    memcpy(&target, a->data, sizeof(target));
    memset(a->data, 0, sizeof(void *));
    if (target && p->return_size <= sizeof(a->target))
        memcpy(a->target, target, p->return_size);
}

/* libcrypto turns integers into floating-point values on demand; the module
 * refuses to, which is the one difference here. */
static void compare(const struct kind *k, const struct answer *got,
                    const struct answer *want, int bytes)
{
    if (strict && k->type == OSSL_PARAM_REAL) {
        CHECK(!got->ret || got->return_size == OSSL_PARAM_UNMODIFIED);
        return;
    }
    CHECK_INT(got->ret, want->ret);
    /* After a failure it counts for a buffer that was too small. */
    if (want->ret || k->type == OSSL_PARAM_OCTET_STRING)
        CHECK_INT((long long)got->return_size, (long long)want->return_size);
    if (bytes) {
        CHECK_MEM(got->data, want->data, sizeof(got->data));
        CHECK_MEM(got->target, want->target, sizeof(got->target));
    }
}

static const char *const names[] = {
    "keylen", "ivlen",        "padding",  "num",     "iv",     "updated-iv",
    "tag",    "taglen",       "tlsivgen", "tls-mac", "bogus",  "tlsaadpad",
    "mode",   "blocksize",    "use-bits", "randkey", "tlsaad", "cts-mode",
    "i",      "iv-generated", "",
};
#define NAMES (sizeof(names) / sizeof(*names))

static void check_ctx_params(const struct fixture *f, enum phase phase)
{
    enum mode mode = algorithms[f->m.alg].mode;
    size_t i, j;

    for (i = 0; i < NAMES; i++)
        for (j = 0; j < KINDS; j++) {
            const struct kind *k = &kinds[j];
            struct answer got, want;
            OSSL_PARAM p[2], q[2];
            EVP_CIPHER_CTX *a, *b;
            int is_iv = strstr(names[i], "iv") && strcmp(names[i], "ivlen");

            /* The module always knows it, default since 3.4. */
            if (!strcmp(names[i], "iv-generated") &&
                OpenSSL_version_num() < 0x30400000L)
                continue;
            /* How long is it, asked with a wrong type: 3.0 answers. */
            if ((is_iv || !strcmp(names[i], "tag")) && k->null &&
                k->type != OSSL_PARAM_OCTET_STRING &&
                OpenSSL_version_num() >= 0x30200000L)
                continue;
            /* Default copies the tag to a NULL buffer here. */
            if (mode == CHAPOLY && k->null && !strcmp(names[i], "tag"))
                continue;
            a = phase_ctx(&ours, f, phase);
            b = phase_ctx(&theirs, f, phase);
            check_case("%s %s, phase '%s', get %s, type %u, size %zu%s",
                       algorithms[f->m.alg].name, f->m.enc ? "enc" : "dec",
                       phase_names[phase], names[i], k->type, k->size,
                       k->null ? ", NULL" : "");
            prepare(p, &got, names[i], k);
            got.ret = EVP_CIPHER_CTX_get_params(a, p);
            collect(p, &got);
            prepare(q, &want, names[i], k);
            want.ret = EVP_CIPHER_CTX_get_params(b, q);
            collect(q, &want);
            /* Without an IV newer releases make a random one when asked. */
            compare(k, &got, &want,
                    !(mode == GCM && is_iv && f->m.enc && phase < READY));
            if (!strict || k->type != OSSL_PARAM_REAL)
                CHECK_ERRORS(got.errors, want.errors);
            EVP_CIPHER_CTX_free(a);
            EVP_CIPHER_CTX_free(b);
        }
}

static const char *const constants[] = {
    "mode", "keylen",           "ivlen",        "blocksize", "aead",
    "cts",  "tls-multi",        "has-randkey",  "custom-iv", "bogus",
    "size", "encrypt-then-mac", "decrypt-only",
};

/* The provider's function for these gets no context from libcrypto, so that
 * the module, which has no globals, cannot queue an error. */
static void check_constant_params(int alg)
{
    size_t i, j;

    for (i = 0; i < sizeof(constants) / sizeof(*constants); i++)
        for (j = 0; j < KINDS; j++) {
            struct answer got, want;
            OSSL_PARAM p[2], q[2];

            /* Nor can it know which release asks; older ones do not. */
            if (!strcmp(constants[i], "encrypt-then-mac") &&
                OpenSSL_version_num() < 0x30600000L)
                continue;
            check_case("%s, constant %s, type %u, size %zu",
                       algorithms[alg].name, constants[i], kinds[j].type,
                       kinds[j].size);
            prepare(p, &got, constants[i], &kinds[j]);
            got.ret = EVP_CIPHER_get_params(ours.cipher[alg], p);
            collect(p, &got);
            prepare(q, &want, constants[i], &kinds[j]);
            want.ret = EVP_CIPHER_get_params(theirs.cipher[alg], q);
            collect(q, &want);
            compare(&kinds[j], &got, &want, 1);
        }
}

static void check_mac(void)
{
    EVP_MAC_CTX *a = EVP_MAC_CTX_new(ours.poly1305);
    EVP_MAC_CTX *b = EVP_MAC_CTX_new(theirs.poly1305);
    size_t j;

    check_list(EVP_MAC_gettable_params(ours.poly1305),
               EVP_MAC_gettable_params(theirs.poly1305), "MAC gettable");
    check_list(EVP_MAC_gettable_ctx_params(ours.poly1305),
               EVP_MAC_gettable_ctx_params(theirs.poly1305),
               "MAC ctx gettable");
    check_list(EVP_MAC_settable_ctx_params(ours.poly1305),
               EVP_MAC_settable_ctx_params(theirs.poly1305),
               "MAC ctx settable");
    CHECK_INT(EVP_MAC_CTX_get_mac_size(a), 16);
    CHECK_INT(EVP_MAC_CTX_get_block_size(a), EVP_MAC_CTX_get_block_size(b));
    for (j = 0; j < KINDS; j++) {
        struct answer got, want;
        OSSL_PARAM p[2], q[2];

        check_case("POLY1305, size, type %u, size %zu", kinds[j].type,
                   kinds[j].size);
        prepare(p, &got, OSSL_MAC_PARAM_SIZE, &kinds[j]);
        got.ret = EVP_MAC_get_params(ours.poly1305, p);
        collect(p, &got);
        prepare(q, &want, OSSL_MAC_PARAM_SIZE, &kinds[j]);
        want.ret = EVP_MAC_get_params(theirs.poly1305, q);
        collect(q, &want);
        compare(&kinds[j], &got, &want, 1);
    }
    EVP_MAC_CTX_free(a);
    EVP_MAC_CTX_free(b);
}

/* What the provider says of itself. */
static void check_provider(void)
{
    char *name = NULL, *version = NULL, *build = NULL;
    int status = 0;
    OSSL_PARAM p[5] = {
        OSSL_PARAM_construct_utf8_ptr(OSSL_PROV_PARAM_NAME, &name, 0),
        OSSL_PARAM_construct_utf8_ptr(OSSL_PROV_PARAM_VERSION, &version, 0),
        OSSL_PARAM_construct_utf8_ptr(OSSL_PROV_PARAM_BUILDINFO, &build, 0),
        OSSL_PARAM_construct_int(OSSL_PROV_PARAM_STATUS, &status),
        OSSL_PARAM_construct_end(),
    };

    check_case("provider parameters");
    check_list(OSSL_PROVIDER_gettable_params(ours.provider),
               OSSL_PROVIDER_gettable_params(theirs.provider), "provider");
    CHECK(OSSL_PROVIDER_get_params(ours.provider, p));
    CHECK_INT(status, 1);
    CHECK(name && *name && version && *version && build && *build);
}

int main(void)
{
    struct fixture f;
    int alg, enc, phase;

    evp_open();
    check_provider();
    check_mac();
    for (alg = 0; alg < CIPHERS; alg++) {
        check_lists(alg);
        check_constants(alg);
        check_constant_params(alg);
        for (enc = 0; enc <= 1; enc++) {
            if (quick && alg != 2 && alg < 5)
                continue;
            phase_fixture(&f, alg, enc);
            for (phase = 0; phase < PHASES; phase++)
                check_ctx_params(&f, (enum phase)phase);
            fixture_free(&f);
        }
    }
    evp_close();
    return check_done();
}
