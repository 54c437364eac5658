/*
 * Small check macros for every test: a failed check prints where, what and
 * the case it was in, and the test goes on, so that one run shows all. main()
 * ends with `return check_done();`.
 *
 * The random bytes are reproducible: BC_SEED in the environment replaces the
 * fixed seed, and a failure prints the seed.
 */
#ifndef BC_TEST_CHECK_H
#define BC_TEST_CHECK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Names the case that follows, printf style; printed with a failure, and if it
 * ends in a fault such as the touch of a guard page. */
void check_case(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Counts one check; on ok == 0 prints file, line, text and the case. */
int check_that(int ok, const char *file, int line, const char *text);
int check_same(const void *got, const void *want, size_t len, const char *file,
               int line, const char *text);
int check_long(long long got, long long want, const char *file, int line,
               const char *text);

#define CHECK(cond) check_that(!!(cond), __FILE__, __LINE__, #cond)
/* got == want as bytes; prints the first offset that differs and both hexes. */
#define CHECK_MEM(got, want, len)                                              \
    check_same((got), (want), (len), __FILE__, __LINE__, #got " == " #want)
/* got == want as integers; prints both. */
#define CHECK_INT(got, want)                                                   \
    check_long((long long)(got), (long long)(want), __FILE__, __LINE__,        \
               #got " == " #want)

/* Prints "N checks, M failed"; a test without any check has failed too. */
int check_done(void);

/* Says that (part of) a test cannot run here and why. A test of which nothing
 * ran exits with CHECK_SKIPPED, which CTest reports as skipped. */
#define CHECK_SKIPPED 77
void check_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- Random bytes (xoshiro256**), never for secrets ---------------------- */

uint64_t rnd64(void);
uint32_t rnd_below(uint32_t n); /* 0 .. n - 1 */
void rnd_bytes(void *p, size_t len);

/* ---- Buffers between unmapped pages -------------------------------------- */

struct guarded {
    uint8_t *begin; /* the byte before begin is not mapped */
    uint8_t *end;   /* nor is the byte at end */
    void *map;
    size_t map_len;
};

/* At least len usable bytes, whole pages. guard_tail() gives len bytes that
 * end at the unmapped page, g.begin those that start after one. */
struct guarded guard_new(size_t len);
uint8_t *guard_tail(const struct guarded *g, size_t len);
void guard_free(struct guarded *g);

/* ---- Hex ------------------------------------------------------------------
 */

/* Reads hex digits (blanks skipped) into out; returns the number of bytes. */
size_t unhex(uint8_t *out, size_t max, const char *hex);

#endif
