/*
 * TLS records through libssl: a client and a server in one process, joined by
 * a pair of memory BIOs, the module against the default provider in library
 * contexts of their own. One operation is one record: SSL_write() here,
 * SSL_read() there, so encryption, decryption and libssl's own part.
 *
 * What is received is compared with what was sent before anything is timed.
 */
#include <string.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "bench.h"
#include "evp.h"

enum { OURS, DEFAULT, SIDES };

struct suite {
    int version;
    const char *name;
    const char *cipher; /* that protects its records */
};

/* The CBC suites negotiate encrypt-then-MAC, as they do between any two
 * OpenSSLs since 1.1.0; only then libssl asks for plain AES-CBC. */
static const struct suite suites[] = {
    {TLS1_3_VERSION, "TLS_AES_128_GCM_SHA256", "AES-128-GCM"},
    {TLS1_3_VERSION, "TLS_AES_256_GCM_SHA384", "AES-256-GCM"},
    {TLS1_3_VERSION, "TLS_CHACHA20_POLY1305_SHA256", "ChaCha20-Poly1305"},
    {TLS1_2_VERSION, "ECDHE-ECDSA-AES128-GCM-SHA256", "AES-128-GCM"},
    {TLS1_2_VERSION, "ECDHE-ECDSA-AES256-GCM-SHA384", "AES-256-GCM"},
    {TLS1_2_VERSION, "ECDHE-ECDSA-CHACHA20-POLY1305", "ChaCha20-Poly1305"},
    {TLS1_2_VERSION, "ECDHE-ECDSA-AES128-SHA256", "AES-128-CBC"},
    {TLS1_2_VERSION, "ECDHE-ECDSA-AES256-SHA384", "AES-256-CBC"},
};
#define SUITES (sizeof(suites) / sizeof(suites[0]))

static const size_t lengths[] = {1024, 16384};
#define LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

static void die(const char *side, const struct suite *s, const char *what)
{
    bench_progress(NULL);
    ERR_print_errors_fp(stderr);
    bench_die("%s, %s: %s", side, s->name, what);
}

/* ---- One connection ------------------------------------------------------ */

struct connection {
    const char *side;
    const struct suite *suite;
    SSL_CTX *client_ctx, *server_ctx;
    SSL *client, *server;
    size_t len;
    const uint8_t *in;
    uint8_t *out;
    int failed;
};

/* A self-signed certificate for a fresh key; nobody checks it. */
static void make_identity(const struct side *side, SSL_CTX *ctx,
                          const struct suite *s)
{
    EVP_PKEY *key = EVP_PKEY_Q_keygen(side->libctx, NULL, "EC", "P-256");
    X509 *x = X509_new_ex(side->libctx, NULL);
    int ok =
        key && x && X509_set_version(x, X509_VERSION_3) &&
        ASN1_INTEGER_set(X509_get_serialNumber(x), 1) &&
        X509_gmtime_adj(X509_getm_notBefore(x), 0) &&
        X509_gmtime_adj(X509_getm_notAfter(x), 86400) &&
        X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
                                   (const unsigned char *)"bench", -1, -1, 0) &&
        X509_set_issuer_name(x, X509_get_subject_name(x)) &&
        X509_set_pubkey(x, key) && X509_sign(x, key, EVP_sha256()) > 0 &&
        SSL_CTX_use_certificate(ctx, x) > 0 &&
        SSL_CTX_use_PrivateKey(ctx, key) > 0;

    X509_free(x);
    EVP_PKEY_free(key);
    if (!ok)
        die(side->name, s, "no certificate");
}

static SSL_CTX *new_ctx(const struct side *side, const char *properties,
                        const SSL_METHOD *method, const struct suite *s)
{
    SSL_CTX *ctx = SSL_CTX_new_ex(side->libctx, properties, method);
    int ok =
        ctx && SSL_CTX_set_min_proto_version(ctx, s->version) &&
        SSL_CTX_set_max_proto_version(ctx, s->version) &&
        (s->version == TLS1_3_VERSION ? SSL_CTX_set_ciphersuites(ctx, s->name)
                                      : SSL_CTX_set_cipher_list(ctx, s->name));

    if (!ok)
        die(side->name, s, "libssl refuses the suite");
    return ctx;
}

