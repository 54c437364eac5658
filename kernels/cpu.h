/*
 * CPUID and XCR0 to BC_CPU_ bits. The reading of the registers and the
 * reasoning about them are apart, so that tests can feed made-up processors
 * to the second.
 */
#ifndef BC_CPU_H
#define BC_CPU_H

#include <stdint.h>

/* What the processor says: raw registers, zero where a leaf does not exist. */
struct bc_cpuid {
    uint32_t leaf1_eax; /* family and model */
    uint32_t leaf1_ecx;
    uint32_t leaf7_ebx;
    uint32_t leaf7_ecx;
    uint32_t intel; /* 1 if leaf 0 says GenuineIntel */
    uint64_t xcr0;  /* zero unless leaf 1 reports OSXSAVE */
};

/* Pure. */
uint32_t bc_cpu_bits(const struct bc_cpuid *id);

#endif
