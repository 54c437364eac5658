/*
 * AES-GCM as EVP knows it: key and IV in any order, AAD and data in any number
 * of pieces, tags, generated IVs and TLS 1.2 records. The mode itself is in
 * ../kernels/gcm.c.
 *
 * A decryption hands out its plaintext before the tag has been checked: EVP
 * streams, and the caller may not use any of it until the final call succeeds.
 * Only a TLS record is whole, and is wiped when its tag is wrong.
 */
#include "cipher_common.h"

#define MAX_IV 128
#define DEFAULT_IV 12
#define EXPLICIT_IV 8 /* RFC 5288, section 3: what a record carries of it */
#define FIXED_IV 4
#define TAG 16

struct gcm_ctx {
    struct prov *prov;
    size_t keylen;
    size_t ivlen;
    size_t taglen; /* 0: no tag was set or made so far */
    uint8_t encrypting;
    uint8_t key_set;
    uint8_t iv_state;    /* enum prov_iv_state */
    uint8_t iv_gen;      /* a fixed part is there: IVs may be generated */
    uint8_t iv_random;   /* the IV came from the random generator */
    uint8_t record;      /* the next update is a TLS record with this AAD */
    uint8_t record_seen; /* so was one before */
    uint8_t record_aad[PROV_TLS_AAD];
    uint8_t tag[TAG];
    uint8_t made[TAG]; /* by a decryption, to compare; wiped with the rest */
    uint64_t records;  /* encrypted under this key */
    uint8_t iv[MAX_IV];
    struct bc_gcm gcm;
};

/* ---- Life ---------------------------------------------------------------- */

static void *gcm_newctx(void *provctx, size_t keylen)
{
    struct prov *prov = provctx;
    struct gcm_ctx *ctx = prov_ctx_take(prov, PROV_CLASS_GCM, sizeof(*ctx));

    if (ctx == NULL)
        return NULL;
    ctx->prov = prov;
    ctx->keylen = keylen;
    ctx->ivlen = DEFAULT_IV;
    bc_gcm_init(&ctx->gcm, prov->kernels.gcm);
    return ctx;
}

static void gcm_freectx(void *vctx)
{
    struct gcm_ctx *ctx = vctx;
    struct prov *prov;

    if (ctx == NULL)
        return;
    prov = ctx->prov;
    bc_gcm_wipe(&ctx->gcm);
    bc_wipe(ctx, offsetof(struct gcm_ctx, gcm));
    prov_ctx_give(prov, PROV_CLASS_GCM, ctx);
}

static void *gcm_dupctx(void *vctx)
{
    struct gcm_ctx *ctx = vctx, *copy;

    copy = prov_ctx_take(ctx->prov, PROV_CLASS_GCM, sizeof(*ctx));
    if (copy != NULL)
        memcpy(copy, ctx, sizeof(*ctx));
    return copy;
}

/* ---- The IV -------------------------------------------------------------- */

/* Starts a message under the key and IV that are there. */
static void gcm_start(struct gcm_ctx *ctx)
{
    bc_gcm_start(&ctx->gcm, ctx->iv, ctx->ivlen);
    ctx->iv_state = PROV_IV_IN_USE;
}

/* SP 800-38D, 8.2.2: an encryption that was given no IV makes one at random;
 * 96 bits are the least that this allows. */
static int gcm_random_iv(struct gcm_ctx *ctx)
{
    if (!ctx->encrypting || ctx->ivlen < DEFAULT_IV ||
        !prov_random(ctx->iv, ctx->ivlen))
        return 0;
    ctx->iv_state = PROV_IV_GIVEN;
    ctx->iv_random = 1;
    return 1;
}

/* The IV's last 8 bytes are a counter. */
static void gcm_next_iv(struct gcm_ctx *ctx)
{
    uint8_t *p = ctx->iv + ctx->ivlen;
    int i;

    for (i = 0; i < EXPLICIT_IV && ++*--p == 0; i++)
        ;
}

/* Uses the IV, tells its last len bytes (0 or too many: all of it), and counts
 * on for the next message. */