/* libssl fetches by name and property query: see who answers. */
static void check_provider(const struct side *side, const char *properties,
                           const struct suite *s)
{
    EVP_CIPHER *c = EVP_CIPHER_fetch(side->libctx, s->cipher, properties);
    const char *name =
        c ? OSSL_PROVIDER_get0_name(EVP_CIPHER_get0_provider(c)) : "nobody";

    if (strcmp(name, side->name) != 0)
        die(side->name, s, "another provider serves this cipher");
    EVP_CIPHER_free(c);
}

static void connect_both(struct connection *c, const struct side *side,
                         const char *properties, const struct suite *s)
{
    BIO *near = NULL, *far = NULL;
    int done = 0;

    memset(c, 0, sizeof(*c));
    check_provider(side, properties, s);
    c->side = side->name;
    c->suite = s;
    c->client_ctx = new_ctx(side, properties, TLS_client_method(), s);
    c->server_ctx = new_ctx(side, properties, TLS_server_method(), s);
    make_identity(side, c->server_ctx, s);
    c->client = SSL_new(c->client_ctx);
    c->server = SSL_new(c->server_ctx);
    if (!c->client || !c->server ||
        !BIO_new_bio_pair(&near, 1 << 16, &far, 1 << 16))
        die(side->name, s, "out of memory");
    SSL_set_bio(c->client, near, near);
    SSL_set_bio(c->server, far, far);
    SSL_set_connect_state(c->client);
    SSL_set_accept_state(c->server);
    for (int i = 0; i < 10 && !done; i++) {
        int here = SSL_do_handshake(c->client);
        int there = SSL_do_handshake(c->server);

        done = here == 1 && there == 1;
    }
    if (!done)
        die(side->name, s, "the handshake failed");
    if (strcmp(SSL_get_cipher_name(c->client), s->name) != 0)
        die(side->name, s, "another suite was agreed on");
}

static void disconnect(struct connection *c)
{
    SSL_free(c->client);
    SSL_free(c->server);
    SSL_CTX_free(c->client_ctx);
    SSL_CTX_free(c->server_ctx);
}

static void run_records(void *arg, size_t reps)
{
    struct connection *c = arg;
    int len = (int)c->len;

    while (reps--) {
        c->failed |= SSL_write(c->client, c->in, len) != len;
        c->failed |= SSL_read(c->server, c->out, len) != len;
    }
}

/* ---- Rows ---------------------------------------------------------------- */

static struct row {
    struct bench_series series[SIDES];
    double cycle;
} rows[SUITES][LENGTHS];

static void run_suite(const struct bench_options *o, const struct side *sides,
                      const char *const *properties, size_t suite,
                      const struct bench_buffers *b)
{
    const struct suite *s = &suites[suite];
    struct connection c[SIDES];

    for (int i = 0; i < SIDES; i++)
        connect_both(&c[i], &sides[i], properties[i], s);
    for (size_t k = 0; k < LENGTHS; k++) {
        struct row *r = &rows[suite][k];
        struct bench_contender racers[SIDES];

        memset(racers, 0, sizeof(racers));
        for (int i = 0; i < SIDES; i++) {
            c[i].len = lengths[k];
            c[i].in = b->in;
            c[i].out = b->out;
            memset(b->out, 0, lengths[k]);
            run_records(&c[i], 1);
            if (c[i].failed || memcmp(b->in, b->out, lengths[k]) != 0)
                die(sides[i].name, s, "what arrived is not what was sent");
            racers[i].run = run_records;
            racers[i].arg = &c[i];
            racers[i].series = r->series[i];
        }
        bench_race(o, racers, SIDES, &r->cycle);
        for (int i = 0; i < SIDES; i++) {
            r->series[i] = racers[i].series;
            if (c[i].failed)
                die(sides[i].name, s, "failed while it was timed");
        }
    }
    for (int i = 0; i < SIDES; i++)
        disconnect(&c[i]);
}

