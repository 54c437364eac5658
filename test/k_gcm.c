/*
 * AES-GCM: every ops table that runs here against the reference of ref_aes.c,
 * over lengths, pieces, places in memory and its bounds, counters that wrap,
 * IVs and AADs.
 *
 * Under one key, IV and AAD the ciphertext of the first n bytes of a message
 * is the beginning of the ciphertext of the whole, and its tag is two steps
 * from the GHASH of its whole blocks. So one long message for each key size,
 * made once with GHASH kept after each block, tells what every shorter one
 * must give.
 */
#include <string.h>

#include "check.h"
#include "levels.h"
#include "ref_aes.h"

#define MAX_BLOCKS 2064 /* 33,024 bytes */
#define MAX_LEN (16 * MAX_BLOCKS)
#define WIDEST 512 /* bytes in one turn of the widest loop, or more */
#define ROOM 64    /* bytes on either side of an output that must stay */

struct expected {
    size_t keylen, ivlen, aadlen;
    uint8_t key[32], iv[16], aad[32];
    struct ref_gcm ref;
    uint8_t j0[16];
    uint8_t plain[MAX_LEN], cipher[MAX_LEN];
    uint8_t acc[MAX_BLOCKS + 1][16]; /* after AAD and that many blocks */
};

static struct expected expected[3]; /* AES-128, 192, 256 */
static uint8_t in_buf[MAX_LEN + 4096], out_buf[MAX_LEN + 4096];
static struct bc_gcm g;

static void make_expected(struct expected *e, size_t keylen, size_t ivlen,
                          size_t aadlen)
{
    uint8_t ctr[16];
    size_t i;

    e->keylen = keylen;
    e->ivlen = ivlen;
    e->aadlen = aadlen;
    rnd_bytes(e->key, keylen);
    rnd_bytes(e->iv, ivlen);
    rnd_bytes(e->aad, aadlen);
    rnd_bytes(e->plain, MAX_LEN);
    ref_gcm_key(&e->ref, e->key, keylen);
    ref_gcm_j0(&e->ref, e->j0, e->iv, ivlen);
    memcpy(ctr, e->j0, 16);
    ref_gcm_inc(ctr);
    ref_gcm_ctr(&e->ref, e->cipher, e->plain, MAX_LEN, ctr);
    memset(e->acc[0], 0, 16);
    ref_ghash(&e->ref, e->acc[0], e->aad, aadlen);
    for (i = 0; i < MAX_BLOCKS; i++) {
        memcpy(e->acc[i + 1], e->acc[i], 16);
        ref_ghash(&e->ref, e->acc[i + 1], e->cipher + 16 * i, 16);
    }
}

static void expected_tag(const struct expected *e, uint8_t tag[16], size_t len)
{
    uint8_t acc[16];

    memcpy(acc, e->acc[len / 16], 16);
    ref_ghash(&e->ref, acc, e->cipher + len / 16 * 16, len % 16);
    ref_ghash_lengths(&e->ref, acc, e->aadlen, len);
    ref_gcm_ctr(&e->ref, tag, acc, 16, e->j0);
}

static void set_key(const struct expected *e)
{
    bc_gcm_set_key(&g, e->key, e->keylen);
}

static void start(const struct expected *e)
{
    bc_gcm_start(&g, e->iv, e->ivlen);
    bc_gcm_aad(&g, e->aad, e->aadlen);
}

static void crypt(uint8_t *out, const uint8_t *in, size_t len, int decrypt)
{
    if (decrypt)
        bc_gcm_decrypt(&g, out, in, len);
    else
        bc_gcm_encrypt(&g, out, in, len);
}

static void check_tag(const struct expected *e, size_t len)
{
    uint8_t tag[16], want[16];

    bc_gcm_tag(&g, tag);
    expected_tag(e, want, len);
    CHECK_MEM(tag, want, 16);
}

static const char *verb(int decrypt)
{
    return decrypt ? "decrypt" : "encrypt";
}

/* One message, the first `cut` bytes in a call of their own; `in` may be
 * `out` or lie behind it at any distance. */
static void one(const struct expected *e, uint8_t *out, uint8_t *in, size_t len,
                size_t cut, int decrypt)
{
    memcpy(in, decrypt ? e->cipher : e->plain, len);
    start(e);
    if (cut)
        crypt(out, in, cut, decrypt);
    crypt(out + cut, in + cut, len - cut, decrypt);
    CHECK_MEM(out, decrypt ? e->plain : e->cipher, len);
    check_tag(e, len);
}

