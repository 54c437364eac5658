/*
 * ChaCha20-Poly1305 as EVP knows it: one key, one nonce, AAD, data, tag, and
 * TLS 1.2 records. The construction itself is in ../kernels/chapoly.c.
 *
 * Stricter than the default provider, whose releases differ here: there is no
 * message without a key and a nonce, none after the tag until another nonce
 * comes, no AAD behind data, and no decryption ends well without a tag.
 *
 * A decryption hands out its plaintext before the tag has been checked: EVP
 * streams, and the caller may not use any of it until the final call succeeds.
 */
#include "cipher_common.h"

#define KEY BC_CHAPOLY_KEY
#define NONCE BC_CHAPOLY_NONCE
#define TAG BC_CHAPOLY_TAG

struct chapoly_ctx {
    struct prov *prov;
    size_t taglen; /* as set or told, 0 at first; only ever read back */
    uint8_t encrypting;
    uint8_t key_set;
    uint8_t iv_state; /* enum prov_iv_state */
    uint8_t tag_set;  /* tag is what a decryption shall find */
    uint8_t record;   /* the next update is a TLS record with this AAD */
    uint8_t record_seen;
    uint8_t record_aad[PROV_TLS_AAD];
    uint8_t nonce[NONCE];
    uint8_t tag[TAG];
    uint8_t made[TAG]; /* by a decryption, to compare; wiped with the rest */
    size_t payload;    /* of the record, without its tag */
    struct bc_chapoly chapoly;
};

/* ---- Life ---------------------------------------------------------------- */

static void *chapoly_newctx(void *provctx, size_t keylen)
{
    struct prov *prov = provctx;
    struct chapoly_ctx *ctx =
        prov_ctx_take(prov, PROV_CLASS_CHAPOLY, sizeof(*ctx));

    (void)keylen;
    if (ctx == NULL)
        return NULL;
    ctx->prov = prov;
    bc_chapoly_init(&ctx->chapoly, prov->kernels.chapoly);
    return ctx;
}

static void chapoly_freectx(void *vctx)
{
    struct chapoly_ctx *ctx = vctx;
    struct prov *prov;

    if (ctx == NULL)
        return;
    prov = ctx->prov;
    bc_chapoly_wipe(&ctx->chapoly);
    bc_wipe(ctx, offsetof(struct chapoly_ctx, chapoly));
    prov_ctx_give(prov, PROV_CLASS_CHAPOLY, ctx);
}

static void *chapoly_dupctx(void *vctx)
{
    struct chapoly_ctx *ctx = vctx, *copy;

    copy = prov_ctx_take(ctx->prov, PROV_CLASS_CHAPOLY, sizeof(*ctx));
    if (copy != NULL)
        memcpy(copy, ctx, sizeof(*ctx));
    return copy;
}

/* ---- Parameters ---------------------------------------------------------- */

#define CHAPOLY_GET_PARAMS(X, p)                                               \
    X(p, KEYLEN, "keylen", PROV_SIZE_T)                                        \
    X(p, IVLEN, "ivlen", PROV_SIZE_T)                                          \
    X(p, TAGLEN, "taglen", PROV_SIZE_T)                                        \
    X(p, TAG, "tag", PROV_OCTETS)                                              \
    X(p, TLS_AAD_PAD, "tlsaadpad", PROV_SIZE_T)
PROV_PARAMS(get, CHAPOLY_GET_PARAMS)

#define CHAPOLY_SET_PARAMS(X, p)                                               \
    X(p, KEYLEN, "keylen", PROV_SIZE_T)                                        \
    X(p, IVLEN, "ivlen", PROV_SIZE_T)                                          \
    X(p, TAG, "tag", PROV_OCTETS)                                              \
    X(p, TLS_AAD, "tlsaad", PROV_OCTETS)                                       \
    X(p, TLS_IV_FIXED, "tlsivfixed", PROV_OCTETS)
PROV_PARAMS(set, CHAPOLY_SET_PARAMS)

static const OSSL_PARAM *chapoly_gettable_ctx_params(void *ctx, void *prov)
{
    (void)ctx;
    (void)prov;
    return get_list;
}

static const OSSL_PARAM *chapoly_settable_ctx_params(void *ctx, void *prov)
{
    (void)ctx;
    (void)prov;
    return set_list;
}

