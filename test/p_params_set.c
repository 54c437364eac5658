/*
 * Setting parameters: every one that any of the ciphers takes, with every
 * type, width, size and value that could be misread, at every phase of a
 * message, against the default provider: return value, queued errors, and the
 * visible state afterwards (lengths, padding, num, IV, and what the message
 * becomes when it goes on).
 */
#include "phase.h"

#include <stdlib.h>
#include <string.h>

struct value {
    unsigned int type;
    size_t size;
    long long number; /* for integers */
    int null;
};

#define U OSSL_PARAM_UNSIGNED_INTEGER
#define I OSSL_PARAM_INTEGER
#define O OSSL_PARAM_OCTET_STRING

/* clang-format off */
static const struct value values[] = {
    {U, 4, 0, 0}, {U, 4, 1, 0}, {U, 4, 2, 0}, {U, 4, 7, 0}, {U, 4, 12, 0},
    {U, 4, 13, 0}, {U, 4, 15, 0}, {U, 4, 16, 0}, {U, 4, 24, 0}, {U, 4, 32, 0},
    {U, 4, 128, 0}, {U, 4, 129, 0}, {U, 4, 0xffffffff, 0},
    {U, 8, 0, 0}, {U, 8, 1, 0}, {U, 8, 12, 0}, {U, 8, 16, 0}, {U, 8, 32, 0},
    {U, 8, 128, 0}, {U, 8, 129, 0}, {U, 8, 0x10000000c, 0}, {U, 8, -1, 0},
    {U, 2, 12, 0}, {U, 1, 12, 0}, {U, 16, 12, 0}, {U, 16, 16, 0},
    {U, 16, -1, 0}, {U, 0, 0, 0}, {U, 8, 12, 1},
    {I, 4, 0, 0}, {I, 4, 1, 0}, {I, 4, 12, 0}, {I, 4, 16, 0}, {I, 4, 32, 0},
    {I, 4, -1, 0}, {I, 8, 3, 0}, {I, 8, 12, 0}, {I, 8, -1, 0},
    {I, 8, 0x10000000c, 0}, {I, 16, 12, 0}, {I, 2, 12, 0}, {I, 4, 12, 1},
    {OSSL_PARAM_REAL, 8, 0, 0}, {OSSL_PARAM_UTF8_STRING, 16, 0, 0},
    {OSSL_PARAM_UTF8_PTR, 16, 0, 0}, {OSSL_PARAM_OCTET_PTR, 16, 0, 0},
    {OSSL_PARAM_OCTET_PTR, 12, 0, 0}, {99, 8, 0, 0},
    {O, 0, 0, 0}, {O, 1, 0, 0}, {O, 3, 0, 0}, {O, 4, 0, 0}, {O, 5, 0, 0},
    {O, 8, 0, 0}, {O, 11, 0, 0}, {O, 12, 0, 0}, {O, 13, 0, 0}, {O, 14, 0, 0},
    {O, 15, 0, 0}, {O, 16, 0, 0}, {O, 17, 0, 0}, {O, 32, 0, 0},
    {O, 0, 0, 1}, {O, 12, 0, 1}, {O, 16, 0, 1}, {O, 17, 0, 1},
};
/* clang-format on */
#define VALUES (sizeof(values) / sizeof(*values))

static const char *const names[] = {
    "keylen", "ivlen",    "padding",    "num",       "use-bits",
    "tag",    "taglen",   "updated-iv", "iv",        "bogus",
    "tlsaad", "tlsivinv", "tlsivfixed", "tlsaadpad", "randkey",
    "rounds", "keybits",  "speed",      "i",         "",
};
#define NAMES (sizeof(names) / sizeof(*names))

static uint8_t bytes[40];

static OSSL_PARAM parameter(const char *name, const struct value *v,
                            void *storage)
{
    static void *pointer = bytes;
    void *data = bytes;

    if (v->type == U || v->type == I) {
        memset(storage, v->number < 0 ? 0xff : 0, 16);
        memcpy(storage, &v->number, sizeof(v->number)); /* little endian */
        data = storage;
    } else if (v->type == OSSL_PARAM_OCTET_PTR ||
               v->type == OSSL_PARAM_UTF8_PTR) {
        data = &pointer;
    }
    return (OSSL_PARAM){name, v->type, v->null ? NULL : data, v->size,
                        OSSL_PARAM_UNMODIFIED};
}

/* The visible state: every integer and the IVs. */
struct state {
    size_t key_len, iv_len, tag_len;
    unsigned int padding, num;
    uint8_t iv[16], updated[16];
};

