/*
 * Sequences of EVP calls, run on the module and on the default provider side
 * by side: return value, output length, bytes and queued errors must agree at
 * every step. p_errors runs written sequences, p_fuzz random ones; a failing
 * random one is printed in the notation of the written ones.
 *
 * One step is a letter and, for most, a number:
 *   e d      EVP_CipherInit_ex(ctx, cipher, NULL, NULL, 1 or 0)
 *   E D      the same without a cipher: only the direction changes
 *   kN iN bN key N, IV N, or both (N is 0 to 3), direction as it was
 *   xN XN    cipher, key N and IV N in one call, encrypt or decrypt
 *   n        EVP_CipherInit_ex(ctx, NULL, NULL, NULL, NULL, -1)
 *   aN uN    N bytes of AAD or data through EVP_CipherUpdate
 *   oN       N bytes of data, the output one byte after the input
 *   hN cN z  EVP_Cipher with AAD, with data, or as final (all NULL)
 *   f F      EVP_CipherFinal_ex, with an output and without
 *   tN wN TN set a tag of N bytes: right, wrong, NULL
 *   gN       get a tag of N bytes
 *   vN lN    set the IV length, the key length
 *   pN mN    set padding, num
 *   q        look at lengths, padding, num and both IVs
 *   y        go on with a copy of the context
 *
 * A small model of the context knows the calls where the module is stricter
 * than the default provider on purpose, and those that crash the latter: such
 * a call is made on the module alone, which has to refuse it.
 */
#ifndef BC_TEST_SCRIPT_H
#define BC_TEST_SCRIPT_H

#include "evp.h"

#define SCRIPT_MAX 900 /* the most bytes in one step */

struct step {
    char what;
    int n;
};

struct step_result {
    int skipped; /* not run: default would crash or answer at random */
    int alone;   /* run on the module alone */
    int ret, outl;
    struct errors errors;
    uint8_t out[SCRIPT_MAX + 64];
};

struct session;

struct session *session_new(int alg);
void session_free(struct session *s);

/* Runs one step on both sides; 0 when a check failed. The result is the
 * module's. */
int session_step(struct session *s, struct step step,
                 struct step_result *result);

/* Does the model ask for a new key and IV before anything else makes sense on
 * both sides (after a failed final, say)? */
int session_stale(const struct session *s);

/* Reads the step at *text and moves on; 0 at the end. */
int step_parse(const char **text, struct step *step);
/* Writes it; returns the number of characters. */
int step_print(char *text, struct step step);

#endif
