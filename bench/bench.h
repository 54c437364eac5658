/*
 * What the benchmarks share: a pinned core and its clock, buffers, and the
 * race that times several contenders in turn. README.md says how the figures
 * are made and how to read them.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- Options, the same for every program --------------------------------- */

struct bench_options {
    int quick;           /* fewer windows: about a tenth of the time */
    int smoke;           /* verify every row, time next to nothing */
    int core;            /* the core to run on, -1: the last one allowed */
    const char *csv;     /* where to write the figures, or NULL */
    const char *only;    /* rows whose algorithm contains this, or NULL: all */
    const char *modules; /* folder of the module, NULL: the build's */
    const char *isa;     /* cap the module at this level, NULL: none */
};

/* Reads argv; prints usage and exits on anything it does not know. */
void bench_parse(struct bench_options *o, int argc, char **argv,
                 const char *what);
/* Whether --only lets this algorithm through. */
int bench_wanted(const struct bench_options *o, const char *algorithm);

void bench_die(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));
/* One line on stderr, on a terminal overwritten by the next; NULL wipes it. */
void bench_progress(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* ---- The machine --------------------------------------------------------- */

/* Moves this thread to one core; returns its number. */
int bench_pin(int core);
/* Undoes it, for the rows that want all cores; returns their number. */
int bench_unpin(void);
const char *bench_cpu_name(void);
const char *bench_compiler(void);
/* Name and value as a line of the table's head and as a CSV comment. */
void bench_head(FILE *csv, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* CPU, core, compiler, date. */
void bench_head_machine(FILE *csv, int core);
/* Opens o->csv for writing; NULL without it. */
FILE *bench_csv(const struct bench_options *o);

/* ---- Time ---------------------------------------------------------------- */

/* Monotonic, in nanoseconds. */
double bench_now(void);

/* Nanoseconds of one core cycle right now: a chain of dependent adds, one
 * cycle each. The time stamp counter runs at a fixed rate of its own, so it
 * says nothing about cycles. */
double bench_cycle(void);

/* Window times per operation, in nanoseconds; 0: left out in that window, so
 * that the series of one race stay side by side. */
struct bench_series {
    double *ns;
    size_t n, room;
};

void bench_series_add(struct bench_series *s, double ns);
void bench_series_free(struct bench_series *s);
double bench_min(const struct bench_series *s);
double bench_median(const struct bench_series *s);
/* The median of a / b, window by window. Two neighbours saw the same machine,
 * which minima from different moments may not have. */
double bench_median_ratio(const struct bench_series *a,
                          const struct bench_series *b);

struct bench_contender {
    /* Does the job reps times. */
    void (*run)(void *arg, size_t reps);
    void *arg;
    struct bench_series series;
    /* The race's own. */
    size_t reps;
    int takes_long;
    double spent;
};

/*
 * Times the contenders in turn, window after window, so that whatever else the
 * machine does meets all of them alike, and adds the results to their series.
 * Between them it times the core's cycle; the shortest found is left in
 * *cycle if it is shorter than what stands there (0: nothing yet).
 */
void bench_race(const struct bench_options *o, struct bench_contender *c,
                size_t n, double *cycle);

/* How many times the caller should go over all its rows: a disturbance of a
 * second then spoils one part of a row's windows, not all of them. In each
 * round a context should lie bench_shift(round) bytes further on: where it lies
 * beside the data within a page can cost a provider a third of its speed. */
#define BENCH_MAX_ROUNDS 4
int bench_rounds(const struct bench_options *o);
size_t bench_shift(int round);

/* ---- A yardstick --------------------------------------------------------- */

/* kernels/poly1305_c.c as compilers make it that cannot multiply 64 by 64 bits
 * to 128: the plain scalar loop, in five limbs of 26 bits. */
struct bc_poly1305_ops;
extern const struct bc_poly1305_ops bench_poly1305_ops_c26;

/* ---- Buffers and sizes --------------------------------------------------- */

#define BENCH_MAX_LEN 30000000u

/* Message lengths of the throughput rows. */
extern const size_t bench_sizes[];
extern const size_t bench_sizes_count;

/* "16 B  ", "16 KiB", "30 MB ": for columns flushed right. Good until the next
 * call. */
const char *bench_size_text(size_t len);

/* in, out and ref hold BENCH_MAX_LEN bytes each, are touched, and stand on
 * page boundaries, out half a page off so that loads and stores that run
 * side by side never agree in the low 12 bits of their addresses. */
struct bench_buffers {
    uint8_t *in, *out, *ref;
};

void bench_buffers_new(struct bench_buffers *b);
void bench_buffers_free(struct bench_buffers *b);
void bench_fill(void *p, size_t len, uint64_t seed);

#endif
