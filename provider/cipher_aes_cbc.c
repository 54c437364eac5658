/*
 * AES-CBC as EVP knows it: any split of the data, PKCS#7 padding, the original
 * and the running IV, and the one-shot call. Whole blocks go to ../kernels;
 * this file decides which they are.
 *
 * The partial block: `buf` holds the `fill` bytes that wait for the rest of
 * their block. A padded decryption also holds back its last whole block, which
 * only the final call may judge.
 *
 * TLS records (the parameter tls-version) are padded and checked in tls_cbc.c.
 */
#include "cipher_common.h"
#include "tls_cbc.h"

#define BLOCK BC_AES_BLOCK

struct cbc_ctx {
    struct prov *prov;
    size_t keylen;
    unsigned int num; /* set and read back, of no use to CBC */
    uint8_t encrypting;
    uint8_t key_set;
    uint8_t iv_set;
    uint8_t padding;
    uint8_t bad_padding; /* found by the final call: another finds it too */
    uint8_t fill;        /* 0 .. 16 */
    uint8_t buf[BLOCK];
    uint8_t original_iv[BLOCK];
    struct bc_cbc cbc;
    struct tls_cbc tls;
};

/* ---- Life ---------------------------------------------------------------- */

static void *cbc_newctx(void *provctx, size_t keylen)
{
    struct prov *prov = provctx;
    struct cbc_ctx *ctx = prov_ctx_take(prov, PROV_CLASS_CBC, sizeof(*ctx));

    if (ctx == NULL)
        return NULL;
    ctx->prov = prov;
    ctx->keylen = keylen;
    ctx->padding = 1;
    bc_cbc_init(&ctx->cbc, prov->kernels.cbc);
    return ctx;
}

static void cbc_freectx(void *vctx)
{
    struct cbc_ctx *ctx = vctx;
    struct prov *prov;

    if (ctx == NULL)
        return;
    prov = ctx->prov;
    bc_wipe(ctx, sizeof(*ctx));
    prov_ctx_give(prov, PROV_CLASS_CBC, ctx);
}

static void *cbc_dupctx(void *vctx)
{
    struct cbc_ctx *ctx = vctx, *copy;

    copy = prov_ctx_take(ctx->prov, PROV_CLASS_CBC, sizeof(*ctx));
    if (copy != NULL)
        memcpy(copy, ctx, sizeof(*ctx));
    return copy;
}

/* ---- Parameters ---------------------------------------------------------- */

#define CBC_GET_PARAMS(X, p)                                                   \
    X(p, KEYLEN, "keylen", PROV_SIZE_T)                                        \
    X(p, IVLEN, "ivlen", PROV_SIZE_T)                                          \
    X(p, PADDING, "padding", PROV_UINT)                                        \
    X(p, NUM, "num", PROV_UINT)                                                \
    X(p, IV, "iv", PROV_OCTETS)                                                \
    X(p, UPDATED_IV, "updated-iv", PROV_OCTETS)                                \
    X(p, TLS_MAC, "tls-mac", PROV_OCTET_PTR)
PROV_PARAMS(get, CBC_GET_PARAMS)

#define CBC_SET_PARAMS(X, p)                                                   \
    X(p, PADDING, "padding", PROV_UINT)                                        \
    X(p, NUM, "num", PROV_UINT)                                                \
    X(p, USE_BITS, "use-bits", PROV_UINT)                                      \
    X(p, TLS_VERSION, "tls-version", PROV_UINT)                                \
    X(p, TLS_MAC_SIZE, "tls-mac-size", PROV_SIZE_T)
PROV_PARAMS(set, CBC_SET_PARAMS)

static const OSSL_PARAM *cbc_gettable_ctx_params(void *ctx, void *prov)
{
    (void)ctx;
    (void)prov;
    return get_list;
}

static const OSSL_PARAM *cbc_settable_ctx_params(void *ctx, void *prov)
{
    (void)ctx;
    (void)prov;
    return set_list;
}

static inline __attribute__((always_inline)) int
cbc_get_value(const struct cbc_ctx *ctx, int index, OSSL_PARAM *p)
{
    const struct prov *prov = ctx->prov;

    switch (index) {
    case get_IVLEN:
        return prov_set_size_t(prov, p, BLOCK);
    case get_KEYLEN:
        return prov_set_size_t(prov, p, ctx->keylen);
    case get_PADDING:
        return prov_set_uint(prov, p, ctx->padding);
    case get_IV:
        return prov_set_octets_or_ptr(prov, p, ctx->original_iv, BLOCK);
    case get_UPDATED_IV:
        return prov_set_octets_or_ptr(prov, p, ctx->cbc.iv, BLOCK);
    case get_NUM:
        return prov_set_uint(prov, p, ctx->num);
    case get_TLS_MAC:
        return prov_set_octet_ptr(
            prov, p, ctx->tls.has_mac ? ctx->tls.mac : NULL, ctx->tls.mac_size);
    default: /* not known here */
        return 1;
    }
}

