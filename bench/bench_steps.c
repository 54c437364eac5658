/*
 * Prints the address of every instruction that one call of a kernel executes,
 * in their order: mca.sh looks them up in the program's disassembly, counts
 * them, and has llvm-mca reckon what they take elsewhere. The processor itself
 * tells: with its trap flag set it stops after each one.
 *
 *     bench_steps JOB             the levels that run here, lowest first
 *     bench_steps JOB LEVEL LEN   the addresses
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "bench.h"
#include "kernels.h"

#define MAX_STEPS ((size_t)1 << 22)
#define MAX_LEN ((size_t)1 << 16)

/* ---- The jobs ------------------------------------------------------------ */

static struct bc_cbc cbc;
static struct bc_gcm gcm;
static struct bc_chapoly chapoly;
static struct bc_poly1305 poly1305;
static uint8_t in[MAX_LEN], out[MAX_LEN], key[32], tag[16];

static void chacha20(size_t len)
{
    chapoly.ops->chacha20(chapoly.state, out, in, len / 64);
}

/* A key is for one message, so each call makes its powers anew. */
static void mac(size_t len)
{
    bc_poly1305_set_key(&poly1305, key);
    bc_poly1305_update(&poly1305, in, len);
    bc_poly1305_tag(&poly1305, tag);
}

static void chapoly_encrypt(size_t len)
{
    bc_chapoly_start(&chapoly, key);
    bc_chapoly_encrypt(&chapoly, out, in, len);
    bc_chapoly_tag(&chapoly, tag);
}

static void chapoly_decrypt(size_t len)
{
    bc_chapoly_start(&chapoly, key);
    bc_chapoly_decrypt(&chapoly, out, in, len);
    bc_chapoly_tag(&chapoly, tag);
}

static void gcm_encrypt(size_t len)
{
    bc_gcm_start(&gcm, key, 12);
    bc_gcm_encrypt(&gcm, out, in, len);
    bc_gcm_tag(&gcm, tag);
}

static void gcm_decrypt(size_t len)
{
    bc_gcm_start(&gcm, key, 12);
    bc_gcm_decrypt(&gcm, out, in, len);
    bc_gcm_tag(&gcm, tag);
}

static void cbc_decrypt(size_t len)
{
    bc_cbc_decrypt(&cbc, out, in, len / 16);
}

enum family { CBC, GCM, CHAPOLY, POLY1305 };

static const struct job {
    const char *name;
    enum family family;
    size_t keylen;
    void (*run)(size_t len);
} jobs[] = {
    {"aes-128-cbc-decrypt", CBC, 16, cbc_decrypt},
    {"aes-256-cbc-decrypt", CBC, 32, cbc_decrypt},
    {"aes-128-gcm-encrypt", GCM, 16, gcm_encrypt},
    {"aes-256-gcm-encrypt", GCM, 32, gcm_encrypt},
    {"aes-128-gcm-decrypt", GCM, 16, gcm_decrypt},
    {"aes-256-gcm-decrypt", GCM, 32, gcm_decrypt},
    {"chacha20", CHAPOLY, 32, chacha20},
    {"poly1305", POLY1305, 32, mac},
    {"chacha20-poly1305-encrypt", CHAPOLY, 32, chapoly_encrypt},
    {"chacha20-poly1305-decrypt", CHAPOLY, 32, chapoly_decrypt},
};

static const struct job *find_job(const char *name)
{
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
        if (strcmp(jobs[i].name, name) == 0)
            return &jobs[i];
    fprintf(stderr, "bench_steps: no job %s\n", name);
    exit(2);
}

/* ---- Their tables -------------------------------------------------------- */

struct table {
    const char *name;
    const void *ops;
};

#define ADD(table_name, table_needs, table_ops)                                \
    do {                                                                       \
        if (((table_needs) & ~bits) == 0)                                      \
            t[n++] = (struct table){table_name, table_ops};                    \
    } while (0)
#define ADD_LIST(list)                                                         \
    for (size_t i = 0; (list)[i]; i++)                                         \
    ADD((list)[i]->name, (list)[i]->needs, (list)[i])

/* Those that run here, best first; returns their number. */
static size_t tables_of(enum family family, struct table t[16])
{
    /* Whether 512 bits slow this processor down does not matter here. */
    uint32_t bits = bc_cpu() | BC_CPU_WIDE512;
    size_t n = 0;

    switch (family) {
    case CBC:
        ADD_LIST(bc_cbc_list);
        break;
    case GCM:
        ADD_LIST(bc_gcm_list);
        break;
    case CHAPOLY:
        ADD_LIST(bc_chapoly_list);
        break;
    case POLY1305:
        ADD_LIST(bc_poly1305_list);
        ADD("c26", 0, &bench_poly1305_ops_c26);
    }
    return n;
}

static void start(const struct job *j, const void *ops)
{
    switch (j->family) {
    case CBC:
        bc_cbc_init(&cbc, ops);
        bc_cbc_set_key(&cbc, key, j->keylen);
        break;
    case GCM:
        bc_gcm_init(&gcm, ops);
        bc_gcm_set_key(&gcm, key, j->keylen);
        break;
    case CHAPOLY:
        bc_chapoly_init(&chapoly, ops);
        bc_chapoly_set_key(&chapoly, key);
        break;
    case POLY1305:
        bc_poly1305_init(&poly1305, ops);
    }
}

/* ---- Stepping ------------------------------------------------------------ */

static uint64_t steps[MAX_STEPS];
static size_t steps_count;

/* The breakpoints around the call turn the trap flag (bit 8) on and off; every
 * other trap comes from it and stands before the next instruction. A repeated
 * string instruction traps each time round and counts once. */
static void on_trap(int signal_number, siginfo_t *info, void *context)
{
    greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;
    uint64_t next = (uint64_t)reg[REG_RIP];

    (void)signal_number;
    if (info->si_code == SI_KERNEL)
        reg[REG_EFL] ^= 1 << 8;
    else if (steps_count == 0 || steps[steps_count - 1] != next)
        steps[steps_count++ % MAX_STEPS] = next;
}

static void step(const struct job *j, size_t len)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_sigaction = on_trap;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, NULL);
    __asm__ volatile("int3");
    j->run(len);
    __asm__ volatile("int3");
}

int main(int argc, char **argv)
{
    struct table t[16];
    const struct job *j;
    size_t n, i, len;

    if (argc != 2 && argc != 4) {
        fprintf(stderr, "usage: bench_steps JOB [LEVEL LEN]\n");
        return 2;
    }
    j = find_job(argv[1]);
    n = tables_of(j->family, t);
    if (argc == 2) {
        while (n)
            puts(t[--n].name);
        return 0;
    }
    for (i = 0; i < n && strcmp(t[i].name, argv[2]) != 0; i++)
        continue;
    len = strtoul(argv[3], NULL, 10);
    if (i == n || len > MAX_LEN || len % 64) {
        fprintf(stderr, "bench_steps: no level %s, or length %s\n", argv[2],
                argv[3]);
        return 2;
    }
    memset(key, 0x5a, sizeof(key));
    start(j, t[i].ops);
    j->run(len); /* key powers that outlast a message are there now */
    step(j, len);
    if (steps_count > MAX_STEPS) {
        fprintf(stderr, "bench_steps: more than %zu steps\n", MAX_STEPS);
        return 1;
    }
    for (i = 0; i < steps_count; i++)
        printf("%" PRIx64 "\n", steps[i]);
    return 0;
}
