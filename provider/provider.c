/*
 * The entry point: takes the core's upcalls, reads the configuration, chooses
 * the kernels and hands out the algorithms. Nothing here is on the data path.
 */
#include <stdio.h>

#include <openssl/core_names.h>

#include "cipher_common.h"

#ifndef BULKCIPHER_VERSION
#error "the build gives BULKCIPHER_VERSION"
#endif

#define PROPERTIES "provider=" PROV_NAME

static const OSSL_ALGORITHM ciphers[] = {
#define AES_CBC(bits, names)                                                   \
    {names, PROPERTIES, prov_aes_##bits##_cbc_functions, "AES-CBC"},
#define AES_GCM(bits, names)                                                   \
    {names, PROPERTIES, prov_aes_##bits##_gcm_functions, "AES-GCM"},
#define CHAPOLY(names)                                                         \
    {names, PROPERTIES, prov_chacha20_poly1305_functions, "ChaCha20-Poly1305"},
#include "algorithms.inc"
    {NULL, NULL, NULL, NULL},
};

static const OSSL_ALGORITHM macs[] = {
#define POLY1305(names)                                                        \
    {names, PROPERTIES, prov_poly1305_functions, "Poly1305"},
#include "algorithms.inc"
    {NULL, NULL, NULL, NULL},
};

static const OSSL_ALGORITHM *query_operation(void *provctx, int operation,
                                             int *no_cache)
{
    (void)provctx;
    *no_cache = 0;
    switch (operation) {
    case OSSL_OP_CIPHER:
        return ciphers;
    case OSSL_OP_MAC:
        return macs;
    default:
        return NULL;
    }
}

#define PROVIDER_PARAMS(X, p)                                                  \
    X(p, NAME, "name", PROV_UTF8_PTR)                                          \
    X(p, VERSION, "version", PROV_UTF8_PTR)                                    \
    X(p, BUILDINFO, "buildinfo", PROV_UTF8_PTR)                                \
    X(p, STATUS, "status", PROV_INT)
PROV_PARAMS(provider, PROVIDER_PARAMS)

static const OSSL_PARAM *gettable_params(void *provctx)
{
    (void)provctx;
    return provider_list;
}

static int get_params(void *provctx, OSSL_PARAM params[])
{
    const struct prov *prov = provctx;
    struct prov_found found;
    OSSL_PARAM *p;

    if (!provider_find(prov, params, &found))
        return 0;
    if ((p = PROV_PARAM(params, found, provider_NAME)) != NULL &&
        !prov_set_utf8_ptr(prov, p, PROV_NAME))
        return 0;
    if ((p = PROV_PARAM(params, found, provider_VERSION)) != NULL &&
        !prov_set_utf8_ptr(prov, p, BULKCIPHER_VERSION))
        return 0;
    if ((p = PROV_PARAM(params, found, provider_BUILDINFO)) != NULL &&
        !prov_set_utf8_ptr(prov, p, prov->buildinfo))
        return 0;
    if ((p = PROV_PARAM(params, found, provider_STATUS)) != NULL &&
        !prov_set_int(prov, p, 1))
        return 0;
    return 1;
}

static const OSSL_ITEM *get_reason_strings(void *provctx)
{
    (void)provctx;
    return prov_reason_strings;
}

static void teardown(void *provctx)
{
    struct prov *prov = provctx;

    prov_pool_drain(prov);
    prov_free(prov, prov);
}

static const OSSL_DISPATCH provider_functions[] = {
    PROV_FN(OSSL_FUNC_PROVIDER_TEARDOWN, teardown),
    PROV_FN(OSSL_FUNC_PROVIDER_GETTABLE_PARAMS, gettable_params),
    PROV_FN(OSSL_FUNC_PROVIDER_GET_PARAMS, get_params),
    PROV_FN(OSSL_FUNC_PROVIDER_QUERY_OPERATION, query_operation),
    PROV_FN(OSSL_FUNC_PROVIDER_GET_REASON_STRINGS, get_reason_strings),
    {0, NULL},
};

/* "3.0.19", "4.1.0-dev": digits, dots, and whatever follows. */
static uint32_t parse_version(const char *text)
{
    unsigned int major = 0, minor = 0, patch = 0;

    if (text == NULL || sscanf(text, "%4u.%4u.%4u", &major, &minor, &patch) < 2)
        return PROV_VERSION(3, 0, 0);
    return PROV_VERSION(major, minor, patch);
}

/* The upcalls we cannot do without; 0 when the core lacks one. */
static int take_upcalls(struct prov *prov, const OSSL_DISPATCH *in,
                        OSSL_FUNC_core_get_params_fn **core_get_params)
{
    *core_get_params = NULL;
    for (; in->function_id != 0; in++) {
        switch (in->function_id) {
        case OSSL_FUNC_CORE_GET_PARAMS:
            *core_get_params = OSSL_FUNC_core_get_params(in);
            break;
        case OSSL_FUNC_CORE_NEW_ERROR:
            prov->new_error = OSSL_FUNC_core_new_error(in);
            break;
        case OSSL_FUNC_CORE_SET_ERROR_DEBUG:
            prov->set_error_debug = OSSL_FUNC_core_set_error_debug(in);
            break;
        case OSSL_FUNC_CORE_VSET_ERROR:
            prov->vset_error = OSSL_FUNC_core_vset_error(in);
            break;
        case OSSL_FUNC_CRYPTO_ZALLOC:
            prov->zalloc = OSSL_FUNC_CRYPTO_zalloc(in);
            break;
        case OSSL_FUNC_CRYPTO_FREE:
            prov->free = OSSL_FUNC_CRYPTO_free(in);
            break;
        default:
            break;
        }
    }
    return *core_get_params != NULL && prov->new_error != NULL &&
           prov->set_error_debug != NULL && prov->vset_error != NULL &&
           prov->zalloc != NULL && prov->free != NULL;
}

/* The core's version, and our section of openssl.cnf. */
static int configure(struct prov *prov, OSSL_FUNC_core_get_params_fn *get)
{
    char *version = NULL, *isa = NULL;
    OSSL_PARAM params[3];
    uint32_t cpu = bc_cpu();
    int known;

    memset(params, 0, sizeof(params));
    params[0].key = OSSL_PROV_PARAM_CORE_VERSION;
    params[0].data_type = OSSL_PARAM_UTF8_PTR;
    params[0].data = &version;
    params[0].data_size = sizeof(version);
    params[1].key = "isa";
    params[1].data_type = OSSL_PARAM_UTF8_PTR;
    params[1].data = &isa;
    params[1].data_size = sizeof(isa);
    if (!get(prov->handle, params))
        return 0;

    prov->core_version = parse_version(version);
    if (isa != NULL) {
        cpu &= bc_isa_mask(isa, &known);
        if (!known)
            return prov_raise_at(
                prov, PROV_E_INVALID_CONFIG_DATA, __FILE__, __LINE__, __func__,
                PROV_NAME ": isa = %s is none of: %s", isa, bc_isa_names());
    }
    prov->kernels = bc_select(cpu);
    snprintf(prov->buildinfo, sizeof(prov->buildinfo),
             "cbc=%s gcm=%s chapoly=%s poly1305=%s", prov->kernels.cbc->name,
             prov->kernels.gcm->name, prov->kernels.chapoly->name,
             prov->kernels.poly1305->name);
    return 1;
}

__attribute__((visibility("default"))) int
OSSL_provider_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in,
                   const OSSL_DISPATCH **out, void **provctx)
{
    OSSL_FUNC_core_get_params_fn *core_get_params;
    struct prov loading, *prov;

    /* On the stack until we know how to allocate and that we shall live. */
    memset(&loading, 0, sizeof(loading));
    loading.handle = handle;
    if (!take_upcalls(&loading, in, &core_get_params) ||
        !configure(&loading, core_get_params))
        return 0;
    prov = prov_zalloc(&loading, sizeof(*prov));
    if (prov == NULL)
        return 0;
    memcpy(prov, &loading, sizeof(*prov));
    *provctx = prov;
    *out = provider_functions;
    return 1;
}
