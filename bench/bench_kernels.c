/*
 * Every ops table that this processor can run, called through kernels.h, and
 * the default provider through EVP beside them as the yardstick.
 *
 * Every table's result is compared with the default provider's before it is
 * timed. README.md says how to read the figures.
 */
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "bench.h"
#include "evp.h"
#include "kernels.h"
#include "limits.h"

#define MAX_TABLES 12

/* ---- One job of one table ------------------------------------------------ */

struct kernel_job {
    /* One of them is in use. */
    struct bc_cbc cbc;
    struct bc_gcm gcm;
    struct bc_chapoly chapoly;
    struct bc_poly1305 poly1305;
    const struct algorithm *algorithm;
    int encrypt;
    unsigned parts; /* JOB_KEY, JOB_DATA */
    size_t len;
    uint8_t *out;
    const uint8_t *in;
    _Alignas(64) uint8_t key[32];
    uint8_t iv[16], tag[16];
};

/*
 * Each operation waits for the last one's result. Without that the processor
 * works at several short messages at once, which an application's calls, with
 * their own work between them, hardly ever allow: 16 bytes of CBC encryption
 * would seem to take 3 ns, when its chain of aesenc alone takes 11.
 */
typedef uint64_t vec16 __attribute__((vector_size(16)));

/* dst = src, 16 bytes, not before `result` is there. One store, because a
 * kernel that loads 16 bytes after two stores of 8 would be held up. */
static void copy_after(uint8_t *dst, const uint8_t *src, const uint8_t *result)
{
    uint64_t zero = 0;
    vec16 x, y;

    __asm__("" : "+r"(zero)); /* the compiler must not know */
    memcpy(&x, src, 16);
    memcpy(&y, result, 16);
    x ^= y & zero;
    memcpy(dst, &x, 16);
}

static void cbc_once(struct kernel_job *j)
{
    const struct bc_aes_key *k = &j->cbc.key;
    const uint8_t *last = j->out + j->len - 16;

    if (j->parts & JOB_KEY) {
        copy_after(j->key, j->key,
                   j->parts & JOB_DATA ? last : k->rk[k->rounds]);
        bc_cbc_set_key(&j->cbc, j->key, j->algorithm->keylen);
    }
    if (!(j->parts & JOB_DATA))
        return;
    copy_after(j->cbc.iv, j->iv, last);
    if (j->encrypt)
        bc_cbc_encrypt(&j->cbc, j->out, j->in, j->len / 16);
    else
        bc_cbc_decrypt(&j->cbc, j->out, j->in, j->len / 16);
}

static void gcm_once(struct kernel_job *j)
{
    const struct bc_aes_key *k = &j->gcm.key;

    copy_after(j->iv, j->iv, j->tag);
    if (j->parts & JOB_KEY) {
        copy_after(j->key, j->key,
                   j->parts & JOB_DATA ? j->tag : k->rk[k->rounds]);
        bc_gcm_set_key(&j->gcm, j->key, j->algorithm->keylen);
    }
    bc_gcm_start(&j->gcm, j->iv, 12);
    if (!(j->parts & JOB_DATA))
        return;
    if (j->encrypt)
        bc_gcm_encrypt(&j->gcm, j->out, j->in, j->len);
    else
        bc_gcm_decrypt(&j->gcm, j->out, j->in, j->len);
    bc_gcm_tag(&j->gcm, j->tag);
}

static void chapoly_once(struct kernel_job *j)
{
    copy_after(j->iv, j->iv, j->tag);
    if (j->parts & JOB_KEY)
        bc_chapoly_set_key(&j->chapoly, j->key);
    bc_chapoly_start(&j->chapoly, j->iv);
    if (!(j->parts & JOB_DATA))
        return;
    if (j->encrypt)
        bc_chapoly_encrypt(&j->chapoly, j->out, j->in, j->len);
    else
        bc_chapoly_decrypt(&j->chapoly, j->out, j->in, j->len);
    bc_chapoly_tag(&j->chapoly, j->tag);
}

static void poly1305_once(struct kernel_job *j)
{
    copy_after(j->key, j->key, j->tag);
    bc_poly1305_set_key(&j->poly1305, j->key);
    if (!(j->parts & JOB_DATA))
        return;
    bc_poly1305_update(&j->poly1305, j->in, j->len);
    bc_poly1305_tag(&j->poly1305, j->tag);
}

static void run_kernel(void *arg, size_t reps)
{
    struct kernel_job *j = arg;

    while (reps--) {
        switch (j->algorithm->family) {
        case FAMILY_CBC:
            cbc_once(j);
            break;
        case FAMILY_GCM:
            gcm_once(j);
            break;
        case FAMILY_CHAPOLY:
            chapoly_once(j);
            break;
        case FAMILY_POLY1305:
            poly1305_once(j);
        }
    }
}

