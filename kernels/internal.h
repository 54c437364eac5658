/*
 * What the kernel files share among themselves: byte order, loop unrolling,
 * and the names of the ops tables of every level.
 */
#ifndef BC_INTERNAL_H
#define BC_INTERNAL_H

#include <stdint.h>
#include <string.h>

#include "kernels.h"

/* gcc 12 at -O2 leaves loops over vectors rolled and the vectors in memory, at
 * half the speed; clang accepts the same words. Put it before such a loop. */
#define UNROLL _Pragma("GCC unroll 16")

static inline uint32_t load_le32(const void *p)
{
    const uint8_t *b = p;

    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
           (uint32_t)b[3] << 24;
}

static inline uint64_t load_le64(const void *p)
{
    const uint8_t *b = p;

    return load_le32(b) | (uint64_t)load_le32(b + 4) << 32;
}

static inline uint32_t load_be32(const void *p)
{
    const uint8_t *b = p;

    return (uint32_t)b[3] | (uint32_t)b[2] << 8 | (uint32_t)b[1] << 16 |
           (uint32_t)b[0] << 24;
}

static inline uint64_t load_be64(const void *p)
{
    const uint8_t *b = p;

    return load_be32(b + 4) | (uint64_t)load_be32(b) << 32;
}

static inline void store_le32(void *p, uint32_t x)
{
    uint8_t *b = p;

    b[0] = (uint8_t)x;
    b[1] = (uint8_t)(x >> 8);
    b[2] = (uint8_t)(x >> 16);
    b[3] = (uint8_t)(x >> 24);
}

static inline void store_le64(void *p, uint64_t x)
{
    store_le32(p, (uint32_t)x);
    store_le32((uint8_t *)p + 4, (uint32_t)(x >> 32));
}

static inline void store_be32(void *p, uint32_t x)
{
    uint8_t *b = p;

    b[0] = (uint8_t)(x >> 24);
    b[1] = (uint8_t)(x >> 16);
    b[2] = (uint8_t)(x >> 8);
    b[3] = (uint8_t)x;
}

static inline void store_be64(void *p, uint64_t x)
{
    store_be32(p, (uint32_t)(x >> 32));
    store_be32((uint8_t *)p + 4, (uint32_t)x);
}

/* The tables, one per family and level. */
extern const struct bc_cbc_ops bc_cbc_ops_c;
extern const struct bc_gcm_ops bc_gcm_ops_c;
extern const struct bc_chapoly_ops bc_chapoly_ops_c;
extern const struct bc_poly1305_ops bc_poly1305_ops_c;

#endif
