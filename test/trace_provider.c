/*
 * A provider that stands between a program and the module, for tests only: it
 * hands every call on and counts contexts and bytes. A TLS server whose module
 * does not load goes on with the default provider and says nothing; equal
 * hashes prove the connection, these numbers prove who did the work.
 *
 * Its section in openssl.cnf bears the module's name, so that everything else
 * is as without it:
 *
 *     [bulkcipher]
 *     activate = 1
 *     module = .../bulkcipher_trace.so
 *     target = .../bulkcipher.so
 *     counts = .../counts             (printed by trace_counts)
 *
 * A context of ours is a pointer to the module's and the number of the
 * algorithm. The functions that get no context must know the algorithm
 * themselves: one copy for each, made by a macro.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <openssl/params.h>

#include "trace_counts.h"

#define MAX_ID 32 /* function numbers of a cipher or a MAC */

typedef void (*any_fn)(void);

/* One algorithm: the module's functions, by number, and ours. */
static struct algorithm {
    any_fn real[MAX_ID];
    OSSL_DISPATCH ours[MAX_ID];
    struct trace_row *row;
} algorithms[TRACE_ROWS];

struct context {
    void *real;
    struct algorithm *algorithm;
    int encrypting;
};

/* The same for every library context of the process. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static OSSL_provider_init_fn *target_init;
static struct trace_row *rows;
static OSSL_FUNC_provider_query_operation_fn *target_query;
static OSSL_ALGORITHM ciphers[TRACE_ROWS + 1], macs[TRACE_ROWS + 1];
static size_t used; /* of algorithms */

#define REAL(c, type, id) ((type *)(c)->algorithm->real[id])

/* ---- What ciphers and MACs share ----------------------------------------- */

static struct context *wrap(void *real, struct algorithm *a)
{
    struct context *c = real ? calloc(1, sizeof(*c)) : NULL;

    if (!c)
        return NULL;
    c->real = real;
    c->algorithm = a;
    atomic_fetch_add(&a->row->contexts, 1);
    return c;
}

static void *new_context(int i, void *provctx)
{
    any_fn real = algorithms[i].real[OSSL_FUNC_CIPHER_NEWCTX];

    return wrap(((OSSL_FUNC_cipher_newctx_fn *)real)(provctx), &algorithms[i]);
}

/* The list of parameters of a context, or of any context if there is none. */
static const OSSL_PARAM *list_params(int i, int id, void *vctx, void *provctx)
{
    struct context *c = vctx;
    any_fn real = algorithms[i].real[id];

    return ((OSSL_FUNC_cipher_gettable_ctx_params_fn *)real)(c ? c->real : NULL,
                                                             provctx);
}

/* Both kinds have newctx as number 1 and take the same arguments where the
 * macro below makes one text serve for both. */
_Static_assert(OSSL_FUNC_CIPHER_NEWCTX == OSSL_FUNC_MAC_NEWCTX, "numbers");

#define PER_ALGORITHM(i)                                                       \
    static void *newctx_##i(void *provctx)                                     \
    {                                                                          \
        return new_context(i, provctx);                                        \
    }                                                                          \
    static const OSSL_PARAM *cipher_gettable_##i(void *c, void *provctx)       \
    {                                                                          \
        return list_params(i, OSSL_FUNC_CIPHER_GETTABLE_CTX_PARAMS, c,         \
                           provctx);                                           \
    }                                                                          \
    static const OSSL_PARAM *cipher_settable_##i(void *c, void *provctx)       \
    {                                                                          \
        return list_params(i, OSSL_FUNC_CIPHER_SETTABLE_CTX_PARAMS, c,         \
                           provctx);                                           \
    }                                                                          \
    static const OSSL_PARAM *mac_gettable_##i(void *c, void *provctx)          \
    {                                                                          \
        return list_params(i, OSSL_FUNC_MAC_GETTABLE_CTX_PARAMS, c, provctx);  \
    }                                                                          \
    static const OSSL_PARAM *mac_settable_##i(void *c, void *provctx)          \
    {                                                                          \
        return list_params(i, OSSL_FUNC_MAC_SETTABLE_CTX_PARAMS, c, provctx);  \
    }
#define ROW(i)                                                                 \
    {                                                                          \
        (any_fn) newctx_##i, (any_fn)cipher_gettable_##i,                      \
            (any_fn)cipher_settable_##i, (any_fn)mac_gettable_##i,             \
            (any_fn)mac_settable_##i                                           \
    }
#define FOR_ALL(f, sep)                                                        \
    f(0) sep f(1) sep f(2) sep f(3) sep f(4) sep f(5) sep f(6) sep f(7)        \
        sep f(8) sep f(9) sep f(10) sep f(11) sep f(12) sep f(13) sep f(14)    \
            sep f(15)