/* ---- Tables -------------------------------------------------------------- */

struct table {
    const char *name;
    uint32_t needs;
    const void *ops;
};

static size_t add_table(struct table *t, size_t n, uint32_t bits,
                        const char *name, uint32_t needs, const void *ops)
{
    if ((needs & ~bits) != 0 || n == MAX_TABLES)
        return n;
    t[n].name = name;
    t[n].needs = needs;
    t[n].ops = ops;
    return n + 1;
}

/* The families' lists have types of their own. */
#define ADD_TABLES(list)                                                       \
    for (size_t i = 0; (list)[i]; i++)                                         \
    n = add_table(t, n, bits, (list)[i]->name, (list)[i]->needs, (list)[i])

/* Those that run here, best first. */
static size_t tables_of(enum family family, uint32_t bits, struct table *t)
{
    size_t n = 0;

    switch (family) {
    case FAMILY_CBC:
        ADD_TABLES(bc_cbc_list);
        break;
    case FAMILY_GCM:
        ADD_TABLES(bc_gcm_list);
        break;
    case FAMILY_CHAPOLY:
        ADD_TABLES(bc_chapoly_list);
        break;
    case FAMILY_POLY1305:
        ADD_TABLES(bc_poly1305_list);
        n = add_table(t, n, bits, "c26", 0, &bench_poly1305_ops_c26);
    }
    return n;
}

static void start(struct kernel_job *j, const void *ops)
{
    switch (j->algorithm->family) {
    case FAMILY_CBC:
        bc_cbc_init(&j->cbc, ops);
        bc_cbc_set_key(&j->cbc, j->key, j->algorithm->keylen);
        break;
    case FAMILY_GCM:
        bc_gcm_init(&j->gcm, ops);
        bc_gcm_set_key(&j->gcm, j->key, j->algorithm->keylen);
        break;
    case FAMILY_CHAPOLY:
        bc_chapoly_init(&j->chapoly, ops);
        bc_chapoly_set_key(&j->chapoly, j->key);
        break;
    case FAMILY_POLY1305:
        bc_poly1305_init(&j->poly1305, ops);
    }
}

/* ---- Rows ---------------------------------------------------------------- */

struct row {
    const struct algorithm *algorithm;
    int encrypt;
    unsigned parts;
    size_t len;
    struct bench_series series[MAX_TABLES + 1]; /* the last one: EVP */
    double cycle;
};

static struct row *rows;
static size_t rows_count;

static void add_row(const struct algorithm *a, int encrypt, unsigned parts,
                    size_t len)
{
    struct row *r;

    rows = realloc(rows, (rows_count + 1) * sizeof(rows[0]));
    if (rows == NULL)
        bench_die("out of memory");
    r = &rows[rows_count++];
    memset(r, 0, sizeof(*r));
    r->algorithm = a;
    r->encrypt = encrypt;
    r->parts = parts;
    r->len = fitting_length(a, len);
}

static void add_rows(const struct bench_options *o)
{
    for (size_t i = 0; i < algorithms_count; i++) {
        const struct algorithm *a = &algorithms[i];
        int mac = a->family == FAMILY_POLY1305;

        if (!bench_wanted(o, a->name))
            continue;
        for (int encrypt = 1; encrypt >= mac; encrypt--) {
            add_row(a, encrypt, JOB_KEY, 0);
            add_row(a, encrypt, JOB_KEY | JOB_DATA, 16);
            for (size_t k = 0; k < bench_sizes_count; k++)
                add_row(a, encrypt, JOB_DATA, bench_sizes[k]);
        }
    }
}

/* The default provider's result: into ref for encryption, else in `in`, its
 * ciphertext being in ref; tag and keys are left in the job. */
static void default_result(const struct side *side, struct job *j,
                           const struct row *r, struct bench_buffers *b)
{
    struct job first;

    job_open(&first, side, r->algorithm, 1, JOB_DATA, r->len, b->ref, b->in);
    job_run(&first, 1);
    job_open(j, side, r->algorithm, r->encrypt, r->parts, r->len, b->out,
             r->encrypt ? b->in : b->ref);
    for (int i = 0; i < 2; i++) {
        /* One key: the kernels' jobs have but one. */
        j->set[i] = j->set[0];
        memcpy(j->set[i].tag, first.tag, 16);
    }
    if (first.failed)
        bench_die("%s: the default provider failed", r->algorithm->name);
    job_close(&first);
}

