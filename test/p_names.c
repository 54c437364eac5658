/*
 * How a program reaches the module: names, aliases, OIDs, the EVP_aes_*()
 * constants, which of two providers wins, and what openssl.cnf can say. Each
 * configuration is written to a file and loaded into a library context of its
 * own, as libcrypto does with the system's.
 */
#include "evp.h"

#include <openssl/core_dispatch.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    const char *names[4]; /* every other way to say it */
    int nid;
} aliases[CIPHERS] = {
    {"AES-128-CBC", {"AES128", "2.16.840.1.101.3.4.1.2", "aes-128-cbc"}, 419},
    {"AES-192-CBC", {"AES192", "2.16.840.1.101.3.4.1.22", "aes-192-cbc"}, 423},
    {"AES-256-CBC", {"AES256", "2.16.840.1.101.3.4.1.42", "aes-256-cbc"}, 427},
    {"AES-128-GCM",
     {"id-aes128-GCM", "2.16.840.1.101.3.4.1.6", "aes-128-gcm"},
     895},
    {"AES-192-GCM",
     {"id-aes192-GCM", "2.16.840.1.101.3.4.1.26", "aes-192-gcm"},
     898},
    {"AES-256-GCM",
     {"id-aes256-GCM", "2.16.840.1.101.3.4.1.46", "aes-256-gcm"},
     901},
    {"ChaCha20-Poly1305", {"CHACHA20-POLY1305", "chacha20-poly1305"}, 1018},
};

static const char *provider_of(const EVP_CIPHER *c)
{
    return c ? OSSL_PROVIDER_get0_name(EVP_CIPHER_get0_provider(c)) : "none";
}

static void check_served(OSSL_LIB_CTX *libctx, const char *name,
                         const char *query, const char *provider)
{
    EVP_CIPHER *c = EVP_CIPHER_fetch(libctx, name, query);
    const char *by = provider_of(c);

    if (!CHECK(strcmp(by, provider) == 0))
        fprintf(stderr, "    %s (%s) is served by %s, not by %s\n", name,
                query ? query : "no query", by, provider);
    EVP_CIPHER_free(c);
    ERR_clear_error();
}

/* ---- Names ----------------------------------------------------------------
 */

/* Every name of one is a name of the other. */
static void check_name(const char *name, void *other)
{
    CHECK(EVP_CIPHER_is_a(other, name));
}

static void check_names(int alg)
{
    EVP_CIPHER *c;
    int i;

    check_case("names of %s", algorithms[alg].name);
    EVP_CIPHER_names_do_all(ours.cipher[alg], check_name, theirs.cipher[alg]);
    EVP_CIPHER_names_do_all(theirs.cipher[alg], check_name, ours.cipher[alg]);
    CHECK_INT(EVP_CIPHER_get_nid(ours.cipher[alg]), aliases[alg].nid);
    for (i = 0; aliases[alg].names[i]; i++) {
        check_case("%s as %s", algorithms[alg].name, aliases[alg].names[i]);
        c = EVP_CIPHER_fetch(ours.libctx, aliases[alg].names[i], NULL);
        if (CHECK(c)) {
            CHECK_INT(EVP_CIPHER_get_nid(c), aliases[alg].nid);
            CHECK(EVP_CIPHER_is_a(ours.cipher[alg], aliases[alg].names[i]));
        }
        EVP_CIPHER_free(c);
    }
    if (strict) {
        check_served(ours.libctx, algorithms[alg].name, "provider=bulkcipher",
                     "bulkcipher");
        check_served(ours.libctx, algorithms[alg].name, "provider=default",
                     "none");
        check_served(ours.libctx, algorithms[alg].name, "fips=yes", "none");
        check_served(ours.libctx, algorithms[alg].name, "fips=no",
                     "bulkcipher");
        check_served(ours.libctx, algorithms[alg].name, "?fips=yes",
                     "bulkcipher");
    }
}

/* libcrypto knows most aliases by itself, so only the module's own tables show
 * whether the names are there: string by string as in default's. */
static void check_tables(int operation, int count)
{
    int no_cache, n = 0;
    const OSSL_ALGORITHM *got, *want, *w;

    got = OSSL_PROVIDER_query_operation(ours.provider, operation, &no_cache);
    CHECK_INT(no_cache, 0);
    want = OSSL_PROVIDER_query_operation(theirs.provider, operation, &no_cache);
    if (!CHECK(got && want))
        return;
    for (; got->algorithm_names; got++, n++) {
        check_case("names \"%s\"", got->algorithm_names);
        for (w = want; w->algorithm_names; w++)
            if (strcmp(w->algorithm_names, got->algorithm_names) == 0)
                break;
        CHECK(w->algorithm_names);
        if (strict)
            CHECK(strcmp(got->property_definition, "provider=bulkcipher") == 0);
    }
    if (strict)
        CHECK_INT(n, count);
}

