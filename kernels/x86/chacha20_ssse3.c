/*
 * ChaCha20-Poly1305 with SSSE3, whose byte shuffle turns words by 16 and by 8:
 * ChaCha20 in vectors of 16 bytes, four blocks at a time. Poly1305 stays in
 * the integer units.
 */
#define VL 16
#define UPRIGHT_SETS 1
#define FLAT_SETS 2
#define ONE_PASS
#include "words.h"
#include "../chacha20_block.h"
#include "../poly1305_64.h"
#include "chacha20_template.h"

const struct bc_chapoly_ops bc_chapoly_ops_ssse3 = {
    .name = "ssse3",
    .needs = BC_CPU_SSSE3,
    .poly1305 = &bc_poly1305_ops_c,
    .several = SEVERAL,
    .many = UPRIGHT_BLOCKS,
    .chacha20 = chacha20,
    .pass = pass,
    .use_stream = use_stream,
    .beside = beside,
};
