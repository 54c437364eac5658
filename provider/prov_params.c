/*
 * Conversions between OSSL_PARAM values and C types: integers of any width and
 * sign in native byte order, octet strings, and pointers to either.
 */
#include <limits.h>

#include "prov_params.h"

/* Reasons of ERR_LIB_CRYPTO; openssl/cryptoerr.h has them since 3.2. */
#define TOO_SMALL_BUFFER 116
#define UNSIGNED_INTEGER_NEGATIVE_VALUE 125
#define VALUE_TOO_LARGE 126
#define INCOMPATIBLE_TYPE 129

static int fault(const struct prov *prov, uint32_t reason)
{
    if (prov != NULL && prov->core_version >= PROV_VERSION(3, 2, 0))
        prov_raise_at(prov, (uint32_t)ERR_PACK(ERR_LIB_CRYPTO, 0, reason),
                      __FILE__, __LINE__, __func__, NULL);
    return 0;
}

static const int little_endian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

/* The value of an integer that is neither negative nor above 2^64 - 1. */
static int get_u64(const struct prov *prov, const OSSL_PARAM *p,
                   uint64_t *value)
{
    const uint8_t *b = p->data;
    size_t i;

    if (p->data_type != OSSL_PARAM_UNSIGNED_INTEGER &&
        p->data_type != OSSL_PARAM_INTEGER)
        return fault(prov, INCOMPATIBLE_TYPE);
    if (b == NULL)
        return fault(prov, ERR_R_PASSED_NULL_PARAMETER);
    *value = 0;
    for (i = 0; i < p->data_size; i++) { /* from the most significant byte */
        uint8_t byte = b[little_endian ? p->data_size - 1 - i : i];

        if (i == 0 && p->data_type == OSSL_PARAM_INTEGER && byte & 0x80)
            return fault(prov, UNSIGNED_INTEGER_NEGATIVE_VALUE);
        if (*value >> 56 != 0)
            return fault(prov, VALUE_TOO_LARGE);
        *value = *value << 8 | byte;
    }
    return 1;
}

/* `width` is the size of the value's own type: what a query is told. */
static int set_u64(const struct prov *prov, OSSL_PARAM *p, uint64_t value,
                   size_t width)
{
    int is_signed = p->data_type == OSSL_PARAM_INTEGER;
    size_t i, size = p->data_size;
    uint8_t *b = p->data;

    p->return_size = 0;
    if (!is_signed && p->data_type != OSSL_PARAM_UNSIGNED_INTEGER)
        return fault(prov, INCOMPATIBLE_TYPE);
    p->return_size = width;
    if (b == NULL)
        return 1;
    if (size < 8 && value >> (8 * size) != 0)
        return fault(prov, VALUE_TOO_LARGE);
    if (is_signed && size - 1 < 8 && value >> (8 * size - 1) != 0)
        return fault(prov, VALUE_TOO_LARGE);
    for (i = 0; i < size; i++) /* from the least significant byte */
        b[little_endian ? i : size - 1 - i] =
            i < 8 ? (uint8_t)(value >> (8 * i)) : 0;
    p->return_size = size;
    return 1;
}

int prov_convert_to_size_t(const struct prov *prov, const OSSL_PARAM *p,
                           size_t *value)
{
    uint64_t v;

    if (!get_u64(prov, p, &v))
        return 0;
    if (v > SIZE_MAX)
        return fault(prov, VALUE_TOO_LARGE);
    *value = (size_t)v;
    return 1;
}

int prov_convert_to_uint(const struct prov *prov, const OSSL_PARAM *p,
                         unsigned int *value)
{
    uint64_t v;

    if (!get_u64(prov, p, &v))
        return 0;
    if (v > UINT_MAX)
        return fault(prov, VALUE_TOO_LARGE);
    *value = (unsigned int)v;
    return 1;
}

int prov_convert_size_t(const struct prov *prov, OSSL_PARAM *p, size_t value)
{
    return set_u64(prov, p, value, sizeof(value));
}

int prov_set_uint(const struct prov *prov, OSSL_PARAM *p, unsigned int value)
{
    return set_u64(prov, p, value, sizeof(value));
}

int prov_set_int(const struct prov *prov, OSSL_PARAM *p, unsigned int value)
{
    return set_u64(prov, p, value, sizeof(int));
}

static int set_ptr(const struct prov *prov, OSSL_PARAM *p, unsigned int type,
                   const void *value, size_t len)
{
    p->return_size = len;
    if (p->data_type != type)
        return fault(prov, INCOMPATIBLE_TYPE);
    if (p->data != NULL)
        memcpy(p->data, &value, sizeof(value));
    return 1;
}

int prov_set_utf8_ptr(const struct prov *prov, OSSL_PARAM *p, const char *value)
{
    return set_ptr(prov, p, OSSL_PARAM_UTF8_PTR, value, strlen(value));
}

int prov_set_octet_ptr(const struct prov *prov, OSSL_PARAM *p,
                       const void *value, size_t len)
{
    return set_ptr(prov, p, OSSL_PARAM_OCTET_PTR, value, len);
}

int prov_set_octets(const struct prov *prov, OSSL_PARAM *p, const void *value,
                    size_t len)
{
    p->return_size = len;
    if (p->data == NULL)
        return 1;
    if (p->data_type != OSSL_PARAM_OCTET_STRING)
        return fault(prov, INCOMPATIBLE_TYPE);
    if (p->data_size < len)
        return fault(prov, TOO_SMALL_BUFFER);
    if (len == 16) /* a tag: with a constant length, no call */
        memcpy(p->data, value, 16);
    else
        memcpy(p->data, value, len);
    return 1;
}

int prov_set_octets_or_ptr(const struct prov *prov, OSSL_PARAM *p,
                           const void *value, size_t len)
{
    return p->data_type == OSSL_PARAM_OCTET_PTR
               ? prov_set_octet_ptr(prov, p, value, len)
               : prov_set_octets(prov, p, value, len);
}

const uint8_t *prov_get_octets(const struct prov *prov, const OSSL_PARAM *p,
                               size_t max)
{
    if (p->data_type != OSSL_PARAM_OCTET_STRING)
        fault(prov, INCOMPATIBLE_TYPE);
    else if (p->data == NULL)
        fault(prov, ERR_R_PASSED_NULL_PARAMETER);
    else if (p->data_size > max)
        fault(prov, TOO_SMALL_BUFFER);
    else
        return p->data;
    return NULL;
}