/* ---- Lengths ------------------------------------------------------------- */

/* What is around the output must stay. Half of the messages follow a new key,
 * so that key powers are made in the course of them. */
static void one_bounded(const struct expected *e, size_t len)
{
    static const uint8_t canary[ROOM] = {0xa5, 0x5a, 0x96};
    size_t shift = rnd_below(64);
    uint8_t *out = out_buf + ROOM + shift;
    int decrypt;

    for (decrypt = 0; decrypt < 2; decrypt++) {
        check_case("gcm %s, AES-%zu, %s, length %zu, shift %zu", g.ops->name,
                   8 * e->keylen, verb(decrypt), len, shift);
        if (rnd_below(2))
            set_key(e);
        memcpy(out - ROOM, canary, ROOM);
        memcpy(out + len, canary, ROOM);
        one(e, out, in_buf + len % 64, len, 0, decrypt);
        CHECK_MEM(out - ROOM, canary, ROOM);
        CHECK_MEM(out + len, canary, ROOM);
    }
}

static void test_lengths(void)
{
    static const int near[] = {-17, -16, -1, 0, 1, 15};
    size_t k, n, i;

    for (k = 0; k < 3; k++) {
        set_key(&expected[k]);
        for (n = 0; n <= 1100; n += full_or_quick(1, 13))
            one_bounded(&expected[k], n);
        for (n = 2 * WIDEST; n + 16 <= MAX_LEN; n += WIDEST) {
            if (quick() && n != 4 * WIDEST && n != 32 * WIDEST)
                continue;
            /* The portable table has one stride for all key sizes. */
            if (g.ops->needs == 0 && n / WIDEST % 3 != k)
                continue;
            for (i = 0; i < sizeof(near) / sizeof(near[0]); i++)
                one_bounded(&expected[k], n + (size_t)near[i]);
        }
    }
}

/* ---- Pieces -------------------------------------------------------------- */

static void test_pieces(void)
{
    static const uint32_t most[] = {5, 40, 300, 1500};
    size_t rounds = full_or_quick(1000, 30), t;

    for (t = 0; t < rounds; t++) {
        const struct expected *e = &expected[rnd_below(3)];
        const struct expected *other = &expected[rnd_below(3)];
        int decrypt = (int)rnd_below(2);
        const uint8_t *in = decrypt ? e->cipher : e->plain;
        const uint8_t *want = decrypt ? e->plain : e->cipher;
        size_t len = rnd_below(2200), i, n;

        check_case("gcm %s, AES-%zu, round %zu: %s, length %zu, pieces to %u",
                   g.ops->name, 8 * e->keylen, t, verb(decrypt), len,
                   (unsigned)most[t % 4]);
        /* A message left unfinished must leave nothing behind. */
        if (rnd_below(2)) {
            set_key(other);
            start(other);
            crypt(out_buf, other->plain, rnd_below(500), (int)rnd_below(2));
        }
        set_key(e);
        if (rnd_below(4) == 0) {
            start(e);
            crypt(out_buf, e->plain, rnd_below(500), (int)rnd_below(2));
        }

        bc_gcm_start(&g, e->iv, e->ivlen);
        for (i = 0; i < e->aadlen; i += n) {
            n = rnd_below(1 + most[t % 4]);
            n = n < e->aadlen - i ? n : e->aadlen - i;
            bc_gcm_aad(&g, e->aad + i, n);
        }
        for (i = 0; i < len; i += n) {
            n = rnd_below(1 + most[t % 4]);
            n = n < len - i ? n : len - i;
            crypt(out_buf + i, in + i, n, decrypt);
        }
        CHECK_MEM(out_buf, want, len);
        check_tag(e, len);
    }
}

/* One byte at a time; a copy of the struct ends the message after each. */
static void test_bytes(void)
{
    size_t k, i;
    int decrypt;

    for (k = 0; k < 3; k++)
        for (decrypt = 0; decrypt < 2; decrypt++) {
            const struct expected *e = &expected[k];
            const uint8_t *in = decrypt ? e->cipher : e->plain;
            size_t len = full_or_quick(900, 100);

            set_key(e);
            bc_gcm_start(&g, e->iv, e->ivlen);
            for (i = 0; i < e->aadlen; i++)
                bc_gcm_aad(&g, e->aad + i, 1);
            for (i = 0; i < len; i++) {
                static struct bc_gcm copy;
                uint8_t tag[16], want[16];

                check_case("gcm %s, AES-%zu, %s, byte %zu by byte", g.ops->name,
                           8 * e->keylen, verb(decrypt), i);
                memcpy(&copy, &g, sizeof(g));
                bc_gcm_tag(&copy, tag);
                expected_tag(e, want, i);
                CHECK_MEM(tag, want, 16);
                crypt(out_buf + i, in + i, 1, decrypt);
            }
            CHECK_MEM(out_buf, decrypt ? e->plain : e->cipher, len);
            check_tag(e, len);
        }
}

