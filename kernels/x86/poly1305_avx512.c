/*
 * Poly1305 with the foundation of AVX-512: eight blocks a vector, 32 a carry.
 */
#define VL 64
#include "limbs26.h"

#define FROM_NEW 28
#define FROM_READY 8
#define FROM_STEPS 64
#include "poly1305_template.h"

const struct bc_poly1305_ops bc_poly1305_ops_avx512 = {
    .name = "avx512",
    .needs = BC_CPU_AVX512F | BC_CPU_WIDE512,
    .blocks = blocks,
    .settle = settle,
    .powers = sizeof(struct powers),
};
