/*
 * What the three kinds of cipher share: the constants of an algorithm, the rule
 * for buffers that overlap, and the dispatch table.
 */
#ifndef CIPHER_COMMON_H
#define CIPHER_COMMON_H

#include "prov_params.h"

/* EVP_CIPH_*_MODE */
#define PROV_MODE_STREAM 0
#define PROV_MODE_CBC 2
#define PROV_MODE_GCM 6

struct prov_cipher_info {
    unsigned int mode;
    size_t keylen;
    size_t ivlen;
    size_t blocksize;
    unsigned int aead; /* 1: AEAD, which also checks its own IV length */
};

/* OSSL_FUNC_cipher_get_params of an algorithm, and what it answers. */
int prov_cipher_get_params(OSSL_PARAM params[],
                           const struct prov_cipher_info *info);
OSSL_FUNC_cipher_gettable_params_fn prov_cipher_gettable_params;

/*
 * Output that begins inside the input would overwrite what has not been read.
 * (The default provider returns success and wrong data.) Output at or in front
 * of the input is fine at any distance.
 */
static inline int prov_overlaps_forward(const uint8_t *out, const uint8_t *in,
                                        size_t len)
{
    return (uintptr_t)out - (uintptr_t)in - 1 < len - 1 && len != 0;
}

/* TLS 1.2 AEAD records: RFC 5246 6.2.3.3, RFC 5288, RFC 7905. */
#define PROV_TLS_AAD 13
#define PROV_TLS_TAG 16

/*
 * The AAD of a record from its header, which is the same but for the length at
 * its end: that counts `around` bytes that are not payload, the AAD does not.
 * Returns 0, and changes nothing, if the header, of len bytes, is none.
 */
static inline int prov_tls_aad(uint8_t aad[PROV_TLS_AAD], const uint8_t *header,
                               size_t len, size_t around, size_t *payload)
{
    size_t n;

    if (header == NULL || len != PROV_TLS_AAD)
        return 0;
    n = (size_t)header[len - 2] << 8 | header[len - 1];
    if (n < around)
        return 0;
    *payload = n - around;
    memcpy(aad, header, len - 2);
    aad[len - 2] = (uint8_t)(*payload >> 8);
    aad[len - 1] = (uint8_t)*payload;
    return 1;
}

/* Where the message stands, of both AEADs. */
enum prov_iv_state {
    PROV_IV_NONE,    /* none was given yet */
    PROV_IV_GIVEN,   /* the next call starts a message with it */
    PROV_IV_IN_USE,  /* a message is under way */
    PROV_IV_FINISHED /* used up: another must be given */
};

#define PROV_FN(id, function)                                                  \
    {                                                                          \
        (id), (void (*)(void))(function)                                       \
    }

/*
 * The dispatch table of one algorithm, with the two functions that depend on
 * it alone. `family` is the prefix of the functions of the file that uses it.
 */
#define PROV_CIPHER(algorithm, family, ...)                                    \
    static const struct prov_cipher_info algorithm##_info = {__VA_ARGS__};     \
    static void *algorithm##_newctx(void *prov)                                \
    {                                                                          \
        return family##_newctx(prov, algorithm##_info.keylen);                 \
    }                                                                          \
    static int algorithm##_get_params(OSSL_PARAM params[])                     \
    {                                                                          \
        return prov_cipher_get_params(params, &algorithm##_info);              \
    }                                                                          \
    const OSSL_DISPATCH prov_##algorithm##_functions[] = {                     \
        PROV_FN(OSSL_FUNC_CIPHER_NEWCTX, algorithm##_newctx),                  \
        PROV_FN(OSSL_FUNC_CIPHER_FREECTX, family##_freectx),                   \
        PROV_FN(OSSL_FUNC_CIPHER_DUPCTX, family##_dupctx),                     \
        PROV_FN(OSSL_FUNC_CIPHER_ENCRYPT_INIT, family##_encrypt_init),         \
        PROV_FN(OSSL_FUNC_CIPHER_DECRYPT_INIT, family##_decrypt_init),         \
        PROV_FN(OSSL_FUNC_CIPHER_UPDATE, family##_update),                     \
        PROV_FN(OSSL_FUNC_CIPHER_FINAL, family##_final),                       \
        PROV_FN(OSSL_FUNC_CIPHER_CIPHER, family##_cipher),                     \
        PROV_FN(OSSL_FUNC_CIPHER_GET_PARAMS, algorithm##_get_params),          \
        PROV_FN(OSSL_FUNC_CIPHER_GETTABLE_PARAMS,                              \
                prov_cipher_gettable_params),                                  \
        PROV_FN(OSSL_FUNC_CIPHER_GET_CTX_PARAMS, family##_get_ctx_params),     \
        PROV_FN(OSSL_FUNC_CIPHER_GETTABLE_CTX_PARAMS,                          \
                family##_gettable_ctx_params),                                 \
        PROV_FN(OSSL_FUNC_CIPHER_SET_CTX_PARAMS, family##_set_ctx_params),     \
        PROV_FN(OSSL_FUNC_CIPHER_SETTABLE_CTX_PARAMS,                          \
                family##_settable_ctx_params),                                 \
        {0, NULL},                                                             \
    };

/* The tables, for provider.c; PROV_CIPHER in the cipher's file makes them. */
#define AES_CBC(bits, names)                                                   \
    extern const OSSL_DISPATCH prov_aes_##bits##_cbc_functions[];
#define AES_GCM(bits, names)                                                   \
    extern const OSSL_DISPATCH prov_aes_##bits##_gcm_functions[];
#define CHAPOLY(names)                                                         \
    extern const OSSL_DISPATCH prov_chacha20_poly1305_functions[];
#define POLY1305(names) extern const OSSL_DISPATCH prov_poly1305_functions[];
#include "algorithms.inc"

#endif
