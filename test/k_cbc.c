/*
 * AES-CBC: every ops table that runs here against the reference of ref_aes.c,
 * over lengths, pieces, directions, places in memory and its bounds.
 *
 * The ciphertext of the first n blocks of a message is the beginning of the
 * ciphertext of the whole, so one long message for each key size, made once,
 * tells what every shorter one must give.
 */
#include <string.h>

#include "check.h"
#include "levels.h"
#include "ref_aes.h"

#define MAX_BLOCKS 2064 /* 33,024 bytes */
#define WIDEST 32       /* blocks in one turn of the widest loop, or more */
#define ROOM 64         /* bytes on either side of an output that must stay */

struct expected {
    size_t keylen;
    uint8_t key[32];
    uint8_t iv[16];
    uint8_t plain[16 * MAX_BLOCKS], cipher[16 * MAX_BLOCKS];
};

static struct expected expected[3]; /* AES-128, 192, 256 */
static uint8_t in_buf[16 * MAX_BLOCKS + 4096], out_buf[16 * MAX_BLOCKS + 4096];
static struct bc_cbc c;

static void make_expected(struct expected *e, size_t keylen)
{
    static struct ref_aes a;
    const uint8_t *prev = e->iv;
    uint8_t x[16];
    size_t i, j;

    e->keylen = keylen;
    rnd_bytes(e->key, keylen);
    rnd_bytes(e->iv, 16);
    rnd_bytes(e->plain, sizeof(e->plain));
    ref_aes_key(&a, e->key, keylen);
    for (i = 0; i < sizeof(e->plain); i += 16) {
        for (j = 0; j < 16; j++)
            x[j] = e->plain[i + j] ^ prev[j];
        ref_aes_encrypt(&a, e->cipher + i, x);
        prev = e->cipher + i;
    }
}

static void crypt(uint8_t *out, const uint8_t *in, size_t nblocks, int decrypt)
{
    if (decrypt)
        bc_cbc_decrypt(&c, out, in, nblocks);
    else
        bc_cbc_encrypt(&c, out, in, nblocks);
}

/* One message, the first `cut` blocks in a call of their own; `in` may be
 * `out` or lie behind it at any distance. */
static void one(const struct expected *e, uint8_t *out, uint8_t *in,
                size_t nblocks, size_t cut, int decrypt)
{
    size_t len = 16 * nblocks;

    memcpy(in, decrypt ? e->cipher : e->plain, len);
    memcpy(c.iv, e->iv, 16);
    if (cut)
        crypt(out, in, cut, decrypt);
    crypt(out + 16 * cut, in + 16 * cut, nblocks - cut, decrypt);
    CHECK_MEM(out, decrypt ? e->plain : e->cipher, len);
    CHECK_MEM(c.iv, nblocks ? e->cipher + len - 16 : e->iv, 16);
}

static void set_key(const struct expected *e)
{
    bc_cbc_set_key(&c, e->key, e->keylen);
}

/* out = out_buf + ROOM + shift; what is around it must stay. */
static void one_bounded(const struct expected *e, size_t nblocks, size_t shift)
{
    static const uint8_t canary[ROOM] = {0xa5, 0x5a, 0x96};
    uint8_t *out = out_buf + ROOM + shift;
    int decrypt;

    for (decrypt = 0; decrypt < 2; decrypt++) {
        check_case("cbc %s, AES-%zu, %s, %zu blocks, shift %zu", c.ops->name,
                   8 * e->keylen, decrypt ? "decrypt" : "encrypt", nblocks,
                   shift);
        memcpy(out - ROOM, canary, ROOM);
        memcpy(out + 16 * nblocks, canary, ROOM);
        one(e, out, in_buf + nblocks % 64, nblocks, 0, decrypt);
        CHECK_MEM(out - ROOM, canary, ROOM);
        CHECK_MEM(out + 16 * nblocks, canary, ROOM);
    }
}

static void test_lengths(void)
{
    size_t k, n, near;

    for (k = 0; k < 3; k++) {
        set_key(&expected[k]);
        for (n = 0; n <= 1100 / 16 + 2; n++)
            one_bounded(&expected[k], n, rnd_below(64));
        for (n = 2 * WIDEST; n + 2 <= MAX_BLOCKS; n += WIDEST) {
            if (quick() && n != 4 * WIDEST && n != 32 * WIDEST)
                continue;
            /* The portable table has one stride for all key sizes. */
            if (c.ops->needs == 0 && n / WIDEST % 3 != k)
                continue;
            for (near = n - 2; near <= n + 2; near++)
                one_bounded(&expected[k], near, near % 64);
        }
    }
}

/* Pieces at random, either direction: after a piece the running IV is the
 * last block of ciphertext in both, so the other direction may go on. Now and
 * then the schedule is made anew, or another message comes in between. */