static int gcm_generate_iv(struct gcm_ctx *ctx, uint8_t *out, size_t len)
{
    if (!ctx->iv_gen || !ctx->key_set || ctx->ivlen < EXPLICIT_IV)
        return 0;
    gcm_start(ctx);
    if (len == 0 || len > ctx->ivlen)
        len = ctx->ivlen;
    memcpy(out, ctx->iv + ctx->ivlen - len, len);
    gcm_next_iv(ctx);
    return 1;
}

/* The receiver's half: takes the IV's last len bytes from the record. */
static int gcm_take_iv(struct gcm_ctx *ctx, const uint8_t *in, size_t len)
{
    if (!ctx->iv_gen || !ctx->key_set || ctx->encrypting || len > ctx->ivlen)
        return 0;
    memcpy(ctx->iv + ctx->ivlen - len, in, len);
    gcm_start(ctx);
    return 1;
}

/* The fixed part of generated IVs; a sender's rest begins at random. The
 * length -1 stands for the whole IV, as OpenSSH gives it. */
static int gcm_fix_iv(struct gcm_ctx *ctx, const uint8_t *iv, size_t len)
{
    if (iv == NULL)
        return 0;
    if (len == (size_t)-1) {
        memcpy(ctx->iv, iv, ctx->ivlen);
    } else {
        if (len < FIXED_IV || len > ctx->ivlen ||
            ctx->ivlen - len < EXPLICIT_IV)
            return 0;
        memcpy(ctx->iv, iv, len);
        if (ctx->encrypting) {
            if (!prov_random(ctx->iv + len, ctx->ivlen - len))
                return 0;
            ctx->iv_random = 1;
        }
    }
    ctx->iv_gen = 1;
    ctx->iv_state = PROV_IV_GIVEN;
    return 1;
}

/* ---- Parameters ---------------------------------------------------------- */

#define GCM_GET_PARAMS_3_0(X, p)                                               \
    X(p, KEYLEN, "keylen", PROV_SIZE_T)                                        \
    X(p, IVLEN, "ivlen", PROV_SIZE_T)                                          \
    X(p, TAGLEN, "taglen", PROV_SIZE_T)                                        \
    X(p, IV, "iv", PROV_OCTETS)                                                \
    X(p, UPDATED_IV, "updated-iv", PROV_OCTETS)                                \
    X(p, TAG, "tag", PROV_OCTETS)                                              \
    X(p, TLS_AAD_PAD, "tlsaadpad", PROV_SIZE_T)                                \
    X(p, TLS_IV_GEN, "tlsivgen", PROV_OCTETS)
#define GCM_GET_PARAMS(X, p)                                                   \
    GCM_GET_PARAMS_3_0(X, p)                                                   \
    X(p, IV_GENERATED, "iv-generated", PROV_UINT)
PROV_PARAMS(get, GCM_GET_PARAMS)

/* What the default provider lists before 3.4. */
static const OSSL_PARAM get_list_3_0[] = {
    GCM_GET_PARAMS_3_0(PROV_PARAM_DESCRIPTOR, get) OSSL_PARAM_END};

#define GCM_SET_PARAMS(X, p)                                                   \
    X(p, IVLEN, "ivlen", PROV_SIZE_T)                                          \
    X(p, TAG, "tag", PROV_OCTETS)                                              \
    X(p, TLS_AAD, "tlsaad", PROV_OCTETS)                                       \
    X(p, TLS_IV_FIXED, "tlsivfixed", PROV_OCTETS)                              \
    X(p, TLS_IV_INV, "tlsivinv", PROV_OCTETS)
PROV_PARAMS(set, GCM_SET_PARAMS)

static const OSSL_PARAM *gcm_gettable_ctx_params(void *ctx, void *provctx)
{
    const struct prov *prov = provctx;

    (void)ctx;
    return prov->core_version < PROV_VERSION(3, 4, 0) ? get_list_3_0 : get_list;
}

static const OSSL_PARAM *gcm_settable_ctx_params(void *ctx, void *prov)
{
    (void)ctx;
    (void)prov;
    return set_list;
}

