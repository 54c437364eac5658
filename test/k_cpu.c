/*
 * CPU bits and the choice of kernels: made-up processors, every combination of
 * bits, and the names an administrator may write.
 */
#include <string.h>

#include "check.h"
#include "cpu.h"
#include "kernels.h"

/* ---- Made-up processors -------------------------------------------------- */

/* Leaf 1 ECX, leaf 7 EBX and ECX, by their bits in Intel's manual. */
#define L1_PCLMUL (1u << 1)
#define L1_SSSE3 (1u << 9)
#define L1_SSE41 (1u << 19)
#define L1_AES (1u << 25)
#define L1_OSXSAVE (1u << 27)
#define L1_AVX (1u << 28)
#define L1_SSE (L1_SSSE3 | L1_SSE41)
#define L1_ALL (L1_SSE | L1_PCLMUL | L1_AES | L1_OSXSAVE | L1_AVX)

#define L7B_AVX2 (1u << 5)
#define L7B_BMI2 (1u << 8)
#define L7B_F (1u << 16)
#define L7B_DQ (1u << 17)
#define L7B_ADX (1u << 19)
#define L7B_IFMA (1u << 21)
#define L7B_BW (1u << 30)
#define L7B_VL (1u << 31)
#define L7B_HASWELL (L7B_AVX2 | L7B_BMI2)
#define L7B_SKYLAKE_X (L7B_HASWELL | L7B_ADX | L7B_F | L7B_DQ | L7B_BW | L7B_VL)
#define L7B_ALL (L7B_SKYLAKE_X | L7B_IFMA)

#define L7C_VAES (1u << 9)
#define L7C_VPCLMUL (1u << 10)
#define L7C_ALL (L7C_VAES | L7C_VPCLMUL)

#define X_SSE 0x03u
#define X_AVX 0x07u
#define X_ZMM 0xe7u

#define SSE_BITS (BC_CPU_SSSE3 | BC_CPU_SSE41)
#define AES_BITS (SSE_BITS | BC_CPU_AESNI | BC_CPU_PCLMUL)
#define AVX2_BITS (AES_BITS | BC_CPU_AVX | BC_CPU_AVX2 | BC_CPU_BMI2)
#define VAES_BITS (AVX2_BITS | BC_CPU_ADX | BC_CPU_VAES | BC_CPU_VPCLMUL)
#define AVX512_BITS                                                            \
    (BC_CPU_AVX512F | BC_CPU_AVX512BW | BC_CPU_AVX512VL | BC_CPU_AVX512DQ)
#define ALL_BITS (VAES_BITS | AVX512_BITS | BC_CPU_AVX512IFMA | BC_CPU_WIDE512)

/* Leaf 1 EAX: family 6 and the model. */
#define INTEL_MODEL(m) (6u << 8 | ((m)&0xfu) << 4 | ((m)&0xf0u) << 12)

