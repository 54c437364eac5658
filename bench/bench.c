/*
 * Options, the core and its clock, the race, and buffers: everything of the
 * benchmarks that knows neither the kernels nor OpenSSL.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- Options ------------------------------------------------------------- */

static void usage(const char *program, const char *what)
{
    printf("usage: %s [options]\n%s\n"
           "  --quick      fewer windows\n"
           "  --smoke      verify every row's result, time next to nothing\n"
           "  --only TEXT  only algorithms whose name contains TEXT\n"
           "  --core N     run on core N (default: the last one allowed)\n"
           "  --csv FILE   write the figures to FILE as well\n"
           "  --modules DIR  take the module from DIR\n"
           "  --isa LEVEL  hold the module to a level, such as aesni\n",
           program, what);
}

void bench_parse(struct bench_options *o, int argc, char **argv,
                 const char *what)
{
    memset(o, 0, sizeof(*o));
    o->core = -1;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;

        if (strcmp(argv[i], "--quick") == 0) {
            o->quick = 1;
        } else if (strcmp(argv[i], "--smoke") == 0) {
            o->smoke = 1;
        } else if (strcmp(argv[i], "--only") == 0 && value) {
            o->only = argv[++i];
        } else if (strcmp(argv[i], "--core") == 0 && value) {
            o->core = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--csv") == 0 && value) {
            o->csv = argv[++i];
        } else if (strcmp(argv[i], "--modules") == 0 && value) {
            o->modules = argv[++i];
        } else if (strcmp(argv[i], "--isa") == 0 && value) {
            o->isa = argv[++i];
        } else {
            usage(argv[0], what);
            exit(strcmp(argv[i], "--help") == 0 ? 0 : 2);
        }
    }
}

int bench_wanted(const struct bench_options *o, const char *algorithm)
{
    return o->only == NULL || strcasestr(algorithm, o->only) != NULL;
}

void bench_die(const char *format, ...)
{
    va_list ap;

    bench_progress(NULL);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(1);
}

void bench_progress(const char *format, ...)
{
    static int tty = -1;
    va_list ap;

    if (tty < 0)
        tty = isatty(STDERR_FILENO);
    fputs(tty ? "\r\033[K" : "", stderr);
    if (format == NULL) {
        fflush(stderr);
        return;
    }
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    if (!tty)
        fputc('\n', stderr);
    fflush(stderr);
}

/* ---- The machine --------------------------------------------------------- */

static cpu_set_t allowed; /* before bench_pin() */

int bench_pin(int core)
{
    cpu_set_t one;

    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        bench_die("sched_getaffinity failed");
    if (core < 0)
        for (int i = 0; i < CPU_SETSIZE; i++)
            if (CPU_ISSET(i, &allowed))
                core = i; /* core 0 serves most interrupts: take the last */
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    if (sched_setaffinity(0, sizeof(one), &one) != 0)
        bench_die("cannot run on core %d", core);
    return core;
}

int bench_unpin(void)
{
    sched_setaffinity(0, sizeof(allowed), &allowed);
    return CPU_COUNT(&allowed);
}

const char *bench_cpu_name(void)
{
    static char name[128] = "unknown CPU";
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");

    while (f && fgets(line, sizeof(line), f)) {
        const char *text = strchr(line, ':');

        if (strncmp(line, "model name", 10) == 0 && text) {
            snprintf(name, sizeof(name), "%s", text + 2);
            name[strcspn(name, "\n")] = 0;
            break;
        }
    }
    if (f)
        fclose(f);
    return name;
}

const char *bench_compiler(void)
{
#if defined(__clang__)
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}

void bench_head(FILE *csv, const char *name, const char *format, ...)
{
    va_list ap;
    char text[512];

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    printf("%-10s %s\n", name, text);
    if (csv)
        fprintf(csv, "# %s: %s\n", name, text);
}

void bench_head_machine(FILE *csv, int core)
{
    char date[32];
    time_t now = time(NULL);
    double cycle = bench_cycle();

    for (int i = 0; i < 2000; i++) { /* until the clock is up */
        double again = bench_cycle();

        cycle = again < cycle ? again : cycle;
    }
    strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", gmtime(&now));
    bench_head(csv, "date", "%s", date);
    bench_head(csv, "cpu", "%s", bench_cpu_name());
    bench_head(csv, "core", "%d at %.2f GHz, by a chain of additions", core,
               1 / cycle);
    bench_head(csv, "compiler", "%s", bench_compiler());
}

FILE *bench_csv(const struct bench_options *o)
{
    FILE *f = NULL;

    if (o->csv && (f = fopen(o->csv, "w")) == NULL)
        bench_die("cannot write %s", o->csv);
    return f;
}

/* ---- Time ---------------------------------------------------------------- */

double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The empty asm keeps the compiler from folding the sums; the second operand
 * is a register because some cores add small constants at renaming, for
 * nothing. */
#define ADD1                                                                   \
    x += y;                                                                    \
    __asm__ volatile("" : "+r"(x), "+r"(y));
#define ADD8 ADD1 ADD1 ADD1 ADD1 ADD1 ADD1 ADD1 ADD1
#define ADD64 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8

double bench_cycle(void)
{
    enum { LOOPS = 500 };
    uint64_t x = 1, y = 3;
    double begin = bench_now();

    for (int i = 0; i < LOOPS; i++) {
        ADD64
    }
    return (bench_now() - begin) / (64.0 * LOOPS);
}