/* `iv` and `updated-iv` are the same here. Since OpenSSL 4.0 the question
 * makes the IV that the first update would make. */
static int gcm_get_iv(struct gcm_ctx *ctx, OSSL_PARAM *p)
{
    if (ctx->iv_state == PROV_IV_NONE &&
        (ctx->prov->core_version < PROV_VERSION(4, 0, 0) || ctx->record ||
         !gcm_random_iv(ctx)))
        return 0;
    if (p->data_size < ctx->ivlen)
        return prov_raise(ctx->prov, INVALID_IV_LENGTH);
    if (!prov_set_octets_or_ptr(ctx->prov, p, ctx->iv, ctx->ivlen))
        return prov_raise(ctx->prov, FAILED_TO_SET_PARAMETER);
    return 1;
}

static int gcm_get_tag(const struct gcm_ctx *ctx, OSSL_PARAM *p)
{
    int revised = ctx->prov->core_version >= PROV_VERSION(4, 1, 0);
    size_t len = p->data_size;

    if (!ctx->encrypting || ctx->taglen == 0)
        return revised ? prov_raise(ctx->prov, TAG_NOT_SET)
                       : prov_raise(ctx->prov, INVALID_TAG);
    if (revised && p->data == NULL)
        len = ctx->taglen;
    if (len == 0 || len > TAG)
        return prov_raise(ctx->prov, INVALID_TAG);
    if (!prov_set_octets(ctx->prov, p, ctx->tag, len))
        return prov_raise(ctx->prov, FAILED_TO_SET_PARAMETER);
    return 1;
}

static int gcm_get_size(const struct gcm_ctx *ctx, OSSL_PARAM *p, size_t size)
{
    if (!prov_set_size_t(ctx->prov, p, size))
        return prov_raise(ctx->prov, FAILED_TO_SET_PARAMETER);
    return 1;
}

static inline __attribute__((always_inline)) int
gcm_get_param(struct gcm_ctx *ctx, int index, OSSL_PARAM *p)
{
    switch (index) {
    case get_IVLEN:
        return gcm_get_size(ctx, p, ctx->ivlen);
    case get_KEYLEN:
        return gcm_get_size(ctx, p, ctx->keylen);
    case get_TAGLEN:
        return gcm_get_size(ctx, p, ctx->taglen != 0 ? ctx->taglen : TAG);
    case get_IV:
    case get_UPDATED_IV:
        return gcm_get_iv(ctx, p);
    case get_TLS_AAD_PAD:
        return gcm_get_size(ctx, p, ctx->record_seen ? PROV_TLS_TAG : 0);
    case get_TAG:
        return gcm_get_tag(ctx, p);
    case get_TLS_IV_GEN:
        return p->data != NULL && p->data_type == OSSL_PARAM_OCTET_STRING &&
               gcm_generate_iv(ctx, p->data, p->data_size);
    case get_IV_GENERATED:
        return prov_set_uint(ctx->prov, p, ctx->iv_random);
    default: /* not known here */
        return 1;
    }
}

PROV_CTX_PARAMS(gcm, get, OSSL_PARAM, get_IVLEN, get_KEYLEN, get_TAGLEN, get_IV,
                get_UPDATED_IV, get_TLS_AAD_PAD, get_TAG, get_TLS_IV_GEN,
                get_IV_GENERATED)

static int gcm_set_tag(struct gcm_ctx *ctx, const OSSL_PARAM *p)
{
    const struct prov *prov = ctx->prov;
    const uint8_t *tag = prov_get_octets(prov, p, TAG);

    if (tag == NULL)
        return prov_raise(prov, FAILED_TO_GET_PARAMETER);
    if (ctx->encrypting)
        return prov->core_version >= PROV_VERSION(4, 1, 0)
                   ? prov_raise(prov, TAG_NOT_NEEDED)
                   : prov_raise(prov, INVALID_TAG);
    if (p->data_size == 0)
        return prov_raise(prov, INVALID_TAG);
    ctx->taglen = p->data_size;
    if (p->data_size == TAG) /* with a constant length: no call */
        memcpy(ctx->tag, tag, TAG);
    else
        memcpy(ctx->tag, tag, p->data_size);
    return 1;
}

