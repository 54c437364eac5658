/*
 * Copies of contexts at every phase: the copy and the original go on with
 * different data and neither notices the other; the copy survives the
 * original; a copy may go into a context that holds something else.
 */
#include "phase.h"

#include <stdlib.h>
#include <string.h>

/* The rest of a message from a phase on, on one side. Returns the bytes. */
static long finish(EVP_CIPHER_CTX *ctx, const struct message *m,
                   enum phase phase, const uint8_t *rest, int len, uint8_t *out,
                   uint8_t tag[16])
{
    struct message last = *m;
    int n = 0, tail = 0;

    if (phase == FRESH &&
        !EVP_CipherInit_ex(ctx, NULL, NULL, m->key, NULL, m->enc))
        return -1;
    if (phase < READY || phase == DONE)
        if (!EVP_CipherInit_ex(ctx, NULL, NULL, NULL, m->iv, m->enc))
            return -1;
    if (!EVP_CipherUpdate(ctx, out, &n, rest, len))
        return -2;
    last.enc = m->enc;
    last.tag = tag;
    memset(tag, 0, 16);
    if (!m->enc && algorithms[m->alg].mode != CBC)
        return n; /* no right tag of the changed rest is at hand */
    if (!message_final(ctx, &last, out + n, &tail))
        return n - 1000; /* bad padding; both sides agree */
    return n + tail;
}

enum way { COPY_TO_NEW, COPY_TO_USED, COPY_TO_OTHER, DUP, WAYS };

static EVP_CIPHER_CTX *copy_of(EVP_CIPHER_CTX *ctx, enum way way, int alg)
{
    EVP_CIPHER_CTX *copy = NULL;
    struct fixture f;

#if OPENSSL_VERSION_NUMBER >= 0x30200000L
    if (way == DUP)
        return EVP_CIPHER_CTX_dup(ctx);
#endif
    if (way == COPY_TO_USED || way == COPY_TO_OTHER) {
        phase_fixture(&f, way == COPY_TO_USED ? alg : (alg + 3) % CIPHERS, 1);
        copy = phase_ctx(&ours, &f, IN_DATA);
        fixture_free(&f);
    } else {
        copy = EVP_CIPHER_CTX_new();
    }
    CHECK(EVP_CIPHER_CTX_copy(copy, ctx));
    return copy;
}

static void check_phase(const struct fixture *f, enum phase phase, enum way way,
                        int original_first)
{
    EVP_CIPHER_CTX *a = phase_ctx(&ours, f, phase);
    EVP_CIPHER_CTX *b1 = phase_ctx(&theirs, f, phase);
    EVP_CIPHER_CTX *b2 = phase_ctx(&theirs, f, phase);
    EVP_CIPHER_CTX *copy;
    uint8_t rest1[96], rest2[96], got[160], want[160], tag[16], want_tag[16];
    long n;

    rnd_bytes(rest1, sizeof(rest1));
    rnd_bytes(rest2, sizeof(rest2));
    check_case("%s %s, phase '%s', way %d", algorithms[f->m.alg].name,
               f->m.enc ? "enc" : "dec", phase_names[phase], way);
    copy = copy_of(a, way, f->m.alg);
    if (!CHECK(copy))
        return;

    n = finish(b1, &f->m, phase, rest1, sizeof(rest1), want, want_tag);
    if (original_first) {
        /* The original goes on and is freed before the copy moves. */
        CHECK_INT(finish(a, &f->m, phase, rest1, sizeof(rest1), got, tag), n);
        EVP_CIPHER_CTX_free(a);
    } else {
        CHECK_INT(finish(copy, &f->m, phase, rest1, sizeof(rest1), got, tag),
                  n);
        EVP_CIPHER_CTX_free(copy);
    }
    n = n < -100 ? n + 1000 : n;
    CHECK_MEM(got, want, (size_t)(n > 0 ? n : 0));
    CHECK_MEM(tag, want_tag, 16);

    n = finish(b2, &f->m, phase, rest2, 61, want, want_tag);
    CHECK_INT(
        finish(original_first ? copy : a, &f->m, phase, rest2, 61, got, tag),
        n);
    n = n < -100 ? n + 1000 : n;
    CHECK_MEM(got, want, (size_t)(n > 0 ? n : 0));
    CHECK_MEM(tag, want_tag, 16);
    EVP_CIPHER_CTX_free(original_first ? copy : a);
    EVP_CIPHER_CTX_free(b1);
    EVP_CIPHER_CTX_free(b2);
}

