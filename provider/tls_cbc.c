/*
 * TLS records under CBC (RFC 2246, 4346 and 5246, section 6.2.3.2; RFC 6101 for
 * SSL 3.0; RFC 7366 for encrypt-then-MAC). cipher_aes_cbc.c calls this before
 * it encrypts and after it decrypts; no cipher is in here, and no EVP rule.
 *
 * A decrypted record is
 *
 *     [explicit IV] data MAC padding n        n: length of the padding, 0..255
 *
 * and until the caller has compared the MAC, n is the attacker's choice. Who
 * can find out whether the padding was good, by an error or by the time taken,
 * can decrypt (Vaudenay; Lucky Thirteen). So everything behind the decryption
 * runs over the longest tail that a record of this public length may have,
 * whatever n says, and picks its results with masks:
 *  - the padding check reads as many bytes as the longest padding;
 *  - the MAC, which starts at a secret place, is brought to the front by moving
 *    the whole tail by 128 or not, by 64 or not, and so on. This touches every
 *    byte in the same order for every n, and moves fewer bytes than one pass
 *    over the tail per byte of the MAC.
 * The new length is secret too; libssl is told and takes the same care.
 */
#define _DEFAULT_SOURCE
#include "tls_cbc.h"

#include <string.h>
#include <sys/random.h>

#include "kernels.h"

#define BLOCK BC_AES_BLOCK
#define MAX_PAD 255 /* without the byte that holds the length */

/* Version numbers of the record layer. */
#define SSL3 0x0300
#define TLS1 0x0301
#define TLS1_1 0x0302
#define TLS1_2 0x0303
#define DTLS1_BAD 0x0100 /* what Cisco's AnyConnect speaks */
#define DTLS1 0xfeff
#define DTLS1_2 0xfefd

/* Compilers know that a mask is all ones or zero and may make a branch of it
 * again; after this they know nothing. */
static inline uint32_t opaque(uint32_t x)
{
    __asm__("" : "+r"(x));
    return x;
}

/* All ones if a < b, else 0; both below 2^31. */
static inline uint32_t mask_lt(uint32_t a, uint32_t b)
{
    return opaque(0 - ((a - b) >> 31));
}

static inline uint8_t pick(uint32_t mask, uint8_t yes, uint8_t no)
{
    return (uint8_t)(no ^ (mask & (yes ^ no)));
}

/* The bytes in front of the data; -1 for a version that is none. */
static int explicit_iv(unsigned int version)
{
    switch (version) {
    case SSL3:
    case TLS1:
        return 0;
    case TLS1_1:
    case TLS1_2:
    case DTLS1_BAD:
    case DTLS1:
    case DTLS1_2:
        return BLOCK;
    default:
        return -1;
    }
}

size_t tls_cbc_padded_len(size_t len)
{
    return len + BLOCK - len % BLOCK;
}

void tls_cbc_add_padding(const struct tls_cbc *t, uint8_t *rec, size_t len)
{
    size_t pad = BLOCK - len % BLOCK;
    uint8_t n = (uint8_t)(pad - 1);

    memset(rec + len, t->version == SSL3 ? 0 : n, pad);
    rec[len + pad - 1] = n;
}

/*
 * The decoy is made once per context and not once per record: a system call
 * would cost more than a short record. One value does as well, since nobody
 * ever sees it, and a record passes only if its HMAC equals it, which no
 * attempt makes more likely.
 */
static int make_decoy(struct tls_cbc *t)
{
    t->has_decoy = getentropy(t->decoy, sizeof(t->decoy)) == 0;
    return t->has_decoy;
}

int tls_cbc_begin(struct tls_cbc *t, size_t len)
{
    int iv = explicit_iv(t->version);

    t->has_mac = 0;
    if (iv < 0 || t->mac_size > TLS_CBC_MAX_MAC || len % BLOCK != 0 ||
        len < (size_t)iv + t->mac_size + 1)
        return 0;
    return t->mac_size == 0 || t->has_decoy || make_decoy(t);
}

/* The end of a record: the longest MAC, then MAX_PAD bytes of padding and
 * their length. Bytes before the record's begin are zero. */
#define TAIL (TLS_CBC_MAX_MAC + MAX_PAD + 1)
#define SLACK 8 /* move_to_front() works in steps of this size */

/* All ones if the length byte at p[MAX_PAD], n, and the n in front of it are
 * equal. */
static uint32_t padding_equals(const uint8_t *p, uint32_t n)
{
    uint32_t diff = 0, i;

    for (i = 0; i <= MAX_PAD; i++)
        diff |= (p[i] ^ n) & (0 - ((MAX_PAD - 1 - i - n) >> 31));
    return mask_lt(diff, 1);
}

/* Moves the MAC, which starts at w[by], to w[0]. by is secret, 0..255. */
static void move_to_front(uint8_t *w, uint32_t by, size_t mac_size)
{
    size_t i;
    int k;

    for (k = 7; k >= 0; k--) {
        size_t step = (size_t)1 << k;
        uint64_t mask = opaque(0 - (by >> k & 1));
        uint64_t here, there;

        mask |= mask << 32;
        /* No later byte matters: the steps left add up to step - 1. */
        for (i = 0; i < mac_size + step - 1; i += SLACK) {
            memcpy(&here, w + i, SLACK);
            memcpy(&there, w + i + step, SLACK);
            here ^= mask & (here ^ there);
            memcpy(w + i, &here, SLACK);
        }
    }
}

int tls_cbc_remove(struct tls_cbc *t, uint8_t *rec, size_t *len)
{
    uint8_t tail[TAIL + SLACK];
    size_t mac_size = t->mac_size, i;
    size_t body = *len - (size_t)explicit_iv(t->version);
    size_t have = body < TAIL ? body : TAIL;
    /* The longest padding that leaves room for the MAC. */
    size_t room = body - mac_size - 1;
    uint32_t n, good;

    memset(tail, 0, sizeof(tail));
    memcpy(tail + TAIL - have, rec + *len - have, have);
    n = tail[TAIL - 1];

    /* SSL 3.0 leaves the bytes of the padding open, but not its length. */
    good = t->version == SSL3 ? mask_lt(n, BLOCK)
                              : padding_equals(tail + TLS_CBC_MAX_MAC, n);
    good &= mask_lt(n, (uint32_t)(room < MAX_PAD ? room : MAX_PAD) + 1);

    *len = body - mac_size - (good & (n + 1));
    if (mac_size) {
        uint8_t *w = tail + TLS_CBC_MAX_MAC - mac_size;

        move_to_front(w, MAX_PAD - n, mac_size);
        for (i = 0; i < mac_size; i++)
            t->mac[i] = pick(good, w[i], t->decoy[i]);
        t->has_mac = 1;
        bc_wipe(tail, sizeof(tail));
        return 1;
    }
    bc_wipe(tail, sizeof(tail));
    if (good)
        return 1;
    bc_wipe(rec, body + (size_t)explicit_iv(t->version));
    return 0;
}
