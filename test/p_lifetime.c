/*
 * Loading, unloading, library contexts, fork and threads: the module goes on
 * where a program still holds an object of it, memory stays flat, and nothing
 * is shared that two threads could fight over.
 */
#define _GNU_SOURCE
#include "evp.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOADS 150
#define THREADS 8

static const char *under_test(void)
{
    const char *name = getenv("BC_PROVIDER");

    return name ? name : "bulkcipher";
}

/* Every algorithm does one message; 0 when one came out wrong. The answers
 * come from the default provider, once, before any thread starts. */
static const uint8_t key[32] = {1, 2, 3}, iv[16] = {4, 5};
static uint8_t plain[1500], wanted[CIPHERS][1600], wanted_tag[CIPHERS + 1][16];
static long wanted_len[CIPHERS];

static int work(const struct side *s)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    uint8_t out[1600], tag[16];
    int alg, good = ctx != NULL;

    for (alg = 0; alg < CIPHERS && good; alg++) {
        struct message m = {.alg = alg,
                            .enc = 1,
                            .key = key,
                            .iv = iv,
                            .iv_len = algorithms[alg].iv_len,
                            .aad = plain,
                            .aad_len = algorithms[alg].mode == CBC ? 0 : 13,
                            .in = plain,
                            .len = sizeof(plain),
                            .tag = tag,
                            .tag_len = 16};

        good = message_run(s, ctx, &m, out) == wanted_len[alg] &&
               memcmp(out, wanted[alg], (size_t)wanted_len[alg]) == 0 &&
               (algorithms[alg].mode == CBC ||
                memcmp(tag, wanted_tag[alg], 16) == 0);
    }
    EVP_CIPHER_CTX_free(ctx);
    return good && poly1305_run(s, key, plain, sizeof(plain), tag) &&
           memcmp(tag, wanted_tag[CIPHERS], 16) == 0;
}

static void make_answers(void)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int alg;

    rnd_bytes(plain, sizeof(plain));
    for (alg = 0; alg < CIPHERS; alg++) {
        struct message m = {.alg = alg,
                            .enc = 1,
                            .key = key,
                            .iv = iv,
                            .iv_len = algorithms[alg].iv_len,
                            .aad = plain,
                            .aad_len = algorithms[alg].mode == CBC ? 0 : 13,
                            .in = plain,
                            .len = sizeof(plain),
                            .tag = wanted_tag[alg],
                            .tag_len = 16};

        wanted_len[alg] = message_run(&theirs, ctx, &m, wanted[alg]);
        CHECK(wanted_len[alg] > 0);
    }
    EVP_CIPHER_CTX_free(ctx);
    CHECK(
        poly1305_run(&theirs, key, plain, sizeof(plain), wanted_tag[CIPHERS]));
}

/* ---- Load and unload ------------------------------------------------------
 */

/* Blocks that libcrypto's allocator, which the module uses, has given out. */
static atomic_long blocks;

static void *count_malloc(size_t n, const char *file, int line)
{
    void *p = malloc(n);

    (void)file;
    (void)line;
    blocks += p != NULL;
    return p;
}

static void *count_realloc(void *p, size_t n, const char *file, int line)
{
    void *q = realloc(p, n);

    (void)file;
    (void)line;
    blocks += p == NULL && q != NULL;
    return q;
}

static void count_free(void *p, const char *file, int line)
{
    (void)file;
    (void)line;
    blocks -= p != NULL;
    free(p);
}

static void check_loads(void)
{
    long before = 0;
    int i, grown = 0;

    for (i = 0; i < LOADS; i++) {
        struct side s;

        check_case("load %d", i);
        if (!CHECK(side_open(&s, under_test())))
            break;
        CHECK(work(&s));
        side_close(&s);
        grown += blocks > before;
        before = blocks;
    }
    /* libcrypto's own caches may grow now and then. */
    check_case("%d of %d loads left blocks behind", grown, LOADS);
    CHECK(grown < LOADS / 10);
}