static void print_rows(const struct bench_options *o, FILE *csv)
{
    printf("\nOne TLS record from SSL_write() to SSL_read()\n"
           "%-8s %-30s %6s %9s %10s %6s %8s %9s %9s\n",
           "", "", "bytes", "ours ns", "default ns", "ratio", "(median)",
           "ours GB/s", "default");
    if (csv)
        fprintf(csv, "version,suite,bytes,ours_ns,ours_median_ns,default_ns,"
                     "default_median_ns,ratio,median_ratio,ours_GBps,"
                     "default_GBps\n");
    for (size_t i = 0; i < SUITES; i++) {
        const struct suite *s = &suites[i];
        const char *version =
            s->version == TLS1_3_VERSION ? "TLS 1.3" : "TLS 1.2";

        if (!bench_wanted(o, s->name))
            continue;
        for (size_t k = 0; k < LENGTHS; k++) {
            const struct bench_series *r = rows[i][k].series;
            double ours = bench_min(&r[OURS]), theirs = bench_min(&r[DEFAULT]);
            double middle = bench_median_ratio(&r[DEFAULT], &r[OURS]);
            double len = (double)lengths[k];

            printf("%-8s %-30s %6zu %9.1f %10.1f %6.2f %8.2f %9.3f %9.3f\n",
                   version, s->name, lengths[k], ours, theirs, theirs / ours,
                   middle, len / ours, len / theirs);
            if (csv)
                fprintf(csv,
                        "%s,%s,%zu,%.2f,%.2f,%.2f,%.2f,%.3f,%.3f,%.4f,"
                        "%.4f\n",
                        version, s->name, lengths[k], ours,
                        bench_median(&r[OURS]), theirs,
                        bench_median(&r[DEFAULT]), theirs / ours, middle,
                        len / ours, len / theirs);
        }
    }
}

/* ---- The run ------------------------------------------------------------- */

int main(int argc, char **argv)
{
    /* Ours gives the bulk ciphers, the default provider all the rest. */
    static const char *const properties[SIDES] = {"?provider=bulkcipher", NULL};
    struct bench_options o;
    struct side sides[SIDES];
    struct bench_buffers buffers;
    OSSL_PROVIDER *rest;
    int core, rounds;
    FILE *csv;

    bench_parse(&o, argc, argv,
                "Times TLS records, the module against the default provider.");
    core = bench_pin(o.core);
    csv = bench_csv(&o);
    side_open(&sides[OURS], "bulkcipher",
              o.modules ? o.modules : BENCH_MODULE_DIR, o.isa);
    rest = OSSL_PROVIDER_load(sides[OURS].libctx, "default");
    side_open(&sides[DEFAULT], "default", NULL, NULL);
    bench_buffers_new(&buffers);
    bench_head_machine(csv, core);
    bench_head(csv, "openssl", "%s", OpenSSL_version(OPENSSL_VERSION));
    bench_head(csv, "module", "%s", side_buildinfo(&sides[OURS]));

    rounds = bench_rounds(&o);
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < SUITES; i++) {
            if (!bench_wanted(&o, suites[i].name))
                continue;
            bench_progress("round %d of %d: TLS: %s ...", round + 1, rounds,
                           suites[i].name);
            run_suite(&o, sides, properties, i, &buffers);
        }
    }
    bench_progress(NULL);
    if (o.smoke)
        printf("%zu suites verified\n", SUITES);
    else
        print_rows(&o, csv);

    for (size_t i = 0; i < SUITES * LENGTHS; i++)
        for (int k = 0; k < SIDES; k++)
            bench_series_free(&rows[i / LENGTHS][i % LENGTHS].series[k]);
    bench_buffers_free(&buffers);
    OSSL_PROVIDER_unload(rest);
    for (int i = 0; i < SIDES; i++)
        side_close(&sides[i]);
    return csv && fclose(csv) != 0;
}
