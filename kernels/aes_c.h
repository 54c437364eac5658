/*
 * The portable AES, shared by the portable CBC and GCM tables: four blocks a
 * call, in constant time on any processor.
 */
#ifndef BC_AES_C_H
#define BC_AES_C_H

#include "kernels.h"

/* keylen 16, 24 or 32. One schedule serves both directions. */
void bc_aes_c_set_key(struct bc_aes_key *key, const uint8_t *raw,
                      size_t keylen);

/* 1 <= nblocks <= 4; all of `in` is read before `out` is written. */
void bc_aes_c_encrypt(const struct bc_aes_key *key, uint8_t *out,
                      const uint8_t *in, size_t nblocks);
void bc_aes_c_decrypt(const struct bc_aes_key *key, uint8_t *out,
                      const uint8_t *in, size_t nblocks);

#endif
