/*
 * Jobs through EVP: see evp.h. The calls are those of the manual pages, with
 * nothing between them, so that what is timed is what a program pays.
 */
#define _GNU_SOURCE
#include "evp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/core_names.h>
#include <openssl/params.h>

#include "bench.h"

const struct algorithm algorithms[] = {
    {"AES-128-GCM", FAMILY_GCM, 16},
    {"AES-192-GCM", FAMILY_GCM, 24},
    {"AES-256-GCM", FAMILY_GCM, 32},
    {"ChaCha20-Poly1305", FAMILY_CHAPOLY, 32},
    {"POLY1305", FAMILY_POLY1305, 32},
    {"AES-128-CBC", FAMILY_CBC, 16},
    {"AES-192-CBC", FAMILY_CBC, 24},
    {"AES-256-CBC", FAMILY_CBC, 32},
};
const size_t algorithms_count = sizeof(algorithms) / sizeof(algorithms[0]);

size_t fitting_length(const struct algorithm *a, size_t len)
{
    return a->family == FAMILY_CBC ? len & ~(size_t)15 : len;
}

const char *direction_name(const struct algorithm *a, int encrypt)
{
    if (a->family == FAMILY_POLY1305)
        return "mac";
    return encrypt ? "encrypt" : "decrypt";
}

enum bench_job limit_job(const struct algorithm *a, int encrypt)
{
    switch (a->family) {
    case FAMILY_GCM:
        return BENCH_GCM;
    case FAMILY_CHAPOLY:
        return BENCH_CHAPOLY;
    case FAMILY_POLY1305:
        return BENCH_POLY1305;
    default:
        return encrypt ? BENCH_CBC_ENCRYPT : BENCH_CBC_DECRYPT;
    }
}

/* ---- A side -------------------------------------------------------------- */

/* As an administrator would: with a section in an openssl.cnf. */
static void configure(struct side *s, const char *folder, const char *isa)
{
    char path[] = "/tmp/bench-openssl-XXXXXX.cnf";
    /* libcrypto would look for a relative name below its own folder. */
    char *absolute = realpath(folder, NULL);
    int fd = mkstemps(path, 4);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    int ok;

    if (absolute == NULL)
        bench_die("there is no folder %s", folder);
    if (f == NULL)
        bench_die("cannot write %s", path);
    fprintf(f,
            "openssl_conf = init\n[init]\nproviders = providers\n"
            "[providers]\n%s = section\n"
            "[section]\nmodule = %s/%s.so\nactivate = 1\nisa = %s\n",
            s->name, absolute, s->name, isa);
    fclose(f);
    free(absolute);
    ok = OSSL_LIB_CTX_load_config(s->libctx, path);
    unlink(path);
    if (!ok)
        bench_die("the provider %s does not load with isa = %s", s->name, isa);
}

void side_open(struct side *s, const char *name, const char *folder,
               const char *isa)
{
    s->name = name;
    s->libctx = OSSL_LIB_CTX_new();
    if (s->libctx == NULL)
        bench_die("no library context");
    if (folder)
        OSSL_PROVIDER_set_default_search_path(s->libctx, folder);
    if (folder && isa)
        configure(s, folder, isa);
    s->provider = OSSL_PROVIDER_load(s->libctx, name);
    if (s->provider == NULL)
        bench_die("the provider %s does not load from %s", name,
                  folder ? folder : "libcrypto");
}

void side_close(struct side *s)
{
    OSSL_PROVIDER_unload(s->provider);
    OSSL_LIB_CTX_free(s->libctx);
}

const char *side_buildinfo(const struct side *s)
{
    const char *text = NULL;
    OSSL_PARAM params[] = {
        OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_BUILDINFO, &text, 0),
        OSSL_PARAM_END,
    };

    if (!OSSL_PROVIDER_get_params(s->provider, params) || text == NULL)
        return "";
    return text;
}

/* ---- One operation ------------------------------------------------------- */

static int update(struct job *j, EVP_CIPHER_CTX *ctx, const uint8_t *in)
{
    size_t step = j->parts & JOB_PIECES ? 1024 : j->len;
    int n;

    for (size_t done = 0; done < j->len; done += step) {
        size_t now = j->len - done < step ? j->len - done : step;

        if (!EVP_CipherUpdate(ctx, j->out + done, &n, in + done, (int)now))
            return 0;
    }
    return 1;
}

