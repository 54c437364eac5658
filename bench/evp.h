/*
 * The jobs of an application, done through EVP by one provider: what bench_evp
 * times against each other and bench_kernels takes as its yardstick.
 */
#ifndef BENCH_EVP_H
#define BENCH_EVP_H

#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>
#include <openssl/provider.h>

#include "limits.h"

enum family { FAMILY_CBC, FAMILY_GCM, FAMILY_CHAPOLY, FAMILY_POLY1305 };

struct algorithm {
    const char *name;
    enum family family;
    size_t keylen;
};

extern const struct algorithm algorithms[];
extern const size_t algorithms_count;

/* len, or for CBC the multiple of 16 below it. */
size_t fitting_length(const struct algorithm *a, size_t len);
/* "encrypt", "decrypt", or "mac" whatever `encrypt` is. */
const char *direction_name(const struct algorithm *a, int encrypt);
/* Which of limits.h's jobs it is. */
enum bench_job limit_job(const struct algorithm *a, int encrypt);

/* A library context of its own with one provider in it and nothing else. */
struct side {
    const char *name;
    OSSL_LIB_CTX *libctx;
    OSSL_PROVIDER *provider;
};

/* folder: where its module is, NULL for a provider inside libcrypto. isa: the
 * level to configure, NULL for none. */
void side_open(struct side *s, const char *name, const char *folder,
               const char *isa);
void side_close(struct side *s);
/* The provider's buildinfo, or "". */
const char *side_buildinfo(const struct side *s);

/* What one operation consists of beside giving a nonce. Poly1305 takes a key in
 * any case: its keys are for one message. */
enum {
    JOB_NEW = 1,     /* makes the context and frees it */
    JOB_CIPHER = 2,  /* passes the cipher as well, on a used context */
    JOB_KEY = 4,     /* passes a key, another than last time */
    JOB_DATA = 8,    /* the message, its end, and its tag */
    JOB_PIECES = 16, /* the message in pieces of 1 KiB */
    JOB_AAD = 32,    /* 13 bytes of AAD, as a TLS record has */
};

struct job {
    const struct algorithm *algorithm;
    int encrypt;
    unsigned parts;
    size_t len;
    uint8_t *out;
    /* Two keys and, for decryption, their messages; used in turn when each
     * operation takes a key. */
    struct {
        uint8_t key[32], iv[16], tag[16];
        const uint8_t *in;
    } set[2];
    unsigned turn;
    uint8_t tag[16]; /* made by the last encryption */
    int failed;      /* some call returned what it should not */
    EVP_CIPHER *cipher;
    EVP_CIPHER_CTX *ctx;
    EVP_MAC *mac;
    EVP_MAC_CTX *mac_ctx;
};

/*
 * in: the plaintext; for decryption the ciphertext, or with JOB_KEY two of
 * them, one after the other, one under each key. The tags to decrypt with are
 * the caller's to fill in.
 */
void job_open(struct job *j, const struct side *s, const struct algorithm *a,
              int encrypt, unsigned parts, size_t len, uint8_t *out,
              const uint8_t *in);
void job_close(struct job *j);
/* A bench_contender's run; arg is the job. */
void job_run(void *arg, size_t reps);

#endif
