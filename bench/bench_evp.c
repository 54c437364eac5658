/*
 * The module against the default provider, through EVP: one process, a library
 * context for each, the same jobs in turn. A third provider that does nothing
 * shows the floor, libcrypto's own part.
 *
 * Every job's result is compared with the default provider's before it is
 * timed. README.md says how to read the figures.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/crypto.h>

#include "bench.h"
#include "evp.h"
#include "kernels.h"
#include "limits.h"

enum { FLOOR, OURS, DEFAULT, SIDES };

struct row {
    const char *section;
    const struct evp_algorithm *algorithm;
    const char *job;
    int encrypt;
    unsigned parts;
    size_t len;
    struct bench_series series[SIDES];
    double cycle;
    double allocations[SIDES];
};

static struct row *rows;
static size_t rows_count;

static void add_row(const char *section, const struct evp_algorithm *a,
                    const char *job, int encrypt, unsigned parts, size_t len)
{
    struct row *r;

    rows = realloc(rows, (rows_count + 1) * sizeof(rows[0]));
    if (rows == NULL)
        bench_die("out of memory");
    r = &rows[rows_count++];
    memset(r, 0, sizeof(*r));
    r->section = section;
    r->algorithm = a;
    r->job = job;
    r->encrypt = encrypt;
    r->parts = parts;
    r->len = evp_fitting(a, len);
}

/* ---- Which jobs ---------------------------------------------------------- */

static const char message[] = "message";
static const char hot_path[] = "hot path";
static const char pieces[] = "pieces";
static const char threads[] = "threads";

static void add_messages(const struct evp_algorithm *a)
{
    int mac = a->family == EVP_POLY1305;

    for (int encrypt = 1; encrypt >= mac; encrypt--)
        for (size_t i = 0; i < bench_sizes_count; i++)
            add_row(message, a, "message", encrypt, EVP_DATA, bench_sizes[i]);
}

static void add_hot_path(const struct evp_algorithm *a)
{
    static const struct {
        const char *job;
        unsigned parts;
        size_t len;
    } jobs[] = {
        {"nonce", 0, 0},
        {"key + nonce", EVP_KEY, 0},
        {"key + nonce + 16 B", EVP_KEY | EVP_DATA, 16},
        {"key + nonce + 1024 B", EVP_KEY | EVP_DATA, 1024},
        {"cipher + key + nonce", EVP_CIPHER_ | EVP_KEY, 0},
        {"cipher + key + nonce + 16 B", EVP_CIPHER_ | EVP_KEY | EVP_DATA, 16},
        {"new context + 16 B + free", EVP_NEW | EVP_KEY | EVP_DATA, 16},
    };

    if (a->family == EVP_POLY1305) {
        add_row(hot_path, a, "key", 1, EVP_KEY, 0);
        add_row(hot_path, a, "key + 16 B", 1, EVP_KEY | EVP_DATA, 16);
        add_row(hot_path, a, "new context + 16 B + free", 1,
                EVP_NEW | EVP_KEY | EVP_DATA, 16);
        return;
    }
    for (int encrypt = 1; encrypt >= 0; encrypt--)
        for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
            add_row(hot_path, a, jobs[i].job, encrypt, jobs[i].parts,
                    jobs[i].len);
    if (a->family != EVP_CBC)
        add_row(hot_path, a, "nonce + 13 B AAD + 1024 B", 1, EVP_AAD | EVP_DATA,
                1024);
}

static void add_rows(const struct bench_options *o)
{
    for (size_t i = 0; i < evp_algorithms_count; i++)
        if (bench_wanted(o, evp_algorithms[i].name))
            add_messages(&evp_algorithms[i]);
    for (size_t i = 0; i < evp_algorithms_count; i++)
        if (bench_wanted(o, evp_algorithms[i].name))
            add_hot_path(&evp_algorithms[i]);
    for (size_t i = 0; i < evp_algorithms_count; i++) {
        const struct evp_algorithm *a = &evp_algorithms[i];

        if (!bench_wanted(o, a->name) || a->family == EVP_POLY1305)
            continue;
        add_row(pieces, a, "16 KiB in one call", 0, EVP_DATA, 16384);
        add_row(pieces, a, "16 KiB in 1 KiB calls", 0, EVP_DATA | EVP_PIECES,
                16384);
    }
}

