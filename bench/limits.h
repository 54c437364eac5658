/*
 * What this processor can do at best: instruction times measured in the same
 * run, and the limit per job that they imply (README.md, "Share of the
 * limit"). Everything is 0 where the processor has no such instruction, and
 * everywhere on other architectures than x86-64.
 */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Vectors of 16, 32 and 64 bytes. */
#define BENCH_WIDTHS 3

/* In core cycles. AES-GCM's and the other mixes are per vector, all rounds. */
struct bench_limits {
    double aes_latency;
    double aes[BENCH_WIDTHS]; /* cycles from one independent start to the next,
                                 as all that follow */
    double clmul[BENCH_WIDTHS];
    double muludq[BENCH_WIDTHS];
    double madd52[BENCH_WIDTHS];
    double add[BENCH_WIDTHS];
    double mul64;                     /* mulx */
    double gcm_bare[BENCH_WIDTHS][3]; /* 10, 12, 14 rounds + 3 products */
    double gcm[BENCH_WIDTHS][3];      /* with the further work of a block */
    double chacha[BENCH_WIDTHS];      /* a quarter-round's instructions */
    double poly[BENCH_WIDTHS];        /* 1 product and 2 further instructions */
    double copy_plain;                /* per byte, BENCH_MAX_LEN bytes */
    double copy_stream;
};

/* `bits` are bc_cpu()'s. Takes about a third of a second. */
void bench_limits_measure(struct bench_limits *l, uint32_t bits, uint8_t *out,
                          const uint8_t *in);
/* Times the copies of 30 MB and keeps the shortest: memory is shared with all
 * that runs on the machine, so it is asked again in every round. */
void bench_limits_copy(struct bench_limits *l, uint8_t *out, const uint8_t *in);
void bench_limits_print(const struct bench_limits *l, FILE *csv);

enum bench_job {
    BENCH_CBC_ENCRYPT,
    BENCH_CBC_DECRYPT,
    BENCH_GCM,
    BENCH_CHAPOLY,
    BENCH_POLY1305,
};

/* Cycles per byte that the job cannot go below with the instructions in
 * `bits`; 0 when there is nothing to say. `len` counts only when the message
 * does not fit the caches. */
double bench_limit(const struct bench_limits *l, enum bench_job job,
                   size_t keylen, size_t len, uint32_t bits);

#endif
