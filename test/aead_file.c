/*
 * Encrypts or decrypts a file with an AEAD cipher of a named provider, through
 * nothing but public EVP calls: `openssl enc` refuses AEAD ciphers. Used by
 * cmake/quickstart.sh and test/cpu_tests.sh; also a short example of how a
 * program asks for one provider.
 *
 *     aead_file PROVIDER CIPHER encrypt|decrypt KEY NONCE <input >output
 *
 * KEY and NONCE are hex. The 16-byte tag stands at the end of the encrypted
 * file. The whole input is kept in memory, so that decryption writes nothing
 * before the tag has been checked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

#define TAG 16
#define MOST (1 << 30) /* EVP counts in int */

static int fail(const char *what)
{
    fprintf(stderr, "aead_file: %s\n", what);
    ERR_print_errors_fp(stderr);
    return EXIT_FAILURE;
}

/* All of stdin, with room for a tag behind it. */
static unsigned char *read_all(size_t *len)
{
    size_t room = 1 << 20, n;
    unsigned char *data = malloc(room + TAG);

    *len = 0;
    while (data && (n = fread(data + *len, 1, room - *len, stdin)) > 0) {
        *len += n;
        if (*len == room) {
            unsigned char *more = NULL;

            if (room < MOST)
                more = realloc(data, 2 * room + TAG);
            if (!more)
                free(data);
            data = more;
            room *= 2;
        }
    }
    return data;
}

static int run_cipher(EVP_CIPHER_CTX *ctx, const EVP_CIPHER *cipher,
                      int encrypt, const unsigned char *key,
                      const unsigned char *nonce, unsigned char *data,
                      size_t *len)
{
    int out, end;

    if (!encrypt) {
        if (*len < TAG)
            return 0;
        *len -= TAG;
    }
    if (!EVP_CipherInit_ex2(ctx, cipher, key, nonce, encrypt, NULL) ||
        (!encrypt &&
         !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, TAG, data + *len)) ||
        !EVP_CipherUpdate(ctx, data, &out, data, (int)*len) ||
        !EVP_CipherFinal_ex(ctx, data + out, &end))
        return 0;
    if (encrypt) {
        if (!EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, TAG, data + *len))
            return 0;
        *len += TAG;
    }
    return 1;
}

int main(int argc, char **argv)
{
    unsigned char *key = NULL, *nonce = NULL, *data = NULL;
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    EVP_CIPHER *cipher = NULL;
    OSSL_PROVIDER *provider;
    char query[100];
    long key_len, nonce_len;
    size_t len;
    int encrypt, status;

    if (argc != 6 || (strcmp(argv[3], "encrypt") && strcmp(argv[3], "decrypt")))
        return fail("usage: aead_file PROVIDER CIPHER encrypt|decrypt"
                    " KEY NONCE <input >output");
    encrypt = strcmp(argv[3], "encrypt") == 0;
    provider = OSSL_PROVIDER_load(NULL, argv[1]);
    if (!provider)
        return fail("no such provider");
    snprintf(query, sizeof(query), "provider=%s", argv[1]);
    cipher = EVP_CIPHER_fetch(NULL, argv[2], query);
    if (!cipher)
        return fail("the provider has no such cipher");

    key = OPENSSL_hexstr2buf(argv[4], &key_len);
    nonce = OPENSSL_hexstr2buf(argv[5], &nonce_len);
    if (!key || key_len != EVP_CIPHER_get_key_length(cipher))
        status = fail("not a key of this cipher");
    else if (!nonce || nonce_len != EVP_CIPHER_get_iv_length(cipher))
        status = fail("not a nonce of this cipher");
    else if (!(data = read_all(&len)))
        status = fail("the input does not fit into memory");
    else if (!ctx || !run_cipher(ctx, cipher, encrypt, key, nonce, data, &len))
        status = fail(encrypt ? "encryption failed"
                              : "decryption failed: not the key and nonce it"
                                " was encrypted with, or a damaged file");
    else if (fwrite(data, 1, len, stdout) != len || fflush(stdout))
        status = fail("cannot write");
    else
        status = EXIT_SUCCESS;

    free(data);
    OPENSSL_free(nonce);
    OPENSSL_free(key);
    EVP_CIPHER_CTX_free(ctx);
    EVP_CIPHER_free(cipher);
    OSSL_PROVIDER_unload(provider);
    return status;
}