#define COMMA ,

FOR_ALL(PER_ALGORITHM, )

static const struct {
    any_fn newctx, cipher_gettable, cipher_settable, mac_gettable, mac_settable;
} own[] = {FOR_ALL(ROW, COMMA)};

#define MAX_ALGORITHMS (sizeof(own) / sizeof(*own))

/* ---- Ciphers ------------------------------------------------------------- */

static void cipher_freectx(void *vctx)
{
    struct context *c = vctx;

    if (!c)
        return;
    REAL(c, OSSL_FUNC_cipher_freectx_fn, OSSL_FUNC_CIPHER_FREECTX)(c->real);
    free(c);
}

static void *cipher_dupctx(void *vctx)
{
    struct context *c = vctx, *copy;

    copy = wrap(
        REAL(c, OSSL_FUNC_cipher_dupctx_fn, OSSL_FUNC_CIPHER_DUPCTX)(c->real),
        c->algorithm);
    if (copy)
        copy->encrypting = c->encrypting;
    return copy;
}

static int cipher_encrypt_init(void *vctx, const unsigned char *key,
                               size_t keylen, const unsigned char *iv,
                               size_t ivlen, const OSSL_PARAM params[])
{
    struct context *c = vctx;

    c->encrypting = 1;
    return REAL(c, OSSL_FUNC_cipher_encrypt_init_fn,
                OSSL_FUNC_CIPHER_ENCRYPT_INIT)(c->real, key, keylen, iv, ivlen,
                                               params);
}

static int cipher_decrypt_init(void *vctx, const unsigned char *key,
                               size_t keylen, const unsigned char *iv,
                               size_t ivlen, const OSSL_PARAM params[])
{
    struct context *c = vctx;

    c->encrypting = 0;
    return REAL(c, OSSL_FUNC_cipher_decrypt_init_fn,
                OSSL_FUNC_CIPHER_DECRYPT_INIT)(c->real, key, keylen, iv, ivlen,
                                               params);
}

/* AAD (out == NULL) is not counted, nor is what failed. */
static int count(const struct context *c, int ok, const void *out, size_t inl)
{
    struct trace_row *row = c->algorithm->row;

    if (ok && out)
        atomic_fetch_add(c->encrypting ? &row->encrypted : &row->decrypted,
                         inl);
    return ok;
}

static int cipher_update(void *vctx, unsigned char *out, size_t *outl,
                         size_t outsize, const unsigned char *in, size_t inl)
{
    struct context *c = vctx;
    int ok = REAL(c, OSSL_FUNC_cipher_update_fn, OSSL_FUNC_CIPHER_UPDATE)(
        c->real, out, outl, outsize, in, inl);

    return count(c, ok, out, inl);
}

static int cipher_final(void *vctx, unsigned char *out, size_t *outl,
                        size_t outsize)
{
    struct context *c = vctx;

    return REAL(c, OSSL_FUNC_cipher_final_fn,
                OSSL_FUNC_CIPHER_FINAL)(c->real, out, outl, outsize);
}

static int cipher_cipher(void *vctx, unsigned char *out, size_t *outl,
                         size_t outsize, const unsigned char *in, size_t inl)
{
    struct context *c = vctx;
    int ok = REAL(c, OSSL_FUNC_cipher_cipher_fn, OSSL_FUNC_CIPHER_CIPHER)(
        c->real, out, outl, outsize, in, inl);

    return count(c, ok, in ? out : NULL, inl);
}

static int cipher_get_ctx_params(void *vctx, OSSL_PARAM params[])
{
    struct context *c = vctx;

    return REAL(c, OSSL_FUNC_cipher_get_ctx_params_fn,
                OSSL_FUNC_CIPHER_GET_CTX_PARAMS)(c->real, params);
}

static int cipher_set_ctx_params(void *vctx, const OSSL_PARAM params[])
{
    struct context *c = vctx;

    return REAL(c, OSSL_FUNC_cipher_set_ctx_params_fn,
                OSSL_FUNC_CIPHER_SET_CTX_PARAMS)(c->real, params);
}

/* Our function for one of the module's; NULL for one that this file does not
 * know and which is left out. */
