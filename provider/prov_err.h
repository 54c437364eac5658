/*
 * Errors, raised as the default provider raises them: callers compare the pair
 * ERR_LIB_PROV and reason, so we queue exactly that and not errors of a library
 * of our own. A function raises one error, at the place that noticed.
 */
#ifndef PROV_ERR_H
#define PROV_ERR_H

#include <stdint.h>

#include <openssl/err.h>

/* The reasons we use; numbers and names are those of openssl/proverr.h. */
#define PROV_REASONS(X)                                                        \
    X(BAD_DECRYPT, 100, "bad decrypt")                                         \
    X(CIPHER_OPERATION_FAILED, 102, "cipher operation failed")                 \
    X(FAILED_TO_GET_PARAMETER, 103, "failed to get parameter")                 \
    X(FAILED_TO_SET_PARAMETER, 104, "failed to set parameter")                 \
    X(INVALID_KEY_LENGTH, 105, "invalid key length")                           \
    X(OUTPUT_BUFFER_TOO_SMALL, 106, "output buffer too small")                 \
    X(WRONG_FINAL_BLOCK_LENGTH, 107, "wrong final block length")               \
    X(INVALID_AAD, 108, "invalid aad")                                         \
    X(INVALID_IV_LENGTH, 109, "invalid iv length")                             \
    X(INVALID_TAG, 110, "invalid tag")                                         \
    X(NO_KEY_SET, 114, "no key set")                                           \
    X(INVALID_DATA, 115, "invalid data")                                       \
    X(INVALID_TAG_LENGTH, 118, "invalid tag length")                           \
    X(TAG_NOT_SET, 119, "tag not set")                                         \
    X(TAG_NOT_NEEDED, 120, "tag not needed")                                   \
    X(TOO_MANY_RECORDS, 126, "too many records")                               \
    X(INVALID_CONFIG_DATA, 211, "invalid config data")                         \
    X(REPEATED_PARAMETER, 252, "repeated parameter")

/* Packed as libcrypto packs them: library and reason. */
enum prov_error {
#define X(name, number, text)                                                  \
    PROV_E_##name = (int)ERR_PACK(ERR_LIB_PROV, 0, number),
    PROV_REASONS(X)
#undef X
};

struct prov;

/* Queues the error and returns 0. format may be NULL, otherwise it gives the
 * error's data. */
int prov_raise_at(const struct prov *prov, uint32_t error, const char *file,
                  int line, const char *func, const char *format, ...)
    __attribute__((format(printf, 6, 7), cold));

/* For `return prov_raise(prov, NO_KEY_SET);` */
#define prov_raise(prov, reason)                                               \
    prov_raise_at((prov), PROV_E_##reason, __FILE__, __LINE__, __func__, NULL)

/* The same list for libcrypto's OSSL_FUNC_PROVIDER_GET_REASON_STRINGS. */
struct ossl_item_st;
extern const struct ossl_item_st prov_reason_strings[];

#endif
