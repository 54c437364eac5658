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
    const struct algorithm *algorithm;
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

static void add_row(const char *section, const struct algorithm *a,
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
    r->len = fitting_length(a, len);
}

/* ---- Which jobs ---------------------------------------------------------- */

static const char message[] = "message";
static const char hot_path[] = "hot path";
static const char pieces[] = "pieces";
static const char threads_key[] = "threads";
static const char threads_cipher[] = "threads passing the cipher";

static int has_threads(const struct row *r)
{
    return r->section == threads_key || r->section == threads_cipher;
}

static void add_messages(const struct algorithm *a)
{
    int mac = a->family == FAMILY_POLY1305;

    for (int encrypt = 1; encrypt >= mac; encrypt--)
        for (size_t i = 0; i < bench_sizes_count; i++)
            add_row(message, a, "message", encrypt, JOB_DATA, bench_sizes[i]);
}

static void add_hot_path(const struct algorithm *a)
{
    static const struct {
        const char *job;
        unsigned parts;
        size_t len;
    } jobs[] = {
        {"nonce", 0, 0},
        {"key + nonce", JOB_KEY, 0},
        {"key + nonce + 16 B", JOB_KEY | JOB_DATA, 16},
        {"key + nonce + 1024 B", JOB_KEY | JOB_DATA, 1024},
        {"cipher + key + nonce", JOB_CIPHER | JOB_KEY, 0},
        {"cipher + key + nonce + 16 B", JOB_CIPHER | JOB_KEY | JOB_DATA, 16},
        {"new context + 16 B + free", JOB_NEW | JOB_KEY | JOB_DATA, 16},
    };

    if (a->family == FAMILY_POLY1305) {
        add_row(hot_path, a, "key", 1, JOB_KEY, 0);
        add_row(hot_path, a, "key + 16 B", 1, JOB_KEY | JOB_DATA, 16);
        add_row(hot_path, a, "new context + 16 B + free", 1,
                JOB_NEW | JOB_KEY | JOB_DATA, 16);
        return;
    }
    for (int encrypt = 1; encrypt >= 0; encrypt--)
        for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
            add_row(hot_path, a, jobs[i].job, encrypt, jobs[i].parts,
                    jobs[i].len);
    if (a->family != FAMILY_CBC)
        add_row(hot_path, a, "nonce + 13 B AAD + 1024 B", 1, JOB_AAD | JOB_DATA,
                1024);
}

