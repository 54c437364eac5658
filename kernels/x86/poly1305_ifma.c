/*
 * Poly1305 with AVX-512 IFMA: eight blocks a vector, 32 a carry.
 */
#include "limbs44.h"

#define FROM_NEW 16
#define FROM_READY 8
#define FROM_STEPS 64
#include "poly1305_template.h"

const struct bc_poly1305_ops bc_poly1305_ops_ifma = {
    .name = "ifma",
    .needs = BC_CPU_AVX512F | BC_CPU_AVX512IFMA | BC_CPU_WIDE512 | BC_CPU_BMI2,
    .blocks = blocks,
    .settle = settle,
    .powers = sizeof(struct powers),
};