static inline __attribute__((always_inline)) int
cbc_get_param(const struct cbc_ctx *ctx, int index, OSSL_PARAM *p)
{
    if (!cbc_get_value(ctx, index, p))
        return prov_raise(ctx->prov, FAILED_TO_SET_PARAMETER);
    return 1;
}

PROV_CTX_PARAMS(cbc, get, OSSL_PARAM, get_IVLEN, get_KEYLEN, get_PADDING,
                get_IV, get_UPDATED_IV, get_NUM, get_TLS_MAC)

/* Releases that fixed the range of `num` refuse what CBC has no use for. */
static int core_checks_num(uint32_t version)
{
    if (version < PROV_VERSION(3, 1, 0))
        return version >= PROV_VERSION(3, 0, 20);
    if (version < PROV_VERSION(3, 6, 0))
        return version >= PROV_VERSION(3, 5, 7);
    return 1;
}

static inline __attribute__((always_inline)) int
cbc_set_value(struct cbc_ctx *ctx, int index, const OSSL_PARAM *p)
{
    const struct prov *prov = ctx->prov;
    unsigned int value;

    switch (index) {
    case set_PADDING:
        if (!prov_get_uint(prov, p, &value))
            return 0;
        ctx->padding = value != 0;
        return 1;
    case set_USE_BITS: /* read for its errors: bits mean nothing to blocks */
        return prov_get_uint(prov, p, &value);
    case set_TLS_VERSION:
        return prov_get_uint(prov, p, &ctx->tls.version);
    case set_TLS_MAC_SIZE:
        return prov_get_size_t(prov, p, &ctx->tls.mac_size);
    case set_NUM:
        if (!prov_get_uint(prov, p, &value) ||
            (value >= BLOCK && core_checks_num(prov->core_version)))
            return 0;
        ctx->num = value;
        return 1;
    default: /* not known here */
        return 1;
    }
}

static inline __attribute__((always_inline)) int
cbc_set_param(struct cbc_ctx *ctx, int index, const OSSL_PARAM *p)
{
    if (!cbc_set_value(ctx, index, p))
        return prov_raise(ctx->prov, FAILED_TO_GET_PARAMETER);
    return 1;
}

PROV_CTX_PARAMS(cbc, set, const OSSL_PARAM, set_PADDING, set_USE_BITS,
                set_TLS_VERSION, set_TLS_MAC_SIZE, set_NUM)

/* ---- Init ---------------------------------------------------------------- */

static int cbc_init(struct cbc_ctx *ctx, const uint8_t *key, size_t keylen,
                    const uint8_t *iv, size_t ivlen, const OSSL_PARAM params[],
                    uint8_t encrypting)
{
    ctx->encrypting = encrypting;
    ctx->num = 0;
    ctx->fill = 0;
    ctx->bad_padding = 0;
    if (iv != NULL) {
        if (ivlen != BLOCK)
            return prov_raise(ctx->prov, INVALID_IV_LENGTH);
        memcpy(ctx->original_iv, iv, BLOCK);
        memcpy(ctx->cbc.iv, iv, BLOCK);
        ctx->iv_set = 1;
    } else if (ctx->iv_set) {
        memcpy(ctx->cbc.iv, ctx->original_iv, BLOCK);
    }
    if (key != NULL) {
        if (keylen != ctx->keylen)
            return prov_raise(ctx->prov, INVALID_KEY_LENGTH);
        bc_cbc_set_key(&ctx->cbc, key, keylen);
        ctx->key_set = 1;
    }
    return params == NULL || cbc_set_ctx_params(ctx, params);
}

static int cbc_encrypt_init(void *ctx, const unsigned char *key, size_t keylen,
                            const unsigned char *iv, size_t ivlen,
                            const OSSL_PARAM params[])
{
    return cbc_init(ctx, key, keylen, iv, ivlen, params, 1);
}

static int cbc_decrypt_init(void *ctx, const unsigned char *key, size_t keylen,
                            const unsigned char *iv, size_t ivlen,
                            const OSSL_PARAM params[])
{
    return cbc_init(ctx, key, keylen, iv, ivlen, params, 0);
}

/* ---- Data ---------------------------------------------------------------- */

static void cbc_blocks(struct cbc_ctx *ctx, uint8_t *out, const uint8_t *in,
                       size_t len)
{
    if (ctx->encrypting)
        bc_cbc_encrypt(&ctx->cbc, out, in, len / BLOCK);
    else
        bc_cbc_decrypt(&ctx->cbc, out, in, len / BLOCK);
}