/* What else the module offers: nothing. */
static void count_cipher(EVP_CIPHER *c, void *data)
{
    (void)c;
    ++*(int *)data;
}

static void count_mac(EVP_MAC *m, void *data)
{
    (void)m;
    ++*(int *)data;
}

static void check_nothing_else(void)
{
    int ciphers = 0, macs = 0;

    check_case("algorithms of the module");
    EVP_CIPHER_do_all_provided(ours.libctx, count_cipher, &ciphers);
    EVP_MAC_do_all_provided(ours.libctx, count_mac, &macs);
    CHECK_INT(ciphers, CIPHERS);
    CHECK_INT(macs, 1);
}

/* ---- Which of two providers wins ------------------------------------------
 */

/* A library context configured by the text; @ stands for the folder of the
 * module. NULL when libcrypto refused it. */
static OSSL_LIB_CTX *configured(const char *text)
{
    char path[] = "/tmp/bulkcipher-test-XXXXXX";
    OSSL_LIB_CTX *libctx = OSSL_LIB_CTX_new();
    int fd = mkstemp(path), ok = 0;
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    const char *at;

    if (f) {
        for (at = text; *at; at++)
            if (*at == '@')
                fputs(evp_module_dir(), f);
            else
                fputc(*at, f);
        fclose(f);
        ok = OSSL_PROVIDER_set_default_search_path(libctx, evp_module_dir()) &&
             OSSL_LIB_CTX_load_config(libctx, path);
        unlink(path);
    }
    if (ok)
        return libctx;
    OSSL_LIB_CTX_free(libctx);
    return NULL;
}

#define HEAD                                                                   \
    "openssl_conf = init\n"                                                    \
    "[init]\nproviders = list\nalg_section = algs\n"
#define OURS "[ours]\nmodule = @/bulkcipher.so\nactivate = 1\n"
#define THEIRS "[theirs]\nactivate = 1\n"
#define FIRST "[list]\nbulkcipher = ours\ndefault = theirs\n"
#define LAST "[list]\ndefault = theirs\nbulkcipher = ours\n"

enum disturbance { NOTHING, AVAILABLE, LOADED, FAILED_TRY, DISTURBANCES };

static void check_winner(const char *what, const char *text, enum disturbance d,
                         const char *provider)
{
    OSSL_LIB_CTX *libctx = configured(text);
    OSSL_PROVIDER *loaded = NULL;
    EVP_MAC *mac;
    int alg;

    check_case("%s, disturbance %d", what, d);
    if (!CHECK(libctx)) {
        ERR_print_errors_fp(stderr);
        return;
    }
    if (d == AVAILABLE)
        CHECK(OSSL_PROVIDER_available(libctx, "default"));
    if (d == LOADED)
        CHECK((loaded = OSSL_PROVIDER_load(libctx, "default")) != NULL);
    if (d == FAILED_TRY)
        CHECK(!OSSL_PROVIDER_try_load(libctx, "nosuchprovider", 1));
    ERR_clear_error();
    for (alg = 0; alg < CIPHERS; alg++)
        check_served(libctx, algorithms[alg].name, NULL, provider);
    mac = EVP_MAC_fetch(libctx, "POLY1305", NULL);
    CHECK(mac && strcmp(OSSL_PROVIDER_get0_name(EVP_MAC_get0_provider(mac)),
                        provider) == 0);
    EVP_MAC_free(mac);
    /* Both can be asked for, and default still has all else. */
    check_served(libctx, "AES-256-GCM", "provider=default", "default");
    check_served(libctx, "AES-256-GCM", "provider=bulkcipher", "bulkcipher");
    check_served(libctx, "AES-256-CTR", NULL, "default");
    if (loaded)
        OSSL_PROVIDER_unload(loaded);
    OSSL_LIB_CTX_free(libctx);
}

static void check_precedence(void)
{
    static const char prefer[] = HEAD LAST OURS THEIRS
        "[algs]\ndefault_properties = ?provider=bulkcipher\n";
    int d;

    /* The name sorts before `default`: first in the list it stays first. */
    for (d = 0; d < DISTURBANCES; d++) {
        check_winner("first in the list", HEAD FIRST OURS THEIRS "[algs]\n",
                     (enum disturbance)d, "bulkcipher");
        check_winner("last in the list, preferred", prefer, (enum disturbance)d,
                     "bulkcipher");
    }
    /* Last in the list default wins, until something sorts the providers. */
    check_winner("last in the list", HEAD LAST OURS THEIRS "[algs]\n", NOTHING,
                 "default");
    check_winner("last in the list", HEAD LAST OURS THEIRS "[algs]\n",
                 AVAILABLE, "bulkcipher");
}