static int gcm_set_ivlen(struct gcm_ctx *ctx, const OSSL_PARAM *p)
{
    size_t len;

    if (!prov_get_size_t(ctx->prov, p, &len))
        return prov_raise(ctx->prov, FAILED_TO_GET_PARAMETER);
    if (len == 0 || len > MAX_IV)
        return prov_raise(ctx->prov, INVALID_IV_LENGTH);
    if (len != ctx->ivlen) {
        if (ctx->iv_state != PROV_IV_NONE)
            ctx->iv_state = PROV_IV_FINISHED;
        ctx->ivlen = len;
    }
    return 1;
}

/* The header of the record that the next update brings. Its length field
 * counts the explicit IV, and the tag of a received record; the AAD counts
 * neither. */
static int gcm_set_record(struct gcm_ctx *ctx, const OSSL_PARAM *p)
{
    size_t around = EXPLICIT_IV + (ctx->encrypting ? 0 : TAG), payload;

    if (p->data_type != OSSL_PARAM_OCTET_STRING)
        return prov_raise(ctx->prov, FAILED_TO_GET_PARAMETER);
    if (!prov_tls_aad(ctx->record_aad, p->data, p->data_size, around, &payload))
        return prov_raise(ctx->prov, INVALID_AAD);
    ctx->record = 1;
    ctx->record_seen = 1;
    return 1;
}

static inline __attribute__((always_inline)) int
gcm_set_param(struct gcm_ctx *ctx, int index, const OSSL_PARAM *p)
{
    switch (index) {
    case set_TAG:
        return gcm_set_tag(ctx, p);
    case set_IVLEN:
        return gcm_set_ivlen(ctx, p);
    case set_TLS_AAD:
        return gcm_set_record(ctx, p);
    case set_TLS_IV_FIXED:
        if (p->data_type != OSSL_PARAM_OCTET_STRING ||
            !gcm_fix_iv(ctx, p->data, p->data_size))
            return prov_raise(ctx->prov, FAILED_TO_GET_PARAMETER);
        return 1;
    case set_TLS_IV_INV:
        return p->data != NULL && p->data_type == OSSL_PARAM_OCTET_STRING &&
               gcm_take_iv(ctx, p->data, p->data_size);
    default: /* not known here */
        return 1;
    }
}

PROV_CTX_PARAMS(gcm, set, const OSSL_PARAM, set_TAG, set_IVLEN, set_TLS_AAD,
                set_TLS_IV_FIXED, set_TLS_IV_INV)

/* ---- Init ---------------------------------------------------------------- */

/* ivlen is a constant wherever it is the usual one: no call then. */
static inline void gcm_give_iv(struct gcm_ctx *ctx, const uint8_t *iv,
                               size_t ivlen)
{
    memcpy(ctx->iv, iv, ivlen);
    ctx->ivlen = ivlen;
    ctx->iv_state = PROV_IV_GIVEN;
    ctx->iv_random = 0;
}

static __attribute__((noinline)) int
gcm_init_any(struct gcm_ctx *ctx, const uint8_t *key, size_t keylen,
             const uint8_t *iv, size_t ivlen, const OSSL_PARAM params[])
{
    if (iv != NULL) {
        if (ivlen == 0 || ivlen > MAX_IV)
            return prov_raise(ctx->prov, INVALID_IV_LENGTH);
        if (ivlen == DEFAULT_IV)
            gcm_give_iv(ctx, iv, DEFAULT_IV);
        else
            gcm_give_iv(ctx, iv, ivlen);
    }
    if (key != NULL) {
        if (keylen != ctx->keylen)
            return prov_raise(ctx->prov, INVALID_KEY_LENGTH);
        bc_gcm_set_key(&ctx->gcm, key, keylen);
        ctx->key_set = 1;
        ctx->records = 0;
        /* A message under way was the old key's: it begins anew. */
        if (ctx->iv_state == PROV_IV_IN_USE)
            ctx->iv_state = PROV_IV_GIVEN;
    }
    return params == NULL || gcm_set_ctx_params(ctx, params);
}

