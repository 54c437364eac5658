/*
 * bulkcipher-doctor: which provider serves each of our eight algorithms in
 * this configuration, and if it is not bulkcipher, why not and how to mend it.
 * Exit status 0 only if all is as wished.
 *
 * It asks libcrypto as any other program does, and so gets the answers any
 * other program gets. Of the kernels it knows the names of the levels.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/conf.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

#include "kernels.h"

#define US "bulkcipher"

static const char *const ciphers[] = {
    "AES-128-CBC", "AES-192-CBC", "AES-256-CBC",       "AES-128-GCM",
    "AES-192-GCM", "AES-256-GCM", "ChaCha20-Poly1305",
};
#define NCIPHERS (sizeof(ciphers) / sizeof(ciphers[0]))
#define NALGORITHMS (NCIPHERS + 1) /* and POLY1305 */

static int complaints;

/* Says what is wrong, with libcrypto's queued errors, and how to mend it. */
static void complain(const char *what, const char *remedy)
{
    unsigned long e;
    const char *data;
    int flags;

    complaints++;
    printf("\nWRONG: %s\n", what);
    while ((e = ERR_get_error_all(NULL, NULL, NULL, &data, &flags)) != 0) {
        const char *reason = ERR_reason_error_string(e);

        if (reason)
            printf("    %s %s\n", reason, flags & ERR_TXT_STRING ? data : "");
    }
    printf("  mend: %s\n", remedy);
}

/* The name of the provider that a program gets which asks for nothing in
 * particular; NULL when nobody serves the algorithm. */
static const char *who_serves(size_t algorithm)
{
    const OSSL_PROVIDER *provider = NULL;

    if (algorithm < NCIPHERS) {
        EVP_CIPHER *c = EVP_CIPHER_fetch(NULL, ciphers[algorithm], NULL);

        provider = c ? EVP_CIPHER_get0_provider(c) : NULL;
        EVP_CIPHER_free(c);
    } else {
        EVP_MAC *m = EVP_MAC_fetch(NULL, "POLY1305", NULL);

        provider = m ? EVP_MAC_get0_provider(m) : NULL;
        EVP_MAC_free(m);
    }
    ERR_clear_error();
    /* The provider outlives the algorithm: the library context keeps it. */
    return provider ? OSSL_PROVIDER_get0_name(provider) : NULL;
}

static int print_provider(OSSL_PROVIDER *provider, void *found)
{
    const char *name = OSSL_PROVIDER_get0_name(provider);
    const char *version = "", *build = "";
    OSSL_PARAM params[] = {
        OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_VERSION, &version, 0),
        OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_BUILDINFO, &build, 0),
        OSSL_PARAM_END,
    };

    OSSL_PROVIDER_get_params(provider, params);
    printf("  %s %s\n", name, version);
    if (strcmp(name, US) == 0) {
        printf("      %s\n", build);
        *(int *)found = 1;
    }
    return 1;
}

/* What the configuration says in our section, or NULL. */
static char *configured(const char *conf_file, const char *key)
{
    CONF *conf = NCONF_new(NULL);
    const char *section;
    char *value = NULL;

    if (conf && NCONF_load(conf, conf_file, NULL) > 0 &&
        (section = NCONF_get_string(conf, NULL, "openssl_conf")) != NULL &&
        (section = NCONF_get_string(conf, section, "providers")) != NULL &&
        (section = NCONF_get_string(conf, section, US)) != NULL)
        value = OPENSSL_strdup(NCONF_get_string(conf, section, key));
    NCONF_free(conf);
    ERR_clear_error();
    return value;
}

/*
 * Ours is not active, and libcrypto has thrown its reasons away. Does the
 * module itself load? A library context of its own keeps the attempt away from
 * the configuration under examination.
 */
static void examine_module(const char *conf_file)
{
    char *module = configured(conf_file, "module");
    char *isa = configured(conf_file, "isa");
    OSSL_LIB_CTX *libctx = OSSL_LIB_CTX_new();
    OSSL_PROVIDER *provider = OSSL_PROVIDER_load(libctx, module ? module : US);
    int known = 1;
    char names[200];

    if (isa)
        (void)bc_isa_mask(isa, &known);
    snprintf(names, sizeof(names), "choose one of: %s", bc_isa_names());
    if (!known)
        complain("no provider " US " is active: its `isa` is not a level",
                 names);
    else if (provider)
        complain("no provider " US " is active, though the module loads",
                 "list it, under this name, in the providers section, with"
                 " `activate = 1` in its own section");
    else if (module)
        complain("the module that the configuration names does not load:",
                 "put the right file name behind `module =`, or leave that"
                 " line out and install the module");
    else
        complain("no provider " US " is active, and no module of this name"
                 " loads:",
                 "install it in the folder of modules, or name the file with"
                 " `module =` in the provider's section");
    if (provider)
        OSSL_PROVIDER_unload(provider);
    OSSL_LIB_CTX_free(libctx);
    OPENSSL_free(isa);
    OPENSSL_free(module);
}

int main(void)
{
    char *conf = CONF_get1_default_config_file();
    const char *modules = getenv("OPENSSL_MODULES");
    const char *serving[NALGORITHMS], *later;
    int ours = 0, by_others = 0, changed = 0;
    size_t i;

    if (!modules)
        modules = OPENSSL_info(OPENSSL_INFO_MODULES_DIR);
    printf("%s\n", OpenSSL_version(OPENSSL_VERSION));
    printf("configuration: %s\n", conf ? conf : "none");
    printf("folder of modules: %s\n", modules ? modules : "none");

    /* As every program does at its start, but with errors shown. */
    OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
    if (conf && access(conf, R_OK) != 0) {
        complain("the configuration file cannot be read",
                 "create it, or point OPENSSL_CONF at one that exists");
    } else if (CONF_modules_load_file(conf, NULL, 0) <= 0) {
        complain("the configuration was not loaded to its end:",
                 "correct it; OpenSSL ignores the rest without a word");
    }

    /* Fetching is what makes libcrypto activate default where no provider was
     * configured, so it comes before the list. */
    for (i = 0; i < NALGORITHMS; i++)
        serving[i] = who_serves(i);
    printf("\nactive providers:\n");
    OSSL_PROVIDER_do_all(NULL, print_provider, &ours);
    printf("\nserved by:\n");
    for (i = 0; i < NALGORITHMS; i++) {
        printf("  %-18s %s\n", i < NCIPHERS ? ciphers[i] : "POLY1305",
               serving[i] ? serving[i] : "nobody");
        by_others += !serving[i] || strcmp(serving[i], US) != 0;
    }

    if (!ours)
        examine_module(conf);
    else if (by_others)
        complain("other providers serve what " US " could serve",
                 "list " US " first in the providers section, and set"
                 " `default_properties = ?provider=" US "`");
    /* Sorts libcrypto's list of providers, as a program may do at any time. */
    if (!OSSL_PROVIDER_available(NULL, "default"))
        complain("the default provider is not active: programs find no hash,"
                 " no random numbers, no other cipher",
                 "activate it beside " US ", in a section of its own");
    for (i = 0; i < NALGORITHMS; i++) {
        later = who_serves(i);
        changed += later != serving[i] &&
                   (!later || !serving[i] || strcmp(later, serving[i]) != 0);
    }
    if (changed)
        complain("the choice changes once a program loads a provider or looks"
                 " for one",
                 "call the section of the provider " US ", list it first");

    if (complaints == 0)
        printf("\nAll as it should be.\n");
    OPENSSL_free(conf);
    return complaints != 0;
}
