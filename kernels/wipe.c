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

/* The empty statements keep the compiler from knowing anything about diff, so
 * that it cannot leave the loops before their ends. */
int bc_ct_equal(const void *a, const void *b, size_t len)
{
    const uint8_t *x = a, *y = b;
    uint64_t diff = 0;

    for (; len >= 8; len -= 8, x += 8, y += 8) {
        diff |= load_le64(x) ^ load_le64(y);
        __asm__("" : "+r"(diff));
    }
    for (; len > 0; len--, x++, y++) {
        diff |= (uint64_t)(*x ^ *y);
        __asm__("" : "+r"(diff));
    }
    diff |= diff >> 32; /* the halves, so that no bit is lost below */
    return (int)(((diff & 0xffffffff) - 1) >> 63);
}