static void verify(struct kernel_job *k, const struct job *j,
                   const struct row *r, const struct table *t,
                   const struct bench_buffers *b)
{
    const uint8_t *want = r->encrypt ? b->ref : b->in;
    int mac = r->algorithm->family == FAMILY_POLY1305;

    if (!(r->parts & JOB_DATA))
        return;
    if (!mac)
        memset(b->out, 0xa5, r->len);
    run_kernel(k, 1);
    for (size_t i = 0; i < r->len && !mac; i++)
        if (b->out[i] != want[i])
            bench_die("%s %s, %s, %zu bytes: wrong from offset %zu",
                      r->algorithm->name,
                      direction_name(r->algorithm, r->encrypt), t->name, r->len,
                      i);
    if (r->algorithm->family != FAMILY_CBC &&
        memcmp(k->tag, j->set[0].tag, 16) != 0)
        bench_die("%s %s, %s, %zu bytes: wrong tag", r->algorithm->name,
                  direction_name(r->algorithm, r->encrypt), t->name, r->len);
}

/* Room for each table's job, and for shifting it. */
static _Alignas(64) uint8_t arena[MAX_TABLES][sizeof(struct kernel_job) + 4096];

static void run_row(const struct bench_options *o, const struct side *side,
                    struct row *r, struct bench_buffers *b, int round)
{
    struct table t[MAX_TABLES];
    struct bench_contender c[MAX_TABLES + 1];
    struct job theirs;
    size_t tables = tables_of(r->algorithm->family, bc_cpu(), t), n = 0;
    size_t which[MAX_TABLES + 1];

    default_result(side, &theirs, r, b);
    memset(c, 0, sizeof(c));
    for (size_t i = 0; i < tables; i++) {
        struct kernel_job *k =
            (struct kernel_job *)(void *)(arena[i] + bench_shift(round));

        memset(k, 0, sizeof(*k));
        k->algorithm = r->algorithm;
        k->encrypt = r->encrypt;
        k->parts = r->parts;
        k->len = r->len;
        k->out = b->out;
        k->in = theirs.set[0].in;
        memcpy(k->key, theirs.set[0].key, 32);
        memcpy(k->iv, theirs.set[0].iv, 16);
        start(k, t[i].ops);
        verify(k, &theirs, r, &t[i], b);
        /* The portable level would take half a second at 30 MB. */
        if (t[i].needs == 0 && r->len > (o->smoke ? 16384 : 1 << 20))
            continue;
        c[n].run = run_kernel;
        c[n].arg = k;
        which[n++] = i;
    }
    c[n].run = job_run;
    c[n].arg = &theirs;
    which[n++] = MAX_TABLES;
    for (size_t i = 0; i < n; i++)
        c[i].series = r->series[which[i]];
    bench_race(o, c, n, &r->cycle);
    for (size_t i = 0; i < n; i++)
        r->series[which[i]] = c[i].series;
    if (theirs.failed)
        bench_die("%s: the default provider failed", r->algorithm->name);
    job_close(&theirs);
}

/* ---- The table ----------------------------------------------------------- */

enum unit { NS, GBPS, CYCLES, SHARE };

static double figure(const struct row *r, size_t i, enum unit unit,
                     const struct bench_limits *l, uint32_t needs)
{
    double ns = bench_min(&r->series[i]);
    double cycles = ns > 0 && r->len ? ns / r->cycle / (double)r->len : 0;

    switch (unit) {
    case NS:
        return ns;
    case GBPS:
        return ns > 0 ? (double)r->len / ns : 0;
    case CYCLES:
        return cycles;
    default:
        return cycles > 0
                   ? 100 / cycles *
                         bench_limit(l, limit_job(r->algorithm, r->encrypt),
                                     r->algorithm->keylen, r->len, needs)
                   : 0;
    }
}

static void print_row(const struct row *r, const struct table *t, size_t tables,
                      const char *title, enum unit unit,
                      const struct bench_limits *l)
{
    static const char *const format[] = {" %9.1f", " %9.3f", " %9.3f",
                                         " %7.0f %%"};

    if (r->parts & JOB_KEY)
        printf("  %-22s", title);
    else
        printf("  %-12s%10s", title, bench_size_text(r->len));
    for (size_t i = 0; i <= tables; i++) {
        double x = i < tables      ? figure(r, i, unit, l, t[i].needs)
                   : unit < CYCLES ? figure(r, MAX_TABLES, unit, l, 0)
                                   : 0;

        if (x > 0)
            printf(format[unit], x); /* NOLINT: one of those above */
        else
            printf(" %9s", "");
    }
    printf("\n");
}