/* ---- Allocations --------------------------------------------------------- */

static _Thread_local unsigned long allocations;

static void *counting_malloc(size_t n, const char *file, int line)
{
    (void)file;
    (void)line;
    allocations++;
    return malloc(n);
}

static void *counting_realloc(void *p, size_t n, const char *file, int line)
{
    (void)file;
    (void)line;
    allocations++;
    return realloc(p, n);
}

static void counting_free(void *p, const char *file, int line)
{
    (void)file;
    (void)line;
    free(p);
}

static double count_allocations(struct evp_job *j)
{
    enum { OPERATIONS = 64 };
    unsigned long before;

    evp_job_run(j, 2);
    before = allocations;
    evp_job_run(j, OPERATIONS);
    return (double)(allocations - before) / OPERATIONS;
}

/* ---- Verifying and timing a row ------------------------------------------ */

/* What decryption jobs get: their ciphertexts (into ref) and tags, by the
 * default provider. */
static void make_ciphertexts(const struct evp_side *by, struct evp_job *to,
                             const struct row *r, struct bench_buffers *b)
{
    struct evp_job j;

    evp_job_open(&j, by, r->algorithm, 1,
                 (r->parts & (EVP_KEY | EVP_AAD)) | EVP_DATA, r->len, b->ref,
                 b->in);
    for (int i = 0; i < (r->parts & EVP_KEY ? 2 : 1); i++) {
        j.out = b->ref + (size_t)i * r->len;
        evp_job_run(&j, 1);
        for (int side = 0; side < SIDES; side++)
            memcpy(to[side].set[i].tag, j.tag, 16);
    }
    if (j.failed)
        bench_die("%s: the default provider failed", r->algorithm->name);
    evp_job_close(&j);
}

static void verify(struct evp_job *ours, struct evp_job *theirs,
                   const struct row *r, struct bench_buffers *b)
{
    const uint8_t *want = b->in;
    size_t differ = 0;

    if (!(r->parts & EVP_DATA))
        return;
    for (int turn = 0; turn < 2; turn++) {
        if (r->encrypt && !theirs->mac) {
            want = b->ref;
            theirs->out = b->ref;
        }
        evp_job_run(theirs, 1);
        theirs->out = b->out;
        if (!theirs->mac)
            memset(b->out, 0xa5, r->len);
        evp_job_run(ours, 1);
        if (ours->failed || theirs->failed)
            bench_die("%s, %s, %zu bytes: %s failed", r->algorithm->name,
                      r->job, r->len, ours->failed ? "ours" : "the default");
        if (!theirs->mac)
            while (differ < r->len && b->out[differ] == want[differ])
                differ++;
        if (!theirs->mac && differ < r->len)
            bench_die("%s, %s, %scrypt, %zu bytes: wrong from offset %zu",
                      r->algorithm->name, r->job, r->encrypt ? "en" : "de",
                      r->len, differ);
        if (memcmp(ours->tag, theirs->tag, 16) != 0)
            bench_die("%s, %s, %zu bytes: wrong tag", r->algorithm->name,
                      r->job, r->len);
        differ = 0;
    }
}

static void run_row(const struct bench_options *o, const struct evp_side *sides,
                    struct row *r, struct bench_buffers *b)
{
    struct evp_job jobs[SIDES];
    struct bench_contender c[SIDES];
    /* The ciphertexts to decrypt lie in ref. */
    const uint8_t *in = r->encrypt ? b->in : b->ref;

    for (int i = 0; i < SIDES; i++)
        evp_job_open(&jobs[i], &sides[i], r->algorithm, r->encrypt, r->parts,
                     r->len, b->out, in);
    if (!r->encrypt)
        make_ciphertexts(&sides[DEFAULT], jobs, r, b);
    verify(&jobs[OURS], &jobs[DEFAULT], r, b);
    for (int i = 0; i < SIDES; i++) {
        if (r->len <= 16384)
            r->allocations[i] = count_allocations(&jobs[i]);
        memset(&c[i], 0, sizeof(c[i]));
        c[i].run = evp_job_run;
        c[i].arg = &jobs[i];
        c[i].series = r->series[i];
    }
    bench_race(o, c, SIDES, &r->cycle);
    for (int i = 0; i < SIDES; i++) {
        r->series[i] = c[i].series;
        if (i != FLOOR && jobs[i].failed)
            bench_die("%s, %s: %s failed while it was timed",
                      r->algorithm->name, r->job, sides[i].name);
        evp_job_close(&jobs[i]);
    }
}

