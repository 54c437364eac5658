/*
 * Constant time: keys and texts are marked undefined, and valgrind's memcheck
 * reports every branch and every address that depends on them. All four
 * families, every ops table that runs on the processor which valgrind offers
 * (that of valgrind 3.19 has AVX2, but neither VAES nor AVX-512).
 *
 * Public: lengths, key sizes, nonces of 12 bytes, and whether two tags are
 * equal. Secret: all else, so also the counter that GHASH makes of an IV of
 * another length.
 *
 * A mark that is lost on the way would let every kernel pass; so what comes
 * out must be marked again.
 */
#include <string.h>

#include "check.h"
#include "levels.h"

#if __has_include(<valgrind/memcheck.h>)

#include <valgrind/memcheck.h>

#define MAX_LEN 2200

static uint8_t key[32], text[MAX_LEN], aad[64], out[MAX_LEN], tag[16];
static unsigned errors_before;

static void begin(void)
{
    rnd_bytes(key, sizeof(key));
    rnd_bytes(text, sizeof(text));
    rnd_bytes(aad, sizeof(aad));
    errors_before = VALGRIND_COUNT_ERRORS;
    (void)VALGRIND_MAKE_MEM_UNDEFINED(key, sizeof(key));
    (void)VALGRIND_MAKE_MEM_UNDEFINED(text, sizeof(text));
    (void)VALGRIND_MAKE_MEM_UNDEFINED(aad, sizeof(aad));
    memset(out, 0, sizeof(out));
    memset(tag, 0, sizeof(tag));
}

/* Every byte has a bit that depends on a secret. */
static int is_secret(const uint8_t *p, size_t len)
{
    uint8_t bits[MAX_LEN];
    size_t i;

    if (len == 0)
        return 1;
    if (VALGRIND_GET_VBITS(p, bits, len) != 1)
        return 0;
    for (i = 0; i < len; i++)
        if (bits[i] == 0)
            return 0;
    return 1;
}

static void end(size_t len, size_t taglen)
{
    CHECK_INT(VALGRIND_COUNT_ERRORS - errors_before, 0);
    CHECK(is_secret(out, len));
    CHECK(is_secret(tag, taglen));
    (void)VALGRIND_MAKE_MEM_DEFINED(key, sizeof(key));
    (void)VALGRIND_MAKE_MEM_DEFINED(text, sizeof(text));
    (void)VALGRIND_MAKE_MEM_DEFINED(aad, sizeof(aad));
    (void)VALGRIND_MAKE_MEM_DEFINED(out, sizeof(out));
    (void)VALGRIND_MAKE_MEM_DEFINED(tag, sizeof(tag));
}

/* Around the steps of the kernels: nothing, parts, a few vectors, many. */
static const uint16_t lengths[] = {0,   1,   15,  16,  17,   33,   63,  64,
                                   100, 127, 128, 192, 256,  320,  383, 512,
                                   513, 700, 768, 900, 1024, 1100, 2100};
#define LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

static void test_cbc(const struct bc_cbc_ops *ops)
{
    static struct bc_cbc c;
    size_t keylen, i;

    bc_cbc_init(&c, ops);
    for (keylen = 16; keylen <= 32; keylen += 8)
        for (i = 0; i < LENGTHS; i++) {
            size_t n = lengths[i] / 16;

            check_case("cbc %s, AES-%zu, %zu blocks", ops->name, 8 * keylen, n);
            begin();
            bc_cbc_set_key(&c, key, keylen);
            memcpy(c.iv, text, 16);
            bc_cbc_encrypt(&c, out, text, n);
            bc_cbc_decrypt(&c, out, out, n);
            end(16 * n, 0);
        }
}