static int chapoly_get_tag(const struct chapoly_ctx *ctx, OSSL_PARAM *p)
{
    if (p->data_type != OSSL_PARAM_OCTET_STRING)
        return prov_raise(ctx->prov, FAILED_TO_SET_PARAMETER);
    if (!ctx->encrypting)
        return prov_raise(ctx->prov, TAG_NOT_SET);
    if (p->data_size == 0 || p->data_size > TAG)
        return prov_raise(ctx->prov, INVALID_TAG_LENGTH);
    if (p->data == NULL)
        return prov_raise(ctx->prov, FAILED_TO_SET_PARAMETER);
    memcpy(p->data, ctx->tag, p->data_size);
    return 1;
}

static inline __attribute__((always_inline)) int
chapoly_get_param(const struct chapoly_ctx *ctx, int index, OSSL_PARAM *p)
{
    size_t size;

    switch (index) {
    case get_IVLEN:
        size = NONCE;
        break;
    case get_KEYLEN:
        size = KEY;
        break;
    case get_TAGLEN:
        size = ctx->taglen;
        break;
    case get_TLS_AAD_PAD:
        size = ctx->record_seen ? TAG : 0;
        break;
    case get_TAG:
        return chapoly_get_tag(ctx, p);
    default: /* not known here */
        return 1;
    }
    if (!prov_set_size_t(ctx->prov, p, size))
        return prov_raise(ctx->prov, FAILED_TO_SET_PARAMETER);
    return 1;
}

PROV_CTX_PARAMS(chapoly, get, OSSL_PARAM, get_IVLEN, get_KEYLEN, get_TAGLEN,
                get_TLS_AAD_PAD, get_TAG)

/* Without data this only notes the length, which nothing depends on. */
static int chapoly_set_tag(struct chapoly_ctx *ctx, const OSSL_PARAM *p)
{
    if (p->data_type != OSSL_PARAM_OCTET_STRING)
        return prov_raise(ctx->prov, FAILED_TO_GET_PARAMETER);
    if (p->data_size == 0 || p->data_size > TAG)
        return prov_raise(ctx->prov, INVALID_TAG_LENGTH);
    if (p->data != NULL) {
        if (ctx->encrypting)
            return prov_raise(ctx->prov, TAG_NOT_NEEDED);
        if (p->data_size == TAG) /* with a constant length: no call */
            memcpy(ctx->tag, p->data, TAG);
        else
            memcpy(ctx->tag, p->data, p->data_size);
        ctx->tag_set = (uint8_t)p->data_size;
    }
    ctx->taglen = p->data_size;
    return 1;
}

/* The header of the record that the next update brings; the length field of a
 * received one counts the tag, the AAD does not. */
static int chapoly_set_record(struct chapoly_ctx *ctx, const OSSL_PARAM *p)
{
    if (p->data_type != OSSL_PARAM_OCTET_STRING)
        return prov_raise(ctx->prov, FAILED_TO_GET_PARAMETER);
    if (!prov_tls_aad(ctx->record_aad, p->data, p->data_size,
                      ctx->encrypting ? 0 : TAG, &ctx->payload))
        return prov_raise(ctx->prov, INVALID_DATA);
    ctx->record = 1;
    ctx->record_seen = 1;
    return 1;
}

/* A message under ctx->nonce may follow. The kernel learns of it now and not
 * with the first byte, so that nothing waits for what it stores. */
static void chapoly_start(struct chapoly_ctx *ctx)
{
    bc_chapoly_start(&ctx->chapoly, ctx->nonce);
    ctx->iv_state = PROV_IV_GIVEN;
}

static int chapoly_set_fixed_nonce(struct chapoly_ctx *ctx, const OSSL_PARAM *p)
{
    if (p->data_type != OSSL_PARAM_OCTET_STRING)
        return prov_raise(ctx->prov, FAILED_TO_GET_PARAMETER);
    if (p->data == NULL || p->data_size != NONCE)
        return prov_raise(ctx->prov, INVALID_IV_LENGTH);
    memcpy(ctx->nonce, p->data, NONCE);
    chapoly_start(ctx);
    return 1;
}

/* A length that cannot be set is only compared with what it is. */
static int chapoly_check_size(const struct chapoly_ctx *ctx,
                              const OSSL_PARAM *p, size_t size, int is_key)
{
    size_t len;

    if (!prov_get_size_t(ctx->prov, p, &len))
        return prov_raise(ctx->prov, FAILED_TO_GET_PARAMETER);
    if (len != size)
        return is_key ? prov_raise(ctx->prov, INVALID_KEY_LENGTH)
                      : prov_raise(ctx->prov, INVALID_IV_LENGTH);
    return 1;
}

