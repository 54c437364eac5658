/*
 * provider/tls_cbc.c alone: what it takes off a decrypted record, and that it
 * does so in constant time. The record, its padding and so the place of its MAC
 * are marked undefined; valgrind then reports every branch and every address
 * that depends on them. Without valgrind the results are checked all the same.
 */
#include <string.h>
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MAKE_MEM_UNDEFINED(p, n) (void)(p)
#define VALGRIND_MAKE_MEM_DEFINED(p, n) (void)(p)
#endif

#include "check.h"
#include "tls_cbc.h"

#define MAX_REC 640

struct expected {
    int good;
    size_t len;
    size_t mac_at;
};

/* RFC 5246, 6.2.3.2, in the plainest words. */
static struct expected expect(const struct tls_cbc *t, const uint8_t *rec,
                              size_t len, size_t iv)
{
    struct expected e = {0, len - iv - t->mac_size, 0};
    size_t n = rec[len - 1], i;

    if (iv + t->mac_size + n + 1 > len || (t->version == 0x300 && n > 15))
        return e;
    for (i = 0; i < n && t->version != 0x300; i++)
        if (rec[len - 2 - i] != n)
            return e;
    e.good = 1;
    e.len -= n + 1;
    e.mac_at = iv + e.len;
    return e;
}

static void one(struct tls_cbc *t, uint8_t *rec, size_t len, size_t iv)
{
    static const uint8_t zeros[MAX_REC];
    uint8_t before[MAX_REC];
    struct expected e = expect(t, rec, len, iv);
    size_t left = len;
    int ok;

    memcpy(before, rec, len);
    if (!CHECK(tls_cbc_begin(t, len)))
        return;
    VALGRIND_MAKE_MEM_UNDEFINED(rec, len);
    if (t->mac_size == 0) /* the result may be told: the padding is authentic */
        VALGRIND_MAKE_MEM_DEFINED(rec, len);
    ok = tls_cbc_remove(t, rec, &left);
    VALGRIND_MAKE_MEM_DEFINED(rec, len);
    VALGRIND_MAKE_MEM_DEFINED(&left, sizeof(left));
    VALGRIND_MAKE_MEM_DEFINED(t->mac, sizeof(t->mac));

    CHECK_INT(ok, t->mac_size || e.good);
    CHECK_INT(left, e.len);
    CHECK_INT(t->has_mac, t->mac_size != 0);
    if (t->mac_size)
        CHECK_MEM(t->mac, e.good ? before + e.mac_at : t->decoy, t->mac_size);
    if (ok)
        CHECK_MEM(rec, before, len);
    else
        CHECK_MEM(rec, zeros, len);
}

static void record(unsigned int version, size_t mac_size, size_t len)
{
    static const int values[] = {0,  1,   2,   7,   8,   14,  15,  16, 31,
                                 32, 100, 127, 128, 191, 192, 254, 255};
    size_t iv = version < 0x302 && version != 0x100 ? 0 : 16, v;
    struct tls_cbc t = {0};
    uint8_t rec[MAX_REC];

    t.version = version;
    t.mac_size = mac_size;
    for (v = 0; v < sizeof(values) / sizeof(*values); v++) {
        size_t n = (size_t)values[v], fits = n < len ? n : len - 1;
        int damage;

        for (damage = 0; damage < 4; damage++) {
            check_case("version %x, MAC %zu, %zu bytes, padding %zu, damage %d",
                       version, mac_size, len, n, damage);
            rnd_bytes(rec, len);
            memset(rec + len - 1 - fits, (int)n, fits + 1);
            if (damage == 1 && fits) /* the padding's first byte */
                rec[len - 1 - fits] ^= 0x80;
            if (damage == 2 && fits) /* its last */
                rec[len - 2] ^= 1;
            if (damage == 3)
                rec[len - 1] = (uint8_t)rnd64();
            one(&t, rec, len, iv);
        }
    }
}

static void refusals(void)
{
    static const unsigned int versions[] = {0x300, 0x301,  0x302, 0x303,
                                            0x100, 0xfeff, 0xfefd};
    static const size_t macs[] = {0, 16, 20, 32, 48, 64};
    size_t v, m, len;

    for (v = 0; v < sizeof(versions) / sizeof(*versions); v++)
        for (m = 0; m < sizeof(macs) / sizeof(*macs); m++)
            for (len = 0; len <= 160; len++) {
                struct tls_cbc t = {
                    .version = versions[v], .mac_size = macs[m], .has_mac = 1};
                size_t least = (v < 2 ? 0 : 16) + macs[m] + 1;

                check_case("version %x, MAC %zu, %zu bytes", versions[v],
                           macs[m], len);
                CHECK_INT(tls_cbc_begin(&t, len),
                          len % 16 == 0 && len >= least);
                CHECK_INT(t.has_mac, 0);
            }
    for (v = 0; v < 2; v++) {
        struct tls_cbc t = {.version = v ? 0x304 : 0x303,
                            .mac_size = v ? 20 : 65};

        check_case("version %x, MAC %zu", t.version, t.mac_size);
        CHECK(!tls_cbc_begin(&t, 256));
    }
}

int main(void)
{
    static const unsigned int versions[] = {0x300, 0x301, 0x303, 0x100};
    static const size_t macs[] = {0, 1, 16, 20, 32, 48, 64};
    static const size_t lens[] = {16,  32,  48,  64,  80,  96,
                                  256, 272, 288, 320, 336, 640};
    size_t v, m, l;

    refusals();
    for (v = 0; v < sizeof(versions) / sizeof(*versions); v++)
        for (m = 0; m < sizeof(macs) / sizeof(*macs); m++)
            for (l = 0; l < sizeof(lens) / sizeof(*lens); l++)
                if (lens[l] > (v < 2 ? 0 : 16) + macs[m])
                    record(versions[v], macs[m], lens[l]);
    return check_done();
}
