/*
 * Poly1305 straight from its definition, in long multiplication of bytes: the
 * reference that shares nothing with the kernels. Slow, and not constant time.
 */
#ifndef BC_TEST_SLOW_POLY1305_H
#define BC_TEST_SLOW_POLY1305_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A number in base 256, lowest byte first; 36 bytes hold any product here. */
struct slow_num {
    uint32_t byte[36];
};

static inline void slow_carry(struct slow_num *n)
{
    int i;

    for (i = 0; i < 35; i++) {
        n->byte[i + 1] += n->byte[i] >> 8;
        n->byte[i] &= 255;
    }
}

/* n mod 2^130 - 5: while anything stands at or above 2^130, put it back in at
 * the bottom five times; then the rest is below 2^130, and is taken once more
 * off the five numbers that reach p. */
static inline void slow_mod(struct slow_num *n)
{
    struct slow_num top;
    int i, above;

    slow_carry(n);
    do {
        memset(&top, 0, sizeof(top));
        for (i = 16, above = 0; i < 35; i++) {
            top.byte[i - 16] = n->byte[i] >> 2 | (n->byte[i + 1] & 3) << 6;
            above |= top.byte[i - 16] != 0;
            n->byte[i] = i == 16 ? n->byte[i] & 3 : 0;
        }
        n->byte[35] = 0;
        for (i = 0; i < 20; i++)
            n->byte[i] += 5 * top.byte[i];
        slow_carry(n);
    } while (above);

    for (i = 1; i < 16 && n->byte[i] == 255; i++)
        ;
    if (i == 16 && n->byte[16] == 3 && n->byte[0] >= 251) {
        n->byte[0] -= 251;
        memset(n->byte + 1, 0, sizeof(n->byte) - sizeof(n->byte[0]));
    }
}

/* h = (h + the n <= 16 bytes and the 1 behind them) * r mod p */
static inline void slow_block(struct slow_num *h, const struct slow_num *r,
                              const uint8_t *in, size_t n)
{
    struct slow_num x = {{0}};
    size_t i, j;

    for (i = 0; i < n; i++)
        h->byte[i] += in[i];
    h->byte[n] += 1;
    slow_carry(h);
    for (i = 0; i < 17; i++)
        for (j = 0; j < 17; j++)
            x.byte[i + j] += h->byte[i] * r->byte[j];
    slow_mod(&x);
    *h = x;
}

static inline void slow_r(struct slow_num *r, const uint8_t key[32])
{
    int i;

    memset(r, 0, sizeof(*r));
    for (i = 0; i < 16; i++)
        r->byte[i] = key[i];
    for (i = 0; i < 16; i += 4)
        r->byte[i + 3] &= 15;
    for (i = 4; i < 16; i += 4)
        r->byte[i] &= 252;
}

static inline void slow_tag(uint8_t tag[16], const struct slow_num *h,
                            const uint8_t key[32])
{
    uint32_t sum = 0;
    int i;

    for (i = 0; i < 16; i++) {
        sum += h->byte[i] + key[16 + i];
        tag[i] = (uint8_t)sum;
        sum >>= 8;
    }
}

static inline void slow_poly1305(uint8_t tag[16], const uint8_t key[32],
                                 const uint8_t *in, size_t len)
{
    struct slow_num r, h = {{0}};

    slow_r(&r, key);
    for (; len > 16; in += 16, len -= 16)
        slow_block(&h, &r, in, 16);
    if (len)
        slow_block(&h, &r, in, len);
    slow_tag(tag, &h, key);
}

#endif
