/*
 * No allocation on the hot path: new key, new nonce, both, message, tag, and
 * the patterns in which libcrypto frees and makes the cipher's context
 * (EVP_CipherInit_ex with a cipher, EVP_CIPHER_CTX_reset), once a context has
 * been used. Both libcrypto's allocator and libc's are counted; where the
 * running libcrypto allocates itself, the default provider's count, less the
 * context that it makes for itself, is what may remain.
 */
#define _GNU_SOURCE
#include "evp.h"

#include <stdlib.h>
#include <string.h>

static int counting;
static long counted;

/* ---- libc's allocator -----------------------------------------------------
 */

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) &&                    \
    !defined(__SANITIZE_THREAD__)
#define INTERPOSED 1
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

void *malloc(size_t n)
{
    counted += counting;
    return __libc_malloc(n);
}

void *calloc(size_t n, size_t m)
{
    counted += counting;
    return __libc_calloc(n, m);
}

void *realloc(void *p, size_t n)
{
    counted += counting;
    return __libc_realloc(p, n);
}
#else
#define INTERPOSED 0
#endif

/* ---- libcrypto's ----------------------------------------------------------
 */

static void *crypto_malloc(size_t n, const char *file, int line)
{
    (void)file;
    (void)line;
    counted += counting && !INTERPOSED;
    return malloc(n);
}

static void *crypto_realloc(void *p, size_t n, const char *file, int line)
{
    (void)file;
    (void)line;
    counted += counting && !INTERPOSED;
    return realloc(p, n);
}

static void crypto_free(void *p, const char *file, int line)
{
    (void)file;
    (void)line;
    free(p);
}

/* ---- Patterns -------------------------------------------------------------
 */

struct run {
    const struct side *s;
    int alg, enc;
    EVP_CIPHER_CTX *ctx, *copy;
    EVP_MAC_CTX *mac;
};

static const uint8_t key[32] = {1}, iv[16] = {2}, in[1000] = {3};
static uint8_t out[1100], tag[16];

/* The rest of a message; what it returns does not matter here (a tag that
 * does not fit, say), only that nothing is allocated. */
static void message(const struct run *r, size_t len)
{
    int n;

    if (algorithms[r->alg].mode != CBC) {
        EVP_CipherUpdate(r->ctx, NULL, &n, in, 13);
        if (!r->enc)
            EVP_CIPHER_CTX_ctrl(r->ctx, EVP_CTRL_AEAD_SET_TAG, 16, tag);
    }
    EVP_CipherUpdate(r->ctx, out, &n, in, (int)len);
    if (r->enc || algorithms[r->alg].mode == CBC)
        EVP_CipherFinal_ex(r->ctx, out, &n);
    if (r->enc && algorithms[r->alg].mode != CBC)
        EVP_CIPHER_CTX_ctrl(r->ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag);
}

static void new_nonce(const struct run *r)
{
    EVP_CipherInit_ex(r->ctx, NULL, NULL, NULL, iv, -1);
    message(r, 16);
}

static void new_key(const struct run *r)
{
    EVP_CipherInit_ex(r->ctx, NULL, NULL, key, NULL, -1);
}

static void new_both(const struct run *r)
{
    EVP_CipherInit_ex(r->ctx, NULL, NULL, key, iv, -1);
    message(r, 1000);
}

static void with_cipher(const struct run *r)
{
    EVP_CipherInit_ex(r->ctx, r->s->cipher[r->alg], NULL, key, iv, r->enc);
    message(r, 64);
}

static void after_reset(const struct run *r)
{
    EVP_CIPHER_CTX_reset(r->ctx);
    EVP_CipherInit_ex(r->ctx, r->s->cipher[r->alg], NULL, key, iv, r->enc);
    message(r, 64);
}

static void in_steps(const struct run *r)
{
    EVP_CipherInit_ex(r->ctx, r->s->cipher[r->alg], NULL, NULL, NULL, r->enc);
    EVP_CIPHER_CTX_ctrl(r->ctx, EVP_CTRL_AEAD_SET_IVLEN, 12, NULL);
    EVP_CIPHER_CTX_set_padding(r->ctx, 1);
    EVP_CipherInit_ex(r->ctx, NULL, NULL, key, NULL, -1);
    EVP_CipherInit_ex(r->ctx, NULL, NULL, NULL, iv, -1);
    message(r, 300);
}

