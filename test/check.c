/* The machinery behind check.h. */
#define _DEFAULT_SOURCE
#include "check.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_PRINTED 20 /* failures shown in full; the rest is counted */

static unsigned long checks, failures;
static char current[512];
static uint64_t state[4];
static uint64_t seed;

static void say_where(const char *file, int line, const char *text)
{
    fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
    if (current[0])
        fprintf(stderr, "    in case: %s\n", current);
    if (seed)
        fprintf(stderr, "    seed: BC_SEED=%llu\n", (unsigned long long)seed);
}

/* ---- Faults --------------------------------------------------------------
 */

static const int faults[] = {SIGSEGV, SIGBUS, SIGILL};
#define FAULTS (sizeof(faults) / sizeof(faults[0]))
static struct sigaction before[FAULTS];

/* A guard page was touched, or an instruction is none of this processor's: say
 * in which case. Then the fault comes again and has its usual end, which is a
 * core dump or the sanitizer's report. */
static void fault(int sig)
{
    static const char text[] = "fault in case: ";
    size_t i;

    if (write(2, text, sizeof(text) - 1) < 0 ||
        write(2, current, strlen(current)) < 0 || write(2, "\n", 1) < 0)
        _exit(1);
    for (i = 0; i < FAULTS; i++)
        if (faults[i] == sig)
            sigaction(sig, &before[i], NULL);
}

static void catch_faults(void)
{
    static int caught;
    struct sigaction action = {.sa_handler = fault};
    size_t i;

    if (caught)
        return;
    caught = 1;
    for (i = 0; i < FAULTS; i++)
        sigaction(faults[i], &action, &before[i]);
}

void check_case(const char *format, ...)
{
    va_list args;

    catch_faults();
    va_start(args, format);
    vsnprintf(current, sizeof(current), format, args);
    va_end(args);
}

int check_that(int ok, const char *file, int line, const char *text)
{
    checks++;
    if (!ok && ++failures <= MOST_PRINTED)
        say_where(file, line, text);
    return ok;
}

static void print_hex(const char *label, const uint8_t *p, size_t len)
{
    size_t i;

    fprintf(stderr, "    %s", label);
    for (i = 0; i < len; i++)
        fprintf(stderr, "%02x", p[i]);
    fputc('\n', stderr);
}

int check_same(const void *got, const void *want, size_t len, const char *file,
               int line, const char *text)
{
    const uint8_t *g = got, *w = want;
    size_t at = 0, shown;

    checks++;
    while (at < len && g[at] == w[at])
        at++;
    if (at == len)
        return 1;
    if (++failures > MOST_PRINTED)
        return 0;
    say_where(file, line, text);
    shown = len - at < 32 ? len - at : 32;
    fprintf(stderr, "    first difference at byte %zu of %zu\n", at, len);
    print_hex("got  ", g + at, shown);
    print_hex("want ", w + at, shown);
    return 0;
}

int check_long(long long got, long long want, const char *file, int line,
               const char *text)
{
    checks++;
    if (got == want)
        return 1;
    if (++failures > MOST_PRINTED)
        return 0;
    say_where(file, line, text);
    fprintf(stderr, "    got %lld, want %lld\n", got, want);
    return 0;
}

static unsigned long skips;

void check_skip(const char *format, ...)
{
    va_list args;

    skips++;
    va_start(args, format);
    fputs("skipped: ", stdout);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
}

int check_done(void)
{
    printf("%lu checks, %lu failed\n", checks, failures);
    if (failures)
        return 1;
    if (checks)
        return 0;
    if (skips)
        return CHECK_SKIPPED;
    fputs("no check ran\n", stderr);
    return 1;
}

/* ---- Random bytes ----------------------------------------------------------
 */

static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = *x += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t rotl(uint64_t x, int n)
{
    return x << n | x >> (64 - n);
}

uint64_t rnd64(void)
{
    uint64_t r, t;

    if (!seed) {
        const char *s = getenv("BC_SEED");
        uint64_t x;
        int i;

        seed = s ? strtoull(s, NULL, 0) : 20260914;
        x = seed;
        for (i = 0; i < 4; i++)
            state[i] = splitmix(&x);
    }
    r = rotl(state[1] * 5, 7) * 9;
    t = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= t;
    state[3] = rotl(state[3], 45);
    return r;
}

uint32_t rnd_below(uint32_t n)
{
    return (uint32_t)((rnd64() >> 32) * n >> 32);
}

void rnd_bytes(void *p, size_t len)
{
    uint8_t *b = p;

    while (len) {
        uint64_t r = rnd64();
        size_t n = len < 8 ? len : 8;

        memcpy(b, &r, n);
        b += n;
        len -= n;
    }
}

/* ---- Guarded buffers -------------------------------------------------------
 */

struct guarded guard_new(size_t len)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t usable = (len + page - 1) / page * page + (len == 0 ? page : 0);
    struct guarded g;

    g.map_len = usable + 2 * page;
    g.map = mmap(NULL, g.map_len, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g.map == MAP_FAILED) {
        perror("mmap");
        abort();
    }
    g.begin = (uint8_t *)g.map + page;
    g.end = g.begin + usable;
    if (mprotect(g.map, page, PROT_NONE) || mprotect(g.end, page, PROT_NONE)) {
        perror("mprotect");
        abort();
    }
    return g;
}

uint8_t *guard_tail(const struct guarded *g, size_t len)
{
    return g->end - len;
}

void guard_free(struct guarded *g)
{
    munmap(g->map, g->map_len);
    g->map = NULL;
}

/* ---- Hex --------------------------------------------------------------------
 */

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

size_t unhex(uint8_t *out, size_t max, const char *hex)
{
    size_t n = 0;

    for (; *hex; hex++) {
        int hi = digit(hex[0]), lo;

        if (hi < 0)
            continue;
        lo = digit(hex[1]);
        if (lo < 0 || n == max) {
            fprintf(stderr, "unhex: odd digits or more than %zu bytes\n", max);
            abort();
        }
        out[n++] = (uint8_t)(hi << 4 | lo);
        hex++;
    }
    return n;
}
