/*
 * POLY1305 as EVP_MAC knows it. A key authenticates one message: after the
 * final call the context waits for another key and refuses everything else.
 */
#include "cipher_common.h"

struct mac_ctx {
    struct prov *prov;
    uint8_t key_set;
    uint8_t used; /* since the last key: no init without a new one */
    struct bc_poly1305 mac;
};

static void *mac_newctx(void *provctx)
{
    struct prov *prov = provctx;
    struct mac_ctx *ctx =
        prov_ctx_take(prov, PROV_CLASS_POLY1305, sizeof(*ctx));

    if (ctx == NULL)
        return NULL;
    ctx->prov = prov;
    bc_poly1305_init(&ctx->mac, prov->kernels.poly1305);
    return ctx;
}

static void mac_freectx(void *vctx)
{
    struct mac_ctx *ctx = vctx;
    struct prov *prov;

    if (ctx == NULL)
        return;
    prov = ctx->prov;
    bc_poly1305_wipe(&ctx->mac);
    bc_wipe(ctx, offsetof(struct mac_ctx, mac));
    prov_ctx_give(prov, PROV_CLASS_POLY1305, ctx);
}

static void *mac_dupctx(void *vctx)
{
    struct mac_ctx *ctx = vctx, *copy;

    copy = prov_ctx_take(ctx->prov, PROV_CLASS_POLY1305, sizeof(*ctx));
    if (copy != NULL)
        memcpy(copy, ctx, sizeof(*ctx));
    return copy;
}

#define MAC_PARAMS(X, p) X(p, SIZE, "size", PROV_SIZE_T)
PROV_PARAMS(get, MAC_PARAMS)

#define MAC_SET_PARAMS(X, p) X(p, KEY, "key", PROV_OCTETS)
PROV_PARAMS(set, MAC_SET_PARAMS)

static const OSSL_PARAM *mac_gettable_params(void *prov)
{
    (void)prov;
    return get_list;
}

static const OSSL_PARAM *mac_settable_ctx_params(void *ctx, void *prov)
{
    (void)ctx;
    (void)prov;
    return set_list;
}

static int mac_get_params(OSSL_PARAM params[])
{
    struct prov_found found;
    OSSL_PARAM *p;

    if (!get_find(NULL, params, &found))
        return 0;
    p = PROV_PARAM(params, found, get_SIZE);
    return p == NULL || prov_set_size_t(NULL, p, BC_POLY1305_TAG);
}

static int mac_set_key(struct mac_ctx *ctx, const uint8_t *key, size_t len)
{
    if (key == NULL || len != BC_POLY1305_KEY)
        return prov_raise(ctx->prov, INVALID_KEY_LENGTH);
    bc_poly1305_set_key(&ctx->mac, key);
    ctx->key_set = 1;
    ctx->used = 0;
    return 1;
}

static int mac_set_ctx_params(void *vctx, const OSSL_PARAM params[])
{
    struct mac_ctx *ctx = vctx;
    struct prov_found found;
    const OSSL_PARAM *p;

    if (ctx == NULL || !set_find(ctx->prov, params, &found))
        return 0;
    p = PROV_PARAM(params, found, set_KEY);
    if (p == NULL)
        return 1;
    return p->data_type == OSSL_PARAM_OCTET_STRING &&
           mac_set_key(ctx, p->data, p->data_size);
}

/* Without a key, this may only repeat what was not yet begun. */
static int mac_init(void *vctx, const unsigned char *key, size_t keylen,
                    const OSSL_PARAM params[])
{
    struct mac_ctx *ctx = vctx;

    if (params != NULL && !mac_set_ctx_params(ctx, params))
        return 0;
    if (key != NULL)
        return mac_set_key(ctx, key, keylen);
    return !ctx->used;
}

static int mac_update(void *vctx, const unsigned char *in, size_t len)
{
    struct mac_ctx *ctx = vctx;

    if (PROV_UNLIKELY(!ctx->key_set))
        return prov_raise(ctx->prov, NO_KEY_SET);
    ctx->used = 1;
    if (len != 0)
        bc_poly1305_update(&ctx->mac, in, len);
    return 1;
}

static int mac_final(void *vctx, unsigned char *out, size_t *outl,
                     size_t outsize)
{
    struct mac_ctx *ctx = vctx;

    if (!ctx->key_set)
        return prov_raise(ctx->prov, NO_KEY_SET);
    if (outsize < BC_POLY1305_TAG)
        return prov_raise(ctx->prov, OUTPUT_BUFFER_TOO_SMALL);
    bc_poly1305_tag(&ctx->mac, out);
    ctx->key_set = 0;
    ctx->used = 1;
    *outl = BC_POLY1305_TAG;
    return 1;
}

const OSSL_DISPATCH prov_poly1305_functions[] = {
    PROV_FN(OSSL_FUNC_MAC_NEWCTX, mac_newctx),
    PROV_FN(OSSL_FUNC_MAC_DUPCTX, mac_dupctx),
    PROV_FN(OSSL_FUNC_MAC_FREECTX, mac_freectx),
    PROV_FN(OSSL_FUNC_MAC_INIT, mac_init),
    PROV_FN(OSSL_FUNC_MAC_UPDATE, mac_update),
    PROV_FN(OSSL_FUNC_MAC_FINAL, mac_final),
    PROV_FN(OSSL_FUNC_MAC_GET_PARAMS, mac_get_params),
    PROV_FN(OSSL_FUNC_MAC_GETTABLE_PARAMS, mac_gettable_params),
    PROV_FN(OSSL_FUNC_MAC_SET_CTX_PARAMS, mac_set_ctx_params),
    PROV_FN(OSSL_FUNC_MAC_SETTABLE_CTX_PARAMS, mac_settable_ctx_params),
    {0, NULL},
};
