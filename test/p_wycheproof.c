/*
 * Project Wycheproof's vectors for AES-CBC (PKCS #5), AES-GCM, GMAC (which is
 * GCM with AAD alone) and ChaCha20-Poly1305, found in wycheproof/ below
 * BULKCIPHER_VECTORS. Tests marked "acceptable" may go either way.
 */
#include "json.h"
#include "vector.h"

#include <stdlib.h>
#include <string.h>

static int ran, groups;

/* The file being read. */
static struct {
    const char *name;
    enum mode mode;
    int gmac;
} file;

static void take_test(struct vector *v, const char **at, char *result,
                      size_t result_size)
{
    static char value[8192];
    char key[40], id[16] = "?";

    json_enter(at, '{');
    while (json_member(at, key, sizeof(key))) {
        struct bytes *b = strcmp(key, "key") == 0   ? &v->key
                          : strcmp(key, "iv") == 0  ? &v->iv
                          : strcmp(key, "aad") == 0 ? &v->aad
                          : strcmp(key, "ct") == 0  ? &v->text
                          : strcmp(key, "tag") == 0 ? &v->tag
                          : strcmp(key, "msg") == 0
                              ? (file.gmac ? &v->aad : &v->plain)
                              : NULL;

        if (strcmp(key, "tcId") == 0) {
            json_value(at, id, sizeof(id));
        } else if (strcmp(key, "result") == 0) {
            json_value(at, result, result_size);
        } else if (b) {
            json_value(at, value, sizeof(value));
            bytes_read(b, value);
        } else {
            json_value(at, NULL, 0);
        }
    }
    check_case("%s, tcId %s, %s", file.name, id, result);
}

static void run_test(const char **at)
{
    struct vector v = {.alg = 0};
    char result[20] = "";

    take_test(&v, at, result, sizeof(result));
    while (v.alg < CIPHERS && (algorithms[v.alg].mode != file.mode ||
                               algorithms[v.alg].key_len != v.key.len))
        v.alg++;
    if (!CHECK(v.alg < CIPHERS))
        exit(1);
    /* GMAC vectors give only the tag: an empty text. */
    if (file.gmac) {
        bytes_read(&v.plain, "");
        bytes_read(&v.text, "");
    }
    if (file.mode == CBC)
        bytes_read(&v.tag, "");
    v.padded = 1;
    /* EVP takes GCM IVs of up to 128 bytes. */
    v.valid = strcmp(result, "valid") == 0 && v.iv.len <= 128;
    v.open = strcmp(result, "acceptable") != 0;
    /* Sealing what an invalid vector describes works, except where the IV
     * itself is at fault: those open and seal alike. */
    v.seal = v.valid || (v.open && (v.iv.len == 0 || v.iv.len > 128 ||
                                    (file.mode == CHAPOLY && v.iv.len != 12)));
    vector_check(&v);
    vector_clear(&v);
    ran++;
}

static void run_group(const char **at)
{
    char key[40];

    groups++;
    json_enter(at, '{');
    while (json_member(at, key, sizeof(key))) {
        if (strcmp(key, "tests") != 0) {
            json_value(at, NULL, 0);
            continue;
        }
        json_enter(at, '[');
        while (json_element(at))
            run_test(at);
    }
}

static void run_file(const char *name, enum mode mode, int gmac)
{
    char path[1024], key[40], count[16] = "0";
    char *text;
    const char *at;
    int before = ran;

    snprintf(path, sizeof(path), "%s/wycheproof/%s", BC_TEST_VECTORS, name);
    text = file_read(path);
    if (!text) {
        check_skip("no %s", path);
        return;
    }
    file.name = name;
    file.mode = mode;
    file.gmac = gmac;
    at = text;
    json_enter(&at, '{');
    while (json_member(&at, key, sizeof(key))) {
        if (strcmp(key, "testGroups") == 0) {
            json_enter(&at, '[');
            while (json_element(&at))
                run_group(&at);
        } else if (strcmp(key, "numberOfTests") == 0) {
            json_value(&at, count, sizeof(count));
        } else {
            json_value(&at, NULL, 0);
        }
    }
    check_case("%s: number of tests", name);
    CHECK_INT(ran - before, atoi(count));
    free(text);
}

int main(void)
{
    if (!*BC_TEST_VECTORS) {
        check_skip("BULKCIPHER_VECTORS does not name a folder with "
                   "wycheproof/");
        return check_done();
    }
    evp_open();
    run_file("aes_cbc_pkcs5_test.json", CBC, 0);
    run_file("aes_gcm_test.json", GCM, 0);
    run_file("aes_gmac_test.json", GCM, 1);
    run_file("chacha20_poly1305_test.json", CHAPOLY, 0);
    printf("%d tests in %d groups\n", ran, groups);
    evp_close();
    return check_done();
}