/* ---- Threads ------------------------------------------------------------- */

#define MAX_THREADS 8

struct worker {
    const struct evp_side *side;
    const struct evp_algorithm *algorithm;
    pthread_barrier_t *begin;
    double milliseconds;
    double cpu_ns; /* per operation */
};

static double cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Re-keys its own context for its share of the time; processor time, so that
 * waiting for a core does not count. */
static void *work(void *arg)
{
    enum { REPS = 500 };
    struct worker *w = arg;
    uint8_t in[32] = {0}, out[64];
    struct evp_job j;
    double begin, cpu, done = 0;

    evp_job_open(&j, w->side, w->algorithm, 1, EVP_CIPHER_ | EVP_KEY | EVP_DATA,
                 16, out, in);
    evp_job_run(&j, REPS);
    pthread_barrier_wait(w->begin);
    begin = bench_now();
    cpu = cpu_now();
    do {
        evp_job_run(&j, REPS);
        done += REPS;
    } while (bench_now() - begin < w->milliseconds * 1e6);
    w->cpu_ns = (cpu_now() - cpu) / done;
    evp_job_close(&j);
    return NULL;
}

static double run_threads(const struct evp_side *side,
                          const struct evp_algorithm *a, int n,
                          double milliseconds)
{
    pthread_t thread[MAX_THREADS];
    struct worker w[MAX_THREADS];
    pthread_barrier_t begin;
    double sum = 0;

    pthread_barrier_init(&begin, NULL, (unsigned)n);
    for (int i = 0; i < n; i++) {
        w[i] = (struct worker){side, a, &begin, milliseconds, 0};
        if (pthread_create(&thread[i], NULL, work, &w[i]) != 0)
            bench_die("no thread");
    }
    for (int i = 0; i < n; i++) {
        pthread_join(thread[i], NULL);
        sum += w[i].cpu_ns;
    }
    pthread_barrier_destroy(&begin);
    return sum / n;
}

static void race_threads(const struct bench_options *o,
                         const struct evp_side *sides)
{
    double milliseconds = o->smoke ? 1 : o->quick ? 40 : 120;
    int times = o->smoke ? 1 : 6;

    for (size_t i = 0; i < evp_algorithms_count; i++) {
        const struct evp_algorithm *a = &evp_algorithms[i];
        struct row *r;

        if (!bench_wanted(o, a->name) || a->family == EVP_POLY1305 ||
            a->keylen == 24)
            continue;
        bench_progress("threads: %s ...", a->name);
        add_row(threads, a, "1 thread", 1, 0, 16);
        add_row(threads, a, "8 threads", 1, 0, 16);
        r = &rows[rows_count - 2];
        for (int t = 0; t < times; t++) {
            for (int side = 0; side < SIDES; side++) {
                bench_series_add(&r[0].series[side],
                                 run_threads(&sides[side], a, 1, milliseconds));
                bench_series_add(
                    &r[1].series[side],
                    run_threads(&sides[side], a, MAX_THREADS, milliseconds));
            }
        }
    }
}

/* ---- The table ----------------------------------------------------------- */

static const char *direction(const struct row *r)
{
    if (r->algorithm->family == EVP_POLY1305)
        return "mac";
    return r->encrypt ? "encrypt" : "decrypt";
}

static void print_size(size_t len)
{
    if (len >= 1000000 && len % 1000000 == 0)
        printf("%9zu MB", len / 1000000);
    else if (len >= 4096 && len % 1024 == 0)
        printf("%8zu KiB", len / 1024);
    else
        printf("%10zu B", len);
}

struct figures {
    double least[SIDES], middle[SIDES];
    double ratio, middle_ratio;
    double ghz, cycles; /* ours: core cycles per byte */
    double limit, share;
};

