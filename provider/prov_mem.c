/*
 * Memory: aligned blocks over libcrypto's allocator, and the pool of contexts.
 *
 * libcrypto frees and makes our context again each time a caller passes the
 * cipher to EVP_CipherInit_ex(), the commonest way to use EVP. A few contexts
 * per class therefore wait in the provider context to be taken again. A slot is
 * taken by an atomic exchange and filled by a compare-and-swap of NULL, so
 * there is no lock, no thread-local storage and no destructor; a process that
 * forks copies the slots like any memory, and a full pool just frees.
 *
 * libcrypto holds a reference on the provider for every method it fetched and
 * every context holds its method, so no context outlives the pool.
 */
#include <stdatomic.h>

#include "prov.h"

/* libcrypto's allocator aligns to 16 bytes; the kernels want 64. The original
 * address is kept in front of the aligned one. */
#define ALIGNMENT 64

void *prov_zalloc(const struct prov *prov, size_t len)
{
    uint8_t *raw = prov->zalloc(len + ALIGNMENT, __FILE__, __LINE__);
    uint8_t *p;

    if (raw == NULL)
        return NULL;
    p = raw + ALIGNMENT - (uintptr_t)raw % ALIGNMENT;
    memcpy(p - sizeof(raw), &raw, sizeof(raw));
    return p;
}

_Static_assert(sizeof(void *) <= 8, "the gap in front is 8 bytes or more");

void prov_free(const struct prov *prov, void *p)
{
    uint8_t *raw;

    if (p == NULL)
        return;
    memcpy(&raw, (uint8_t *)p - sizeof(raw), sizeof(raw));
    prov->free(raw, __FILE__, __LINE__);
}

/* Where a thread begins to look: its stack's address tells it from others, so
 * that each finds the context that it gave back itself, still in its cache. */
static size_t first_slot(void)
{
    char here;
    uintptr_t page = (uintptr_t)&here >> 16;

    return (page ^ page >> 3 ^ page >> 7) % PROV_POOL_SLOTS;
}

void *prov_ctx_take(struct prov *prov, enum prov_class kind, size_t len)
{
    size_t i, first = first_slot();
    struct prov_slot *slot;
    void *ctx;

    for (i = 0; i < PROV_POOL_SLOTS; i++) {
        slot = &prov->pool[kind][(first + i) % PROV_POOL_SLOTS];
        if (atomic_load_explicit(&slot->ctx, memory_order_relaxed) == NULL)
            continue;
        ctx = atomic_exchange_explicit(&slot->ctx, NULL, memory_order_acquire);
        if (ctx != NULL)
            return ctx;
    }
    return prov_zalloc(prov, len);
}

void prov_ctx_give(struct prov *prov, enum prov_class kind, void *ctx)
{
    size_t i, first = first_slot();
    struct prov_slot *slot;
    void *empty;

    for (i = 0; i < PROV_POOL_SLOTS; i++) {
        slot = &prov->pool[kind][(first + i) % PROV_POOL_SLOTS];
        empty = atomic_load_explicit(&slot->ctx, memory_order_relaxed);
        if (empty == NULL && atomic_compare_exchange_strong_explicit(
                                 &slot->ctx, &empty, ctx, memory_order_release,
                                 memory_order_relaxed))
            return;
    }
    prov_free(prov, ctx);
}

void prov_pool_drain(struct prov *prov)
{
    size_t kind, i;

    for (kind = 0; kind < PROV_CLASSES; kind++) {
        for (i = 0; i < PROV_POOL_SLOTS; i++)
            prov_free(prov, atomic_exchange(&prov->pool[kind][i].ctx, NULL));
    }
}
