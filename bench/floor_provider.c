/*
 * A provider that does nothing, for bench_evp's column "floor": the eight
 * names, the parameters that EVP asks for on its way, and functions that
 * return at once. What a call takes through it is libcrypto's own part, which
 * no provider can make shorter. It encrypts nothing: never load it elsewhere.
 */
#include <stddef.h>
#include <string.h>

#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>

/* The smallest context there is: EVP wants a pointer and never looks. */
static const char context;

static void *newctx(void *provctx)
{
    (void)provctx;
    return (void *)(size_t)&context;
}

static void freectx(void *ctx)
{
    (void)ctx;
}

static int init(void *ctx, const unsigned char *key, size_t keylen,
                const unsigned char *iv, size_t ivlen,
                const OSSL_PARAM params[])
{
    (void)ctx;
    (void)key;
    (void)keylen;
    (void)iv;
    (void)ivlen;
    (void)params;
    return 1;
}

static int update(void *ctx, unsigned char *out, size_t *outl, size_t outsize,
                  const unsigned char *in, size_t inl)
{
    (void)ctx;
    (void)out;
    (void)outsize;
    (void)in;
    *outl = inl;
    return 1;
}

static int final(void *ctx, unsigned char *out, size_t *outl, size_t outsize)
{
    (void)ctx;
    (void)out;
    (void)outsize;
    *outl = 0;
    return 1;
}

static int set_ctx_params(void *ctx, const OSSL_PARAM params[])
{
    (void)ctx;
    (void)params;
    return 1;
}

/* Parameters, told apart by a letter: no two of them share the first that is
 * looked at. */
static void answer(OSSL_PARAM *p, size_t value)
{
    if (p->data_size == sizeof(size_t))
        *(size_t *)p->data = value;
    else if (p->data_size == sizeof(int))
        *(int *)p->data = (int)value;
    p->return_size = p->data_size;
}

static int get_params_of(OSSL_PARAM *p, size_t keylen, size_t ivlen,
                         size_t blocksize, int aead, size_t mode)
{
    for (; p->key != NULL; p++) {
        switch (p->key[0]) {
        case 'k':
            answer(p, keylen);
            break;
        case 'i':
            answer(p, ivlen);
            break;
        case 'b':
            answer(p, blocksize);
            break;
        case 'a':
            answer(p, (size_t)aead);
            break;
        case 'm':
            answer(p, mode);
            break;
        case 't': /* the tag: whatever the buffer held */
            p->return_size = p->data_size;
            break;
        default: /* custom-iv is true for those without blocks, cts and the
                    rest are false */
            answer(p, aead && strcmp(p->key, "custom-iv") == 0);
        }
    }
    return 1;
}

#define CIPHER(id, keylen, ivlen, blocksize, aead, mode)                       \
    static int id##_get_params(OSSL_PARAM params[])                            \
    {                                                                          \
        return get_params_of(params, keylen, ivlen, blocksize, aead, mode);    \
    }                                                                          \
    static int id##_get_ctx_params(void *ctx, OSSL_PARAM params[])             \
    {                                                                          \
        (void)ctx;                                                             \
        return get_params_of(params, keylen, ivlen, blocksize, aead, mode);    \
    }                                                                          \
    static const OSSL_DISPATCH id[] = {                                        \
        {OSSL_FUNC_CIPHER_NEWCTX, (void (*)(void))newctx},                     \
        {OSSL_FUNC_CIPHER_FREECTX, (void (*)(void))freectx},                   \
        {OSSL_FUNC_CIPHER_ENCRYPT_INIT, (void (*)(void))init},                 \
        {OSSL_FUNC_CIPHER_DECRYPT_INIT, (void (*)(void))init},                 \
        {OSSL_FUNC_CIPHER_UPDATE, (void (*)(void))update},                     \
        {OSSL_FUNC_CIPHER_FINAL, (void (*)(void)) final},                      \
        {OSSL_FUNC_CIPHER_GET_PARAMS, (void (*)(void))id##_get_params},        \
        {OSSL_FUNC_CIPHER_GET_CTX_PARAMS,                                      \
         (void (*)(void))id##_get_ctx_params},                                 \
        {OSSL_FUNC_CIPHER_SET_CTX_PARAMS, (void (*)(void))set_ctx_params},     \
        {0, NULL}}

CIPHER(aes_128_cbc, 16, 16, 16, 0, 2);
CIPHER(aes_192_cbc, 24, 16, 16, 0, 2);
CIPHER(aes_256_cbc, 32, 16, 16, 0, 2);
CIPHER(aes_128_gcm, 16, 12, 1, 1, 6);
CIPHER(aes_192_gcm, 24, 12, 1, 1, 6);
CIPHER(aes_256_gcm, 32, 12, 1, 1, 6);
CIPHER(chapoly, 32, 12, 1, 1, 0);

static int mac_init(void *ctx, const unsigned char *key, size_t keylen,
                    const OSSL_PARAM params[])
{
    (void)ctx;
    (void)key;
    (void)keylen;
    (void)params;
    return 1;
}

static int mac_update(void *ctx, const unsigned char *in, size_t inl)
{
    (void)ctx;
    (void)in;
    (void)inl;
    return 1;
}

static int mac_get_params(OSSL_PARAM params[])
{
    for (; params->key != NULL; params++)
        answer(params, 16);
    return 1;
}

static const OSSL_DISPATCH poly1305[] = {
    {OSSL_FUNC_MAC_NEWCTX, (void (*)(void))newctx},
    {OSSL_FUNC_MAC_FREECTX, (void (*)(void))freectx},
    {OSSL_FUNC_MAC_INIT, (void (*)(void))mac_init},
    {OSSL_FUNC_MAC_UPDATE, (void (*)(void))mac_update},
    {OSSL_FUNC_MAC_FINAL, (void (*)(void)) final},
    {OSSL_FUNC_MAC_GET_PARAMS, (void (*)(void))mac_get_params},
    {0, NULL},
};

static const OSSL_ALGORITHM ciphers[] = {
    {"AES-128-CBC", "provider=floor", aes_128_cbc, NULL},
    {"AES-192-CBC", "provider=floor", aes_192_cbc, NULL},
    {"AES-256-CBC", "provider=floor", aes_256_cbc, NULL},
    {"AES-128-GCM", "provider=floor", aes_128_gcm, NULL},
    {"AES-192-GCM", "provider=floor", aes_192_gcm, NULL},
    {"AES-256-GCM", "provider=floor", aes_256_gcm, NULL},
    {"ChaCha20-Poly1305", "provider=floor", chapoly, NULL},
    {NULL, NULL, NULL, NULL},
};

static const OSSL_ALGORITHM macs[] = {
    {"POLY1305", "provider=floor", poly1305, NULL},
    {NULL, NULL, NULL, NULL},
};

static const OSSL_ALGORITHM *query(void *provctx, int operation, int *no_cache)
{
    (void)provctx;
    *no_cache = 0;
    if (operation == OSSL_OP_CIPHER)
        return ciphers;
    return operation == OSSL_OP_MAC ? macs : NULL;
}

static const OSSL_DISPATCH provider[] = {
    {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))query},
    {0, NULL},
};

OSSL_provider_init_fn OSSL_provider_init;

int OSSL_provider_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in,
                       const OSSL_DISPATCH **out, void **provctx)
{
    (void)in;
    *out = provider;
    *provctx = (void *)(size_t)handle; /* not NULL is all that matters */
    return 1;
}