/* clang-format off */
static const struct {
    const char *name;
    struct bc_cpuid id; /* leaf1_eax, leaf1_ecx, leaf7_ebx, leaf7_ecx, intel, xcr0 */
    uint32_t want;
} processors[] = {
    {"nothing but the baseline", {0, 0, 0, 0, 1, 0}, 0},
    {"SSSE3 alone (Merom)", {0, L1_SSSE3, 0, 0, 1, 0}, BC_CPU_SSSE3},
    {"AES-NI without AVX (Westmere)",
     {0, L1_SSE | L1_AES | L1_PCLMUL, 0, 0, 1, 0}, AES_BITS},
    {"AES-NI, XSAVE and no AVX (Goldmont)",
     {INTEL_MODEL(0x5c), L1_SSE | L1_AES | L1_PCLMUL | L1_OSXSAVE, 0, 0, 1,
      X_SSE}, AES_BITS},
    {"AVX2 (Haswell)", {INTEL_MODEL(0x3c), L1_ALL, L7B_HASWELL, 0, 1, X_AVX},
     AVX2_BITS},
    {"AVX2 without AES-NI (masked)",
     {0, L1_ALL & ~(L1_AES | L1_PCLMUL), L7B_HASWELL, 0, 1, X_AVX},
     AVX2_BITS & ~(BC_CPU_AESNI | BC_CPU_PCLMUL)},
    {"VAES without AVX-512 (Zen 3, Alder Lake)",
     {0, L1_ALL, L7B_HASWELL | L7B_ADX, L7C_ALL, 0, X_AVX}, VAES_BITS},
    {"AVX512F without BW and VL (Knights Landing)",
     {INTEL_MODEL(0x57), L1_ALL, L7B_HASWELL | L7B_ADX | L7B_F, 0, 1, X_ZMM},
     AVX2_BITS | BC_CPU_ADX | BC_CPU_AVX512F | BC_CPU_WIDE512},
    {"AVX-512 that slows the core (Skylake-X)",
     {INTEL_MODEL(0x55), L1_ALL, L7B_SKYLAKE_X, 0, 1, X_ZMM},
     AVX2_BITS | BC_CPU_ADX | AVX512_BITS},
    {"the same model number, another vendor",
     {INTEL_MODEL(0x55), L1_ALL, L7B_SKYLAKE_X, 0, 0, X_ZMM},
     AVX2_BITS | BC_CPU_ADX | AVX512_BITS | BC_CPU_WIDE512},
    {"everything (Ice Lake, Zen 4)",
     {INTEL_MODEL(0x6a), L1_ALL, L7B_ALL, L7C_ALL, 1, X_ZMM}, ALL_BITS},
    {"everything, upper halves of ZMM0-15 off",
     {0, L1_ALL, L7B_ALL, L7C_ALL, 1, X_ZMM & ~0x40u}, VAES_BITS},
    {"everything, ZMM16-31 off",
     {0, L1_ALL, L7B_ALL, L7C_ALL, 1, X_ZMM & ~0x80u}, VAES_BITS},
    {"everything, mask registers off",
     {0, L1_ALL, L7B_ALL, L7C_ALL, 1, X_ZMM & ~0x20u}, VAES_BITS},
    {"everything, XCR0 without ZMM",
     {0, L1_ALL, L7B_ALL, L7C_ALL, 1, X_AVX}, VAES_BITS},
    {"everything, XCR0 without YMM",
     {0, L1_ALL, L7B_ALL, L7C_ALL, 1, X_SSE},
     AES_BITS | BC_CPU_BMI2 | BC_CPU_ADX},
    {"everything, XCR0 with ZMM and without YMM",
     {0, L1_ALL, L7B_ALL, L7C_ALL, 1, X_ZMM & ~0x04u},
     AES_BITS | BC_CPU_BMI2 | BC_CPU_ADX},
    {"everything, no OSXSAVE (so no XCR0)",
     {0, L1_ALL & ~L1_OSXSAVE, L7B_ALL, L7C_ALL, 1, 0},
     AES_BITS | BC_CPU_BMI2 | BC_CPU_ADX},
    {"everything, the hypervisor hides AVX",
     {0, L1_ALL & ~L1_AVX, L7B_ALL, L7C_ALL, 1, X_ZMM},
     AES_BITS | BC_CPU_BMI2 | BC_CPU_ADX},
    {"everything, the hypervisor hides AVX512F",
     {0, L1_ALL, L7B_ALL & ~L7B_F, L7C_ALL, 1, X_ZMM}, VAES_BITS},
    {"everything, the hypervisor hides AVX2",
     {0, L1_ALL, L7B_ALL & ~(L7B_AVX2 | L7B_F), L7C_ALL, 1, X_ZMM},
     VAES_BITS & ~BC_CPU_AVX2},
    {"everything, the hypervisor hides VL",
     {0, L1_ALL, L7B_ALL & ~L7B_VL, L7C_ALL, 1, X_ZMM},
     ALL_BITS & ~BC_CPU_AVX512VL},
    {"everything but leaf 7", {0, L1_ALL, 0, 0, 1, X_ZMM},
     AES_BITS | BC_CPU_AVX},
    {"every bit of every register",
     {0, 0xffffffff, 0xffffffff, 0xffffffff, 0, UINT64_MAX}, ALL_BITS},
};
/* clang-format on */

static void test_processors(void)
{
    size_t i;

    for (i = 0; i < sizeof(processors) / sizeof(processors[0]); i++) {
        check_case("%s", processors[i].name);
        CHECK_INT(bc_cpu_bits(&processors[i].id), processors[i].want);
    }
}

/* ---- The choice ---------------------------------------------------------- */