void bench_series_add(struct bench_series *s, double ns)
{
    if (s->n == s->room) {
        s->room = s->room ? 2 * s->room : 256;
        s->ns = realloc(s->ns, s->room * sizeof(s->ns[0]));
        if (s->ns == NULL)
            bench_die("out of memory");
    }
    s->ns[s->n++] = ns;
}

void bench_series_free(struct bench_series *s)
{
    free(s->ns);
    memset(s, 0, sizeof(*s));
}

double bench_min(const struct bench_series *s)
{
    double least = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->ns[i] > 0 && (least == 0 || s->ns[i] < least))
            least = s->ns[i];
    return least;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Of a / b, or of a alone when b is NULL. */
static double median(const struct bench_series *a, const struct bench_series *b)
{
    struct bench_series q = {0};
    double middle = 0;

    for (size_t i = 0; i < a->n; i++)
        if (a->ns[i] > 0 && (b == NULL || (i < b->n && b->ns[i] > 0)))
            bench_series_add(&q, b ? a->ns[i] / b->ns[i] : a->ns[i]);
    if (q.n) {
        qsort(q.ns, q.n, sizeof(q.ns[0]), ascending);
        middle = q.ns[q.n / 2];
    }
    bench_series_free(&q);
    return middle;
}

double bench_median(const struct bench_series *s)
{
    return median(s, NULL);
}

double bench_median_ratio(const struct bench_series *a,
                          const struct bench_series *b)
{
    return median(a, b);
}

/* A window must be long beside the clock's own 20 to 50 ns and short beside a
 * scheduler's slice, so that most windows are undisturbed. */
#define WINDOW_NS 80e3

/* An operation of many milliseconds seldom finds a window without another
 * process in it: those are timed by what this thread has used of the core. */
#define LONG_NS 1e6

static double clock_of(const struct bench_contender *c)
{
    struct timespec t;

    if (!c->takes_long)
        return bench_now();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double timed(const struct bench_contender *c)
{
    double begin = clock_of(c);

    c->run(c->arg, c->reps);
    return clock_of(c) - begin;
}

/* Also the warm-up: runs until a window is long enough. */
static void choose_reps(struct bench_contender *c, double window)
{
    double ns;

    c->reps = 1;
    c->takes_long = 0;
    c->run(c->arg, 1);
    while ((ns = timed(c)) < window) {
        double factor = ns > 0 ? 1.1 * window / ns : 8;

        c->reps = (size_t)((double)c->reps * (factor > 8 ? 8 : factor)) + 1;
    }
    c->takes_long = ns > LONG_NS;
}

void bench_race(const struct bench_options *o, struct bench_contender *c,
                size_t n, double *cycle)
{
    double window = o->smoke ? 1e3 : WINDOW_NS;
    int windows = o->smoke ? 1 : o->quick ? 20 : 60;
    /* Long operations get fewer windows: stop at this many nanoseconds for
     * each contender, but never before a few windows. */
    double budget = o->smoke ? 0 : o->quick ? 40e6 : 160e6;
    int few = o->smoke ? 1 : 3;

    for (size_t i = 0; i < n; i++) {
        choose_reps(&c[i], window);
        c[i].spent = 0;
    }
    for (int w = 0; w < windows; w++) {
        double now = bench_cycle();

        if (*cycle == 0 || now < *cycle)
            *cycle = now;
        for (size_t i = 0; i < n; i++) {
            double ns = 0;

            if (w < few || c[i].spent < budget)
                ns = timed(&c[i]);
            c[i].spent += ns;
            bench_series_add(&c[i].series, ns / (double)c[i].reps);
        }
    }
}

int bench_rounds(const struct bench_options *o)
{
    return o->smoke ? 1 : o->quick ? 2 : BENCH_MAX_ROUNDS;
}

size_t bench_shift(int round)
{
    return (size_t)round * (4096 / BENCH_MAX_ROUNDS);
}

/* ---- Buffers and sizes --------------------------------------------------- */

const size_t bench_sizes[] = {16,   64,    256,     1024,         1500,
                              4096, 16384, 1 << 20, BENCH_MAX_LEN};
const size_t bench_sizes_count = sizeof(bench_sizes) / sizeof(bench_sizes[0]);

const char *bench_size_text(size_t len)
{
    static char text[32];

    if (len >= 1000000 && len % 1000000 == 0)
        snprintf(text, sizeof(text), "%zu MB ", len / 1000000);
    else if (len >= 4096 && len % 1024 == 0)
        snprintf(text, sizeof(text), "%zu KiB", len / 1024);
    else
        snprintf(text, sizeof(text), "%zu B  ", len);
    return text;
}

#define HALF_PAGE 2048

void bench_buffers_new(struct bench_buffers *b)
{
    uint8_t *base[3];

    for (int i = 0; i < 3; i++) {
        base[i] = aligned_alloc(4096, (BENCH_MAX_LEN + 3 * 4096) & ~4095u);
        if (base[i] == NULL)
            bench_die("out of memory");
        bench_fill(base[i], BENCH_MAX_LEN + 4096, (uint64_t)i);
    }
    b->in = base[0];
    b->out = base[1] + HALF_PAGE;
    b->ref = base[2];
}

void bench_buffers_free(struct bench_buffers *b)
{
    free(b->in);
    free(b->out - HALF_PAGE);
    free(b->ref);
}

void bench_fill(void *p, size_t len, uint64_t seed)
{
    uint8_t *b = p;
    uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;

    for (size_t i = 0; i < len; i++) { /* xorshift64 */
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        b[i] = (uint8_t)(x >> 32);
    }
}
