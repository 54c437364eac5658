/*
 * The stanzas of OpenSSL's own evp_test data that concern our algorithms, of
 * each release found below BULKCIPHER_VECTORS (evp-<version>/).
 */
#define _DEFAULT_SOURCE
#include "vector.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int ran;

static void take(struct bytes *b, const struct stanza *s, const char *name)
{
    const char *value = stanza_get(s, name);

    bytes_read(b, value ? value : "");
}

static void run_cipher(const struct stanza *s, const char *name)
{
    struct vector v = {.alg = vector_algorithm(name)};
    const char *operation = stanza_get(s, "Operation");
    const char *result = stanza_get(s, "Result");

    if (v.alg < 0)
        return;
    v.valid = result == NULL;
    v.seal = operation == NULL || strcmp(operation, "ENCRYPT") == 0;
    v.open = operation == NULL || strcmp(operation, "DECRYPT") == 0;
    take(&v.key, s, "Key");
    take(&v.iv, s, "IV");
    take(&v.aad, s, "AAD");
    take(&v.plain, s, "Plaintext");
    take(&v.text, s, "Ciphertext");
    take(&v.tag, s, "Tag");
    take(&v.next_iv, s, "NextIV");
    if (result && strcmp(result, "KEY_SET_ERROR") == 0)
        v.open = v.seal = 0; /* a key of another length: not ours to set */
    vector_check(&v);
    vector_clear(&v);
    ran++;
}

static void run_mac(const struct stanza *s)
{
    struct bytes key = {0}, in = {0}, out = {0};
    const char *result = stanza_get(s, "Result");
    uint8_t tag[16];
    int ok;

    take(&key, s, "Key");
    take(&in, s, "Input");
    take(&out, s, "Output");
    if (CHECK_INT(key.len, 32)) {
        ok = poly1305_run(&ours, key.data, in.data, in.len, tag) &&
             out.len == 16 && memcmp(tag, out.data, 16) == 0;
        CHECK_INT(ok, result == NULL);
    }
    free(key.data);
    free(in.data);
    free(out.data);
    ran++;
}

static void run_file(const char *path)
{
    char *text = file_read(path), *at = text;
    struct stanza s = {0};

    while (text && stanza_next(&at, &s)) {
        const char *cipher = stanza_get(&s, "Cipher");
        const char *mac = stanza_get(&s, "MAC");

        check_case("%s, stanza before line %d", path, s.line);
        if (cipher)
            run_cipher(&s, cipher);
        if (mac && strcasecmp(mac, "Poly1305") == 0)
            run_mac(&s);
    }
    free(text);
}

int main(void)
{
    static const char *const files[] = {
        "evpciph_aes_common.txt", "evpciph_chacha.txt", "evpmac_poly1305.txt"};
    const char *root = BC_TEST_VECTORS;
    struct dirent *e;
    char path[1024];
    DIR *dir;
    size_t i;

    dir = *root ? opendir(root) : NULL;
    if (!dir) {
        check_skip("BULKCIPHER_VECTORS does not name a folder with evp-*/");
        return check_done();
    }
    evp_open();
    while ((e = readdir(dir)) != NULL) {
        if (strncmp(e->d_name, "evp-", 4) != 0)
            continue;
        for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
            snprintf(path, sizeof(path), "%s/%s/%s", root, e->d_name, files[i]);
            run_file(path);
        }
    }
    closedir(dir);
    if (ran)
        printf("%d stanzas\n", ran);
    else
        check_skip("no evp-*/ in %s", root);
    evp_close();
    return check_done();
}
