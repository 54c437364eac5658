/*
 * Two helpers whose point is what the compiler must not do to them: wiping
 * that is not dropped, and a comparison that does not stop early.
 */
#include "internal.h"

void bc_wipe(void *p, size_t len)
{
    memset(p, 0, len);
    /* The empty statement claims to read the memory, so the stores stay. */
    __asm__ volatile("" : : "r"(p) : "memory");
}

int bc_ct_equal(const void *a, const void *b, size_t len)
{
    const volatile uint8_t *x = a, *y = b;
    uint32_t diff = 0;
    size_t i;

    for (i = 0; i < len; i++)
        diff |= (uint32_t)(x[i] ^ y[i]);
    return (int)((diff - 1) >> 31);
}
