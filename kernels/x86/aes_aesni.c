/*
 * AES-CBC and AES-GCM in 16-byte vectors: AES-NI, PCLMULQDQ, SSE4.1, nothing of
 * AVX.
 */
#define VL 16

#include "vec.h"
#include "aes_key.h"
#include "cbc_template.h"
#include "gcm_template.h"

#define NEEDS (BC_CPU_SSSE3 | BC_CPU_SSE41 | BC_CPU_AESNI | BC_CPU_PCLMUL)

const struct bc_cbc_ops bc_cbc_ops_aesni = {
    .name = "aesni",
    .needs = NEEDS,
    .set_key = cbc_set_key,
    .add_dec = cbc_add_dec,
    .encrypt = cbc_encrypt,
    .decrypt = cbc_decrypt,
};

const struct bc_gcm_ops bc_gcm_ops_aesni = {
    .name = "aesni",
    .needs = NEEDS,
    .set_key = gcm_set_key,
    .block = gcm_block,
    .ghash = gcm_ghash,
    .encrypt = gcm_encrypt,
    .decrypt = gcm_decrypt,
    .tag = gcm_tag,
};