static void lengths(const struct run *r)
{
    EVP_CIPHER_CTX_get_iv_length(r->ctx);
    EVP_CIPHER_CTX_get_key_length(r->ctx);
    EVP_CIPHER_CTX_get_tag_length(r->ctx);
}

static void copied(const struct run *r)
{
    EVP_CIPHER_CTX_copy(r->copy, r->ctx);
}

static void mac_message(const struct run *r)
{
    size_t n;

    EVP_MAC_init(r->mac, key, 32, NULL);
    EVP_MAC_update(r->mac, in, 1000);
    EVP_MAC_final(r->mac, tag, &n, 16);
}

static const struct {
    const char *name;
    void (*run)(const struct run *);
    int mac;
    int remakes; /* libcrypto frees and makes the context */
} patterns[] = {
    {"new nonce, 16 bytes", new_nonce, 0, 0},
    {"new key", new_key, 0, 0},
    {"new key and nonce, 1000 bytes", new_both, 0, 0},
    {"init with cipher, 64 bytes", with_cipher, 0, 1},
    {"reset, init, 64 bytes", after_reset, 0, 1},
    {"cipher, IV length, key, nonce", in_steps, 0, 1},
    {"lengths", lengths, 0, 0},
    {"copied", copied, 0, 1},
    {"MAC, 1000 bytes", mac_message, 1, 0},
};

static long count(void (*run)(const struct run *), const struct run *r)
{
    int i;

    for (i = 0; i < 3; i++) /* warm up */
        run(r);
    counted = 0;
    counting = 1;
    for (i = 0; i < 100; i++)
        run(r);
    counting = 0;
    return counted;
}

static void check_pattern(size_t i, int alg, int enc)
{
    struct run r[2] = {{.s = &ours, .alg = alg, .enc = enc},
                       {.s = &theirs, .alg = alg, .enc = enc}};
    long got[2], allowed;
    int j;

    for (j = 0; j < 2; j++) {
        r[j].ctx = EVP_CIPHER_CTX_new();
        r[j].copy = EVP_CIPHER_CTX_new();
        r[j].mac = EVP_MAC_CTX_new(r[j].s->poly1305);
        EVP_CipherInit_ex(r[j].ctx, r[j].s->cipher[alg], NULL, key, iv, enc);
        got[j] = count(patterns[i].run, &r[j]);
        EVP_CIPHER_CTX_free(r[j].ctx);
        EVP_CIPHER_CTX_free(r[j].copy);
        EVP_MAC_CTX_free(r[j].mac);
        ERR_clear_error();
    }
    /* Default's own context is the one allocation it needs to make. */
    allowed = got[1] - (patterns[i].remakes ? 100 : 0);
    if (!strict || allowed < 0)
        allowed = strict ? 0 : got[1];
    check_case("%s, %s %s: %ld allocations in 100, default %ld",
               patterns[i].name, patterns[i].mac ? "POLY1305" : "",
               patterns[i].mac ? "" : algorithms[alg].name, got[0], got[1]);
    CHECK(got[0] <= allowed);
}

int main(void)
{
    size_t i;
    int alg, enc;

    if (!CRYPTO_set_mem_functions(crypto_malloc, crypto_realloc, crypto_free)) {
        check_skip("libcrypto has allocated already");
        return check_done();
    }
    evp_open();
    counting = 1;
    free(malloc(1));
    OPENSSL_free(OPENSSL_malloc(1));
    counting = 0;
    CHECK(counted > 0); /* the counter counts */
    for (i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
        if (patterns[i].mac) {
            check_pattern(i, 0, 1);
            continue;
        }
        for (alg = 0; alg < CIPHERS; alg++)
            for (enc = 0; enc <= 1; enc++)
                check_pattern(i, alg, enc);
    }
    evp_close();
    return check_done();
}