/* Unloaded and freed in four orders, in the middle of a message. */
static void check_unload(int order)
{
    struct side s;
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    EVP_MAC_CTX *mac;
    uint8_t out[64], tag[16];
    size_t size;
    int n;

    check_case("unload order %d", order);
    if (!CHECK(side_open(&s, under_test())))
        return;
    mac = EVP_MAC_CTX_new(s.poly1305);
    CHECK(EVP_EncryptInit_ex(ctx, s.cipher[5], NULL, key, iv));
    CHECK(EVP_EncryptUpdate(ctx, out, &n, plain, 7));
    CHECK(EVP_MAC_init(mac, key, 32, NULL));
    CHECK(EVP_MAC_update(mac, plain, 7));
    switch (order) {
    case 0: /* provider, then on with the message, then the contexts */
        OSSL_PROVIDER_unload(s.provider);
        s.provider = NULL;
        CHECK(EVP_EncryptUpdate(ctx, out, &n, plain, 50));
        CHECK(EVP_EncryptFinal_ex(ctx, out, &n));
        CHECK(EVP_MAC_update(mac, plain, 50));
        CHECK(EVP_MAC_final(mac, tag, &size, 16));
        EVP_CIPHER_CTX_free(ctx);
        EVP_MAC_CTX_free(mac);
        break;
    case 1: /* methods, provider, contexts */
        for (n = 0; n < CIPHERS; n++) {
            EVP_CIPHER_free(s.cipher[n]);
            s.cipher[n] = NULL;
        }
        EVP_MAC_free(s.poly1305);
        s.poly1305 = NULL;
        OSSL_PROVIDER_unload(s.provider);
        s.provider = NULL;
        CHECK(EVP_EncryptUpdate(ctx, out, &n, plain, 50));
        CHECK(EVP_EncryptInit_ex(ctx, NULL, NULL, key, iv));
        CHECK(EVP_EncryptUpdate(ctx, out, &n, plain, 50));
        EVP_CIPHER_CTX_free(ctx);
        EVP_MAC_CTX_free(mac);
        break;
    case 2: /* contexts after everything else, the library context too */
        side_close(&s);
        EVP_CIPHER_CTX_free(ctx);
        EVP_MAC_CTX_free(mac);
        return;
    default: /* a copy made after the unload */
        OSSL_PROVIDER_unload(s.provider);
        s.provider = NULL;
        {
            EVP_CIPHER_CTX *copy = EVP_CIPHER_CTX_new();
            EVP_MAC_CTX *mac_copy = EVP_MAC_CTX_dup(mac);

            CHECK(EVP_CIPHER_CTX_copy(copy, ctx));
            EVP_CIPHER_CTX_free(ctx);
            EVP_MAC_CTX_free(mac);
            CHECK(EVP_EncryptUpdate(copy, out, &n, plain, 50));
            CHECK(EVP_MAC_final(mac_copy, tag, &size, 16));
            EVP_CIPHER_CTX_free(copy);
            EVP_MAC_CTX_free(mac_copy);
        }
        break;
    }
    side_close(&s);
}

/* The module in two library contexts at once; one goes away. */
static void check_two(void)
{
    struct side a, b;

    check_case("two library contexts");
    if (!CHECK(side_open(&a, under_test()) && side_open(&b, under_test())))
        return;
    CHECK(work(&a) && work(&b));
    side_close(&a);
    CHECK(work(&b));
    side_close(&b);
}

/* Loaded twice, unloaded once. */
static void check_twice(void)
{
    struct side s;
    OSSL_PROVIDER *again;

    check_case("loaded twice in one context");
    if (!CHECK(side_open(&s, under_test())))
        return;
    again = OSSL_PROVIDER_load(s.libctx, under_test());
    CHECK(again && OSSL_PROVIDER_unload(again));
    CHECK(work(&s));
    side_close(&s);
}

/* ---- fork -----------------------------------------------------------------
 */

static void check_fork(void)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    struct fixture f;
    uint8_t want[600], tag[16];
    int n, tail, status = -1;
    pid_t child;

    fixture_make(&f, 5, 1, 10, 500);
    message_run(&theirs, ctx, &f.m, want);
    memcpy(tag, f.tag, 16);
    check_case("fork in the middle of a message");
    CHECK(message_init(&ours, ctx, &f.m));
    CHECK(EVP_EncryptUpdate(ctx, NULL, &n, f.aad, 10));
    CHECK(EVP_EncryptUpdate(ctx, f.out, &n, f.in, 137));
    child = fork();
    if (child == 0) {
        int good = EVP_EncryptUpdate(ctx, f.out + 137, &n, f.in + 137, 363) &&
                   message_final(ctx, &f.m, f.out, &tail) &&
                   memcmp(f.out, want, 500) == 0 &&
                   memcmp(f.tag, tag, 16) == 0 && work(&ours);
        struct side s;

        good = good && side_open(&s, under_test()) && work(&s);
        _exit(good ? 0 : 1);
    }
    CHECK(child > 0);
    CHECK(EVP_EncryptUpdate(ctx, f.out + 137, &n, f.in + 137, 363));
    CHECK(message_final(ctx, &f.m, f.out, &tail));
    CHECK_MEM(f.out, want, 500);
    CHECK_MEM(f.tag, tag, 16);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EVP_CIPHER_CTX_free(ctx);
    fixture_free(&f);
}

