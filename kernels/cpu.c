/*
 * Which instructions may be used: CPUID says what the processor has, XCR0 says
 * which registers the operating system saves. Both are needed: a hypervisor or
 * a kernel option can leave AVX-512 in CPUID and its registers switched off.
 */
#include "cpu.h"
#include "kernels.h"

#define XCR0_SSE_AVX 0x06u /* XMM and YMM */
#define XCR0_AVX512 0xe6u  /* those, mask registers, and both ZMM parts */

static int bit(uint32_t reg, int n)
{
    return (int)(reg >> n & 1);
}

/* Intel server and desktop cores of the Skylake generation (Skylake-X, Cascade
 * Lake, Cooper Lake: model 0x55) lower their clock for every 512-bit multiply;
 * programs that share the core then pay for a few microseconds of ours. Later
 * cores do not. Knights Landing and Mill (0x57, 0x85) lack BW and VL anyway. */
static int slowed_by_512(const struct bc_cpuid *id)
{
    uint32_t family = id->leaf1_eax >> 8 & 15;
    uint32_t model = (id->leaf1_eax >> 4 & 15) | (id->leaf1_eax >> 12 & 0xf0);

    return id->intel && family == 6 && model == 0x55;
}

uint32_t bc_cpu_bits(const struct bc_cpuid *id)
{
    int ymm = (id->xcr0 & XCR0_SSE_AVX) == XCR0_SSE_AVX;
    int zmm = (id->xcr0 & XCR0_AVX512) == XCR0_AVX512;
    uint32_t b = 0;

    b |= bit(id->leaf1_ecx, 9) ? BC_CPU_SSSE3 : 0;
    b |= bit(id->leaf1_ecx, 19) ? BC_CPU_SSE41 : 0;
    b |= bit(id->leaf1_ecx, 25) ? BC_CPU_AESNI : 0;
    b |= bit(id->leaf1_ecx, 1) ? BC_CPU_PCLMUL : 0;
    b |= bit(id->leaf7_ebx, 8) ? BC_CPU_BMI2 : 0;
    b |= bit(id->leaf7_ebx, 19) ? BC_CPU_ADX : 0;

    if (!ymm || !bit(id->leaf1_ecx, 28))
        return b;
    b |= BC_CPU_AVX;
    b |= bit(id->leaf7_ebx, 5) ? BC_CPU_AVX2 : 0;
    b |= bit(id->leaf7_ecx, 9) ? BC_CPU_VAES : 0;
    b |= bit(id->leaf7_ecx, 10) ? BC_CPU_VPCLMUL : 0;

    if (!zmm || !bit(id->leaf7_ebx, 16))
        return b;
    b |= BC_CPU_AVX512F;
    b |= bit(id->leaf7_ebx, 30) ? BC_CPU_AVX512BW : 0;
    b |= bit(id->leaf7_ebx, 31) ? BC_CPU_AVX512VL : 0;
    b |= bit(id->leaf7_ebx, 17) ? BC_CPU_AVX512DQ : 0;
    b |= bit(id->leaf7_ebx, 21) ? BC_CPU_AVX512IFMA : 0;
    b |= slowed_by_512(id) ? 0 : BC_CPU_WIDE512;
    return b;
}

#if defined(__x86_64__)

#include <cpuid.h>

static uint64_t read_xcr0(void)
{
    uint32_t lo, hi;

    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return (uint64_t)hi << 32 | lo;
}

uint32_t bc_cpu(void)
{
    struct bc_cpuid id = {0};
    uint32_t a, b, c, d;

    /* The vendor's twelve letters stand in EBX, EDX, ECX. */
    if (!__get_cpuid(0, &a, &b, &c, &d))
        return 0;
    id.intel = b == 0x756e6547 && d == 0x49656e69 && c == 0x6c65746e;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return 0;
    id.leaf1_eax = a;
    id.leaf1_ecx = c;
    if (bit(c, 27)) /* OSXSAVE: xgetbv exists */
        id.xcr0 = read_xcr0();
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        id.leaf7_ebx = b;
        id.leaf7_ecx = c;
    }
    return bc_cpu_bits(&id);
}

#else

/* No kernels but the portable ones: nothing to find out. */
uint32_t bc_cpu(void)
{
    return 0;
}

#endif
