/*
 * AES-CBC and AES-GCM in 32-byte vectors: AVX2, VAES and VPCLMULQDQ, nothing of
 * AVX-512.
 */
#define VL 32

#include "vec.h"
#include "aes_key.h"
#include "cbc_template.h"
#include "gcm_template.h"

#define NEEDS                                                                  \
    (BC_CPU_AESNI | BC_CPU_PCLMUL | BC_CPU_AVX2 | BC_CPU_VAES | BC_CPU_VPCLMUL)

const struct bc_cbc_ops bc_cbc_ops_vaes256 = {
    .name = "vaes256",
    .needs = NEEDS,
    .set_key = cbc_set_key,
    .add_dec = cbc_add_dec,
    .encrypt = cbc_encrypt,
    .decrypt = cbc_decrypt,
};

const struct bc_gcm_ops bc_gcm_ops_vaes256 = {
    .name = "vaes256",
    .needs = NEEDS,
    .set_key = gcm_set_key,
    .block = gcm_block,
    .ghash = gcm_ghash,
    .encrypt = gcm_encrypt,
    .decrypt = gcm_decrypt,
    .tag = gcm_tag,
};
