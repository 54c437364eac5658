/*
 * NIST's CAVP response files for AES-CBC and AES-GCM, and the vectors for
 * ChaCha20-Poly1305 and Poly1305, from Debian's python3-cryptography-vectors.
 * BC_CAVP in the environment names another copy of that folder.
 */
#define _DEFAULT_SOURCE
#include "vector.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define PACKAGED "/usr/lib/python3/dist-packages/cryptography_vectors"

static int ran;

static void take(struct bytes *b, const struct stanza *s, const char *name,
                 const char *other)
{
    const char *value = stanza_get(s, name);

    if (!value && other)
        value = stanza_get(s, other);
    bytes_read(b, value ? value : "");
}

/* One family of files: the algorithm follows from mode and key length. */
static void run_stanza(const struct stanza *s, enum mode mode)
{
    struct vector v = {.alg = 0};

    take(&v.key, s, "KEY", NULL);
    if (v.key.len == 0) {
        vector_clear(&v);
        return; /* the stanza of the file's settings */
    }
    while (algorithms[v.alg].mode != mode ||
           algorithms[v.alg].key_len != v.key.len)
        v.alg++;
    take(&v.iv, s, "IV", "NONCE");
    take(&v.aad, s, "AAD", "AD");
    take(&v.plain, s, "PLAINTEXT", mode == CHAPOLY ? "IN" : "PT");
    take(&v.text, s, "CIPHERTEXT", "CT");
    take(&v.tag, s, "Tag", NULL);
    v.valid = !stanza_get(s, "FAIL") && !stanza_get(s, "Result");
    v.open = 1;
    v.seal = v.valid;
    vector_check(&v);
    vector_clear(&v);
    ran++;
}

static void run_mac(const struct stanza *s)
{
    struct bytes key = {0}, in = {0}, want = {0};
    uint8_t tag[16];

    take(&key, s, "KEY", NULL);
    take(&in, s, "MSG", NULL);
    take(&want, s, "TAG", NULL);
    if (key.len == 32) {
        CHECK(poly1305_run(&ours, key.data, in.data, in.len, tag));
        CHECK_MEM(tag, want.data, 16);
        ran++;
    }
    free(key.data);
    free(in.data);
    free(want.data);
}

static void run_file(const char *path, enum mode mode, int mac)
{
    char *text = file_read(path), *at = text;
    struct stanza s = {0};
    long n = 0;

    while (text && stanza_next(&at, &s)) {
        if (quick && n++ % 20)
            continue;
        check_case("%s, stanza before line %d", path, s.line);
        if (mac)
            run_mac(&s);
        else
            run_stanza(&s, mode);
    }
    free(text);
}

static void run_folder(const char *root, const char *sub, enum mode mode,
                       int mac)
{
    char path[1024];
    struct dirent *e;
    DIR *dir;

    snprintf(path, sizeof(path), "%s/%s", root, sub);
    dir = opendir(path);
    if (!dir) {
        check_skip("no folder %s", path);
        return;
    }
    while ((e = readdir(dir)) != NULL) {
        if (!strstr(e->d_name, ".rsp") && !strstr(e->d_name, ".txt"))
            continue;
        snprintf(path, sizeof(path), "%s/%s/%s", root, sub, e->d_name);
        run_file(path, mode, mac);
    }
    closedir(dir);
}

int main(void)
{
    const char *root = getenv("BC_CAVP");
    DIR *dir;

    if (!root)
        root = PACKAGED;
    dir = opendir(root);
    if (!dir) {
        check_skip("no %s: package python3-cryptography-vectors", root);
        return check_done();
    }
    closedir(dir);
    evp_open();
    run_folder(root, "ciphers/AES/CBC", CBC, 0);
    run_folder(root, "ciphers/AES/GCM", GCM, 0);
    run_folder(root, "ciphers/ChaCha20Poly1305", CHAPOLY, 0);
    run_folder(root, "poly1305", CHAPOLY, 1);
    printf("%d stanzas\n", ran);
    evp_close();
    return check_done();
}
