/*
 * OSSL_PARAM arrays: which parameters a function knows, finding them in one
 * pass, and the conversions of their values.
 *
 * A list of parameters is an X-macro, one line each:
 *
 *   #define GCM_SET_PARAMS(X, p) X(p, TAG, "tag", PROV_OCTETS) ...
 *   PROV_PARAMS(gcm_set, GCM_SET_PARAMS)
 *
 * which makes the descriptors (gcm_set_list), an index for each
 * (gcm_set_TAG), and gcm_set_find(), which notes where each is in the caller's
 * array. The libcrypto functions for all this cannot be used: the module does
 * not link it, and one OSSL_PARAM_locate() per parameter is slow.
 */
#ifndef PROV_PARAMS_H
#define PROV_PARAMS_H

#include <openssl/params.h>

#include "prov.h"

#define PROV_MAX_PARAMS 16

struct prov_found {
    uint32_t seen;              /* bit i: parameter i is there */
    size_t at[PROV_MAX_PARAMS]; /* and stands at this place of the array */
};

/* 1 if the array has one parameter, as those have that libcrypto itself makes:
 * for what it asks at every init, and for tags. No search is needed then. */
static inline int prov_single(const OSSL_PARAM *params)
{
    return params != NULL && params[0].key != NULL && params[1].key == NULL;
}

/* The parameter `name` of array `params`, or NULL. */
#define PROV_PARAM(params, found, name)                                        \
    (1 & (found).seen >> (name) ? &(params)[(found).at[name]] : NULL)

#define PROV_PARAM_INDEX(prefix, name, string, kind) prefix##_##name,
#define PROV_PARAM_DESCRIPTOR(prefix, name, string, kind)                      \
    {.key = (string), kind, .return_size = OSSL_PARAM_UNMODIFIED},
#define PROV_PARAM_MATCH(prefix, name, string, kind)                           \
    if (prov_same(text, (string), sizeof(string)))                             \
        return prefix##_##name;

/*
 * 1 if text is `known`, a literal of `size` bytes with its NUL. Unrolled with
 * constants, this is a compare of one byte for nearly all keys, and cheaper
 * for the others than a call of strlen() or strcmp().
 */
static inline __attribute__((always_inline)) int
prov_same(const char *text, const char *known, size_t size)
{
    size_t i;

#pragma GCC unroll 16
    for (i = 0; i < size; i++) {
        if (text[i] != known[i])
            return 0;
    }
    return 1;
}

/*
 * Unknown parameters are skipped. Of a parameter given twice the first counts,
 * as with OSSL_PARAM_locate(), up to OpenSSL 3.5; the default provider refuses
 * it since 3.6, and so do we there, before anything has happened.
 */
