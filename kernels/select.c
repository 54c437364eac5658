/*
 * The choice: one list per family, best first. Each table names the CPU bits
 * it needs, and the first whose needs are met wins; the portable one needs
 * none and stands last. Choosing is a pure function of the bits.
 */
#include "internal.h"

/* One table a line: clang-format would fill the lines. */
/* clang-format off */
const struct bc_cbc_ops *const bc_cbc_list[] = {
#if defined(BC_X86_64)
    &bc_cbc_ops_vaes512,
    &bc_cbc_ops_vaes256,
    &bc_cbc_ops_aesni,
#endif
    &bc_cbc_ops_c,
    NULL,
};

const struct bc_gcm_ops *const bc_gcm_list[] = {
#if defined(BC_X86_64)
    &bc_gcm_ops_vaes512,
    &bc_gcm_ops_vaes256,
    &bc_gcm_ops_aesni,
#endif
    &bc_gcm_ops_c,
    NULL,
};

const struct bc_chapoly_ops *const bc_chapoly_list[] = {
#if defined(BC_X86_64)
    &bc_chapoly_ops_ifma,
    &bc_chapoly_ops_avx512,
    &bc_chapoly_ops_avx2,
    &bc_chapoly_ops_ssse3,
#endif
    &bc_chapoly_ops_c,
    NULL,
};

const struct bc_poly1305_ops *const bc_poly1305_list[] = {
#if defined(BC_X86_64)
    &bc_poly1305_ops_ifma,
    &bc_poly1305_ops_avx512,
    &bc_poly1305_ops_avx2,
#endif
    &bc_poly1305_ops_c,
    NULL,
};
/* clang-format on */

#define FIRST_THAT_RUNS(list, bits, chosen)                                    \
    do {                                                                       \
        size_t i_ = 0;                                                         \
        while ((list)[i_]->needs & ~(bits))                                    \
            i_++;                                                              \
        (chosen) = (list)[i_];                                                 \
    } while (0)

struct bc_kernels bc_select(uint32_t bits)
{
    struct bc_kernels k;

    FIRST_THAT_RUNS(bc_cbc_list, bits, k.cbc);
    FIRST_THAT_RUNS(bc_gcm_list, bits, k.gcm);
    FIRST_THAT_RUNS(bc_chapoly_list, bits, k.chapoly);
    FIRST_THAT_RUNS(bc_poly1305_list, bits, k.poly1305);
    return k;
}

/*
 * The levels an administrator may name. Each adds to the one it stands on;
 * WIDE512 is a judgement about speed, so naming a 512-bit level overrules it
 * only if bc_cpu() agrees: a cap takes away and never adds.
 */
#define ISA_C 0u
#define ISA_SSSE3 (ISA_C | BC_CPU_SSSE3 | BC_CPU_SSE41)
#define ISA_AESNI (ISA_SSSE3 | BC_CPU_AESNI | BC_CPU_PCLMUL)
#define ISA_AVX2                                                               \
    (ISA_AESNI | BC_CPU_AVX | BC_CPU_AVX2 | BC_CPU_BMI2 | BC_CPU_ADX)
#define ISA_VAES256 (ISA_AVX2 | BC_CPU_VAES | BC_CPU_VPCLMUL)
#define ISA_AVX512                                                             \
    (ISA_VAES256 | BC_CPU_AVX512F | BC_CPU_AVX512BW | BC_CPU_AVX512VL |        \
     BC_CPU_AVX512DQ | BC_CPU_WIDE512)
#define ISA_IFMA (ISA_AVX512 | BC_CPU_AVX512IFMA)

static const struct {
    const char *name;
    uint32_t mask;
} isa_levels[] = {
    {"c", ISA_C},       {"ssse3", ISA_SSSE3},     {"aesni", ISA_AESNI},
    {"avx2", ISA_AVX2}, {"vaes256", ISA_VAES256}, {"avx512", ISA_AVX512},
    {"ifma", ISA_IFMA},
};

const char *bc_isa_names(void)
{
    return "c ssse3 aesni avx2 vaes256 avx512 ifma";
}

uint32_t bc_isa_mask(const char *name, int *known)
{
    size_t i;

    for (i = 0; i < sizeof(isa_levels) / sizeof(isa_levels[0]); i++) {
        if (strcmp(isa_levels[i].name, name) == 0) {
            *known = 1;
            return isa_levels[i].mask;
        }
    }
    *known = 0;
    return 0;
}