static inline __attribute__((always_inline)) int
chapoly_set_param(struct chapoly_ctx *ctx, int index, const OSSL_PARAM *p)
{
    switch (index) {
    case set_KEYLEN:
        return chapoly_check_size(ctx, p, KEY, 1);
    case set_IVLEN:
        return chapoly_check_size(ctx, p, NONCE, 0);
    case set_TAG:
        return chapoly_set_tag(ctx, p);
    case set_TLS_AAD:
        return chapoly_set_record(ctx, p);
    case set_TLS_IV_FIXED:
        return chapoly_set_fixed_nonce(ctx, p);
    default: /* not known here */
        return 1;
    }
}

PROV_CTX_PARAMS(chapoly, set, const OSSL_PARAM, set_KEYLEN, set_IVLEN, set_TAG,
                set_TLS_AAD, set_TLS_IV_FIXED)

/* ---- Init ---------------------------------------------------------------- */

static int chapoly_init(struct chapoly_ctx *ctx, const uint8_t *key,
                        size_t keylen, const uint8_t *iv, size_t ivlen,
                        const OSSL_PARAM params[], uint8_t encrypting)
{
    ctx->encrypting = encrypting;
    if (iv != NULL) {
        if (ivlen != NONCE)
            return prov_raise(ctx->prov, INVALID_IV_LENGTH);
        memcpy(ctx->nonce, iv, NONCE);
        chapoly_start(ctx);
        ctx->record = 0;
    }
    if (key != NULL) {
        if (keylen != KEY)
            return prov_raise(ctx->prov, INVALID_KEY_LENGTH);
        bc_chapoly_set_key(&ctx->chapoly, key);
        ctx->key_set = 1;
        ctx->record = 0;
        /* A message under way was the old key's: it begins anew. */
        if (ctx->iv_state == PROV_IV_IN_USE)
            chapoly_start(ctx);
    }
    return params == NULL || chapoly_set_ctx_params(ctx, params);
}

static int chapoly_encrypt_init(void *ctx, const unsigned char *key,
                                size_t keylen, const unsigned char *iv,
                                size_t ivlen, const OSSL_PARAM params[])
{
    return chapoly_init(ctx, key, keylen, iv, ivlen, params, 1);
}

static int chapoly_decrypt_init(void *ctx, const unsigned char *key,
                                size_t keylen, const unsigned char *iv,
                                size_t ivlen, const OSSL_PARAM params[])
{
    return chapoly_init(ctx, key, keylen, iv, ivlen, params, 0);
}

/* ---- Data ---------------------------------------------------------------- */

/* Raises when there is no key or no nonce. A used-up nonce fails without an
 * error, as the default provider's does since 4.0. */
static int chapoly_allowed(const struct chapoly_ctx *ctx)
{
    if (PROV_UNLIKELY(!ctx->key_set))
        return prov_raise(ctx->prov, NO_KEY_SET);
    if (PROV_UNLIKELY(ctx->iv_state == PROV_IV_NONE))
        return prov_raise(ctx->prov, CIPHER_OPERATION_FAILED);
    return 1;
}

/*
 * A TLS 1.2 record: payload, then tag; the nonce is the sequence number, which
 * the AAD begins with, xored into the fixed nonce (RFC 7905). The length must
 * be what the header said.
 */
static int chapoly_record(struct chapoly_ctx *ctx, uint8_t *out, size_t *outl,
                          const uint8_t *in, size_t len)
{
    struct bc_chapoly *c = &ctx->chapoly;
    size_t payload = ctx->payload;
    uint8_t nonce[NONCE];
    int i, ok = 1;

    if (out == NULL || in == NULL || len != payload + TAG ||
        !chapoly_allowed(ctx))
        return 0;
    if (prov_overlaps_forward(out, in, len))
        return prov_raise(ctx->prov, CIPHER_OPERATION_FAILED);

    memcpy(nonce, ctx->nonce, NONCE);
    for (i = 0; i < 8; i++)
        nonce[4 + i] ^= ctx->record_aad[i];
    bc_chapoly_start(c, nonce);
    bc_chapoly_aad(c, ctx->record_aad, PROV_TLS_AAD);
    if (ctx->encrypting) {
        bc_chapoly_encrypt(c, out, in, payload);
        bc_chapoly_tag(c, ctx->tag);
        memcpy(out + payload, ctx->tag, TAG);
        *outl = len;
    } else {
        uint8_t received[TAG];

        memcpy(received, in + payload, TAG);
        bc_chapoly_decrypt(c, out, in, payload);
        bc_chapoly_tag(c, ctx->made);
        ok = bc_ct_equal(ctx->made, received, TAG);
        if (ok)
            *outl = payload;
        else
            bc_wipe(out, payload);
    }
    ctx->record = 0;
    ctx->iv_state = PROV_IV_FINISHED;
    return ok;
}