/* A chain of copies, each freed as the next is made; many alive at once. */
static void check_chain(const struct fixture *f)
{
    EVP_CIPHER_CTX *many[40];
    uint8_t got[4096], want[4096], tag[16], want_tag[16];
    struct message m = f->m;
    int i, n = 0, total = 0, tail = 0, ref = 0;
    EVP_CIPHER_CTX *b = phase_ctx(&theirs, f, READY);

    if (!m.enc)
        m.nopad = 1;
    check_case("%s %s, chain of copies", algorithms[m.alg].name,
               m.enc ? "enc" : "dec");
    many[0] = phase_ctx(&ours, f, READY);
    for (i = 0; i < 39; i++) {
        CHECK(EVP_CipherUpdate(many[i], got + total, &n, f->in, 19));
        total += n;
        many[i + 1] = EVP_CIPHER_CTX_new();
        CHECK(EVP_CIPHER_CTX_copy(many[i + 1], many[i]));
        if (i % 2)
            EVP_CIPHER_CTX_free(many[i]);
        CHECK(EVP_CipherUpdate(b, want + ref, &n, f->in, 19));
        ref += n;
    }
    CHECK_INT(total, ref);
    CHECK_MEM(got, want, (size_t)ref);
    if (m.enc) {
        m.tag = tag;
        CHECK(message_final(many[39], &m, got, &tail));
        m.tag = want_tag;
        CHECK(message_final(b, &m, want, &n));
        CHECK_MEM(got, want, (size_t)n);
        if (algorithms[m.alg].mode != CBC)
            CHECK_MEM(tag, want_tag, 16);
    }
    for (i = 0; i < 40; i++)
        if (i % 2 == 0 || i == 39)
            EVP_CIPHER_CTX_free(many[i]);
    EVP_CIPHER_CTX_free(b);
}

static void check_mac(void)
{
    uint8_t key[32], in[2000], x[16], y[16], want[16];
    size_t at, n;

    rnd_bytes(key, sizeof(key));
    rnd_bytes(in, sizeof(in));
    for (at = 0; at < sizeof(in); at += 1 + at / 3) {
        EVP_MAC_CTX *a = EVP_MAC_CTX_new(ours.poly1305), *copy;

        check_case("POLY1305, copied after %zu bytes", at);
        CHECK(EVP_MAC_init(a, key, 32, NULL));
        CHECK(EVP_MAC_update(a, in, at));
        copy = EVP_MAC_CTX_dup(a);
        if (!CHECK(copy))
            break;
        CHECK(EVP_MAC_update(a, in + at, sizeof(in) - at));
        CHECK(EVP_MAC_final(a, x, &n, 16));
        EVP_MAC_CTX_free(a);
        CHECK(EVP_MAC_final(copy, y, &n, 16));
        EVP_MAC_CTX_free(copy);
        CHECK(poly1305_run(&theirs, key, in, sizeof(in), want));
        CHECK_MEM(x, want, 16);
        CHECK(poly1305_run(&theirs, key, in, at, want));
        CHECK_MEM(y, want, 16);
    }
    { /* before a key, and after final */
        EVP_MAC_CTX *a = EVP_MAC_CTX_new(ours.poly1305);
        EVP_MAC_CTX *copy = EVP_MAC_CTX_dup(a);

        check_case("POLY1305, copied before the key");
        CHECK(copy && EVP_MAC_init(copy, key, 32, NULL));
        CHECK(EVP_MAC_update(copy, in, 5) && EVP_MAC_final(copy, x, &n, 16));
        EVP_MAC_CTX_free(a);
        a = EVP_MAC_CTX_dup(copy);
        EVP_MAC_CTX_free(copy);
        CHECK(a && EVP_MAC_init(a, key, 32, NULL));
        CHECK(EVP_MAC_update(a, in, 5) && EVP_MAC_final(a, y, &n, 16));
        CHECK_MEM(x, y, 16);
        EVP_MAC_CTX_free(a);
    }
}

int main(void)
{
    struct fixture f;
    int alg, enc, phase, way, first;

    evp_open();
    for (alg = 0; alg < CIPHERS; alg++)
        for (enc = 0; enc <= 1; enc++) {
            phase_fixture(&f, alg, enc);
            for (phase = 0; phase < PHASES; phase++)
                for (way = 0; way < WAYS; way++)
                    for (first = 0; first <= 1; first++)
                        check_phase(&f, (enum phase)phase, (enum way)way,
                                    first);
            check_chain(&f);
            fixture_free(&f);
        }
    check_mac();
    evp_close();
    return check_done();
}