static void look(EVP_CIPHER_CTX *ctx, enum phase phase, struct state *s)
{
    /* Since 4.0 an encrypting GCM context without an IV answers the question
     * for it with a random one: nothing to compare. */
    int random_iv = OpenSSL_version_num() >= 0x40000000 && phase < READY &&
                    EVP_CIPHER_CTX_get_mode(ctx) == EVP_CIPH_GCM_MODE &&
                    EVP_CIPHER_CTX_is_encrypting(ctx);
    OSSL_PARAM p[] = {
        OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_KEYLEN, &s->key_len),
        OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_IVLEN, &s->iv_len),
        OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_AEAD_TAGLEN, &s->tag_len),
        OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_PADDING, &s->padding),
        OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_NUM, &s->num),
        OSSL_PARAM_construct_end(),
    };

    memset(s, 0x55, sizeof(*s));
    if (!EVP_CIPHER_CTX_get_params(ctx, p))
        s->padding = 77;
    if (!random_iv) {
        EVP_CIPHER_CTX_get_original_iv(ctx, s->iv, sizeof(s->iv));
        EVP_CIPHER_CTX_get_updated_iv(ctx, s->updated, sizeof(s->updated));
    }
    ERR_clear_error();
}

/* Goes on with the message on both sides: two updates, final, tag. */
static void go_on(EVP_CIPHER_CTX *a, EVP_CIPHER_CTX *b, const struct fixture *f,
                  int tag)
{
    uint8_t x[160], y[160], tag_x[16] = {0}, tag_y[16] = {0};
    int n, i, step, nx, ny;

    for (i = 0; i < 2; i++) {
        nx = ny = 0;
        memset(x, 0, sizeof(x));
        memset(y, 0, sizeof(y));
        CHECK_INT(EVP_CipherUpdate(a, x, &nx, f->in, 30 + i),
                  EVP_CipherUpdate(b, y, &ny, f->in, 30 + i));
        CHECK_INT(nx, ny);
        CHECK_MEM(x, y, sizeof(x));
        ERR_clear_error();
    }
    for (step = 0; step < 2; step++) {
        nx = ny = 0;
        n = EVP_CipherFinal_ex(b, y, &ny);
        CHECK_INT(EVP_CipherFinal_ex(a, x, &nx), n);
        CHECK_INT(nx, ny);
        CHECK_MEM(x, y, (size_t)ny);
        if (strict && algorithms[f->m.alg].mode == CHAPOLY)
            break; /* a second final is refused here alone */
    }
    if (f->m.enc && tag) {
        CHECK_INT(EVP_CIPHER_CTX_ctrl(a, EVP_CTRL_AEAD_GET_TAG, 16, tag_x),
                  EVP_CIPHER_CTX_ctrl(b, EVP_CTRL_AEAD_GET_TAG, 16, tag_y));
        CHECK_MEM(tag_x, tag_y, 16);
    }
    ERR_clear_error();
}

/* Where default itself steps out of bounds or reads a NULL pointer. */
static int default_breaks(enum mode mode, const char *name,
                          const struct value *v)
{
    if (v->null && (v->type == U || v->type == I))
        return 1;
    if (mode == CBC)
        return 0;
    if (strcmp(name, "tlsivfixed") == 0 ||
        (strcmp(name, "tlsivinv") == 0 && mode == GCM))
        return v->null || (v->type == O && v->size > 12);
    return strcmp(name, "tlsaad") == 0 && v->null;
}

static void check_set(const struct fixture *f, enum phase phase,
                      const char *name, const struct value *v)
{
    enum mode mode = algorithms[f->m.alg].mode;
    EVP_CIPHER_CTX *a, *b;
    uint8_t storage[16];
    OSSL_PARAM p[2] = {parameter(name, v, storage), OSSL_PARAM_construct_end()};
    struct state x, y;
    struct errors errors;
    int ret, is_tls = strncmp(name, "tls", 3) == 0;

    check_case("%s %s, phase '%s', set %s, type %u, size %zu%s, value %lld",
               algorithms[f->m.alg].name, f->m.enc ? "enc" : "dec",
               phase_names[phase], name, v->type, v->size,
               v->null ? ", NULL" : "", v->number);
    if (default_breaks(mode, name, v)) {
        a = phase_ctx(&ours, f, phase);
        if (strict)
            ret = EVP_CIPHER_CTX_set_params(a, p);
        if (strict && is_tls && v->type == O)
            CHECK_INT(ret, 0);
        EVP_CIPHER_CTX_free(a);
        ERR_clear_error();
        return;
    }
    a = phase_ctx(&ours, f, phase);
    b = phase_ctx(&theirs, f, phase);
    ERR_clear_error();
    ret = EVP_CIPHER_CTX_set_params(b, p);
    errors = errors_take();
    CHECK_INT(EVP_CIPHER_CTX_set_params(a, p), ret);
    CHECK_ERRORS(errors_take(), errors);
    if (!(is_tls && ret)) { /* its random part differs */
        look(a, phase, &x);
        look(b, phase, &y);
        CHECK_MEM(&x, &y, sizeof(x));
        /* Encryption without an IV makes a random one; the stricter rules of
         * ChaCha20-Poly1305 are in p_misuse. */
        if (phase >= READY && (mode != CHAPOLY || (f->m.enc && phase < DONE)))
            /* Default's GCM keeps the tag it has just refused. */
            go_on(a, b, f, mode != GCM || strcmp(name, "tag") != 0);
    }
    EVP_CIPHER_CTX_free(a);
    EVP_CIPHER_CTX_free(b);
}

