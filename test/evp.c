/* The two providers and the EVP sequences behind evp.h. */
#include "evp.h"

#include <stdlib.h>
#include <string.h>

const struct algorithm algorithms[CIPHERS] = {
    {"AES-128-CBC", CBC, 16, 16},           {"AES-192-CBC", CBC, 24, 16},
    {"AES-256-CBC", CBC, 32, 16},           {"AES-128-GCM", GCM, 16, 12},
    {"AES-192-GCM", GCM, 24, 12},           {"AES-256-GCM", GCM, 32, 12},
    {"ChaCha20-Poly1305", CHAPOLY, 32, 12},
};

struct side ours, theirs;
int strict, quick;

const char *evp_module_dir(void)
{
    const char *dir = getenv("BC_MODULE_DIR");

    return dir ? dir : BC_TEST_MODULE_DIR;
}

int side_open(struct side *s, const char *provider_name)
{
    int i;

    memset(s, 0, sizeof(*s));
    s->provider_name = provider_name;
    s->libctx = OSSL_LIB_CTX_new();
    if (!s->libctx ||
        !OSSL_PROVIDER_set_default_search_path(s->libctx, evp_module_dir()))
        return 0;
    s->provider = OSSL_PROVIDER_load(s->libctx, provider_name);
    if (!s->provider)
        return 0;
    for (i = 0; i < CIPHERS; i++) {
        s->cipher[i] = EVP_CIPHER_fetch(s->libctx, algorithms[i].name, NULL);
        if (!s->cipher[i])
            return 0;
    }
    s->poly1305 = EVP_MAC_fetch(s->libctx, "POLY1305", NULL);
    return s->poly1305 != NULL;
}

void side_close(struct side *s)
{
    int i;

    for (i = 0; i < CIPHERS; i++)
        EVP_CIPHER_free(s->cipher[i]);
    EVP_MAC_free(s->poly1305);
    if (s->provider)
        OSSL_PROVIDER_unload(s->provider);
    OSSL_LIB_CTX_free(s->libctx);
    memset(s, 0, sizeof(*s));
}

void evp_open(void)
{
    const char *name = getenv("BC_PROVIDER");
    const char *thin = getenv("BC_QUICK");

    if (!name)
        name = "bulkcipher";
    strict = strcmp(name, "default") != 0;
    quick = thin && *thin && *thin != '0';
    if (!side_open(&ours, name)) {
        fprintf(stderr, "cannot load %s from %s:\n", name, evp_module_dir());
        ERR_print_errors_fp(stderr);
        exit(1);
    }
    if (!side_open(&theirs, "default")) {
        fprintf(stderr, "cannot load the default provider:\n");
        ERR_print_errors_fp(stderr);
        exit(1);
    }
}

void evp_close(void)
{
    side_close(&ours);
    side_close(&theirs);
}

/* ---- Queued errors ---------------------------------------------------------
 */

struct errors errors_take(void)
{
    struct errors e = {""};
    unsigned long code;
    size_t at = 0;

    while ((code = ERR_get_error()) != 0) {
        int lib = ERR_GET_LIB(code);
        const char *letter = lib == ERR_LIB_PROV     ? "P"
                             : lib == ERR_LIB_EVP    ? "E"
                             : lib == ERR_LIB_CRYPTO ? "C"
                                                     : "";

        if (lib == ERR_LIB_CRYPTO && OpenSSL_version_num() >= 0x30200000L)
            continue;
        if (at + 20 > sizeof(e.text))
            continue;
        if (at)
            e.text[at++] = ' ';
        if (*letter)
            at += (size_t)sprintf(e.text + at, "%s%d", letter,
                                  ERR_GET_REASON(code));
        else
            at += (size_t)sprintf(e.text + at, "%d:%d", lib,
                                  ERR_GET_REASON(code));
    }
    return e;
}

int check_errors(struct errors got, struct errors want, const char *file,
                 int line)
{
    char text[300];

    snprintf(text, sizeof(text), "errors queued: \"%s\", default: \"%s\"",
             got.text, want.text);
    return check_that(strcmp(got.text, want.text) == 0, file, line, text);
}

