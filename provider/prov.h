/*
 * What the files of the provider share: the provider context, memory, errors
 * and the few helpers around them. The rules of each cipher live in its own
 * file, the mathematics in ../kernels.
 */
#ifndef PROV_H
#define PROV_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

#include "kernels.h"
#include "prov_err.h"

#define PROV_NAME "bulkcipher"

/* Marks the checks that only misuse fails. */
#define PROV_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* The core's version as one number that compares in the right order. */
#define PROV_VERSION(major, minor, patch)                                      \
    ((uint32_t)(major) << 20 | (uint32_t)(minor) << 10 | (uint32_t)(patch))

/* ---- Recycled contexts (prov_mem.c) -------------------------------------- */

enum prov_class {
    PROV_CLASS_CBC,
    PROV_CLASS_GCM,
    PROV_CLASS_CHAPOLY,
    PROV_CLASS_POLY1305,
    PROV_CLASSES
};

#define PROV_POOL_SLOTS 8

/* One slot per cache line, so that threads that use different slots do not
 * slow each other down. */
struct prov_slot {
    _Alignas(64) void *_Atomic ctx;
};

/* ---- The provider context ------------------------------------------------ */

/* Written once, while the provider is being loaded; afterwards only the slots
 * of the pool change. */
struct prov {
    struct bc_kernels kernels;
    uint32_t core_version; /* PROV_VERSION() of the running libcrypto */

    const OSSL_CORE_HANDLE *handle;
    OSSL_FUNC_core_new_error_fn *new_error;
    OSSL_FUNC_core_set_error_debug_fn *set_error_debug;
    OSSL_FUNC_core_vset_error_fn *vset_error;
    OSSL_FUNC_CRYPTO_zalloc_fn *zalloc;
    OSSL_FUNC_CRYPTO_free_fn *free;

    char buildinfo[128];
    struct prov_slot pool[PROV_CLASSES][PROV_POOL_SLOTS];
};

/* ---- Memory (prov_mem.c) ------------------------------------------------- */

/* Zeroed and aligned to 64 bytes; NULL when libcrypto has no memory, which has
 * queued its error then. */
void *prov_zalloc(const struct prov *prov, size_t len);
void prov_free(const struct prov *prov, void *p);

/*
 * A zeroed context of its class, from the pool or freshly allocated; and back.
 * Who gives one back has wiped it: every byte of it is zero again. All contexts
 * of a class have the same size.
 */
void *prov_ctx_take(struct prov *prov, enum prov_class kind, size_t len);
void prov_ctx_give(struct prov *prov, enum prov_class kind, void *ctx);
/* Frees what the pool holds; called when nobody else uses it any more. */
void prov_pool_drain(struct prov *prov);

/* ---- Helpers (cipher_common.c) ------------------------------------------- */

/* Bytes from the operating system's generator; len is at most 256. */
int prov_random(void *out, size_t len);

#endif