#define PROV_PARAMS(prefix, LIST)                                              \
    enum { LIST(PROV_PARAM_INDEX, prefix) prefix##_count };                    \
    _Static_assert((int)prefix##_count <= PROV_MAX_PARAMS, "raise the limit"); \
    static const OSSL_PARAM prefix##_list[] = {                                \
        LIST(PROV_PARAM_DESCRIPTOR, prefix) OSSL_PARAM_END};                   \
    static inline                                                              \
        __attribute__((always_inline)) int prefix##_index(const char *text)    \
    {                                                                          \
        LIST(PROV_PARAM_MATCH, prefix)                                         \
        return prefix##_count;                                                 \
    }                                                                          \
    static inline int prefix##_find(const struct prov *prov,                   \
                                    const OSSL_PARAM *params,                  \
                                    struct prov_found *found)                  \
    {                                                                          \
        size_t i;                                                              \
                                                                               \
        found->seen = 0;                                                       \
        found->at[0] = 0; /* for gcc 12, which sees it read unset */           \
        for (i = 0; params != NULL && params[i].key != NULL; i++) {            \
            int index = prefix##_index(params[i].key);                         \
                                                                               \
            if (index == prefix##_count)                                       \
                continue;                                                      \
            if (1 & found->seen >> index) {                                    \
                if (prov != NULL &&                                            \
                    prov->core_version >= PROV_VERSION(3, 6, 0))               \
                    return prov_raise(prov, REPEATED_PARAMETER);               \
                continue;                                                      \
            }                                                                  \
            found->seen |= UINT32_C(1) << index;                               \
            found->at[index] = i;                                              \
        }                                                                      \
        return 1;                                                              \
    }

/*
 * The function FAMILY_get_ctx_params() or FAMILY_set_ctx_params(), made of one
 * for a single parameter, FAMILY_get_param(ctx, index, p), which takes an
 * unknown one for done. The order is the default provider's and decides which
 * error comes first. The search stands in a function of its own, so that what
 * libcrypto asks at every init does not pay for the registers it saves.
 */
#define PROV_CTX_PARAMS(family, verb, PARAM, ...)                              \
    static __attribute__((noinline)) int family##_##verb##_params(             \
        struct family##_ctx *ctx, PARAM params[])                              \
    {                                                                          \
        static const uint8_t order[] = {__VA_ARGS__};                          \
        struct prov_found found;                                               \
        PARAM *p;                                                              \
        size_t i;                                                              \
                                                                               \
        if (!verb##_find(ctx->prov, params, &found))                           \
            return 0;                                                          \
        for (i = 0; i < sizeof(order); i++) {                                  \
            p = PROV_PARAM(params, found, order[i]);                           \
            if (p != NULL && !family##_##verb##_param(ctx, order[i], p))       \
                return 0;                                                      \
        }                                                                      \
        return 1;                                                              \
    }                                                                          \
    static int family##_##verb##_ctx_params(void *ctx, PARAM params[])         \
    {                                                                          \
        if (ctx == NULL)                                                       \
            return 0;                                                          \
        if (prov_single(params))                                               \
            return family##_##verb##_param(ctx, verb##_index(params->key),     \
                                           params);                            \
        return family##_##verb##_params(ctx, params);                          \
    }

/* Types of the descriptors, with the sizes libcrypto's macros give them. */
#define PROV_SIZE_T                                                            \
    .data_type = OSSL_PARAM_UNSIGNED_INTEGER, .data_size = sizeof(size_t)
#define PROV_UINT                                                              \
    .data_type = OSSL_PARAM_UNSIGNED_INTEGER, .data_size = sizeof(unsigned int)
#define PROV_INT .data_type = OSSL_PARAM_INTEGER, .data_size = sizeof(int)
#define PROV_OCTETS .data_type = OSSL_PARAM_OCTET_STRING
#define PROV_OCTET_PTR .data_type = OSSL_PARAM_OCTET_PTR
#define PROV_UTF8_PTR .data_type = OSSL_PARAM_UTF8_PTR

/*
 * Values. Each returns 1 or 0; the rules are those of libcrypto's functions of
 * like names. Since 3.2 these queue an error of ERR_LIB_CRYPTO that says what
 * is wrong with the value, and so do ours there, unless prov is NULL; the
 * caller raises the error that callers look for. A set with data == NULL asks
 * for the size alone. Floating-point values are refused.
 */
int prov_convert_to_size_t(const struct prov *prov, const OSSL_PARAM *p,
                           size_t *value);
int prov_convert_to_uint(const struct prov *prov, const OSSL_PARAM *p,
                         unsigned int *value);
int prov_convert_size_t(const struct prov *prov, OSSL_PARAM *p, size_t value);
/* The caller's p->data_size bytes, if there are at most max of them, or NULL.
 */
const uint8_t *prov_get_octets(const struct prov *prov, const OSSL_PARAM *p,
                               size_t max);
int prov_set_uint(const struct prov *prov, OSSL_PARAM *p, unsigned int value);
int prov_set_int(const struct prov *prov, OSSL_PARAM *p,
                 unsigned int value); /* 0 .. INT_MAX */
int prov_set_utf8_ptr(const struct prov *prov, OSSL_PARAM *p,
                      const char *value);
int prov_set_octets(const struct prov *prov, OSSL_PARAM *p, const void *value,
                    size_t len);
int prov_set_octet_ptr(const struct prov *prov, OSSL_PARAM *p,
                       const void *value, size_t len);
/* Whichever of the two the caller asks for. */
int prov_set_octets_or_ptr(const struct prov *prov, OSSL_PARAM *p,
                           const void *value, size_t len);

/* What callers use for numbers: those of the very type that libcrypto itself
 * passes need no conversion. */
static inline int prov_is_native(const OSSL_PARAM *p, size_t size)
{
    return p->data_type == OSSL_PARAM_UNSIGNED_INTEGER &&
           p->data_size == size && p->data != NULL;
}

static inline int prov_get_size_t(const struct prov *prov, const OSSL_PARAM *p,
                                  size_t *value)
{
    if (!prov_is_native(p, sizeof(*value)))
        return prov_convert_to_size_t(prov, p, value);
    memcpy(value, p->data, sizeof(*value));
    return 1;
}

static inline int prov_get_uint(const struct prov *prov, const OSSL_PARAM *p,
                                unsigned int *value)
{
    if (!prov_is_native(p, sizeof(*value)))
        return prov_convert_to_uint(prov, p, value);
    memcpy(value, p->data, sizeof(*value));
    return 1;
}

static inline int prov_set_size_t(const struct prov *prov, OSSL_PARAM *p,
                                  size_t value)
{
    if (!prov_is_native(p, sizeof(value)))
        return prov_convert_size_t(prov, p, value);
    memcpy(p->data, &value, sizeof(value));
    p->return_size = sizeof(value);
    return 1;
}

#endif
