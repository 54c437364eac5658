/*
 * The rounds of ChaCha20 (RFC 8439, 2.1 to 2.3) on one block, in the integer
 * units: the portable level, and the key block of a message beside the vectors
 * of others.
 */
#ifndef BC_CHACHA20_BLOCK_H
#define BC_CHACHA20_BLOCK_H

#include "internal.h"

static inline uint32_t rotl(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static inline void chacha20_quarter_round(uint32_t x[16], int a, int b, int c,
                                          int d)
{
    x[a] += x[b];
    x[d] = rotl(x[d] ^ x[a], 16);
    x[c] += x[d];
    x[b] = rotl(x[b] ^ x[c], 12);
    x[a] += x[b];
    x[d] = rotl(x[d] ^ x[a], 8);
    x[c] += x[d];
    x[b] = rotl(x[b] ^ x[c], 7);
}

/* Columns, then diagonals. */
static inline void chacha20_double_round(uint32_t x[16])
{
    chacha20_quarter_round(x, 0, 4, 8, 12);
    chacha20_quarter_round(x, 1, 5, 9, 13);
    chacha20_quarter_round(x, 2, 6, 10, 14);
    chacha20_quarter_round(x, 3, 7, 11, 15);
    chacha20_quarter_round(x, 0, 5, 10, 15);
    chacha20_quarter_round(x, 1, 6, 11, 12);
    chacha20_quarter_round(x, 2, 7, 8, 13);
    chacha20_quarter_round(x, 3, 4, 9, 14);
}

#endif
