/*
 * What every p_* test shares: the module under test and the default provider,
 * each alone in a library context of its own, and the few EVP sequences that
 * most tests repeat. The tests see the module only through public EVP.
 *
 * Environment:
 *   BC_MODULE_DIR  folder of bulkcipher.so, instead of the build tree's
 *   BC_PROVIDER    provider under test, instead of bulkcipher; `default` runs
 *                  the tests against the default provider itself, which tells
 *                  a wrong test from a wrong module
 *   BC_QUICK=1     thinner sweeps
 */
#ifndef BC_TEST_EVP_H
#define BC_TEST_EVP_H

#include "check.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>

enum mode { CBC, GCM, CHAPOLY };

struct algorithm {
    const char *name;
    enum mode mode;
    size_t key_len;
    size_t iv_len; /* the usual one */
};

#define CIPHERS 7
extern const struct algorithm algorithms[CIPHERS];

struct side {
    const char *provider_name;
    OSSL_LIB_CTX *libctx;
    OSSL_PROVIDER *provider;
    EVP_CIPHER *cipher[CIPHERS];
    EVP_MAC *poly1305;
};

extern struct side ours, theirs; /* under test, and the default provider */
extern int strict; /* 0 when the default provider stands in for the module */
extern int quick;  /* BC_QUICK */

/* Opens both sides and fetches everything; exits when that fails. */
void evp_open(void);
void evp_close(void);
const char *evp_module_dir(void);

/* One library context with one provider in it; 0 when it does not load. */
int side_open(struct side *s, const char *provider_name);
void side_close(struct side *s);

/* ---- Queued errors -------------------------------------------------------
 */

/* Empties the queue into text such as "P102" or "E130 P105": P is
 * ERR_LIB_PROV, E is ERR_LIB_EVP, C is ERR_LIB_CRYPTO; "" when it is empty.
 * From OpenSSL 3.2 on the latter are left out: libcrypto's own parameter
 * functions queue them there (at times with success), and a module that does
 * without libcrypto has none. */
struct errors {
    char text[120];
};
struct errors errors_take(void);

/* Both sides queued the same. */
#define CHECK_ERRORS(got, want) check_errors((got), (want), __FILE__, __LINE__)
int check_errors(struct errors got, struct errors want, const char *file,
                 int line);
/* The queue holds exactly this text now. */
#define CHECK_QUEUE(want) check_queue((want), __FILE__, __LINE__)
int check_queue(const char *want, const char *file, int line);

/* ---- Whole messages ------------------------------------------------------
 */

struct message {
    int alg; /* index into algorithms[] */
    int enc;
    int nopad; /* CBC only */
    const uint8_t *key, *iv, *aad, *in;
    size_t iv_len, aad_len, len;
    uint8_t *tag; /* written by encryption, read by decryption */
    size_t tag_len;
};

/* init, AAD, data, final and tag on ctx; bytes written, or -1 if refused. */
long message_run(const struct side *s, EVP_CIPHER_CTX *ctx,
                 const struct message *m, uint8_t *out);

/* The init of message_run alone: everything before the first AAD byte. */
int message_init(const struct side *s, EVP_CIPHER_CTX *ctx,
                 const struct message *m);

/* Everything after the last update; returns what final did. */
int message_final(EVP_CIPHER_CTX *ctx, const struct message *m, uint8_t *out,
                  int *outl);

/* One POLY1305 in one piece; 0 when anything was refused. */
int poly1305_run(const struct side *s, const uint8_t key[32], const uint8_t *in,
                 size_t len, uint8_t tag[16]);

/* A message of random key, IV, AAD and input, all freshly made, with the room
 * for the output of both sides. CBC decryption gets a valid ciphertext when
 * valid != 0, and AEAD decryption a valid tag. */
struct fixture {
    struct message m;
    uint8_t key[32], iv[128], tag[16];
    uint8_t *aad, *in, *out;
    size_t out_size;
};
void fixture_make(struct fixture *f, int alg, int enc, size_t aad_len,
                  size_t len);
void fixture_free(struct fixture *f);

#endif
