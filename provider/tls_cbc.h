/*
 * TLS records under CBC: the padding that encryption adds, and its removal
 * together with the MAC after decryption.
 */
#ifndef PROV_TLS_CBC_H
#define PROV_TLS_CBC_H

#include <stddef.h>
#include <stdint.h>

/* No TLS suite has a longer MAC (libcrypto's EVP_MAX_MD_SIZE). */
#define TLS_CBC_MAX_MAC 64

/* Part of a CBC context; all zeros is a context without record mode. Holds no
 * pointer, so that copying its bytes duplicates it with the MAC in it. */
struct tls_cbc {
    unsigned int version; /* as on the wire; 0: no record mode */
    size_t mac_size;      /* bytes to cut off after decryption; 0 when the MAC
                           * covers the ciphertext (RFC 7366) */
    int has_mac;          /* mac is that of the last record decrypted */
    int has_decoy;
    uint8_t mac[TLS_CBC_MAX_MAC];
    uint8_t
        decoy[TLS_CBC_MAX_MAC]; /* stands in for the MAC after bad padding */
};

/* The length of a record of len bytes once padded to whole blocks. */
size_t tls_cbc_padded_len(size_t len);

/* Writes the padding of a record of len bytes behind it. */
void tls_cbc_add_padding(const struct tls_cbc *t, uint8_t *rec, size_t len);

/*
 * Before a record of len bytes of ciphertext is decrypted: 0 if it must not be,
 * for it is not made of whole blocks or is shorter than what its version and
 * its MAC take away (or the system has no random bytes). Looks at public values
 * only, and forgets the last record's MAC.
 */
int tls_cbc_begin(struct tls_cbc *t, size_t len);

/*
 * Takes padding and MAC off the decrypted record of *len bytes, for which
 * tls_cbc_begin() gave 1, sets *len to what is left (without the explicit IV,
 * although the data still stands behind it) and keeps the MAC in t. Constant
 * time in the record's bytes.
 *
 * With a MAC, bad padding gives 1 and a MAC that does not fit: the caller
 * finds one kind of bad record and cannot tell which. Without, the padding is
 * authentic already; bad padding gives 0 and a wiped record.
 */
int tls_cbc_remove(struct tls_cbc *t, uint8_t *rec, size_t *len);

#endif