/*
 * In place while bytes are buffered: output byte i belongs to input byte
 * i - fill, so writing a block would overwrite up to `fill` bytes of the next
 * one. These move to the buffer first, a piece at a time. Crypts `len` bytes,
 * whole blocks.
 */
static void cbc_shifted(struct cbc_ctx *ctx, uint8_t *out, const uint8_t *in,
                        size_t len)
{
    uint8_t piece[512];
    size_t n, fill = ctx->fill;

    while (len != 0) {
        n = len < sizeof(piece) ? len : sizeof(piece);
        memcpy(piece, ctx->buf, fill);
        memcpy(piece + fill, in, n - fill);
        len -= n;
        if (len != 0)
            memcpy(ctx->buf, in + n - fill, fill);
        cbc_blocks(ctx, piece, piece, n);
        memcpy(out, piece, n);
        in += n;
        out += n;
    }
    bc_wipe(piece, sizeof(piece));
}

/* One whole record, in place. */
static int cbc_record(struct cbc_ctx *ctx, uint8_t *out, size_t *outl,
                      size_t outsize, const uint8_t *in, size_t len)
{
    size_t padded = tls_cbc_padded_len(len);

    if (in == NULL || in != out || outsize < len || !ctx->padding)
        return prov_raise(ctx->prov, CIPHER_OPERATION_FAILED);
    if (ctx->encrypting) {
        if (outsize < padded)
            return prov_raise(ctx->prov, CIPHER_OPERATION_FAILED);
        tls_cbc_add_padding(&ctx->tls, out, len);
        cbc_blocks(ctx, out, out, padded);
        *outl = padded;
        return 1;
    }
    if (!tls_cbc_begin(&ctx->tls, len))
        return prov_raise(ctx->prov, CIPHER_OPERATION_FAILED);
    cbc_blocks(ctx, out, out, len);
    if (!tls_cbc_remove(&ctx->tls, out, &len))
        return prov_raise(ctx->prov, CIPHER_OPERATION_FAILED);
    *outl = len;
    return 1;
}

/* Any piece of data. Never inlined, so that whole blocks alone do not pay for
 * the registers it saves. */
static __attribute__((noinline)) int cbc_piece(struct cbc_ctx *ctx,
                                               uint8_t *out, size_t *outl,
                                               size_t outsize,
                                               const uint8_t *in, size_t inl)
{
    size_t fill = ctx->fill, total = fill + inl, keep, len;

    if (PROV_UNLIKELY(!ctx->key_set))
        return prov_raise(ctx->prov, NO_KEY_SET);
    if (PROV_UNLIKELY(ctx->tls.version != 0))
        return cbc_record(ctx, out, outl, outsize, in, inl);

    /* Of buffer and input together, `keep` bytes stay and `len` go out. */
    keep = total % BLOCK;
    if (keep == 0 && total != 0 && !ctx->encrypting && ctx->padding)
        keep = BLOCK;
    len = total - keep;
    if (PROV_UNLIKELY(outsize < len))
        return prov_raise(ctx->prov, OUTPUT_BUFFER_TOO_SMALL);
    if (len != 0 && PROV_UNLIKELY(prov_overlaps_forward(out, in, inl)))
        return prov_raise(ctx->prov, CIPHER_OPERATION_FAILED);

    if (inl == 0)
        in = ctx->buf; /* may be NULL, to which nothing can be added */
    if (len == 0) {
        memcpy(ctx->buf + fill, in, inl);
    } else if (fill == 0) {
        cbc_blocks(ctx, out, in, len);
        memcpy(ctx->buf, in + len, keep);
    } else if ((uintptr_t)in - (uintptr_t)out < fill) {
        uint8_t rest[BLOCK];

        memcpy(rest, in + inl - keep, keep);
        cbc_shifted(ctx, out, in, len);
        memcpy(ctx->buf, rest, keep);
        bc_wipe(rest, sizeof(rest));
    } else {
        size_t head = BLOCK - fill;

        memcpy(ctx->buf + fill, in, head);
        cbc_blocks(ctx, out, ctx->buf, BLOCK);
        cbc_blocks(ctx, out + BLOCK, in + head, len - BLOCK);
        memcpy(ctx->buf, in + inl - keep, keep);
    }
    ctx->fill = (uint8_t)keep;
    ctx->bad_padding &= inl == 0;
    *outl = len;
    return 1;
}

static int cbc_update(void *vctx, unsigned char *out, size_t *outl,
                      size_t outsize, const unsigned char *in, size_t inl)
{
    struct cbc_ctx *ctx = vctx;

    /* Whole blocks, of which none stays and in front of which none waits. */
    if (ctx->fill == 0 && inl % BLOCK == 0 && inl != 0 && inl <= outsize &&
        (ctx->encrypting || !ctx->padding) && ctx->key_set &&
        ctx->tls.version == 0 && !prov_overlaps_forward(out, in, inl)) {
        cbc_blocks(ctx, out, in, inl);
        *outl = inl;
        return 1;
    }
    return cbc_piece(ctx, out, outl, outsize, in, inl);
}