/* ---- Configurations -------------------------------------------------------
 */

static void check_config(void)
{
    OSSL_LIB_CTX *libctx;

    /* Ours alone: it switches default off, as every provider does. */
    check_case("ours alone");
    libctx = configured(HEAD "[list]\nbulkcipher = ours\n" OURS "[algs]\n");
    if (CHECK(libctx)) {
        check_served(libctx, "AES-256-GCM", NULL, "bulkcipher");
        check_served(libctx, "AES-256-CTR", NULL, "none");
        OSSL_LIB_CTX_free(libctx);
    }
    check_case("missing module");
    libctx = configured(HEAD "[list]\nbulkcipher = ours\n[ours]\n"
                             "module = @/nosuch.so\nactivate = 1\n[algs]\n");
    ERR_clear_error();
    if (libctx) { /* libcrypto 3.0 goes on without it */
        CHECK(!OSSL_PROVIDER_load(libctx, "nosuch"));
        CHECK(ERR_peek_error() != 0);
        ERR_clear_error();
        check_served(libctx, "AES-256-GCM", "provider=bulkcipher", "none");
        OSSL_LIB_CTX_free(libctx);
    }
    check_case("not active");
    libctx = configured(HEAD "[list]\nbulkcipher = ours\n[ours]\n"
                             "module = @/bulkcipher.so\n[algs]\n");
    if (CHECK(libctx)) {
        check_served(libctx, "AES-256-GCM", NULL, "default");
        OSSL_LIB_CTX_free(libctx);
    }
    check_case("found through the search path");
    libctx = configured(HEAD "[list]\nbulkcipher = ours\n[ours]\n"
                             "activate = 1\n[algs]\n");
    if (CHECK(libctx)) {
        check_served(libctx, "AES-256-GCM", NULL, "bulkcipher");
        OSSL_LIB_CTX_free(libctx);
    }
    check_case("unknown key of our section");
    libctx = configured(HEAD FIRST OURS "colour = blue\n" THEIRS "[algs]\n");
    if (CHECK(libctx)) {
        check_served(libctx, "AES-256-GCM", NULL, "bulkcipher");
        OSSL_LIB_CTX_free(libctx);
    }
}

/* ---- The key `isa` --------------------------------------------------------
 */

/* Every message of a sweep, digested to compare the levels. */
static int digest(OSSL_LIB_CTX *libctx, uint8_t sum[32])
{
    struct side s = {.libctx = libctx};
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    static uint8_t in[5000], out[5040];
    uint8_t key[32], iv[16], tag[16];
    EVP_MD_CTX *md = EVP_MD_CTX_new();
    size_t len;
    int alg, good = EVP_DigestInit_ex(md, EVP_sha256(), NULL);

    memset(key, 7, sizeof(key));
    memset(iv, 8, sizeof(iv));
    for (len = 0; len < sizeof(in); len++)
        in[len] = (uint8_t)(len * 31 % 251);
    for (alg = 0; alg < CIPHERS && good; alg++) {
        s.cipher[alg] = EVP_CIPHER_fetch(libctx, algorithms[alg].name, NULL);
        for (len = 0; len < sizeof(in) && good; len += 1 + len / 9) {
            struct message m = {.alg = alg,
                                .enc = 1,
                                .key = key,
                                .iv = iv,
                                .iv_len = algorithms[alg].iv_len,
                                .aad = in,
                                .aad_len = algorithms[alg].mode == CBC ? 0 : 9,
                                .in = in,
                                .len = len,
                                .tag = tag,
                                .tag_len = 16};
            long n;

            memset(tag, 0, sizeof(tag));
            n = message_run(&s, ctx, &m, out);
            good = n >= 0 && EVP_DigestUpdate(md, out, (size_t)n) &&
                   EVP_DigestUpdate(md, tag, sizeof(tag));
            m.enc = 0;
            m.in = out;
            m.len = (size_t)n;
            if (good && len < 2000) {
                static uint8_t back[5040];

                good = message_run(&s, ctx, &m, back) == (long)len &&
                       memcmp(back, in, len) == 0;
            }
        }
        EVP_CIPHER_free(s.cipher[alg]);
    }
    s.poly1305 = EVP_MAC_fetch(libctx, "POLY1305", NULL);
    for (len = 0; len < sizeof(in) && good; len += 1 + len / 9)
        good = poly1305_run(&s, key, in, len, tag) &&
               EVP_DigestUpdate(md, tag, sizeof(tag));
    EVP_MAC_free(s.poly1305);
    good = good && EVP_DigestFinal_ex(md, sum, NULL);
    EVP_MD_CTX_free(md);
    EVP_CIPHER_CTX_free(ctx);
    return good;
}

