/*
 * Which levels run here. Every k_* test that walks a list of ops tables asks
 * level_runs() for each: it prints one line a level,
 *
 *     level: gcm vaes512 runs
 *     level: gcm vaes512 absent
 *
 * which test/run.sh collects from this machine and from every emulated
 * processor, to say at the end where each level was tested, if anywhere.
 */
#ifndef BC_TEST_LEVELS_H
#define BC_TEST_LEVELS_H

#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>

/* BC_CPU_WIDE512 is a judgement about speed: a test overrules it. */
static inline uint32_t level_bits(void)
{
    return bc_cpu() | BC_CPU_WIDE512;
}

static inline int level_runs(const char *family, const char *name,
                             uint32_t needs)
{
    int runs = (needs & ~level_bits()) == 0;

    printf("level: %s %s %s\n", family, name, runs ? "runs" : "absent");
    fflush(stdout);
    return runs;
}

/* BC_QUICK in the environment thins the sweeps for slow emulators; what they
 * leave out then, a run on a real processor covers. */
static inline int quick(void)
{
    return getenv("BC_QUICK") != NULL;
}

static inline size_t full_or_quick(size_t full, size_t thin)
{
    return quick() ? thin : full;
}

#endif
