/*
 * Poly1305 with AVX2: four blocks a vector, 16 a carry.
 */
#define VL 32
#include "limbs26.h"

#define FROM_NEW 40
#define FROM_READY 8
#define FROM_STEPS 40
#include "poly1305_template.h"

const struct bc_poly1305_ops bc_poly1305_ops_avx2 = {
    .name = "avx2",
    .needs = BC_CPU_AVX2 | BC_CPU_BMI2,
    .blocks = blocks,
    .settle = settle,
    .powers = sizeof(struct powers),
};