static double quotient(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static struct figures figures(const struct row *r, const struct bench_limits *l,
                              uint32_t bits)
{
    struct figures f = {0};

    for (int i = 0; i < SIDES; i++) {
        f.least[i] = bench_min(&r->series[i]);
        f.middle[i] = bench_median(&r->series[i]);
    }
    f.ratio = quotient(f.least[DEFAULT], f.least[OURS]);
    f.middle_ratio = bench_median_ratio(&r->series[DEFAULT], &r->series[OURS]);
    f.ghz = quotient(1, r->cycle);
    if (r->len && r->cycle > 0) {
        f.cycles = f.least[OURS] / r->cycle / (double)r->len;
        f.limit = bench_limit(l, evp_limit_job(r->algorithm, r->encrypt),
                              r->algorithm->keylen, r->len, bits);
        f.share = f.limit / f.cycles;
    }
    return f;
}

static void print_messages_head(const struct row *r)
{
    printf("\n%s %s: one message under one key (nonce, data, tag)\n",
           r->algorithm->name, direction(r));
    printf("%12s %10s %10s %10s %7s %8s %9s %9s %7s %6s\n", "", "floor ns",
           "ours ns", "default ns", "ratio", "(median)", "ours GB/s", "default",
           "ours", "of");
    printf("%12s %10s %10s %10s %7s %8s %9s %9s %7s %6s\n", "", "", "", "", "",
           "", "", "GB/s", "c/B", "limit");
}

static void print_message(const struct row *r, const struct figures *f)
{
    print_size(r->len);
    printf(" %10.1f %10.1f %10.1f %7.2f %8.2f %9.3f %9.3f %7.3f",
           f->least[FLOOR], f->least[OURS], f->least[DEFAULT], f->ratio,
           f->middle_ratio, quotient((double)r->len, f->least[OURS]),
           quotient((double)r->len, f->least[DEFAULT]), f->cycles);
    if (f->limit > 0 && r->len >= 4096)
        printf(" %4.0f %%\n", 100 * f->share);
    else
        printf(" %6s\n", ""); /* the floor alone would decide it */
}

static void print_job_head(const struct row *r)
{
    const char *title =
        r->section == hot_path ? "Re-keying and short messages, ns"
        : r->section == pieces ? "One call against many small ones, ns"
                               : "Threads with a context each, ns of processor "
                                 "time for cipher + key + nonce + 16 B";

    printf("\n%s\n%-18s %-8s %-27s %9s %9s %10s %7s %8s %s\n", title, "", "",
           "", "floor", "ours", "default", "ratio", "(median)",
           r->section == threads ? "" : "allocations ours, default");
}

static void print_job(const struct row *r, const struct figures *f)
{
    printf("%-18s %-8s %-27s %9.1f %9.1f %10.1f %7.2f %8.2f",
           r->algorithm->name, direction(r), r->job, f->least[FLOOR],
           f->least[OURS], f->least[DEFAULT], f->ratio, f->middle_ratio);
    if (r->section == threads)
        printf("\n");
    else
        printf(" %6g %6g\n", r->allocations[OURS], r->allocations[DEFAULT]);
}

static void print_csv(FILE *csv, const struct row *r, const struct figures *f)
{
    fprintf(csv, "%s,%s,%s,%s,%zu", r->section, r->algorithm->name,
            direction(r), r->job, r->len);
    for (int i = 0; i < SIDES; i++)
        fprintf(csv, ",%.2f,%.2f", f->least[i], f->middle[i]);
    fprintf(csv, ",%.3f,%.3f,%.4f,%.4f,%.3f,%.4f,%.4f,%.3f,%g,%g\n", f->ratio,
            f->middle_ratio, quotient((double)r->len, f->least[OURS]),
            quotient((double)r->len, f->least[DEFAULT]), f->ghz, f->cycles,
            f->limit, f->share, r->allocations[OURS], r->allocations[DEFAULT]);
}

static void print_rows(const struct bench_limits *l, uint32_t bits, FILE *csv)
{
    const struct row *before = NULL;
    double lowest = 0, allocated = 0;
    const struct row *slowest = NULL;
    size_t slower = 0;

    if (csv)
        fprintf(csv, "section,algorithm,direction,job,bytes,floor_ns,"
                     "floor_median_ns,ours_ns,ours_median_ns,default_ns,"
                     "default_median_ns,ratio,median_ratio,ours_GBps,"
                     "default_GBps,core_GHz,ours_cycles_per_byte,"
                     "limit_cycles_per_byte,share_of_limit,ours_allocations,"
                     "default_allocations\n");
    for (size_t i = 0; i < rows_count; i++) {
        const struct row *r = &rows[i];
        struct figures f = figures(r, l, bits);
        int is_message = r->section == message;

        if (is_message && (!before || before->algorithm != r->algorithm ||
                           before->encrypt != r->encrypt))
            print_messages_head(r);
        if (!is_message && (!before || before->section != r->section))
            print_job_head(r);
        if (is_message)
            print_message(r, &f);
        else
            print_job(r, &f);
        if (csv)
            print_csv(csv, r, &f);
        if (slowest == NULL || f.ratio < lowest) {
            lowest = f.ratio;
            slowest = r;
        }
        slower += f.ratio < 1;
        allocated += r->allocations[OURS] * !(r->parts & EVP_NEW);
        before = r;
    }
    if (slowest)
        printf("\n%zu rows; slower than the default provider: %zu; lowest "
               "ratio %.2f (%s %s, %s, %zu B)\nallocations on a used context: "
               "%s\n",
               rows_count, slower, lowest, slowest->algorithm->name,
               direction(slowest), slowest->job, slowest->len,
               allocated > 0 ? "some, see above" : "none");
}

/* ---- The run ------------------------------------------------------------- */

static void run_rows(const struct bench_options *o,
                     const struct evp_side *sides, struct bench_buffers *b)
{
    int rounds = bench_rounds(o);

    for (int round = 0; round < rounds; round++) {
        const struct row *before = NULL;

        for (size_t i = 0; i < rows_count; i++) {
            struct row *r = &rows[i];

            if (o->smoke && r->len > 1 << 20)
                continue;
            if (!before || before->algorithm != r->algorithm ||
                before->section != r->section)
                bench_progress("round %d of %d: %s: %s ...", round + 1, rounds,
                               r->section, r->algorithm->name);
            run_row(o, sides, r, b);
            before = r;
        }
    }
}

int main(int argc, char **argv)
{
    struct bench_options o;
    struct evp_side sides[SIDES];
    struct bench_buffers buffers;
    struct bench_limits limits;
    uint32_t bits = bc_cpu();
    int core, cores;
    FILE *csv;

    bench_parse(&o, argc, argv,
                "Times the module against the default provider through EVP.");
    /* Before libcrypto allocates anything. */
    if (!CRYPTO_set_mem_functions(counting_malloc, counting_realloc,
                                  counting_free))
        bench_die("libcrypto refuses the allocation counter");
    core = bench_pin(o.core);
    csv = bench_csv(&o);
    evp_side_open(&sides[FLOOR], "floor", BENCH_FLOOR_DIR);
    evp_side_open(&sides[OURS], "bulkcipher",
                  o.modules ? o.modules : BENCH_MODULE_DIR);
    evp_side_open(&sides[DEFAULT], "default", NULL);
    bench_buffers_new(&buffers);

    bench_head_machine(csv, core);
    bench_head(csv, "openssl", "%s", OpenSSL_version(OPENSSL_VERSION));
    bench_head(csv, "module", "%s", evp_side_buildinfo(&sides[OURS]));
    memset(&limits, 0, sizeof(limits));
    if (!o.smoke)
        bench_limits_measure(&limits, bits, buffers.out, buffers.in);

    add_rows(&o);
    run_rows(&o, sides, &buffers);
    cores = bench_unpin();
    race_threads(&o, sides);
    bench_progress(NULL);
    if (o.smoke) {
        printf("%zu rows verified\n", rows_count);
    } else {
        bench_head(csv, "cores", "%d for the rows with threads", cores);
        print_rows(&limits, bits, csv);
    }

    for (size_t i = 0; i < rows_count; i++)
        for (int k = 0; k < SIDES; k++)
            bench_series_free(&rows[i].series[k]);
    free(rows);
    bench_buffers_free(&buffers);
    for (int i = 0; i < SIDES; i++)
        evp_side_close(&sides[i]);
    return csv && fclose(csv) != 0;
}