static __attribute__((noinline)) int cbc_final_encrypt(struct cbc_ctx *ctx,
                                                       uint8_t *out,
                                                       size_t *outl,
                                                       size_t outsize)
{
    uint8_t pad = (uint8_t)(BLOCK - ctx->fill);

    if (!ctx->padding)
        return prov_raise(ctx->prov, WRONG_FINAL_BLOCK_LENGTH);
    if (outsize < BLOCK)
        return prov_raise(ctx->prov, OUTPUT_BUFFER_TOO_SMALL);
    memset(ctx->buf + ctx->fill, pad, pad);
    cbc_blocks(ctx, out, ctx->buf, BLOCK);
    ctx->fill = 0;
    *outl = BLOCK;
    return 1;
}

/*
 * The bytes of PKCS#7 padding at the end of a block, 1 to 16, or 0 if it is
 * damaged. Whether it is becomes public with the return value, but which byte
 * was wrong must not: every block takes the same steps.
 */
static uint32_t padding_length(const uint8_t block[BLOCK])
{
    uint32_t i, inside, pad = block[BLOCK - 1];
    uint32_t bad = (pad - 1) >> 4; /* 0 only for 1 .. 16 */

    for (i = 0; i < BLOCK; i++) {
        inside = 0 - ((BLOCK - 1 - i - pad) >> 31);
        bad |= inside & (block[i] ^ pad);
    }
    return pad & (((bad - 1) & ~bad) >> 31) * 0xff;
}

static __attribute__((noinline)) int cbc_final_decrypt(struct cbc_ctx *ctx,
                                                       uint8_t *out,
                                                       size_t *outl,
                                                       size_t outsize)
{
    uint8_t plain[BLOCK];
    size_t len = BLOCK, pad;

    if (ctx->fill != BLOCK)
        return prov_raise(ctx->prov, WRONG_FINAL_BLOCK_LENGTH);
    if (ctx->bad_padding)
        return prov_raise(ctx->prov, BAD_DECRYPT);
    if (outsize < BLOCK)
        return prov_raise(ctx->prov, OUTPUT_BUFFER_TOO_SMALL);

    cbc_blocks(ctx, plain, ctx->buf, BLOCK);
    if (ctx->padding) {
        pad = padding_length(plain);
        if (pad == 0) {
            /* What a further update would go on from is the default's. */
            memcpy(ctx->buf, plain, BLOCK);
            bc_wipe(plain, sizeof(plain));
            ctx->bad_padding = 1;
            return prov_raise(ctx->prov, BAD_DECRYPT);
        }
        len -= pad;
    }
    memcpy(out, plain, len);
    bc_wipe(plain, sizeof(plain));
    ctx->fill = 0;
    *outl = len;
    return 1;
}

/* Without padding and with nothing left there is nothing to do. */
static int cbc_final(void *vctx, unsigned char *out, size_t *outl,
                     size_t outsize)
{
    struct cbc_ctx *ctx = vctx;

    if (PROV_UNLIKELY(!ctx->key_set))
        return prov_raise(ctx->prov, NO_KEY_SET);
    if (PROV_UNLIKELY(ctx->tls.version != 0))
        return prov_raise(ctx->prov, CIPHER_OPERATION_FAILED);
    if (!ctx->padding && ctx->fill == 0) {
        *outl = 0;
        return 1;
    }
    return ctx->encrypting ? cbc_final_encrypt(ctx, out, outl, outsize)
                           : cbc_final_decrypt(ctx, out, outl, outsize);
}

/* One shot: whole blocks, no padding, nothing held back. */
static int cbc_cipher(void *vctx, unsigned char *out, size_t *outl,
                      size_t outsize, const unsigned char *in, size_t inl)
{
    struct cbc_ctx *ctx = vctx;

    if (!ctx->key_set)
        return prov_raise(ctx->prov, NO_KEY_SET);
    if (outsize < inl)
        return prov_raise(ctx->prov, OUTPUT_BUFFER_TOO_SMALL);
    if (inl % BLOCK != 0 || prov_overlaps_forward(out, in, inl))
        return prov_raise(ctx->prov, CIPHER_OPERATION_FAILED);
    cbc_blocks(ctx, out, in, inl);
    *outl = inl;
    return 1;
}

/* ---- The algorithms ------------------------------------------------------ */

#define AES_CBC(bits, names)                                                   \
    PROV_CIPHER(aes_##bits##_cbc, cbc, .mode = PROV_MODE_CBC,                  \
                .keylen = (bits) / 8, .ivlen = BLOCK, .blocksize = BLOCK)
#include "algorithms.inc"
