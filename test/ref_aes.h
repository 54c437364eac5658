/*
 * AES and GCM once more, as the standards' text reads and independent of the
 * kernels: what every ops table, the portable one included, is tested against.
 * Slow, with tables, not in constant time.
 */
#ifndef BC_TEST_REF_AES_H
#define BC_TEST_REF_AES_H

#include <stddef.h>
#include <stdint.h>

struct ref_aes {
    uint8_t sbox[256], inv_sbox[256];
    uint8_t mul[15][256]; /* products in GF(2^8) */
    uint8_t rk[15][16];
    int rounds;
};

void ref_aes_key(struct ref_aes *a, const uint8_t *key, size_t keylen);
void ref_aes_encrypt(const struct ref_aes *a, uint8_t out[16],
                     const uint8_t in[16]);
void ref_aes_decrypt(const struct ref_aes *a, uint8_t out[16],
                     const uint8_t in[16]);

/* x = x y and x = x^-1 in the field of SP 800-38D, 6.3. */
void ref_gf_mul(uint8_t x[16], const uint8_t y[16]);
void ref_gf_invert(uint8_t x[16]);

struct ref_gcm {
    struct ref_aes aes;
    uint8_t h[16];
};

void ref_gcm_key(struct ref_gcm *g, const uint8_t *key, size_t keylen);
/* Goes on with acc over the data, padded with zeros to whole blocks. */
void ref_ghash(const struct ref_gcm *g, uint8_t acc[16], const uint8_t *data,
               size_t len);
/* acc = (acc ^ lengths in bits) H */
void ref_ghash_lengths(const struct ref_gcm *g, uint8_t acc[16], uint64_t first,
                       uint64_t second);
void ref_gcm_j0(const struct ref_gcm *g, uint8_t j0[16], const uint8_t *iv,
                size_t ivlen);
/* A 16-byte IV that leads to this j0. */
void ref_gcm_iv_for_j0(const struct ref_gcm *g, uint8_t iv[16],
                       const uint8_t j0[16]);
/* Increments the low 32 bits. */
void ref_gcm_inc(uint8_t ctr[16]);
/* CTR from the counter block ctr, which is left alone. */
void ref_gcm_ctr(const struct ref_gcm *g, uint8_t *out, const uint8_t *in,
                 size_t len, const uint8_t ctr[16]);
/* All of GCM encryption. */
void ref_gcm_seal(const struct ref_gcm *g, uint8_t *out, uint8_t tag[16],
                  const uint8_t *iv, size_t ivlen, const uint8_t *aad,
                  size_t aadlen, const uint8_t *in, size_t len);

#endif