static int cipher_once(struct job *j)
{
    static const uint8_t aad[13] = {23, 3, 3};
    unsigned set = j->parts & JOB_KEY ? j->turn++ & 1 : 0;
    int aead = j->algorithm->family != FAMILY_CBC, ok, n;
    EVP_CIPHER_CTX *ctx = j->ctx;

    if (j->parts & JOB_NEW)
        ctx = EVP_CIPHER_CTX_new();
    ok = EVP_CipherInit_ex(ctx,
                           j->parts & (JOB_NEW | JOB_CIPHER) ? j->cipher : NULL,
                           NULL, j->parts & JOB_KEY ? j->set[set].key : NULL,
                           j->set[set].iv, j->encrypt);
    if (j->parts & JOB_DATA) {
        if (!aead && (j->parts & JOB_NEW))
            EVP_CIPHER_CTX_set_padding(ctx, 0);
        if (aead && !j->encrypt)
            ok &= EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16,
                                      j->set[set].tag);
        if (j->parts & JOB_AAD)
            ok &= EVP_CipherUpdate(ctx, NULL, &n, aad, sizeof(aad));
        ok &= update(j, ctx, j->set[set].in);
        ok &= EVP_CipherFinal_ex(ctx, j->out + j->len, &n);
        if (aead && j->encrypt)
            ok &= EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, j->tag);
    }
    if (j->parts & JOB_NEW)
        EVP_CIPHER_CTX_free(ctx);
    return ok;
}

static int mac_once(struct job *j)
{
    unsigned set = j->turn++ & 1;
    EVP_MAC_CTX *ctx = j->mac_ctx;
    size_t n;
    int ok;

    if (j->parts & JOB_NEW)
        ctx = EVP_MAC_CTX_new(j->mac);
    ok = EVP_MAC_init(ctx, j->set[set].key, 32, NULL);
    if (j->parts & JOB_DATA) {
        ok &= EVP_MAC_update(ctx, j->set[set].in, j->len);
        ok &= EVP_MAC_final(ctx, j->tag, &n, sizeof(j->tag));
    }
    if (j->parts & JOB_NEW)
        EVP_MAC_CTX_free(ctx);
    return ok;
}

void job_run(void *arg, size_t reps)
{
    struct job *j = arg;

    if (j->mac)
        while (reps--)
            j->failed |= !mac_once(j);
    else
        while (reps--)
            j->failed |= !cipher_once(j);
}

/* ---- A job --------------------------------------------------------------- */

void job_open(struct job *j, const struct side *s, const struct algorithm *a,
              int encrypt, unsigned parts, size_t len, uint8_t *out,
              const uint8_t *in)
{
    int ok;

    memset(j, 0, sizeof(*j));
    j->algorithm = a;
    j->encrypt = encrypt;
    j->parts = parts;
    j->len = len;
    j->out = out;
    for (unsigned i = 0; i < 2; i++) {
        bench_fill(j->set[i].key, 32, 100 + i);
        bench_fill(j->set[i].iv, 16, 200 + i);
        j->set[i].in = in + (encrypt || !(parts & JOB_KEY) ? 0 : i * len);
    }
    if (a->family == FAMILY_POLY1305) {
        j->mac = EVP_MAC_fetch(s->libctx, a->name, NULL);
        j->mac_ctx = j->mac ? EVP_MAC_CTX_new(j->mac) : NULL;
        ok = j->mac_ctx && EVP_MAC_init(j->mac_ctx, j->set[0].key, 32, NULL);
    } else {
        j->cipher = EVP_CIPHER_fetch(s->libctx, a->name, NULL);
        j->ctx = EVP_CIPHER_CTX_new();
        ok = j->cipher && j->ctx &&
             EVP_CipherInit_ex(j->ctx, j->cipher, NULL, j->set[0].key,
                               j->set[0].iv, encrypt) &&
             EVP_CIPHER_CTX_set_padding(j->ctx, 0);
    }
    if (!ok)
        bench_die("%s: the provider %s does not start", a->name, s->name);
}

void job_close(struct job *j)
{
    EVP_MAC_CTX_free(j->mac_ctx);
    EVP_MAC_free(j->mac);
    EVP_CIPHER_CTX_free(j->ctx);
    EVP_CIPHER_free(j->cipher);
}