static inline int gcm_init(struct gcm_ctx *ctx, const uint8_t *key,
                           size_t keylen, const uint8_t *iv, size_t ivlen,
                           const OSSL_PARAM params[], uint8_t encrypting)
{
    ctx->encrypting = encrypting;
    if (key != NULL || iv == NULL || ivlen != DEFAULT_IV || params != NULL)
        return gcm_init_any(ctx, key, keylen, iv, ivlen, params);
    /* Only a new IV, as most messages need. */
    gcm_give_iv(ctx, iv, DEFAULT_IV);
    return 1;
}

static int gcm_encrypt_init(void *ctx, const unsigned char *key, size_t keylen,
                            const unsigned char *iv, size_t ivlen,
                            const OSSL_PARAM params[])
{
    return gcm_init(ctx, key, keylen, iv, ivlen, params, 1);
}

static int gcm_decrypt_init(void *ctx, const unsigned char *key, size_t keylen,
                            const unsigned char *iv, size_t ivlen,
                            const OSSL_PARAM params[])
{
    return gcm_init(ctx, key, keylen, iv, ivlen, params, 0);
}

/* ---- Data ---------------------------------------------------------------- */

/* A TLS 1.2 record in place: explicit IV, payload, tag (RFC 5288). */
static int gcm_record(struct gcm_ctx *ctx, uint8_t *out, size_t *outl,
                      const uint8_t *in, size_t len)
{
    uint8_t *payload = out + EXPLICIT_IV;
    int ok = 0;

    if (!ctx->key_set || out == NULL || out != in || len < EXPLICIT_IV + TAG)
        goto end;
    len -= EXPLICIT_IV + TAG;
    if (ctx->encrypting) {
        if (++ctx->records == 0) {
            prov_raise(ctx->prov, TOO_MANY_RECORDS);
            goto end;
        }
        if (!gcm_generate_iv(ctx, out, EXPLICIT_IV))
            goto end;
        bc_gcm_aad(&ctx->gcm, ctx->record_aad, PROV_TLS_AAD);
        bc_gcm_encrypt(&ctx->gcm, payload, payload, len);
        bc_gcm_tag(&ctx->gcm, payload + len);
        *outl = EXPLICIT_IV + len + TAG;
        ok = 1;
    } else {
        if (!gcm_take_iv(ctx, in, EXPLICIT_IV))
            goto end;
        bc_gcm_aad(&ctx->gcm, ctx->record_aad, PROV_TLS_AAD);
        bc_gcm_decrypt(&ctx->gcm, payload, payload, len);
        bc_gcm_tag(&ctx->gcm, ctx->made);
        ok = bc_ct_equal(ctx->made, payload + len, TAG);
        if (ok)
            *outl = len;
        else
            bc_wipe(payload, len);
    }
end:
    ctx->iv_state = PROV_IV_FINISHED;
    ctx->record = 0;
    return ok;
}

/* Gets a message under way, if key and IV allow one. */
static __attribute__((noinline)) int gcm_begin(struct gcm_ctx *ctx)
{
    if (!ctx->key_set || ctx->iv_state == PROV_IV_FINISHED)
        return 0;
    if (ctx->iv_state == PROV_IV_NONE && !gcm_random_iv(ctx))
        return 0;
    gcm_start(ctx);
    return 1;
}

/* A message is under way only with a key. */
static inline int gcm_ready(struct gcm_ctx *ctx)
{
    return ctx->iv_state == PROV_IV_IN_USE || gcm_begin(ctx);
}

/* AAD (out == NULL) or data; len is not 0. */
static inline int gcm_data(struct gcm_ctx *ctx, uint8_t *out, const uint8_t *in,
                           size_t len)
{
    struct bc_gcm *g = &ctx->gcm;

    if (!gcm_ready(ctx) || in == NULL)
        return 0;
    if (out == NULL) {
        if (g->msg_len != 0 || len > BC_GCM_MAX_AAD - g->aad_len)
            return 0;
        bc_gcm_aad(g, in, len);
        return 1;
    }
    if (PROV_UNLIKELY(len > BC_GCM_MAX_MSG - g->msg_len ||
                      prov_overlaps_forward(out, in, len)))
        return 0;
    if (ctx->encrypting)
        bc_gcm_encrypt(g, out, in, len);
    else
        bc_gcm_decrypt(g, out, in, len);
    return 1;
}