/* Random IVs of parent and child are not the same. */
static void check_fork_random(void)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    uint8_t in_child[12] = {0}, in_parent[12] = {0}, out[16];
    int n, ends[2];
    pid_t child;

    check_case("random IVs after fork");
    if (!CHECK(pipe(ends) == 0))
        return;
    child = fork();
    CHECK(child >= 0);
    EVP_EncryptInit_ex(ctx, ours.cipher[5], NULL, key, NULL);
    EVP_EncryptUpdate(ctx, out, &n, plain, 16);
    if (child == 0) {
        EVP_CIPHER_CTX_get_updated_iv(ctx, in_child, 12);
        _exit(write(ends[1], in_child, 12) != 12);
    }
    CHECK(EVP_CIPHER_CTX_get_updated_iv(ctx, in_parent, 12));
    CHECK(read(ends[0], in_child, 12) == 12);
    CHECK(memcmp(in_child, in_parent, 12) != 0);
    waitpid(child, NULL, 0);
    close(ends[0]);
    close(ends[1]);
    EVP_CIPHER_CTX_free(ctx);
}

/* ---- Threads --------------------------------------------------------------
 */

/* Shared methods, own contexts. */
static void *use(void *unused)
{
    int i, rounds = quick ? 100 : 600;
    long bad = 0;

    (void)unused;
    for (i = 0; i < rounds; i++)
        bad += !work(&ours);
    return (void *)bad;
}

/* Own library contexts, loads and fetches. */
static void *load_and_use(void *unused)
{
    long bad = 0;
    int i;

    (void)unused;
    for (i = 0; i < (quick ? 5 : 20); i++) {
        struct side s;

        bad += !side_open(&s, under_test()) || !work(&s);
        side_close(&s);
    }
    return (void *)bad;
}

/* Fetches from the shared library context while others do. */
static void *fetch(void *unused)
{
    long bad = 0;
    int i;

    (void)unused;
    for (i = 0; i < (quick ? 50 : 300); i++) {
        EVP_CIPHER *c = EVP_CIPHER_fetch(ours.libctx, "AES-256-GCM", NULL);
        EVP_MAC *m = EVP_MAC_fetch(ours.libctx, "POLY1305", NULL);
        OSSL_PROVIDER *p = OSSL_PROVIDER_load(ours.libctx, under_test());

        bad += !c || !m || !p || !OSSL_PROVIDER_unload(p);
        EVP_CIPHER_free(c);
        EVP_MAC_free(m);
    }
    return (void *)bad;
}

/* One context handed from thread to thread, freed by another than made it. */
static void *finish_and_free(void *ctx)
{
    uint8_t out[64];
    int n;
    long bad = !EVP_EncryptUpdate(ctx, out, &n, plain, 40) ||
               !EVP_EncryptFinal_ex(ctx, out, &n);

    EVP_CIPHER_CTX_free(ctx);
    return (void *)bad;
}

static void check_threads(void)
{
    static void *(*const jobs[THREADS])(void *) = {
        use, use, use, use, load_and_use, load_and_use, fetch, fetch};
    pthread_t threads[THREADS];
    void *bad;
    int i;

    check_case("threads");
    for (i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, jobs[i], NULL) == 0);
    for (i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], &bad) == 0);
        check_case("thread %d: wrong results", i);
        CHECK_INT((long)bad, 0);
    }
    check_case("context handed to another thread");
    for (i = 0; i < 50; i++) {
        EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
        uint8_t out[16];
        int n;

        CHECK(EVP_EncryptInit_ex(ctx, ours.cipher[i % CIPHERS], NULL, key, iv));
        CHECK(EVP_EncryptUpdate(ctx, out, &n, plain, 5));
        CHECK(pthread_create(&threads[0], NULL, finish_and_free, ctx) == 0);
        CHECK(pthread_join(threads[0], &bad) == 0);
        CHECK_INT((long)bad, 0);
    }
}

int main(void)
{
    int order;

    CHECK(CRYPTO_set_mem_functions(count_malloc, count_realloc, count_free));
    evp_open();
    make_answers();
    CHECK(work(&ours));
    check_loads();
    for (order = 0; order < 4; order++)
        check_unload(order);
    check_two();
    check_twice();
    check_fork();
    check_fork_random();
    check_threads();
    evp_close();
    return check_done();
}