static void test_pieces(void)
{
    static const uint32_t most[] = {2, 9, 70};
    size_t rounds = full_or_quick(600, 60), t;

    for (t = 0; t < rounds; t++) {
        const struct expected *e = &expected[rnd_below(3)];
        const struct expected *other = &expected[rnd_below(3)];
        size_t nblocks = rnd_below(140), i = 0;

        set_key(e);
        memcpy(c.iv, e->iv, 16);
        while (i < nblocks) {
            size_t n = rnd_below(1 + most[t % 3]);
            int decrypt = (int)rnd_below(2);
            const uint8_t *in = decrypt ? e->cipher : e->plain;
            const uint8_t *want = decrypt ? e->plain : e->cipher;

            n = n < nblocks - i ? n : nblocks - i;
            check_case("cbc %s, AES-%zu, round %zu: %s %zu blocks at %zu",
                       c.ops->name, 8 * e->keylen, t,
                       decrypt ? "decrypt" : "encrypt", n, i);
            crypt(out_buf, in + 16 * i, n, decrypt);
            CHECK_MEM(out_buf, want + 16 * i, 16 * n);
            i += n;
            CHECK_MEM(c.iv, i ? e->cipher + 16 * i - 16 : e->iv, 16);
            if (rnd_below(8) == 0) {
                uint8_t iv[16];

                memcpy(iv, c.iv, 16);
                set_key(other);
                one(other, out_buf, in_buf, rnd_below(40), 0,
                    (int)rnd_below(2));
                set_key(e);
                memcpy(c.iv, iv, 16);
            }
        }
    }
}

/* The struct is plain bytes: a copy goes on as the original would have. */
static void test_copy(void)
{
    struct bc_cbc copy;

    check_case("cbc %s, copy", c.ops->name);
    set_key(&expected[2]);
    one(&expected[2], out_buf, in_buf, 5, 0, 1);
    memcpy(&copy, &c, sizeof(copy));
    memset(&c.key, 0, sizeof(c.key));
    bc_cbc_decrypt(&copy, out_buf, expected[2].cipher + 5 * 16, 40);
    CHECK_MEM(out_buf, expected[2].plain + 5 * 16, 40 * 16);
}

static void test_overlap(void)
{
    static const uint8_t lengths[] = {1,  2,  3,  4,  5,  7,  8,  15,
                                      16, 17, 31, 33, 64, 65, 130};
    size_t d, i;
    int decrypt;

    for (d = 0; d <= 66; d += full_or_quick(1, 11)) {
        size_t distance = d <= 64 ? d : d == 65 ? 100 : 1000;
        const struct expected *e = &expected[d % 3];
        uint8_t *in = in_buf + 1024 + rnd_below(64);

        set_key(e);
        for (i = 0; i < sizeof(lengths); i++)
            for (decrypt = 0; decrypt < 2; decrypt++) {
                check_case("cbc %s, AES-%zu, %s, %d blocks, out = in - %zu",
                           c.ops->name, 8 * e->keylen,
                           decrypt ? "decrypt" : "encrypt", lengths[i],
                           distance);
                one(e, in - distance, in, lengths[i], 0, decrypt);
                one(e, in - distance, in, lengths[i], rnd_below(lengths[i]),
                    decrypt);
            }
    }
}

static void test_alignment(void)
{
    size_t a;
    int decrypt;

    for (a = 0; a < 64; a++) {
        const struct expected *e = &expected[a % 3];
        uint8_t key[32 + 64];

        memcpy(key + a, e->key, e->keylen);
        bc_cbc_set_key(&c, key + a, e->keylen);
        for (decrypt = 0; decrypt < 2; decrypt++) {
            check_case("cbc %s, AES-%zu, %s, misaligned by %zu", c.ops->name,
                       8 * e->keylen, decrypt ? "decrypt" : "encrypt", a);
            one(e, out_buf + a * 29 % 64, in_buf + a, 43 + a, 0, decrypt);
        }
    }
}

/* Every buffer ends at an unmapped page, then starts at one. */
static void test_bounds(void)
{
    struct guarded in = guard_new(16 * MAX_BLOCKS);
    struct guarded out = guard_new(16 * MAX_BLOCKS);
    struct guarded key = guard_new(32);
    size_t n;
    int decrypt, at_end;

    for (n = 0; n <= 80; n += full_or_quick(1, 5))
        for (decrypt = 0; decrypt < 2; decrypt++)
            for (at_end = 0; at_end < 2; at_end++) {
                const struct expected *e = &expected[n % 3];
                /* The last eight are long ones. */
                size_t nblocks = n <= 72 ? n : MAX_BLOCKS - (n - 73);
                size_t len = 16 * nblocks;
                uint8_t *k = at_end ? guard_tail(&key, e->keylen) : key.begin;

                check_case("cbc %s, AES-%zu, %s, %zu blocks at the %s of pages",
                           c.ops->name, 8 * e->keylen,
                           decrypt ? "decrypt" : "encrypt", nblocks,
                           at_end ? "end" : "start");
                memcpy(k, e->key, e->keylen);
                bc_cbc_set_key(&c, k, e->keylen);
                one(e, at_end ? guard_tail(&out, len) : out.begin,
                    at_end ? guard_tail(&in, len) : in.begin, nblocks, 0,
                    decrypt);
            }
    guard_free(&in);
    guard_free(&out);
    guard_free(&key);
}

int main(void)
{
    size_t i;

    for (i = 0; i < 3; i++)
        make_expected(&expected[i], 16 + 8 * i);
    for (i = 0; bc_cbc_list[i]; i++) {
        if (!level_runs("cbc", bc_cbc_list[i]->name, bc_cbc_list[i]->needs))
            continue;
        bc_cbc_init(&c, bc_cbc_list[i]);
        test_lengths();
        test_pieces();
        test_copy();
        test_overlap();
        test_alignment();
        test_bounds();
    }
    return check_done();
}