/* Several in one array: order, duplicates, and one bad among good. */
static void check_arrays(const struct fixture *f, enum phase phase)
{
    static const struct {
        const char *name;
        struct value value;
    } pool[] = {
        {"ivlen", {U, 8, 12, 0}},  {"ivlen", {U, 8, 13, 0}},
        {"ivlen", {U, 8, 0, 0}},   {"padding", {U, 4, 0, 0}},
        {"padding", {O, 4, 0, 0}}, {"num", {U, 4, 3, 0}},
        {"keylen", {U, 8, 32, 0}}, {"tag", {O, 16, 0, 0}},
        {"tag", {O, 17, 0, 0}},    {"bogus", {U, 4, 3, 0}},
        {"tag", {O, 12, 0, 0}},    {"use-bits", {U, 4, 1, 0}},
    };
    const size_t count = sizeof(pool) / sizeof(*pool);
    size_t i, j;

    /* Default's GCM of 3.5 alone goes by the order of the array. */
    if (algorithms[f->m.alg].mode == GCM &&
        OpenSSL_version_num() >= 0x30400000L &&
        OpenSSL_version_num() < 0x30600000L)
        return;
    for (i = 0; i < count; i++)
        for (j = 0; j < count; j++) {
            EVP_CIPHER_CTX *a = phase_ctx(&ours, f, phase);
            EVP_CIPHER_CTX *b = phase_ctx(&theirs, f, phase);
            uint8_t storage[2][16];
            OSSL_PARAM p[3] = {
                parameter(pool[i].name, &pool[i].value, storage[0]),
                parameter(pool[j].name, &pool[j].value, storage[1]),
                OSSL_PARAM_construct_end()};
            struct state x, y;
            struct errors errors;
            int ret;

            check_case("%s %s, phase '%s', set %s (%zu) and %s (%zu)",
                       algorithms[f->m.alg].name, f->m.enc ? "enc" : "dec",
                       phase_names[phase], pool[i].name, i, pool[j].name, j);
            ERR_clear_error();
            ret = EVP_CIPHER_CTX_set_params(b, p);
            errors = errors_take();
            CHECK_INT(EVP_CIPHER_CTX_set_params(a, p), ret);
            CHECK_ERRORS(errors_take(), errors);
            look(a, phase, &x);
            look(b, phase, &y);
            CHECK_MEM(&x, &y, sizeof(x));
            EVP_CIPHER_CTX_free(a);
            EVP_CIPHER_CTX_free(b);
        }
}

static void check_empty_arrays(const struct fixture *f, enum phase phase)
{
    EVP_CIPHER_CTX *ctx = phase_ctx(&ours, f, phase);
    OSSL_PARAM none = OSSL_PARAM_construct_end();

    CHECK_INT(EVP_CIPHER_CTX_set_params(ctx, &none), 1);
    CHECK_INT(EVP_CIPHER_CTX_set_params(ctx, NULL), 1);
    CHECK_INT(EVP_CIPHER_CTX_get_params(ctx, &none), 1);
    EVP_CIPHER_CTX_free(ctx);
}

