/*
 * AES-CBC and AES-GCM in 64-byte vectors: AVX-512 F, BW, VL and DQ with VAES
 * and VPCLMULQDQ.
 */
#define VL 64

#include "vec.h"
#include "aes_key.h"
#include "cbc_template.h"
#include "gcm_template.h"

#define NEEDS                                                                  \
    (BC_CPU_AESNI | BC_CPU_PCLMUL | BC_CPU_AVX2 | BC_CPU_VAES |                \
     BC_CPU_VPCLMUL | BC_CPU_AVX512F | BC_CPU_AVX512BW | BC_CPU_AVX512VL |     \
     BC_CPU_AVX512DQ | BC_CPU_WIDE512)

const struct bc_cbc_ops bc_cbc_ops_vaes512 = {
    .name = "vaes512",
    .needs = NEEDS,
    .set_key = cbc_set_key,
    .add_dec = cbc_add_dec,
    .encrypt = cbc_encrypt,
    .decrypt = cbc_decrypt,
};

const struct bc_gcm_ops bc_gcm_ops_vaes512 = {
    .name = "vaes512",
    .needs = NEEDS,
    .set_key = gcm_set_key,
    .block = gcm_block,
    .ghash = gcm_ghash,
    .encrypt = gcm_encrypt,
    .decrypt = gcm_decrypt,
    .tag = gcm_tag,
};