int check_queue(const char *want, const char *file, int line)
{
    struct errors got = errors_take();
    char text[300];

    snprintf(text, sizeof(text), "errors queued: \"%s\", expected: \"%s\"",
             got.text, want);
    return check_that(strcmp(got.text, want) == 0, file, line, text);
}

/* ---- Whole messages --------------------------------------------------------
 */

int message_init(const struct side *s, EVP_CIPHER_CTX *ctx,
                 const struct message *m)
{
    const struct algorithm *a = &algorithms[m->alg];

    if (!EVP_CipherInit_ex(ctx, s->cipher[m->alg], NULL, NULL, NULL, m->enc))
        return 0;
    if (a->mode != CBC && m->iv_len != a->iv_len &&
        EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, (int)m->iv_len,
                            NULL) <= 0)
        return 0;
    if (!EVP_CipherInit_ex(ctx, NULL, NULL, m->key, m->iv, m->enc))
        return 0;
    if (a->mode == CBC)
        return EVP_CIPHER_CTX_set_padding(ctx, !m->nopad);
    return 1;
}

int message_final(EVP_CIPHER_CTX *ctx, const struct message *m, uint8_t *out,
                  int *outl)
{
    int aead = algorithms[m->alg].mode != CBC;

    *outl = 0;
    if (aead && !m->enc &&
        EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, (int)m->tag_len,
                            m->tag) <= 0)
        return 0;
    if (!EVP_CipherFinal_ex(ctx, out, outl))
        return 0;
    return !aead || !m->enc ||
           EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, (int)m->tag_len,
                               m->tag) > 0;
}

long message_run(const struct side *s, EVP_CIPHER_CTX *ctx,
                 const struct message *m, uint8_t *out)
{
    int n = 0, last = 0;

    if (!message_init(s, ctx, m))
        return -1;
    if (m->aad_len && !EVP_CipherUpdate(ctx, NULL, &n, m->aad, (int)m->aad_len))
        return -1;
    n = 0;
    if (m->len && !EVP_CipherUpdate(ctx, out, &n, m->in, (int)m->len))
        return -1;
    if (!message_final(ctx, m, out ? out + n : NULL, &last))
        return -1;
    return n + last;
}

int poly1305_run(const struct side *s, const uint8_t key[32], const uint8_t *in,
                 size_t len, uint8_t tag[16])
{
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(s->poly1305);
    size_t n = 0;
    int ok = ctx && EVP_MAC_init(ctx, key, 32, NULL) &&
             (!len || EVP_MAC_update(ctx, in, len)) &&
             EVP_MAC_final(ctx, tag, &n, 16) && n == 16;

    EVP_MAC_CTX_free(ctx);
    return ok;
}

static uint8_t *random_block(size_t len)
{
    uint8_t *p = malloc(len + 1);

    if (!p)
        abort();
    rnd_bytes(p, len);
    return p;
}

void fixture_make(struct fixture *f, int alg, int enc, size_t aad_len,
                  size_t len)
{
    const struct algorithm *a = &algorithms[alg];
    EVP_CIPHER_CTX *ctx;
    uint8_t *plain;

    memset(f, 0, sizeof(*f));
    rnd_bytes(f->key, sizeof(f->key));
    rnd_bytes(f->iv, sizeof(f->iv));
    if (a->mode == CBC)
        aad_len = 0;
    f->aad = random_block(aad_len);
    f->in = random_block(len + 16);
    f->out_size = len + 32;
    f->out = random_block(f->out_size);
    f->m = (struct message){.alg = alg,
                            .enc = enc,
                            .key = f->key,
                            .iv = f->iv,
                            .iv_len = a->iv_len,
                            .aad = f->aad,
                            .aad_len = aad_len,
                            .in = f->in,
                            .len = len,
                            .tag = f->tag,
                            .tag_len = 16};
    if (enc)
        return;
    /* Decryption: what the default provider makes of a random plaintext. */
    plain = random_block(len);
    ctx = EVP_CIPHER_CTX_new();
    f->m.enc = 1;
    f->m.in = plain;
    f->m.len = (size_t)message_run(&theirs, ctx, &f->m, f->in);
    f->m.in = f->in;
    f->m.enc = 0;
    EVP_CIPHER_CTX_free(ctx);
    free(plain);
}

void fixture_free(struct fixture *f)
{
    free(f->aad);
    free(f->in);
    free(f->out);
}
