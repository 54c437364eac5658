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

enum evp_family { EVP_CBC, EVP_GCM, EVP_CHAPOLY, EVP_POLY1305 };

struct evp_algorithm {
    const char *name;
    enum evp_family family;
    size_t keylen;
};

extern const struct evp_algorithm evp_algorithms[];
extern const size_t evp_algorithms_count;

/* The length nearest below `len` that the algorithm's messages may have. */
size_t evp_fitting(const struct evp_algorithm *a, size_t len);
enum bench_job evp_limit_job(const struct evp_algorithm *a, int encrypt);

/* A library context of its own with one provider in it and nothing else. */
struct evp_side {
    const char *name;
    OSSL_LIB_CTX *libctx;
    OSSL_PROVIDER *provider;
};

/* folder: where its module is, NULL for a provider inside libcrypto. */
void evp_side_open(struct evp_side *s, const char *name, const char *folder);
void evp_side_close(struct evp_side *s);
/* The provider's buildinfo, or "". */
const char *evp_side_buildinfo(const struct evp_side *s);

/* What one operation consists of, beside giving a nonce. Poly1305 always takes
 * a key, for it is a one-time key. */
enum {
    EVP_NEW = 1,     /* makes the context and frees it */
    EVP_CIPHER_ = 2, /* passes the cipher as well, on a used context */
    EVP_KEY = 4,     /* passes a key, another than last time */
    EVP_DATA = 8,    /* the message, its end, and its tag */
    EVP_PIECES = 16, /* the message in pieces of 1 KiB */
    EVP_AAD = 32,    /* 13 bytes of AAD, as a TLS record has */
};

struct evp_job {
    const struct evp_algorithm *algorithm;
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

/* in: len bytes for encryption, for decryption with EVP_KEY two ciphertexts of
 * len bytes one after the other, else one. `model` gives keys and tags; NULL:
 * makes them up. */
void evp_job_open(struct evp_job *j, const struct evp_side *s,
                  const struct evp_algorithm *a, int encrypt, unsigned parts,
                  size_t len, uint8_t *out, const uint8_t *in);
void evp_job_close(struct evp_job *j);
/* A bench_contender's run; arg is the job. */
void evp_job_run(void *arg, size_t reps);

#endif