/* AAD (out == NULL) or data; len is not 0. */
static inline int chapoly_data(struct chapoly_ctx *ctx, uint8_t *out,
                               const uint8_t *in, size_t len)
{
    struct bc_chapoly *c = &ctx->chapoly;

    if (!chapoly_allowed(ctx) || ctx->iv_state == PROV_IV_FINISHED)
        return 0;
    if (PROV_UNLIKELY(in == NULL ||
                      (out != NULL && prov_overlaps_forward(out, in, len))))
        return prov_raise(ctx->prov, CIPHER_OPERATION_FAILED);
    ctx->iv_state = PROV_IV_IN_USE;
    if (out == NULL) {
        if (c->msg_len != 0)
            return 0;
        bc_chapoly_aad(c, in, len);
        return 1;
    }
    if (PROV_UNLIKELY(len > BC_CHAPOLY_MAX_MSG - c->msg_len))
        return prov_raise(ctx->prov, CIPHER_OPERATION_FAILED);
    if (ctx->encrypting)
        bc_chapoly_encrypt(c, out, in, len);
    else
        bc_chapoly_decrypt(c, out, in, len);
    return 1;
}

/* Makes or checks the tag; the nonce is used up. */
static int chapoly_end(struct chapoly_ctx *ctx)
{
    const struct prov *prov = ctx->prov;
    int ok;

    if (ctx->record || !chapoly_allowed(ctx))
        return 0;
    /* Ending twice is no error when encrypting, but makes no second tag. */
    if (ctx->iv_state == PROV_IV_FINISHED)
        return ctx->encrypting;
    if (!ctx->encrypting && !ctx->tag_set)
        return prov_raise(prov, TAG_NOT_SET);
    ctx->iv_state = PROV_IV_FINISHED;
    if (ctx->encrypting) {
        bc_chapoly_tag(&ctx->chapoly, ctx->tag);
        return 1;
    }
    bc_chapoly_tag(&ctx->chapoly, ctx->made);
    ok = bc_ct_equal(ctx->made, ctx->tag, ctx->tag_set);
    if (!ok && prov->core_version >= PROV_VERSION(4, 1, 0))
        prov_raise(prov, BAD_DECRYPT);
    return ok;
}

static int chapoly_update(void *vctx, unsigned char *out, size_t *outl,
                          size_t outsize, const unsigned char *in, size_t inl)
{
    struct chapoly_ctx *ctx = vctx;

    *outl = 0;
    if (inl == 0)
        return ctx->record || ctx->iv_state != PROV_IV_FINISHED;
    if (PROV_UNLIKELY(outsize < inl))
        return prov_raise(ctx->prov, OUTPUT_BUFFER_TOO_SMALL);
    if (PROV_UNLIKELY(ctx->record))
        return chapoly_record(ctx, out, outl, in, inl);
    if (PROV_UNLIKELY(!chapoly_data(ctx, out, in, inl)))
        return 0;
    *outl = inl;
    return 1;
}

static int chapoly_final(void *vctx, unsigned char *out, size_t *outl,
                         size_t outsize)
{
    (void)out;
    (void)outsize;
    *outl = 0;
    return chapoly_end(vctx);
}

/* One shot: final without input, AAD without output, else data. An empty
 * input changes nothing. */
static int chapoly_cipher(void *vctx, unsigned char *out, size_t *outl,
                          size_t outsize, const unsigned char *in, size_t inl)
{
    *outl = 0;
    if (in == NULL)
        return chapoly_end(vctx);
    if (inl == 0)
        return 1;
    return chapoly_update(vctx, out, outl, outsize, in, inl);
}

/* ---- The algorithm ------------------------------------------------------- */

#define CHAPOLY(names)                                                         \
    PROV_CIPHER(chacha20_poly1305, chapoly, .mode = PROV_MODE_STREAM,          \
                .keylen = KEY, .ivlen = NONCE, .blocksize = 1, .aead = 1)
#include "algorithms.inc"
