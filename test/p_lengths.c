/*
 * Every length, every key size, both directions, against the default
 * provider. Every buffer the module is handed (input, output, AAD, key, IV,
 * tag) ends at an unmapped page in one pass and starts right after one in the
 * next; where the output does not touch an unmapped page, canaries stand.
 */
#include "evp.h"

#include <string.h>

#define CANARY 64
#define EVERY 1100    /* each length up to here */
#define STRIDES 33000 /* then around the multiples of the widest loops */
#define LARGE (30 << 20)

enum where { AT_END, AT_BEGIN };

/* One guarded buffer per argument of a message. */
static struct guarded in_room, out_room, aad_room, key_room, iv_room, tag_room;

static uint8_t *place(const struct guarded *g, enum where where,
                      const void *bytes, size_t len)
{
    uint8_t *p = where == AT_END ? guard_tail(g, len) : g->begin;

    if (bytes)
        memcpy(p, bytes, len);
    return p;
}

/* Output of len bytes with canaries on the side that has room for them. */
static uint8_t *place_out(enum where where, size_t len)
{
    uint8_t *p = place(&out_room, where, NULL, len);

    memset(where == AT_END ? p - CANARY : p + len, 0xc5, CANARY);
    return p;
}

static void check_canary(const uint8_t *p, enum where where, size_t len)
{
    uint8_t want[CANARY];

    memset(want, 0xc5, CANARY);
    CHECK_MEM(where == AT_END ? p - CANARY : p + len, want, CANARY);
}

/* The same message between guard pages; n and the bytes as expected. */
static void check_placed(EVP_CIPHER_CTX *ctx, const struct message *plain,
                         enum where where, const uint8_t *want, long n,
                         const uint8_t *want_tag)
{
    const struct algorithm *a = &algorithms[plain->alg];
    struct message m = *plain;
    uint8_t *out = place_out(where, (size_t)n);

    m.in = place(&in_room, where, plain->in, plain->len);
    m.aad = place(&aad_room, where, plain->aad, plain->aad_len);
    m.key = place(&key_room, where, plain->key, a->key_len);
    m.iv = place(&iv_room, where, plain->iv, plain->iv_len);
    m.tag = place(&tag_room, where, plain->enc ? NULL : plain->tag, m.tag_len);
    if (!CHECK_INT(message_run(&ours, ctx, &m, out), n))
        return;
    CHECK_MEM(out, want, (size_t)n);
    check_canary(out, where, (size_t)n);
    if (a->mode != CBC && m.enc)
        CHECK_MEM(m.tag, want_tag, m.tag_len);
}

static void check_length(EVP_CIPHER_CTX *ctx, int alg, size_t aad_len,
                         size_t len, size_t iv_len)
{
    struct fixture f;
    struct message back;
    long n;

    fixture_make(&f, alg, 1, aad_len, len);
    if (algorithms[alg].mode == GCM)
        f.m.iv_len = iv_len;
    f.m.nopad = len % 32 == 0; /* both paddings where both are possible */
    check_case("%s, %zu bytes, AAD %zu, IV %zu", algorithms[alg].name, len,
               f.m.aad_len, f.m.iv_len);
    n = message_run(&theirs, ctx, &f.m, f.out);
    if (CHECK(n >= 0)) {
        check_placed(ctx, &f.m, AT_END, f.out, n, f.tag);
        check_placed(ctx, &f.m, AT_BEGIN, f.out, n, f.tag);
        back = f.m;
        back.enc = 0;
        back.in = f.out;
        back.len = (size_t)n;
        check_placed(ctx, &back, AT_END, f.in, (long)len, f.tag);
        check_placed(ctx, &back, AT_BEGIN, f.in, (long)len, f.tag);
        /* A long message with a bad tag is refused, not merely miscounted. */
        if (algorithms[alg].mode != CBC && len % 8 == 3) {
            f.tag[len % 16] ^= 0x10;
            CHECK_INT(message_run(&ours, ctx, &back, f.in), -1);
        }
    }
    fixture_free(&f);
}

static void check_mac_length(size_t len)
{
    uint8_t key[32], tag[16], want[16];
    uint8_t *in;
    int where;

    rnd_bytes(key, sizeof(key));
    check_case("POLY1305, %zu bytes", len);
    for (where = AT_END; where <= AT_BEGIN; where++) {
        in = place(&in_room, where, NULL, len);
        rnd_bytes(in, len);
        CHECK(poly1305_run(&theirs, key, in, len, want));
        CHECK(poly1305_run(&ours, place(&key_room, where, key, 32), in, len,
                           place(&tag_room, where, NULL, 16)));
        memcpy(tag, place(&tag_room, where, NULL, 16), 16);
        CHECK_MEM(tag, want, 16);
    }
}

/* 30 MB once per algorithm: beyond every cache, so that streaming stores and
 * the longest loops are reached too. */
static void check_large(EVP_CIPHER_CTX *ctx)
{
    static const int some[] = {0, 2, 3, 5, 6};
    size_t i;

    for (i = 0; i < sizeof(some) / sizeof(*some); i++)
        check_length(ctx, some[i], 13, LARGE + 7, 12);
    check_mac_length(LARGE + 7);
}

int main(void)
{
    EVP_CIPHER_CTX *ctx;
    size_t step = quick ? 13 : 1, len, at;
    int alg;

    evp_open();
    ctx = EVP_CIPHER_CTX_new();
    in_room = guard_new(LARGE + 4096);
    out_room = guard_new(LARGE + 4096);
    aad_room = guard_new(4096);
    key_room = guard_new(32);
    iv_room = guard_new(128);
    tag_room = guard_new(16);

    for (len = 0; len <= EVERY; len += step) {
        for (alg = 0; alg < CIPHERS; alg++)
            check_length(ctx, alg, len * 7 % 83, len, 12);
        check_mac_length(len);
    }
    /* Every AAD length, short data; then every IV length. */
    for (len = 0; len <= EVERY; len += step)
        for (alg = 3; alg < CIPHERS; alg++)
            check_length(ctx, alg, len, len * 11 % 37, 12);
    for (len = 1; len <= 128; len += step)
        for (alg = 3; alg < 6; alg++)
            check_length(ctx, alg, 20, 67, len);
    /* Two bytes to either side of the multiples of 1 KiB, which is a multiple
     * of every loop's stride, and 1 MiB. */
    for (at = 2048; at <= STRIDES; at += quick ? 8192 : 1024)
        for (len = at - 2; len <= at + 2; len++) {
            for (alg = 0; alg < CIPHERS; alg++)
                check_length(ctx, alg, at % 5, len, 12);
            check_mac_length(len);
        }
    for (alg = 0; alg < CIPHERS; alg++)
        check_length(ctx, alg, 2200, (1 << 20) + (size_t)alg, 12);
    if (!quick)
        check_large(ctx);

    guard_free(&in_room);
    guard_free(&out_room);
    guard_free(&aad_room);
    guard_free(&key_room);
    guard_free(&iv_room);
    guard_free(&tag_room);
    EVP_CIPHER_CTX_free(ctx);
    evp_close();
    return check_done();
}