/* ---- Places in memory ---------------------------------------------------- */

static void test_overlap(void)
{
    static const uint16_t lengths[] = {1,   15,  16,   17,   63,  64,  65,
                                       100, 127, 129,  255,  257, 500, 512,
                                       513, 700, 1024, 1100, 2100};
    size_t d, i;
    int decrypt;

    for (d = 0; d <= 66; d += full_or_quick(1, 11)) {
        size_t distance = d <= 64 ? d : d == 65 ? 100 : 1000;
        const struct expected *e = &expected[d % 3];
        uint8_t *in = in_buf + 1024 + rnd_below(64);

        set_key(e);
        for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
            for (decrypt = 0; decrypt < 2; decrypt++) {
                check_case("gcm %s, AES-%zu, %s, length %d, out = in - %zu",
                           g.ops->name, 8 * e->keylen, verb(decrypt),
                           lengths[i], distance);
                one(e, in - distance, in, lengths[i], 0, decrypt);
                one(e, in - distance, in, lengths[i], rnd_below(lengths[i]),
                    decrypt);
            }
    }
}

/* Everything a caller passes, at any address. */
static void any_place(const struct expected *e, uint8_t *key, uint8_t *iv,
                      uint8_t *aad, uint8_t *out, uint8_t *in, size_t len,
                      uint8_t *tag, int decrypt)
{
    uint8_t want[16];

    memcpy(key, e->key, e->keylen);
    memcpy(iv, e->iv, e->ivlen);
    memcpy(aad, e->aad, e->aadlen);
    memcpy(in, decrypt ? e->cipher : e->plain, len);
    bc_gcm_set_key(&g, key, e->keylen);
    bc_gcm_start(&g, iv, e->ivlen);
    bc_gcm_aad(&g, aad, e->aadlen);
    crypt(out, in, len, decrypt);
    bc_gcm_tag(&g, tag);
    CHECK_MEM(out, decrypt ? e->plain : e->cipher, len);
    expected_tag(e, want, len);
    CHECK_MEM(tag, want, 16);
}

static void test_alignment(void)
{
    uint8_t key[96], iv[80], aad[96], tag[80];
    size_t a;
    int decrypt;

    for (a = 0; a < 64; a++)
        for (decrypt = 0; decrypt < 2; decrypt++) {
            const struct expected *e = &expected[a % 3];

            check_case("gcm %s, AES-%zu, %s, misaligned by %zu", g.ops->name,
                       8 * e->keylen, verb(decrypt), a);
            any_place(e, key + a, iv + a, aad + a, out_buf + a * 29 % 64,
                      in_buf + a, 700 + a, tag + a, decrypt);
        }
}

/* Every buffer ends at an unmapped page, then starts at one. */
static void test_bounds(void)
{
    struct guarded key = guard_new(32), iv = guard_new(16);
    struct guarded aad = guard_new(32), tag = guard_new(16);
    struct guarded in = guard_new(MAX_LEN), out = guard_new(MAX_LEN);
    size_t n;
    int decrypt, end;

    for (n = 0; n <= 640; n += full_or_quick(1, 9))
        for (decrypt = 0; decrypt < 2; decrypt++)
            for (end = 0; end < 2; end++) {
                const struct expected *e = &expected[n % 3];
                /* The last 40 are long ones. */
                size_t len = n <= 600 ? n : MAX_LEN - (n - 601);

                check_case("gcm %s, AES-%zu, %s, length %zu at the %s of pages",
                           g.ops->name, 8 * e->keylen, verb(decrypt), len,
                           end ? "end" : "start");
                any_place(e, end ? guard_tail(&key, e->keylen) : key.begin,
                          end ? guard_tail(&iv, e->ivlen) : iv.begin,
                          end ? guard_tail(&aad, e->aadlen) : aad.begin,
                          end ? guard_tail(&out, len) : out.begin,
                          end ? guard_tail(&in, len) : in.begin, len,
                          end ? guard_tail(&tag, 16) : tag.begin, decrypt);
            }
    guard_free(&key);
    guard_free(&iv);
    guard_free(&aad);
    guard_free(&tag);
    guard_free(&in);
    guard_free(&out);
}

