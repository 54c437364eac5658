/*
 * ChaCha20-Poly1305 with AVX2: ChaCha20 in vectors of 32 bytes, eight blocks
 * at a time.
 */
#define VL 32
#define UPRIGHT_SETS 1
#define FLAT_SETS 2
#define ONE_PASS
#include "words.h"
#include "../chacha20_block.h"
#include "../poly1305_64.h"
#include "chacha20_template.h"

const struct bc_chapoly_ops bc_chapoly_ops_avx2 = {
    .name = "avx2",
    .needs = BC_CPU_AVX2 | BC_CPU_BMI2,
    .poly1305 = &bc_poly1305_ops_avx2,
    .several = SEVERAL,
    .many = UPRIGHT_BLOCKS,
    .chacha20 = chacha20,
    .pass = pass,
    .use_stream = use_stream,
    .beside = beside,
};
