/*
 * The answers about an algorithm (as opposed to a context), and random bytes.
 */
#include <unistd.h>
#if defined(__APPLE__)
#include <sys/random.h>
#endif

#include "cipher_common.h"

#define CIPHER_PARAMS_3_0(X, p)                                                \
    X(p, MODE, "mode", PROV_UINT)                                              \
    X(p, KEYLEN, "keylen", PROV_SIZE_T)                                        \
    X(p, IVLEN, "ivlen", PROV_SIZE_T)                                          \
    X(p, BLOCKSIZE, "blocksize", PROV_SIZE_T)                                  \
    X(p, AEAD, "aead", PROV_INT)                                               \
    X(p, CUSTOM_IV, "custom-iv", PROV_INT)                                     \
    X(p, CTS, "cts", PROV_INT)                                                 \
    X(p, TLS_MULTI, "tls-multi", PROV_INT)                                     \
    X(p, HAS_RANDKEY, "has-randkey", PROV_INT)
#define CIPHER_PARAMS(X, p)                                                    \
    CIPHER_PARAMS_3_0(X, p)                                                    \
    X(p, ENCRYPT_THEN_MAC, "encrypt-then-mac", PROV_INT)
PROV_PARAMS(info, CIPHER_PARAMS)

/* What the default provider lists before 3.6. */
static const OSSL_PARAM info_list_3_0[] = {
    CIPHER_PARAMS_3_0(PROV_PARAM_DESCRIPTOR, info) OSSL_PARAM_END};

const OSSL_PARAM *prov_cipher_gettable_params(void *provctx)
{
    const struct prov *prov = provctx;

    return prov->core_version < PROV_VERSION(3, 6, 0) ? info_list_3_0
                                                      : info_list;
}

int prov_cipher_get_params(OSSL_PARAM params[],
                           const struct prov_cipher_info *info)
{
    struct prov_found found;
    OSSL_PARAM *p;

    /* There is no context here, hence nowhere to raise an error. */
    if (!info_find(NULL, params, &found))
        return 0;
    if ((p = PROV_PARAM(params, found, info_MODE)) != NULL &&
        !prov_set_uint(NULL, p, info->mode))
        return 0;
    if ((p = PROV_PARAM(params, found, info_KEYLEN)) != NULL &&
        !prov_set_size_t(NULL, p, info->keylen))
        return 0;
    if ((p = PROV_PARAM(params, found, info_IVLEN)) != NULL &&
        !prov_set_size_t(NULL, p, info->ivlen))
        return 0;
    if ((p = PROV_PARAM(params, found, info_BLOCKSIZE)) != NULL &&
        !prov_set_size_t(NULL, p, info->blocksize))
        return 0;
    if ((p = PROV_PARAM(params, found, info_AEAD)) != NULL &&
        !prov_set_int(NULL, p, info->aead))
        return 0;
    if ((p = PROV_PARAM(params, found, info_CUSTOM_IV)) != NULL &&
        !prov_set_int(NULL, p, info->aead))
        return 0;
    if ((p = PROV_PARAM(params, found, info_CTS)) != NULL &&
        !prov_set_int(NULL, p, 0))
        return 0;
    if ((p = PROV_PARAM(params, found, info_TLS_MULTI)) != NULL &&
        !prov_set_int(NULL, p, 0))
        return 0;
    if ((p = PROV_PARAM(params, found, info_HAS_RANDKEY)) != NULL &&
        !prov_set_int(NULL, p, 0))
        return 0;
    if ((p = PROV_PARAM(params, found, info_ENCRYPT_THEN_MAC)) != NULL &&
        !prov_set_int(NULL, p, 0))
        return 0;
    return 1;
}

int prov_random(void *out, size_t len)
{
    return getentropy(out, len) == 0;
}