/* ---- The counter --------------------------------------------------------- */

#define WRAP 128 /* blocks on either side of the wrap */

/*
 * The low 32 bits wrap after `before` blocks of n, at every place in a batch.
 * The counter is set by hand; the plaintext is chosen so that the ciphertext
 * is the expected one, and with it the tag.
 */
static void wrap_after(const struct expected *e, const uint8_t *stream,
                       const uint8_t base[12], size_t before, size_t n)
{
    uint32_t low = 0u - (uint32_t)before;
    size_t part = rnd_below(4) ? 0 : rnd_below(16), len = 16 * n + part;
    size_t cut = rnd_below(2) ? 0 : rnd_below((uint32_t)len + 1), i;
    int decrypt;

    stream += 16 * (WRAP - before);
    for (decrypt = 0; decrypt < 2; decrypt++) {
        uint8_t ctr[16];

        check_case("gcm %s, AES-%zu, %s, length %zu cut at %zu, wrap after "
                   "block %zu",
                   g.ops->name, 8 * e->keylen, verb(decrypt), len, cut, before);
        start(e);
        memcpy(ctr, base, 12);
        for (i = 0; i < 4; i++)
            ctr[12 + i] = (uint8_t)(low >> (24 - 8 * i));
        memcpy(g.ctr, ctr, 16);
        for (i = 0; i < len; i++)
            in_buf[i] = e->cipher[i] ^ (decrypt ? 0 : stream[i]);
        crypt(out_buf, in_buf, cut, decrypt);
        crypt(out_buf + cut, in_buf + cut, len - cut, decrypt);
        for (i = 0; i < len && decrypt; i++)
            out_buf[i] ^= stream[i];
        CHECK_MEM(out_buf, e->cipher, len);
        check_tag(e, len);
        for (i = 0; i < n + (part != 0); i++)
            ref_gcm_inc(ctr);
        CHECK_MEM(g.ctr, ctr, 16);
    }
}

static void test_wrap(void)
{
    static uint8_t stream[16 * (2 * WRAP + 1)], zeros[sizeof(stream)];
    size_t k, n, before;

    for (k = 0; k < 3; k++) {
        uint8_t ctr[16];

        set_key(&expected[k]);
        rnd_bytes(ctr, 12);
        memset(ctr + 12, 0xff, 4);
        ctr[15] = (uint8_t)(256 - WRAP);
        ref_gcm_ctr(&expected[k].ref, stream, zeros, sizeof(stream), ctr);
        for (n = 1; n <= WRAP; n++) {
            if ((quick() || g.ops->needs == 0) && n > full_or_quick(17, 6) &&
                n % 32 != 1)
                continue;
            for (before = 0; before <= n; before++)
                wrap_after(&expected[k], stream, ctr, before, n);
        }
    }
}

/* The same through the front door: a 16-byte IV that leads to the J0 wanted.
 * Only the low 32 bits may wrap; those above are all ones here. */
static void test_wrap_by_iv(void)
{
    struct ref_gcm *r = &expected[2].ref;
    uint8_t iv[16], j0[16], tag[16], want_tag[16];
    static uint8_t want[1000];
    size_t k;

    set_key(&expected[2]);
    for (k = 0; k < full_or_quick(70, 6); k++) {
        size_t len = 400 + rnd_below(600);

        check_case("gcm %s, J0 = ff..ff - %zu, length %zu", g.ops->name, k,
                   len);
        memset(j0, 0xff, 16);
        j0[15] = (uint8_t)(0xff - k);
        ref_gcm_iv_for_j0(r, iv, j0);
        ref_gcm_seal(r, want, want_tag, iv, 16, NULL, 0, expected[2].plain,
                     len);
        bc_gcm_start(&g, iv, 16);
        bc_gcm_encrypt(&g, out_buf, expected[2].plain, len);
        bc_gcm_tag(&g, tag);
        CHECK_MEM(out_buf, want, len);
        CHECK_MEM(tag, want_tag, 16);
    }
}

/* ---- IV and AAD ---------------------------------------------------------- */