/* Makes or checks the tag; the IV is used up. */
static int gcm_end(struct gcm_ctx *ctx)
{
    const struct prov *prov = ctx->prov;
    int ok;

    if (!gcm_ready(ctx))
        return 0;
    if (ctx->encrypting) {
        bc_gcm_tag(&ctx->gcm, ctx->tag);
        ctx->taglen = TAG;
        ctx->iv_state = PROV_IV_FINISHED;
        return 1;
    }
    if (ctx->taglen == 0)
        return prov->core_version >= PROV_VERSION(4, 0, 0)
                   ? prov_raise(prov, TAG_NOT_SET)
                   : 0;
    bc_gcm_tag(&ctx->gcm, ctx->made);
    ctx->iv_state = PROV_IV_FINISHED;
    ok = bc_ct_equal(ctx->made, ctx->tag, ctx->taglen);
    if (!ok && prov->core_version >= PROV_VERSION(4, 1, 0))
        prov_raise(prov, BAD_DECRYPT);
    return ok;
}

static int gcm_update(void *vctx, unsigned char *out, size_t *outl,
                      size_t outsize, const unsigned char *in, size_t inl)
{
    struct gcm_ctx *ctx = vctx;

    *outl = 0;
    if (inl == 0)
        return 1;
    if (PROV_UNLIKELY(outsize < inl))
        return prov_raise(ctx->prov, OUTPUT_BUFFER_TOO_SMALL);
    if (PROV_UNLIKELY(ctx->record)) {
        if (!gcm_record(ctx, out, outl, in, inl))
            return prov_raise(ctx->prov, CIPHER_OPERATION_FAILED);
        return 1;
    }
    if (PROV_UNLIKELY(!gcm_data(ctx, out, in, inl)))
        return prov_raise(ctx->prov, CIPHER_OPERATION_FAILED);
    *outl = inl;
    return 1;
}

static int gcm_final(void *vctx, unsigned char *out, size_t *outl,
                     size_t outsize)
{
    struct gcm_ctx *ctx = vctx;

    (void)out;
    (void)outsize;
    *outl = 0;
    if (ctx->record) /* a record has no end of its own */
        return gcm_record(ctx, NULL, outl, NULL, 0);
    return gcm_end(ctx);
}

/* One shot: final without input, AAD without output, else data. An empty
 * input changes nothing, where the default provider would end the AAD. */
static int gcm_cipher(void *vctx, unsigned char *out, size_t *outl,
                      size_t outsize, const unsigned char *in, size_t inl)
{
    struct gcm_ctx *ctx = vctx;
    size_t len = 0;

    if (outsize < inl)
        return prov_raise(ctx->prov, OUTPUT_BUFFER_TOO_SMALL);
    if (ctx->record) {
        if (!gcm_record(ctx, out, &len, in, inl))
            return 0;
    } else if (in == NULL) {
        if (!gcm_end(ctx))
            return 0;
    } else if (inl == 0) {
        if (!ctx->key_set || ctx->iv_state == PROV_IV_FINISHED ||
            (ctx->iv_state == PROV_IV_NONE && !ctx->encrypting))
            return 0;
    } else if (!gcm_data(ctx, out, in, inl)) {
        return 0;
    }
    *outl = inl;
    return 1;
}

/* ---- The algorithms ------------------------------------------------------ */

#define AES_GCM(bits, names)                                                   \
    PROV_CIPHER(aes_##bits##_gcm, gcm, .mode = PROV_MODE_GCM,                  \
                .keylen = (bits) / 8, .ivlen = DEFAULT_IV, .blocksize = 1,     \
                .aead = 1)
#include "algorithms.inc"
