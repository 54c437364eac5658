/*
 * bc_gcm_wipe(), bc_chapoly_wipe() and bc_poly1305_wipe() leave nothing behind,
 * although they touch only what was written: after any number of keys and of
 * messages, finished or abandoned, of any length, every byte of the struct is
 * zero. The provider gives contexts to their next owner on that promise.
 *
 * And the other helper of wipe.c: bc_ct_equal() sees every single bit.
 */
#include "check.h"
#include "kernels.h"
#include "levels.h"

#include <string.h>

#define MAX_LEN 5000

static uint8_t data[MAX_LEN];

/* Many short ones, where few things are written, and some long ones. */
static size_t any_len(void)
{
    return rnd_below(3) ? rnd_below(100) : rnd_below(MAX_LEN + 1);
}

static void all_zero(const void *p, size_t len)
{
    const uint8_t *b = p;
    size_t i;

    for (i = 0; i < len && b[i] == 0; i++)
        ;
    CHECK_INT(i, len);
}

static void use_gcm(struct bc_gcm *g)
{
    uint8_t key[32], iv[16], tag[16];
    size_t n = any_len();

    rnd_bytes(key, sizeof(key));
    rnd_bytes(iv, sizeof(iv));
    bc_gcm_set_key(g, key, 16 + 8 * rnd_below(3));
    if (rnd_below(8) == 0)
        return;
    bc_gcm_start(g, iv, rnd_below(2) ? 12 : 16);
    bc_gcm_aad(g, data, rnd_below(60));
    if (rnd_below(2))
        bc_gcm_encrypt(g, data, data, n);
    else
        bc_gcm_decrypt(g, data, data, n);
    if (rnd_below(2))
        bc_gcm_tag(g, tag);
}

static void use_poly1305(struct bc_poly1305 *p)
{
    uint8_t key[32], tag[16];

    rnd_bytes(key, sizeof(key));
    bc_poly1305_set_key(p, key);
    bc_poly1305_update(p, data, any_len());
    if (rnd_below(2))
        bc_poly1305_update(p, data, any_len());
    if (rnd_below(2))
        bc_poly1305_tag(p, tag);
}

static void use_chapoly(struct bc_chapoly *c)
{
    uint8_t key[32], nonce[12], tag[16];
    size_t n = any_len();

    rnd_bytes(key, sizeof(key));
    rnd_bytes(nonce, sizeof(nonce));
    bc_chapoly_set_key(c, key);
    bc_chapoly_start(c, nonce);
    bc_chapoly_aad(c, data, rnd_below(200));
    if (rnd_below(2))
        bc_chapoly_encrypt(c, data, data, n);
    else
        bc_chapoly_decrypt(c, data, data, n);
    if (rnd_below(2))
        bc_chapoly_decrypt(c, data, data, any_len());
    if (rnd_below(2))
        bc_chapoly_tag(c, tag);
}

#define ROUNDS full_or_quick(1000, 50)

/* One struct for all rounds: like a recycled context, it begins as the wipe
 * before has left it. */
#define WIPES(family)                                                          \
    static void wipes_##family(const struct bc_##family##_ops *ops)            \
    {                                                                          \
        static struct bc_##family x;                                           \
        size_t i, uses;                                                        \
                                                                               \
        memset(&x, 0, sizeof(x));                                              \
        for (i = 0; i < ROUNDS; i++) {                                         \
            check_case(#family " %s, round %zu", ops->name, i);                \
            bc_##family##_init(&x, ops);                                       \
            for (uses = rnd_below(4); uses != 0; uses--)                       \
                use_##family(&x);                                              \
            bc_##family##_wipe(&x);                                            \
            all_zero(&x, sizeof(x));                                           \
        }                                                                      \
    }
WIPES(gcm)
WIPES(poly1305)
WIPES(chapoly)

static void compares(void)
{
    struct guarded x = guard_new(40), y = guard_new(40);
    size_t len, bit;

    for (len = 0; len <= 40; len++) {
        uint8_t *a = guard_tail(&x, len), *b = guard_tail(&y, len);

        check_case("compare %zu bytes", len);
        rnd_bytes(a, len);
        memcpy(b, a, len);
        CHECK_INT(bc_ct_equal(a, b, len), 1);
        for (bit = 0; bit < 8 * len; bit++) {
            check_case("compare %zu bytes, bit %zu differs", len, bit);
            b[bit / 8] ^= (uint8_t)(1 << bit % 8);
            CHECK_INT(bc_ct_equal(a, b, len), 0);
            b[bit / 8] = a[bit / 8];
        }
    }
    guard_free(&x);
    guard_free(&y);
}

int main(void)
{
    size_t i;

    compares();

    for (i = 0; bc_gcm_list[i] != NULL; i++)
        if (level_runs("gcm", bc_gcm_list[i]->name, bc_gcm_list[i]->needs))
            wipes_gcm(bc_gcm_list[i]);
    for (i = 0; bc_poly1305_list[i] != NULL; i++)
        if (level_runs("poly1305", bc_poly1305_list[i]->name,
                       bc_poly1305_list[i]->needs))
            wipes_poly1305(bc_poly1305_list[i]);
    for (i = 0; bc_chapoly_list[i] != NULL; i++)
        if (level_runs("chapoly", bc_chapoly_list[i]->name,
                       bc_chapoly_list[i]->needs))
            wipes_chapoly(bc_chapoly_list[i]);
    return check_done();
}