static void test_ivs(void)
{
    uint8_t iv[160], want[40], tag[16], want_tag[16];
    size_t n;

    for (n = 1; n <= 160; n += full_or_quick(1, 7)) {
        const struct expected *e = &expected[n % 3];

        check_case("gcm %s, AES-%zu, IV of %zu bytes", g.ops->name,
                   8 * e->keylen, n);
        rnd_bytes(iv, n);
        ref_gcm_seal(&e->ref, want, want_tag, iv, n, e->aad, 5, e->plain, 40);
        set_key(e);
        bc_gcm_start(&g, iv, n);
        bc_gcm_aad(&g, e->aad, 5);
        bc_gcm_encrypt(&g, out_buf, e->plain, 40);
        bc_gcm_tag(&g, tag);
        CHECK_MEM(out_buf, want, 40);
        CHECK_MEM(tag, want_tag, 16);
    }
}

/* With and without a message, in up to four pieces, some of them empty, which
 * must have no effect. */
static void test_aad(void)
{
    const struct expected *e = &expected[0];
    uint8_t want[40], tag[16], want_tag[16];
    size_t n, len;

    set_key(e);
    for (n = 0; n <= 200 + 4; n += full_or_quick(1, 3)) {
        size_t aadlen = n <= 200 ? n : 1000 * (n - 200) + n;

        for (len = 0; len <= 40; len += 8) {
            const uint8_t *aad = e->cipher;
            size_t cut[4], i;

            for (i = 0; i < 4; i++)
                cut[i] = rnd_below((uint32_t)aadlen + 1);
            check_case("gcm %s, AAD of %zu bytes, pieces %zu %zu, length %zu",
                       g.ops->name, aadlen, cut[0], cut[1], len);
            ref_gcm_seal(&e->ref, want, want_tag, e->iv, e->ivlen, aad, aadlen,
                         e->plain, len);
            bc_gcm_start(&g, e->iv, e->ivlen);
            for (i = 0; aadlen && i < 4; i++) {
                size_t piece = cut[i] < aadlen - (size_t)(aad - e->cipher)
                                   ? cut[i]
                                   : aadlen - (size_t)(aad - e->cipher);

                bc_gcm_aad(&g, aad, piece);
                aad += piece;
                bc_gcm_aad(&g, NULL, 0);
            }
            bc_gcm_aad(&g, aad, aadlen - (size_t)(aad - e->cipher));
            bc_gcm_encrypt(&g, NULL, NULL, 0);
            bc_gcm_encrypt(&g, out_buf, e->plain, len);
            bc_gcm_encrypt(&g, NULL, NULL, 0);
            bc_gcm_tag(&g, tag);
            CHECK_MEM(out_buf, want, len);
            CHECK_MEM(tag, want_tag, 16);
        }
    }
}

/* ---- The entries of the table that the mode calls one by one ------------- */

static void test_entries(void)
{
    const struct expected *e = &expected[1]; /* the one without AAD */
    uint8_t block[16], want[16];
    size_t n;

    for (n = 0; n <= 200; n++) {
        check_case("gcm %s, ghash of %zu blocks", g.ops->name, n);
        if (n % 2 == 0)
            set_key(e);
        memset(g.acc, 0, 16);
        g.open = 0;
        g.ops->ghash(&g, e->cipher, n);
        CHECK_MEM(g.acc, e->acc[n], 16);
        ref_aes_encrypt(&e->ref.aes, want, e->plain + 16 * n);
        g.ops->block(&g, block, e->plain + 16 * n);
        CHECK_MEM(block, want, 16);
        memcpy(block, e->plain + 16 * n, 16);
        g.ops->block(&g, block, block);
        CHECK_MEM(block, want, 16);
    }
}

int main(void)
{
    size_t i;

    make_expected(&expected[0], 16, 12, 20);
    make_expected(&expected[1], 24, 12, 0);
    make_expected(&expected[2], 32, 16, 13);
    for (i = 0; bc_gcm_list[i]; i++) {
        if (!level_runs("gcm", bc_gcm_list[i]->name, bc_gcm_list[i]->needs))
            continue;
        memset(&g, 0xa5, sizeof(g)); /* all that counts is set by init */
        bc_gcm_init(&g, bc_gcm_list[i]);
        test_entries();
        test_lengths();
        test_pieces();
        test_bytes();
        test_overlap();
        test_alignment();
        test_bounds();
        test_wrap();
        test_wrap_by_iv();
        test_ivs();
        test_aad();
    }
    return check_done();
}
