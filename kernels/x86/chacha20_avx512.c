/*
 * ChaCha20-Poly1305 with AVX-512: ChaCha20 in vectors of 64 bytes, 32 blocks
 * at a time. Needs the foundation (F) alone, so that processors with no more
 * than that, such as Knights Landing, run it too.
 *
 * Two passes, ChaCha20 and then Poly1305 over what is in the first-level
 * cache: both want all of the vector units, and 32 blocks of ChaCha20 leave
 * neither a register nor a cycle for anything in between.
 */
#define VL 64
#define UPRIGHT_SETS 2
#define FLAT_SETS 4
#include "words.h"
#include "../chacha20_block.h"
#include "../poly1305_64.h"
#include "chacha20_template.h"

const struct bc_chapoly_ops bc_chapoly_ops_avx512 = {
    .name = "avx512",
    .needs = BC_CPU_AVX512F | BC_CPU_WIDE512,
    .poly1305 = &bc_poly1305_ops_avx512,
    .several = SEVERAL,
    .many = UPRIGHT_BLOCKS,
    .chacha20 = chacha20,
    .pass = pass,
    .use_stream = use_stream,
};

/* The same with the better Poly1305. */
const struct bc_chapoly_ops bc_chapoly_ops_ifma = {
    .name = "ifma",
    .needs = BC_CPU_AVX512F | BC_CPU_AVX512IFMA | BC_CPU_WIDE512 | BC_CPU_BMI2,
    .poly1305 = &bc_poly1305_ops_ifma,
    .several = SEVERAL,
    .many = UPRIGHT_BLOCKS,
    .chacha20 = chacha20,
    .pass = pass,
    .use_stream = use_stream,
};