/* The ctrls that programs use in place of parameters. */
static void check_ctrls(const struct fixture *f, enum phase phase)
{
    static const int numbers[] = {-1, 0,   1,   3,    4,         7,  8,
                                  11, 12,  13,  16,   17,        20, 24,
                                  32, 128, 129, 1024, 0x7fffffff};
    static const int ctrls[] = {
        EVP_CTRL_AEAD_SET_IVLEN, EVP_CTRL_SET_KEY_LENGTH,
        EVP_CTRL_AEAD_SET_TAG,   EVP_CTRL_AEAD_GET_TAG,
        EVP_CTRL_INIT,           EVP_CTRL_GET_IVLEN,
        EVP_CTRL_RAND_KEY,       EVP_CTRL_SET_PIPELINE_OUTPUT_BUFS};
    size_t i, j;

    for (i = 0; i < sizeof(ctrls) / sizeof(*ctrls); i++)
        for (j = 0; j < sizeof(numbers) / sizeof(*numbers); j++) {
            EVP_CIPHER_CTX *a, *b;
            uint8_t got[2048] = {0}, want[2048] = {0};
            struct state x, y;
            struct errors errors;
            int ret;
            void *pa = got, *pb = want;

            if (ctrls[i] == EVP_CTRL_RAND_KEY && (j || phase != FRESH))
                continue; /* random; only that it works */
            if (ctrls[i] == EVP_CTRL_AEAD_SET_IVLEN ||
                ctrls[i] == EVP_CTRL_SET_KEY_LENGTH)
                pa = pb = NULL;
            a = phase_ctx(&ours, f, phase);
            b = phase_ctx(&theirs, f, phase);
            check_case("%s %s, phase '%s', ctrl %x, %d",
                       algorithms[f->m.alg].name, f->m.enc ? "enc" : "dec",
                       phase_names[phase], (unsigned int)ctrls[i], numbers[j]);
            ERR_clear_error();
            ret = EVP_CIPHER_CTX_ctrl(b, ctrls[i], numbers[j], pb);
            errors = errors_take();
            CHECK_INT(EVP_CIPHER_CTX_ctrl(a, ctrls[i], numbers[j], pa), ret);
            CHECK_ERRORS(errors_take(), errors);
            if (ctrls[i] != EVP_CTRL_RAND_KEY)
                CHECK_MEM(got, want, sizeof(got));
            CHECK_INT(EVP_CIPHER_CTX_get_iv_length(a),
                      EVP_CIPHER_CTX_get_iv_length(b));
            look(a, phase, &x);
            look(b, phase, &y);
            CHECK_MEM(&x, &y, sizeof(x));
            EVP_CIPHER_CTX_free(a);
            EVP_CIPHER_CTX_free(b);
        }
}

static void check_mac_key(void)
{
    uint8_t key[40], tag[16], want[16];
    size_t size, n;
    int null;

    rnd_bytes(key, sizeof(key));
    CHECK(poly1305_run(&theirs, key, bytes, sizeof(bytes), want));
    for (size = 0; size <= 40; size++)
        for (null = 0; null <= 1; null++) {
            EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(ours.poly1305);
            OSSL_PARAM p[2] = {
                {OSSL_MAC_PARAM_KEY, O, null ? NULL : key, size, 0},
                OSSL_PARAM_construct_end()};
            int good = size == 32 && !null;

            check_case("POLY1305, key parameter of %zu bytes%s", size,
                       null ? ", NULL" : "");
            if (!strict && null) {
                EVP_MAC_CTX_free(ctx);
                continue;
            }
            ERR_clear_error();
            CHECK_INT(EVP_MAC_CTX_set_params(ctx, p), good);
            CHECK(good == (ERR_get_error() == 0));
            CHECK_INT(EVP_MAC_init(ctx, NULL, 0, p), good);
            if (good) {
                CHECK(EVP_MAC_update(ctx, bytes, sizeof(bytes)));
                CHECK(EVP_MAC_final(ctx, tag, &n, 16));
                CHECK_MEM(tag, want, 16);
            }
            ERR_clear_error();
            CHECK_INT(EVP_MAC_init(ctx, key, size, NULL), size == 32);
            if (size != 32)
                CHECK_QUEUE("P105");
            EVP_MAC_CTX_free(ctx);
        }
}

int main(void)
{
    struct fixture f;
    size_t i, j;
    int alg, enc, phase;

    evp_open();
    rnd_bytes(bytes, sizeof(bytes));
    check_mac_key();
    for (alg = 0; alg < CIPHERS; alg++)
        for (enc = 0; enc <= 1; enc++) {
            if (alg != 2 && alg < 5 && (quick || alg != 3))
                continue;
            phase_fixture(&f, alg, enc);
            for (phase = 0; phase < PHASES; phase++) {
                for (i = 0; i < NAMES; i++)
                    for (j = 0; j < VALUES; j++)
                        check_set(&f, (enum phase)phase, names[i], &values[j]);
                check_arrays(&f, (enum phase)phase);
                check_empty_arrays(&f, (enum phase)phase);
                check_ctrls(&f, (enum phase)phase);
            }
            fixture_free(&f);
        }
    evp_close();
    return check_done();
}
