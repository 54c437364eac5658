/*
 * A cipher context at each phase of a message, the same on both sides: what
 * the parameter, error and dup tests compare.
 */
#ifndef BC_TEST_PHASE_H
#define BC_TEST_PHASE_H

#include "evp.h"

enum phase {
    FRESH,  /* cipher set, neither key nor IV */
    KEYED,  /* key, no IV */
    READY,  /* key and IV */
    IN_AAD, /* a few bytes of AAD (CBC: as READY) */
    IN_DATA,
    DONE, /* after final */
    PHASES
};

extern const char *const phase_names[PHASES];

/* The data of a phase: 21 bytes of AAD, 37 of data (CBC: two blocks and a
 * half of plaintext, or a valid ciphertext), read from the fixture. */
void phase_fixture(struct fixture *f, int alg, int enc);

/* Takes a new context to the phase; the caller frees it. */
EVP_CIPHER_CTX *phase_ctx(const struct side *s, const struct fixture *f,
                          enum phase phase);

#endif