static void test_gcm(const struct bc_gcm_ops *ops)
{
    static const uint8_t iv[16] = {1, 2, 3, 4};
    static struct bc_gcm g;
    size_t keylen, i;

    bc_gcm_init(&g, ops);
    for (keylen = 16; keylen <= 32; keylen += 8)
        for (i = 0; i < 2 * LENGTHS; i++) {
            size_t len = lengths[i / 2], cut = len / 3;
            size_t ivlen = i % 2 ? 16 : 12;

            check_case("gcm %s, AES-%zu, length %zu, IV of %zu bytes",
                       ops->name, 8 * keylen, len, ivlen);
            begin();
            bc_gcm_set_key(&g, key, keylen);
            bc_gcm_start(&g, iv, ivlen);
            bc_gcm_aad(&g, aad, len % sizeof(aad));
            bc_gcm_encrypt(&g, out, text, len);
            bc_gcm_tag(&g, tag);
            bc_gcm_start(&g, iv, ivlen);
            bc_gcm_aad(&g, aad, 13);
            bc_gcm_decrypt(&g, out, out, cut);
            bc_gcm_decrypt(&g, out + cut, out + cut, len - cut);
            bc_gcm_tag(&g, tag);
            end(len, 16);
        }
}

static void test_chapoly(const struct bc_chapoly_ops *ops)
{
    static const uint8_t nonce[12] = {1, 2, 3, 4};
    static struct bc_chapoly c;
    size_t i;

    bc_chapoly_init(&c, ops);
    for (i = 0; i < LENGTHS; i++) {
        size_t len = lengths[i], cut = len / 3;

        check_case("chapoly %s, length %zu", ops->name, len);
        begin();
        bc_chapoly_set_key(&c, key);
        bc_chapoly_start(&c, nonce);
        bc_chapoly_aad(&c, aad, len % sizeof(aad));
        bc_chapoly_encrypt(&c, out, text, len);
        bc_chapoly_tag(&c, tag);
        bc_chapoly_start(&c, nonce);
        bc_chapoly_aad(&c, aad, 13);
        bc_chapoly_decrypt(&c, out, out, cut);
        bc_chapoly_decrypt(&c, out + cut, out + cut, len - cut);
        bc_chapoly_tag(&c, tag);
        end(len, 16);
    }
}

static void test_poly1305(const struct bc_poly1305_ops *ops)
{
    static struct bc_poly1305 p;
    size_t i;

    bc_poly1305_init(&p, ops);
    for (i = 0; i < LENGTHS; i++) {
        size_t len = lengths[i], cut = len / 3;

        check_case("poly1305 %s, length %zu", ops->name, len);
        begin();
        bc_poly1305_set_key(&p, key);
        bc_poly1305_update(&p, text, cut);
        bc_poly1305_update(&p, text + cut, len - cut);
        bc_poly1305_tag(&p, tag);
        end(0, 16);
    }
}

/* The answer is public, how it was found is not. */
static void test_equal(void)
{
    size_t i;

    for (i = 0; i <= 16; i++) {
        int equal;

        check_case("tags that differ at byte %zu (16: nowhere)", i);
        begin();
        memcpy(tag, text, 16);
        if (i < 16)
            tag[i] ^= 0x80;
        equal = bc_ct_equal(tag, text, 16);
        (void)VALGRIND_MAKE_MEM_DEFINED(&equal, sizeof(equal));
        CHECK_INT(equal, i == 16);
        end(0, 16);
    }
}

#define WALK(family, list, test)                                               \
    do {                                                                       \
        size_t i_;                                                             \
        for (i_ = 0; (list)[i_]; i_++)                                         \
            if (level_runs(family, (list)[i_]->name, (list)[i_]->needs))       \
                test((list)[i_]);                                              \
    } while (0)

int main(void)
{
    if (!RUNNING_ON_VALGRIND) {
        check_skip("constant time is judged by valgrind: "
                   "valgrind -q --error-exitcode=9 k_ct");
        return check_done();
    }
    WALK("cbc", bc_cbc_list, test_cbc);
    WALK("gcm", bc_gcm_list, test_gcm);
    WALK("chapoly", bc_chapoly_list, test_chapoly);
    WALK("poly1305", bc_poly1305_list, test_poly1305);
    test_equal();
    return check_done();
}

#else

int main(void)
{
    check_skip("built without <valgrind/memcheck.h>");
    return check_done();
}

#endif