static void check_isa(void)
{
    /* Each with some of what it must not let through. */
    static const struct {
        const char *name, *above[4];
    } levels[] = {
        {"c", {"aesni", "ssse3", "avx", "vaes"}},
        {"ssse3", {"aesni", "avx", "vaes", "ifma"}},
        {"aesni", {"avx", "vaes", "ifma"}},
        {"avx2", {"avx512", "vaes", "ifma"}},
        {"vaes256", {"avx512", "vaes512", "ifma"}},
        {"avx512", {"ifma"}},
        {"ifma", {NULL}},
    };
    static const char *const malformed[] = {"sse9", "AVX2,", "avx2 vaes256",
                                            "-", "c\\n"};
    uint8_t want[32], got[32];
    char text[600];
    size_t i, j;

    CHECK(digest(theirs.libctx, want));
    for (i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
        OSSL_LIB_CTX *libctx;
        OSSL_PROVIDER *p;
        char *build = NULL;
        OSSL_PARAM params[2] = {
            OSSL_PARAM_construct_utf8_ptr(OSSL_PROV_PARAM_BUILDINFO, &build, 0),
            OSSL_PARAM_construct_end()};

        check_case("isa = %s", levels[i].name);
        snprintf(text, sizeof(text),
                 HEAD FIRST OURS "isa = %s\n" THEIRS "[algs]\n",
                 levels[i].name);
        libctx = configured(text);
        ERR_clear_error();
        if (!CHECK(libctx))
            continue;
        check_served(libctx, "AES-256-GCM", NULL, "bulkcipher");
        p = OSSL_PROVIDER_load(libctx, "bulkcipher");
        if (CHECK(p)) {
            CHECK(OSSL_PROVIDER_get_params(p, params) && build);
            printf("isa = %-8s %s\n", levels[i].name, build ? build : "?");
            for (j = 0; build && j < 4 && levels[i].above[j]; j++)
                CHECK(!strstr(build, levels[i].above[j]));
            OSSL_PROVIDER_unload(p);
        }
        CHECK(digest(libctx, got));
        CHECK_MEM(got, want, 32);
        OSSL_LIB_CTX_free(libctx);
    }
    for (i = 0; i < sizeof(malformed) / sizeof(*malformed); i++) {
        OSSL_LIB_CTX *libctx;

        check_case("isa = %s", malformed[i]);
        snprintf(text, sizeof(text),
                 HEAD FIRST OURS "isa = %s\n" THEIRS "[algs]\n", malformed[i]);
        ERR_clear_error();
        libctx = configured(text);
        if (libctx) { /* libcrypto 3.0 goes on without it, silently */
            check_served(libctx, "AES-256-GCM", "provider=bulkcipher", "none");
            OSSL_LIB_CTX_free(libctx);
        }
    }
}

/* ---- EVP_aes_*() through the default library context ----------------------
 */

static void check_constants(void)
{
    const EVP_CIPHER *constants[CIPHERS] = {
        EVP_aes_128_cbc(),      EVP_aes_192_cbc(), EVP_aes_256_cbc(),
        EVP_aes_128_gcm(),      EVP_aes_192_gcm(), EVP_aes_256_gcm(),
        EVP_chacha20_poly1305()};
    static const uint8_t key[32], iv[16];
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    OSSL_PROVIDER *first, *second;
    int alg;

    CHECK(OSSL_PROVIDER_set_default_search_path(NULL, evp_module_dir()));
    first = OSSL_PROVIDER_load(NULL, "bulkcipher");
    second = OSSL_PROVIDER_load(NULL, "default");
    if (!CHECK(first && second))
        return;
    for (alg = 0; alg < CIPHERS; alg++) {
        check_case("EVP_%s()", algorithms[alg].name);
        CHECK(EVP_EncryptInit_ex(ctx, constants[alg], NULL, key, iv));
        CHECK(strcmp(provider_of(EVP_CIPHER_CTX_get0_cipher(ctx)),
                     "bulkcipher") == 0);
        CHECK_INT(EVP_CIPHER_CTX_get_nid(ctx), aliases[alg].nid);
        CHECK_INT(EVP_CIPHER_CTX_get_nid(ctx),
                  EVP_CIPHER_get_nid(constants[alg]));
    }
    EVP_CIPHER_CTX_free(ctx);
    OSSL_PROVIDER_unload(first);
    OSSL_PROVIDER_unload(second);
}

int main(void)
{
    int alg;

    evp_open();
    for (alg = 0; alg < CIPHERS; alg++)
        check_names(alg);
    check_tables(OSSL_OP_CIPHER, CIPHERS);
    check_tables(OSSL_OP_MAC, 1);
    if (strict) {
        check_nothing_else();
        check_precedence();
        check_config();
        check_isa();
        check_constants();
    }
    evp_close();
    return check_done();
}
