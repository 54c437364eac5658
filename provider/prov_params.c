/*
 * Conversions between OSSL_PARAM values and C types: integers of any width and
 * sign in native byte order, octet strings, and pointers to either.
 */
#include <limits.h>

#include "prov_params.h"

static const int little_endian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

/* The value of an integer that is neither negative nor above 2^64 - 1. */
static int get_u64(const OSSL_PARAM *p, uint64_t *value)
{
    const uint8_t *b = p->data;
    size_t i;

    if (b == NULL || (p->data_type != OSSL_PARAM_UNSIGNED_INTEGER &&
                      p->data_type != OSSL_PARAM_INTEGER))
        return 0;
    *value = 0;
    for (i = 0; i < p->data_size; i++) { /* from the most significant byte */
        uint8_t byte = b[little_endian ? p->data_size - 1 - i : i];

        if (i == 0 && p->data_type == OSSL_PARAM_INTEGER && byte & 0x80)
            return 0;
        if (*value >> 56 != 0)
            return 0;
        *value = *value << 8 | byte;
    }
    return 1;
}

/* `width` is the size of the value's own type: what a query is told. */
static int set_u64(OSSL_PARAM *p, uint64_t value, size_t width)
{
    int is_signed = p->data_type == OSSL_PARAM_INTEGER;
    size_t i, size = p->data_size;
    uint8_t *b = p->data;

    p->return_size = 0;
    if (!is_signed && p->data_type != OSSL_PARAM_UNSIGNED_INTEGER)
        return 0;
    p->return_size = width;
    if (b == NULL)
        return 1;
    if (size < 8 && value >> (8 * size) != 0)
        return 0;
    if (is_signed && size - 1 < 8 && value >> (8 * size - 1) != 0)
        return 0;
    for (i = 0; i < size; i++) /* from the least significant byte */
        b[little_endian ? i : size - 1 - i] =
            i < 8 ? (uint8_t)(value >> (8 * i)) : 0;
    p->return_size = size;
    return 1;
}

int prov_get_size_t(const OSSL_PARAM *p, size_t *value)
{
    uint64_t v;

    if (!get_u64(p, &v) || v > SIZE_MAX)
        return 0;
    *value = (size_t)v;
    return 1;
}

int prov_get_uint(const OSSL_PARAM *p, unsigned int *value)
{
    uint64_t v;

    if (!get_u64(p, &v) || v > UINT_MAX)
        return 0;
    *value = (unsigned int)v;
    return 1;
}

int prov_set_size_t(OSSL_PARAM *p, size_t value)
{
    /* What libcrypto asks on every init: no loop for it. */
    if (p->data_type == OSSL_PARAM_UNSIGNED_INTEGER && p->data != NULL &&
        p->data_size == sizeof(value)) {
        memcpy(p->data, &value, sizeof(value));
        p->return_size = sizeof(value);
        return 1;
    }
    return set_u64(p, value, sizeof(value));
}

int prov_set_uint(OSSL_PARAM *p, unsigned int value)
{
    return set_u64(p, value, sizeof(value));
}

int prov_set_int(OSSL_PARAM *p, unsigned int value)
{
    return set_u64(p, value, sizeof(int));
}

static int set_ptr(OSSL_PARAM *p, unsigned int type, const void *value,
                   size_t len)
{
    p->return_size = len;
    if (p->data_type != type)
        return 0;
    if (p->data != NULL)
        memcpy(p->data, &value, sizeof(value));
    return 1;
}

int prov_set_utf8_ptr(OSSL_PARAM *p, const char *value)
{
    return set_ptr(p, OSSL_PARAM_UTF8_PTR, value, strlen(value));
}

int prov_set_octet_ptr(OSSL_PARAM *p, const void *value, size_t len)
{
    return set_ptr(p, OSSL_PARAM_OCTET_PTR, value, len);
}

int prov_set_octets(OSSL_PARAM *p, const void *value, size_t len)
{
    p->return_size = len;
    if (p->data == NULL)
        return 1;
    if (p->data_type != OSSL_PARAM_OCTET_STRING || p->data_size < len)
        return 0;
    memcpy(p->data, value, len);
    return 1;
}

int prov_set_octets_or_ptr(OSSL_PARAM *p, const void *value, size_t len)
{
    return p->data_type == OSSL_PARAM_OCTET_PTR
               ? prov_set_octet_ptr(p, value, len)
               : prov_set_octets(p, value, len);
}