static any_fn cipher_function(size_t i, int id, any_fn real)
{
    switch (id) {
    case OSSL_FUNC_CIPHER_NEWCTX:
        return own[i].newctx;
    case OSSL_FUNC_CIPHER_FREECTX:
        return (any_fn)cipher_freectx;
    case OSSL_FUNC_CIPHER_DUPCTX:
        return (any_fn)cipher_dupctx;
    case OSSL_FUNC_CIPHER_ENCRYPT_INIT:
        return (any_fn)cipher_encrypt_init;
    case OSSL_FUNC_CIPHER_DECRYPT_INIT:
        return (any_fn)cipher_decrypt_init;
    case OSSL_FUNC_CIPHER_UPDATE:
        return (any_fn)cipher_update;
    case OSSL_FUNC_CIPHER_FINAL:
        return (any_fn)cipher_final;
    case OSSL_FUNC_CIPHER_CIPHER:
        return (any_fn)cipher_cipher;
    case OSSL_FUNC_CIPHER_GET_CTX_PARAMS:
        return (any_fn)cipher_get_ctx_params;
    case OSSL_FUNC_CIPHER_SET_CTX_PARAMS:
        return (any_fn)cipher_set_ctx_params;
    case OSSL_FUNC_CIPHER_GETTABLE_CTX_PARAMS:
        return own[i].cipher_gettable;
    case OSSL_FUNC_CIPHER_SETTABLE_CTX_PARAMS:
        return own[i].cipher_settable;
    case OSSL_FUNC_CIPHER_GET_PARAMS: /* no context: nothing to unwrap */
    case OSSL_FUNC_CIPHER_GETTABLE_PARAMS:
        return real;
    default:
        return NULL;
    }
}

/* ---- MACs ---------------------------------------------------------------- */

static void mac_freectx(void *vctx)
{
    struct context *c = vctx;

    if (!c)
        return;
    REAL(c, OSSL_FUNC_mac_freectx_fn, OSSL_FUNC_MAC_FREECTX)(c->real);
    free(c);
}

static void *mac_dupctx(void *vctx)
{
    struct context *c = vctx;

    return wrap(REAL(c, OSSL_FUNC_mac_dupctx_fn, OSSL_FUNC_MAC_DUPCTX)(c->real),
                c->algorithm);
}

static int mac_init(void *vctx, const unsigned char *key, size_t keylen,
                    const OSSL_PARAM params[])
{
    struct context *c = vctx;

    c->encrypting = 1;
    return REAL(c, OSSL_FUNC_mac_init_fn, OSSL_FUNC_MAC_INIT)(c->real, key,
                                                              keylen, params);
}

static int mac_update(void *vctx, const unsigned char *in, size_t inl)
{
    struct context *c = vctx;
    int ok = REAL(c, OSSL_FUNC_mac_update_fn, OSSL_FUNC_MAC_UPDATE)(c->real, in,
                                                                    inl);

    return count(c, ok, c, inl);
}

static int mac_final(void *vctx, unsigned char *out, size_t *outl,
                     size_t outsize)
{
    struct context *c = vctx;

    return REAL(c, OSSL_FUNC_mac_final_fn, OSSL_FUNC_MAC_FINAL)(c->real, out,
                                                                outl, outsize);
}

static int mac_get_ctx_params(void *vctx, OSSL_PARAM params[])
{
    struct context *c = vctx;

    return REAL(c, OSSL_FUNC_mac_get_ctx_params_fn,
                OSSL_FUNC_MAC_GET_CTX_PARAMS)(c->real, params);
}

static int mac_set_ctx_params(void *vctx, const OSSL_PARAM params[])
{
    struct context *c = vctx;

    return REAL(c, OSSL_FUNC_mac_set_ctx_params_fn,
                OSSL_FUNC_MAC_SET_CTX_PARAMS)(c->real, params);
}

static any_fn mac_function(size_t i, int id, any_fn real)
{
    switch (id) {
    case OSSL_FUNC_MAC_NEWCTX:
        return own[i].newctx;
    case OSSL_FUNC_MAC_FREECTX:
        return (any_fn)mac_freectx;
    case OSSL_FUNC_MAC_DUPCTX:
        return (any_fn)mac_dupctx;
    case OSSL_FUNC_MAC_INIT:
        return (any_fn)mac_init;
    case OSSL_FUNC_MAC_UPDATE:
        return (any_fn)mac_update;
    case OSSL_FUNC_MAC_FINAL:
        return (any_fn)mac_final;
    case OSSL_FUNC_MAC_GET_CTX_PARAMS:
        return (any_fn)mac_get_ctx_params;
    case OSSL_FUNC_MAC_SET_CTX_PARAMS:
        return (any_fn)mac_set_ctx_params;
    case OSSL_FUNC_MAC_GETTABLE_CTX_PARAMS:
        return own[i].mac_gettable;
    case OSSL_FUNC_MAC_SETTABLE_CTX_PARAMS:
        return own[i].mac_settable;
    case OSSL_FUNC_MAC_GET_PARAMS:
    case OSSL_FUNC_MAC_GETTABLE_PARAMS:
        return real;
    default:
        return NULL;
    }
}