/* The list ends with a table that needs nothing, and the one that was chosen
 * runs with these bits, and none better does. */
#define CHECK_CHOICE(list, chosen, bits)                                       \
    do {                                                                       \
        size_t i_ = 0;                                                         \
        while ((list)[i_] && (list)[i_] != (chosen)) {                         \
            CHECK(((list)[i_]->needs & ~(bits)) != 0);                         \
            i_++;                                                              \
        }                                                                      \
        if (CHECK((list)[i_] != NULL))                                         \
            CHECK(((list)[i_]->needs & ~(bits)) == 0);                         \
    } while (0)

static void test_choice(void)
{
    uint32_t bits;

    for (bits = 0; bits < 1u << 16; bits++) {
        struct bc_kernels k = bc_select(bits);

        check_case("bits %#x", (unsigned)bits);
        CHECK_CHOICE(bc_cbc_list, k.cbc, bits);
        CHECK_CHOICE(bc_gcm_list, k.gcm, bits);
        CHECK_CHOICE(bc_chapoly_list, k.chapoly, bits);
        CHECK_CHOICE(bc_poly1305_list, k.poly1305, bits);
    }
}

/* What a table needs, the bits of some level must grant; else no
 * configuration could ever name the level that brings it. */
static void test_needs(void)
{
    int known;
    uint32_t all = bc_isa_mask("ifma", &known);
    size_t i;

    CHECK(known);
    check_case("needs beyond every level");
    for (i = 0; bc_cbc_list[i]; i++)
        CHECK((bc_cbc_list[i]->needs & ~all) == 0);
    for (i = 0; bc_gcm_list[i]; i++)
        CHECK((bc_gcm_list[i]->needs & ~all) == 0);
    for (i = 0; bc_chapoly_list[i]; i++)
        CHECK((bc_chapoly_list[i]->needs & ~all) == 0);
    for (i = 0; bc_poly1305_list[i]; i++)
        CHECK((bc_poly1305_list[i]->needs & ~all) == 0);
}

/* ---- The names ----------------------------------------------------------- */

/* Each level of the list is known and grants what the one before it does. */
static void test_names(void)
{
    const char *names = bc_isa_names();
    uint32_t before = 0;
    size_t count = 0;

    while (*names) {
        size_t len = strcspn(names, " ");
        char name[32] = "";
        uint32_t mask;
        int known = -1;

        if (!CHECK(len > 0 && len < sizeof(name)))
            return;
        memcpy(name, names, len);
        names += len + (names[len] == ' ');
        mask = bc_isa_mask(name, &known);
        check_case("isa = %s", name);
        CHECK_INT(known, 1);
        CHECK((before & ~mask) == 0);
        CHECK(count == 0 ? mask == 0 : mask != before);
        before = mask;
        count++;
    }
    CHECK(count >= 2);
    CHECK_INT(before, 0xffff);
}

static void test_bad_names(void)
{
    static const char *const bad[] = {
        "",        " ",       "C",       "c ",      " c",     "cc",
        "avx",     "AVX2",    "avx-512", "avx5120", "avx51",  "native",
        "aesni\n", "c ssse3", "vaes",    "none",    "avx2,c", "0",
    };
    size_t i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int known = -1;

        check_case("isa = \"%s\"", bad[i]);
        CHECK_INT(bc_isa_mask(bad[i], &known), 0);
        CHECK_INT(known, 0);
    }
}

/* This processor: asked twice it says the same, and what it offers runs. */
static void test_this_one(void)
{
    struct bc_kernels k = bc_select(bc_cpu());

    check_case("this processor");
    CHECK_INT(bc_cpu(), bc_cpu());
    printf("bits %#x: cbc %s, gcm %s, chapoly %s, poly1305 %s\n",
           (unsigned)bc_cpu(), k.cbc->name, k.gcm->name, k.chapoly->name,
           k.poly1305->name);
    k = bc_select(0);
    CHECK(strcmp(k.cbc->name, "c") == 0);
    CHECK(strcmp(k.gcm->name, "c") == 0);
    CHECK(strcmp(k.chapoly->name, "c") == 0);
    CHECK(strcmp(k.poly1305->name, "c") == 0);
}

int main(void)
{
    test_processors();
    test_choice();
    test_needs();
    test_names();
    test_bad_names();
    test_this_one();
    return check_done();
}
