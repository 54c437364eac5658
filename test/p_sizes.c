/*
 * Lengths beyond 32 bits: one update of nearly 2^31 bytes, streams, AAD and
 * MAC of more than 4 GiB, AAD of 600 MiB in one call, against the default
 * provider: the tag, or CBC's running IV, and the last of the output.
 *
 * Takes a minute, so it runs with BC_LONG=1 alone, as run.sh --full sets it.
 * The long buffers are a few MiB of memory mapped again and again. An output
 * longer than that overwrites itself, so the tag of ChaCha20-Poly1305, which
 * default makes in a second pass over the output, cannot be compared there.
 */
#define _GNU_SOURCE
#include "evp.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RING ((size_t)8 << 20)
#define MOST ((size_t)1 << 31)
#define HUGE_UPDATE (MOST - 80)
#define BEYOND (((size_t)4 << 30) + 48) /* more than 2^32 */

static uint8_t *in, *out;

/* MOST bytes of address space over RING bytes of memory. */
static uint8_t *ring(void)
{
    int fd = memfd_create("ring", 0);
    uint8_t *p = mmap(NULL, MOST, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    size_t at;

    if (fd < 0 || ftruncate(fd, (off_t)RING) != 0 || p == MAP_FAILED)
        return NULL;
    for (at = 0; at < MOST; at += RING)
        if (mmap(p + at, RING, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                 fd, 0) == MAP_FAILED)
            return NULL;
    close(fd);
    return p;
}

/* len bytes of AAD (to == NULL) or data in calls of at most `call` bytes. */
static int feed(EVP_CIPHER_CTX *ctx, uint8_t *to, size_t len, size_t call)
{
    size_t at, n;
    int outl;

    for (at = 0; at < len; at += n) {
        n = len - at < call ? len - at : call;
        if (!EVP_CipherUpdate(ctx, to, &outl, in, (int)n))
            return 0;
    }
    return 1;
}

/* What remains of a message. */
struct remains {
    uint8_t tag[16];
    uint8_t last[4096]; /* of the output of the last call */
};

static int run(const struct side *s, int alg, int enc, size_t aad, size_t len,
               size_t call, struct remains *r)
{
    static const uint8_t key[32] = {1, 2, 3}, iv[16] = {4, 5, 6};
    size_t last = len % call ? len % call : call;
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int n, ok;

    memset(r, 0, sizeof(*r));
    ok = EVP_CipherInit_ex(ctx, s->cipher[alg], NULL, key, iv, enc) &&
         feed(ctx, NULL, aad, call) && feed(ctx, out, len, call);
    if (last > sizeof(r->last))
        memcpy(r->last, out + last - 16 - sizeof(r->last), sizeof(r->last));
    if (ok && algorithms[alg].mode == CBC)
        ok = EVP_CIPHER_CTX_get_updated_iv(ctx, r->tag, 16);
    else if (ok && enc)
        ok = EVP_CipherFinal_ex(ctx, out, &n) &&
             EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, r->tag) > 0;
    EVP_CIPHER_CTX_free(ctx);
    return ok;
}

static void check(int alg, int enc, size_t aad, size_t len, size_t call)
{
    static struct remains got, want;

    check_case("%s %s, AAD of %zu, %zu bytes, calls of %zu",
               algorithms[alg].name, enc ? "enc" : "dec", aad, len, call);
    CHECK(run(&ours, alg, enc, aad, len, call, &got));
    CHECK(run(&theirs, alg, enc, aad, len, call, &want));
    if (algorithms[alg].mode != CHAPOLY || len <= RING || call <= RING)
        CHECK_MEM(got.tag, want.tag, 16);
    CHECK_MEM(got.last, want.last, sizeof(want.last));
}

static int mac(const struct side *s, size_t len, size_t call, uint8_t tag[16])
{
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(s->poly1305);
    size_t at, n;
    int ok = EVP_MAC_init(ctx, in, 32, NULL);

    for (at = 0; ok && at < len; at += n) {
        n = len - at < call ? len - at : call;
        ok = EVP_MAC_update(ctx, in, n);
    }
    ok = ok && EVP_MAC_final(ctx, tag, &n, 16);
    EVP_MAC_CTX_free(ctx);
    return ok;
}

static void check_mac(size_t len, size_t call)
{
    uint8_t got[16], want[16];

    check_case("POLY1305, %zu bytes, calls of %zu", len, call);
    CHECK(mac(&ours, len, call, got));
    CHECK(mac(&theirs, len, call, want));
    CHECK_MEM(got, want, 16);
}

int main(void)
{
    const char *wanted = getenv("BC_LONG");
    int alg;

    if (!wanted || *wanted != '1') {
        check_skip("BC_LONG=1 runs lengths beyond 4 GiB (a minute)");
        return check_done();
    }
    if (sizeof(size_t) < 8 || !(in = ring()) || !(out = ring())) {
        check_skip("not enough address space");
        return check_done();
    }
    evp_open();
    rnd_bytes(in, RING);
    check(1, 0, 0, HUGE_UPDATE, HUGE_UPDATE);
    check(1, 1, 0, BEYOND, RING);
    for (alg = 5; alg < CIPHERS; alg++) {
        check(alg, 1, 0, HUGE_UPDATE, HUGE_UPDATE);
        check(alg, 1, 0, BEYOND, RING);
        check(alg, 1, (size_t)600 << 20, 33, (size_t)600 << 20);
        check(alg, 1, BEYOND, 33, HUGE_UPDATE);
    }
    check_mac(BEYOND, HUGE_UPDATE);
    evp_close();
    return check_done();
}