static void add_rows(const struct bench_options *o)
{
    for (size_t i = 0; i < algorithms_count; i++)
        if (bench_wanted(o, algorithms[i].name))
            add_messages(&algorithms[i]);
    for (size_t i = 0; i < algorithms_count; i++)
        if (bench_wanted(o, algorithms[i].name))
            add_hot_path(&algorithms[i]);
    for (size_t i = 0; i < algorithms_count; i++) {
        const struct algorithm *a = &algorithms[i];

        if (!bench_wanted(o, a->name) || a->family == FAMILY_POLY1305)
            continue;
        add_row(pieces, a, "16 KiB in one call", 0, JOB_DATA, 16384);
        add_row(pieces, a, "16 KiB in 1 KiB calls", 0, JOB_DATA | JOB_PIECES,
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

static double count_allocations(struct job *j)
{
    enum { OPERATIONS = 64 };
    unsigned long before;

    job_run(j, 2);
    before = allocations;
    job_run(j, OPERATIONS);
    return (double)(allocations - before) / OPERATIONS;
}

/* ---- Verifying and timing a row ------------------------------------------ */

/* What decryption jobs get: their ciphertexts (into ref) and tags, by the
 * default provider. */
static void make_ciphertexts(const struct side *by, struct job *to,
                             const struct row *r, struct bench_buffers *b)
{
    struct job j;

    job_open(&j, by, r->algorithm, 1,
             (r->parts & (JOB_KEY | JOB_AAD)) | JOB_DATA, r->len, b->ref,
             b->in);
    for (int i = 0; i < (r->parts & JOB_KEY ? 2 : 1); i++) {
        j.out = b->ref + (size_t)i * r->len;
        job_run(&j, 1);
        for (int side = 0; side < SIDES; side++)
            memcpy(to[side].set[i].tag, j.tag, 16);
    }
    if (j.failed)
        bench_die("%s: the default provider failed", r->algorithm->name);
    job_close(&j);
}

/* Both keys' messages, ours against theirs; says what is wrong and exits. */
static void verify(struct job *ours, struct job *theirs, const struct row *r,
                   struct bench_buffers *b)
{
    const char *direction = direction_name(r->algorithm, r->encrypt);
    uint8_t *want = r->encrypt ? b->ref : b->in;

    if (!(r->parts & JOB_DATA))
        return;
    for (int turn = 0; turn < 2; turn++) {
        theirs->out = r->encrypt ? b->ref : b->out;
        job_run(theirs, 1);
        theirs->out = b->out;
        memset(b->out, 0xa5, r->len);
        job_run(ours, 1);
        if (ours->failed || theirs->failed)
            bench_die("%s %s, %s, %zu bytes: %s failed", r->algorithm->name,
                      direction, r->job, r->len,
                      ours->failed ? "ours" : "the default provider");
        for (size_t i = 0; i < r->len && !ours->mac; i++)
            if (b->out[i] != want[i])
                bench_die("%s %s, %s, %zu bytes: wrong from offset %zu",
                          r->algorithm->name, direction, r->job, r->len, i);
        if (memcmp(ours->tag, theirs->tag, 16) != 0)
            bench_die("%s %s, %s, %zu bytes: wrong tag", r->algorithm->name,
                      direction, r->job, r->len);
    }
}

static void run_row(const struct bench_options *o, const struct side *sides,
                    struct row *r, struct bench_buffers *b, int round)
{
    struct job jobs[SIDES];
    struct bench_contender c[SIDES];
    /* The ciphertexts to decrypt lie in ref. */
    const uint8_t *in = r->encrypt ? b->in : b->ref;
    void *pad[SIDES];

    for (int i = 0; i < SIDES; i++) {
        pad[i] = malloc(bench_shift(round) + 1);
        job_open(&jobs[i], &sides[i], r->algorithm, r->encrypt, r->parts,
                 r->len, b->out, in);
    }
    if (!r->encrypt)
        make_ciphertexts(&sides[DEFAULT], jobs, r, b);
    verify(&jobs[OURS], &jobs[DEFAULT], r, b);
    for (int i = 0; i < SIDES; i++) {
        if (r->len <= 16384)
            r->allocations[i] = count_allocations(&jobs[i]);
        memset(&c[i], 0, sizeof(c[i]));
        c[i].run = job_run;
        c[i].arg = &jobs[i];
        c[i].series = r->series[i];
    }
    bench_race(o, c, SIDES, &r->cycle);
    for (int i = 0; i < SIDES; i++) {
        r->series[i] = c[i].series;
        if (i != FLOOR && jobs[i].failed)
            bench_die("%s, %s: %s failed while it was timed",
                      r->algorithm->name, r->job, sides[i].name);
        job_close(&jobs[i]);
        free(pad[i]);
    }
}

/* ---- Threads ------------------------------------------------------------- */

#define MAX_THREADS 8

struct worker {
    const struct side *side;
    const struct algorithm *algorithm;
    unsigned parts;
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
    struct job j;
    double begin, cpu, done = 0;

    job_open(&j, w->side, w->algorithm, 1, w->parts, 16, out, in);
    job_run(&j, REPS);
    pthread_barrier_wait(w->begin);
    begin = bench_now();
    cpu = cpu_now();
    do {
        job_run(&j, REPS);
        done += REPS;
    } while (bench_now() - begin < w->milliseconds * 1e6);
    w->cpu_ns = (cpu_now() - cpu) / done;
    job_close(&j);
    return NULL;
}

static double run_threads(const struct side *side, const struct algorithm *a,
                          unsigned parts, int n, double milliseconds)
{
    pthread_t thread[MAX_THREADS];
    struct worker w[MAX_THREADS];
    pthread_barrier_t begin;
    double sum = 0;

    pthread_barrier_init(&begin, NULL, (unsigned)n);
    for (int i = 0; i < n; i++) {
        w[i] = (struct worker){side, a, parts, &begin, milliseconds, 0};
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

/* One thread, as many as there are cores, and eight: side by side, window by
 * window, for each of the sides. */
static void race_threads_of(const struct bench_options *o,
                            const struct side *sides, const char *section,
                            const struct algorithm *a, unsigned parts,
                            int cores)
{
    static const char *const names[] = {
        "1 thread",  "2 threads", "3 threads", "4 threads",
        "5 threads", "6 threads", "7 threads", "8 threads",
    };
    double milliseconds = o->smoke ? 1 : o->quick ? 40 : 120;
    int times = o->smoke ? 1 : 6, counts[3] = {1}, n = 1;
    struct row *r;

    if (cores > 1 && cores < MAX_THREADS)
        counts[n++] = cores;
    counts[n++] = MAX_THREADS;
    for (int i = 0; i < n; i++)
        add_row(section, a, names[counts[i] - 1], 1, 0, 16);
    r = &rows[rows_count - (size_t)n];
    for (int t = 0; t < times; t++)
        for (int side = 0; side < SIDES; side++)
            for (int i = 0; i < n; i++)
                bench_series_add(&r[i].series[side],
                                 run_threads(&sides[side], a, parts, counts[i],
                                             milliseconds));
}

static void race_threads(const struct bench_options *o,
                         const struct side *sides, int cores)
{
    static const struct {
        const char *section;
        unsigned parts;
    } jobs[] = {
        {threads_key, JOB_KEY | JOB_DATA},
        {threads_cipher, JOB_CIPHER | JOB_KEY | JOB_DATA},
    };

    for (size_t k = 0; k < sizeof(jobs) / sizeof(jobs[0]); k++) {
        for (size_t i = 0; i < algorithms_count; i++) {
            const struct algorithm *a = &algorithms[i];

            if (!bench_wanted(o, a->name) || a->family == FAMILY_POLY1305 ||
                a->keylen == 24)
                continue;
            bench_progress("%s: %s ...", jobs[k].section, a->name);
            race_threads_of(o, sides, jobs[k].section, a, jobs[k].parts, cores);
        }
    }
}

/* ---- The table ----------------------------------------------------------- */

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
        f.limit = bench_limit(l, limit_job(r->algorithm, r->encrypt),
                              r->algorithm->keylen, r->len, bits);
        f.share = f.limit / f.cycles;
    }
    return f;
}

static void print_messages_head(const struct row *r)
{
    printf("\n%s %s: one message under one key (nonce, data, tag)\n",
           r->algorithm->name, direction_name(r->algorithm, r->encrypt));
    printf("%12s %10s %10s %10s %7s %8s %9s %9s %7s %6s\n", "", "floor ns",
           "ours ns", "default ns", "ratio", "(median)", "ours GB/s", "default",
           "ours", "of");
    printf("%12s %10s %10s %10s %7s %8s %9s %9s %7s %6s\n", "", "", "", "", "",
           "", "", "GB/s", "c/B", "limit");
}

static void print_message(const struct row *r, const struct figures *f)
{
    printf("%12s %10.1f %10.1f %10.1f %7.2f %8.2f %9.3f %9.3f %7.3f",
           bench_size_text(r->len), f->least[FLOOR], f->least[OURS],
           f->least[DEFAULT], f->ratio, f->middle_ratio,
           quotient((double)r->len, f->least[OURS]),
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
        : r->section == threads_key
            ? "Threads with a context each, ns of processor time for key + "
              "nonce + 16 B"
            : "The same for cipher + key + nonce + 16 B";

    printf("\n%s\n%-18s %-8s %-27s %9s %9s %10s %7s %8s %s\n", title, "", "",
           "", "floor", "ours", "default", "ratio", "(median)",
           has_threads(r) ? "" : "allocations ours, default");
}

static void print_job(const struct row *r, const struct figures *f)
{
    printf("%-18s %-8s %-27s %9.1f %9.1f %10.1f %7.2f %8.2f",
           r->algorithm->name, direction_name(r->algorithm, r->encrypt), r->job,
           f->least[FLOOR], f->least[OURS], f->least[DEFAULT], f->ratio,
           f->middle_ratio);
    if (has_threads(r))
        printf("\n");
    else
        printf(" %6g %6g\n", r->allocations[OURS], r->allocations[DEFAULT]);
}

static void print_csv(FILE *csv, const struct row *r, const struct figures *f)
{
    fprintf(csv, "%s,%s,%s,%s,%zu", r->section, r->algorithm->name,
            direction_name(r->algorithm, r->encrypt), r->job, r->len);
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
        allocated += r->allocations[OURS] * !(r->parts & JOB_NEW);
        before = r;
    }
    if (slowest)
        printf("\n%zu rows; slower than the default provider: %zu; lowest "
               "ratio %.2f (%s %s, %s, %zu B)\nallocations on a used context: "
               "%s\n",
               rows_count, slower, lowest, slowest->algorithm->name,
               direction_name(slowest->algorithm, slowest->encrypt),
               slowest->job, slowest->len,
               allocated > 0 ? "some, see above" : "none");
}

/* ---- The run ------------------------------------------------------------- */

/* Returns how many rows were run. */
static size_t run_rows(const struct bench_options *o, const struct side *sides,
                       struct bench_buffers *b, struct bench_limits *l)
{
    int rounds = bench_rounds(o);
    size_t done = 0;

    for (int round = 0; round < rounds; round++) {
        const struct row *before = NULL;

        if (!o->smoke)
            bench_limits_copy(l, b->out, b->in);
        for (size_t i = 0; i < rows_count; i++) {
            struct row *r = &rows[i];

            if (o->smoke && r->len > 1 << 20)
                continue;
            if (!before || before->algorithm != r->algorithm ||
                before->section != r->section)
                bench_progress("round %d of %d: %s: %s ...", round + 1, rounds,
                               r->section, r->algorithm->name);
            run_row(o, sides, r, b, round);
            before = r;
            done++;
        }
    }
    return done;
}

int main(int argc, char **argv)
{
    struct bench_options o;
    struct side sides[SIDES];
    struct bench_buffers buffers;
    struct bench_limits limits;
    uint32_t bits = bc_cpu();
    int core, cores, known = 1;
    size_t done;
    FILE *csv;

    bench_parse(&o, argc, argv,
                "Times the module against the default provider through EVP.");
    if (o.isa)
        bits &= bc_isa_mask(o.isa, &known);
    if (!known)
        bench_die("no level %s; there are: %s", o.isa, bc_isa_names());
    /* Before libcrypto allocates anything. */
    if (!CRYPTO_set_mem_functions(counting_malloc, counting_realloc,
                                  counting_free))
        bench_die("libcrypto refuses the allocation counter");
    core = bench_pin(o.core);
    csv = bench_csv(&o);
    side_open(&sides[FLOOR], "floor", BENCH_FLOOR_DIR, NULL);
    side_open(&sides[OURS], "bulkcipher",
              o.modules ? o.modules : BENCH_MODULE_DIR, o.isa);
    side_open(&sides[DEFAULT], "default", NULL, NULL);
    bench_buffers_new(&buffers);

    bench_head_machine(csv, core);
    bench_head(csv, "openssl", "%s", OpenSSL_version(OPENSSL_VERSION));
    bench_head(csv, "module", "%s", side_buildinfo(&sides[OURS]));
    memset(&limits, 0, sizeof(limits));
    if (!o.smoke)
        bench_limits_measure(&limits, bc_cpu(), buffers.out, buffers.in);

    add_rows(&o);
    done = run_rows(&o, sides, &buffers, &limits);
    cores = bench_unpin();
    race_threads(&o, sides, cores);
    bench_progress(NULL);
    if (o.smoke) {
        printf("%zu rows verified\n", done);
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
        side_close(&sides[i]);
    return csv && fclose(csv) != 0;
}