/* ---- The provider -------------------------------------------------------- */

/* The row with the first of the names, which another process may have made. */
static struct trace_row *find_row(const char *names)
{
    char name[sizeof(rows->name)] = "";
    size_t len = strcspn(names, ":"), i;

    memcpy(name, names, len < sizeof(name) - 1 ? len : sizeof(name) - 1);
    for (i = 0; i < TRACE_ROWS; i++) {
        if (!rows[i].name[0])
            memcpy(rows[i].name, name, sizeof(name));
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    }
    return NULL;
}

/* Makes our list of an operation's algorithms from the module's. */
static int copy_list(OSSL_ALGORITHM *ours, const OSSL_ALGORITHM *theirs,
                     any_fn (*function)(size_t i, int id, any_fn real))
{
    for (; theirs && theirs->algorithm_names; theirs++, ours++, used++) {
        struct algorithm *a = &algorithms[used];
        const OSSL_DISPATCH *d = theirs->implementation;
        size_t n = 0;

        if (used == MAX_ALGORITHMS)
            return 0;
        a->row = find_row(theirs->algorithm_names);
        if (!a->row)
            return 0;
        for (; d->function_id; d++) {
            any_fn f;

            if (d->function_id >= MAX_ID)
                continue;
            a->real[d->function_id] = d->function;
            f = function(used, d->function_id, d->function);
            if (f)
                a->ours[n++] = (OSSL_DISPATCH){d->function_id, f};
        }
        *ours = *theirs;
        ours->implementation = a->ours;
    }
    return 1;
}

static const OSSL_ALGORITHM *query(void *provctx, int operation, int *no_cache)
{
    const OSSL_ALGORITHM *theirs = target_query(provctx, operation, no_cache);

    if (operation == OSSL_OP_CIPHER)
        return ciphers;
    return operation == OSSL_OP_MAC ? macs : theirs;
}

static int map_counts(const char *path)
{
    size_t size = TRACE_ROWS * sizeof(*rows);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    void *map;

    if (fd < 0)
        return 0;
    (void)fchmod(fd, 0666); /* servers change their user */
    map = ftruncate(fd, (off_t)size)
              ? MAP_FAILED
              : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return 0;
    rows = map;
    return 1;
}

static int load_target(const char *path)
{
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (module)
        *(void **)&target_init = dlsym(module, "OSSL_provider_init");
    return target_init != NULL;
}

/* What the module exports, with our query in place of its own. */
static int take_over(const OSSL_DISPATCH *theirs, const OSSL_DISPATCH **out,
                     void *provctx)
{
    static OSSL_DISPATCH ours[MAX_ID];
    int first = ours[0].function_id == 0, no_cache, n = 0;

    *out = ours;
    if (!first)
        return 1;
    for (; theirs->function_id && n < MAX_ID - 1; theirs++, n++) {
        ours[n] = *theirs;
        if (theirs->function_id != OSSL_FUNC_PROVIDER_QUERY_OPERATION)
            continue;
        target_query =
            (OSSL_FUNC_provider_query_operation_fn *)theirs->function;
        ours[n].function = (any_fn)query;
    }
    return target_query &&
           copy_list(ciphers, target_query(provctx, OSSL_OP_CIPHER, &no_cache),
                     cipher_function) &&
           copy_list(macs, target_query(provctx, OSSL_OP_MAC, &no_cache),
                     mac_function);
}

__attribute__((visibility("default"))) OSSL_provider_init_fn OSSL_provider_init;

int OSSL_provider_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in,
                       const OSSL_DISPATCH **out, void **provctx)
{
    OSSL_FUNC_core_get_params_fn *get_params = NULL;
    const OSSL_DISPATCH *d, *theirs;
    const char *target = NULL, *counts = NULL;
    OSSL_PARAM params[3];
    int ok;

    for (d = in; d->function_id; d++)
        if (d->function_id == OSSL_FUNC_CORE_GET_PARAMS)
            get_params = (OSSL_FUNC_core_get_params_fn *)d->function;
    params[0] = (OSSL_PARAM){"target", OSSL_PARAM_UTF8_PTR, &target, 0, 0};
    params[1] = (OSSL_PARAM){"counts", OSSL_PARAM_UTF8_PTR, &counts, 0, 0};
    params[2] = (OSSL_PARAM){NULL, 0, NULL, 0, 0};
    if (!get_params || !get_params(handle, params) || !target || !counts)
        return 0;

    pthread_mutex_lock(&lock);
    ok = (rows || map_counts(counts)) && (target_init || load_target(target)) &&
         target_init(handle, in, &theirs, provctx) &&
         take_over(theirs, out, *provctx);
    pthread_mutex_unlock(&lock);
    return ok;
}