/* All rows of one algorithm and direction, which follow one another. */
static void print_group(const struct row *r, size_t n,
                        const struct bench_limits *l)
{
    struct table t[MAX_TABLES];
    size_t tables = tables_of(r->algorithm->family, bc_cpu(), t);
    size_t i;

    printf("\n%-24s", r->algorithm->name);
    for (i = 0; i < tables; i++)
        printf(" %9s", t[i].name);
    printf(" %9s\n  %-22s", "default",
           direction_name(r->algorithm, r->encrypt));
    for (i = 0; i < tables; i++)
        printf(" %9s", "");
    printf(" %9s\n", "(EVP)");
    print_row(&r[0], t, tables, "ns   new key", NS, l);
    print_row(&r[1], t, tables, "ns   new key, 16 B", NS, l);
    for (i = 2; i < n && r[i].len < 4096; i++)
        print_row(&r[i], t, tables, "ns", NS, l);
    for (i = 2; i < n; i++)
        if (r[i].len >= 1024)
            print_row(&r[i], t, tables, "GB/s", GBPS, l);
    for (i = 2; i < n; i++)
        if (r[i].len == 16384) {
            print_row(&r[i], t, tables, "cycles/byte", CYCLES, l);
            print_row(&r[i], t, tables, "of the limit", SHARE, l);
        }
}

static void print_csv(FILE *csv, const struct row *r,
                      const struct bench_limits *l)
{
    struct table t[MAX_TABLES];
    size_t tables = tables_of(r->algorithm->family, bc_cpu(), t);
    const char *job = !(r->parts & JOB_KEY)    ? "message"
                      : !(r->parts & JOB_DATA) ? "new key"
                                               : "new key + message";

    for (size_t i = 0; i <= tables; i++) {
        size_t s = i < tables ? i : MAX_TABLES;
        uint32_t needs = i < tables ? t[i].needs : 0;

        if (r->series[s].n == 0)
            continue;
        fprintf(csv, "%s,%s,%s,%zu,%s,%.2f,%.2f,%.4f,%.3f,%.4f,%.3f\n",
                r->algorithm->name, direction_name(r->algorithm, r->encrypt),
                job, r->len, i < tables ? t[i].name : "default through EVP",
                bench_min(&r->series[s]), bench_median(&r->series[s]),
                figure(r, s, GBPS, l, needs), 1 / r->cycle,
                figure(r, s, CYCLES, l, needs),
                figure(r, s, SHARE, l, needs) / 100);
    }
}

static void print_rows(const struct bench_limits *l, FILE *csv)
{
    size_t n;

    if (csv)
        fprintf(csv, "algorithm,direction,job,bytes,kernel,ns,median_ns,GBps,"
                     "core_GHz,cycles_per_byte,share_of_limit\n");
    for (size_t i = 0; i < rows_count; i += n) {
        n = 1;
        while (i + n < rows_count &&
               rows[i + n].algorithm == rows[i].algorithm &&
               rows[i + n].encrypt == rows[i].encrypt)
            n++;
        print_group(&rows[i], n, l);
    }
    for (size_t i = 0; csv && i < rows_count; i++)
        print_csv(csv, &rows[i], l);
}

/* ---- The run ------------------------------------------------------------- */

int main(int argc, char **argv)
{
    struct bench_options o;
    struct side side;
    struct bench_buffers buffers;
    struct bench_limits limits;
    size_t done = 0;
    int core, rounds;
    FILE *csv;

    bench_parse(&o, argc, argv,
                "Times every kernel that this processor can run.");
    core = bench_pin(o.core);
    csv = bench_csv(&o);
    side_open(&side, "default", NULL, NULL);
    bench_buffers_new(&buffers);
    bench_head_machine(csv, core);
    bench_head(csv, "openssl", "%s", OpenSSL_version(OPENSSL_VERSION));
    memset(&limits, 0, sizeof(limits));
    if (!o.smoke) {
        bench_limits_measure(&limits, bc_cpu(), buffers.out, buffers.in);
    }

    add_rows(&o);
    rounds = bench_rounds(&o);
    for (int round = 0; round < rounds; round++) {
        const struct algorithm *before = NULL;

        if (!o.smoke)
            bench_limits_copy(&limits, buffers.out, buffers.in);
        for (size_t i = 0; i < rows_count; i++) {
            if (o.smoke && rows[i].len > 1 << 20)
                continue;
            if (before != rows[i].algorithm)
                bench_progress("round %d of %d: kernels: %s ...", round + 1,
                               rounds, rows[i].algorithm->name);
            before = rows[i].algorithm;
            run_row(&o, &side, &rows[i], &buffers, round);
            done++;
        }
    }
    bench_progress(NULL);
    if (o.smoke) {
        printf("%zu rows verified\n", done);
    } else {
        bench_limits_print(&limits, csv);
        print_rows(&limits, csv);
    }

    for (size_t i = 0; i < rows_count; i++)
        for (size_t k = 0; k <= MAX_TABLES; k++)
            bench_series_free(&rows[i].series[k]);
    free(rows);
    bench_buffers_free(&buffers);
    side_close(&side);
    return csv && fclose(csv) != 0;
}
