/* Contexts at each phase of a message; see phase.h. */
#include "phase.h"

#include <stdlib.h>
#include <string.h>

const char *const phase_names[PHASES] = {"fresh",  "keyed",   "ready",
                                         "in AAD", "in data", "done"};

void phase_fixture(struct fixture *f, int alg, int enc)
{
    fixture_make(f, alg, enc, 21, 37);
}

static int reach(const struct side *s, EVP_CIPHER_CTX *ctx,
                 const struct fixture *f, enum phase phase)
{
    const struct message *m = &f->m;
    uint8_t out[128];
    struct message last = *m;
    uint8_t tag[16];
    int n;

    if (!EVP_CipherInit_ex(ctx, s->cipher[m->alg], NULL, NULL, NULL, m->enc))
        return 0;
    if (phase == FRESH)
        return 1;
    if (!EVP_CipherInit_ex(ctx, NULL, NULL, m->key, NULL, m->enc))
        return 0;
    if (phase == KEYED)
        return 1;
    if (!EVP_CipherInit_ex(ctx, NULL, NULL, NULL, m->iv, m->enc))
        return 0;
    if (phase == READY)
        return 1;
    if (m->aad_len && !EVP_CipherUpdate(ctx, NULL, &n, m->aad, (int)m->aad_len))
        return 0;
    if (phase == IN_AAD)
        return 1;
    if (!EVP_CipherUpdate(ctx, out, &n, m->in, (int)m->len))
        return 0;
    if (phase == IN_DATA)
        return 1;
    if (!m->enc)
        memcpy(tag, m->tag, sizeof(tag));
    last.tag = tag;
    return message_final(ctx, &last, out, &n);
}

EVP_CIPHER_CTX *phase_ctx(const struct side *s, const struct fixture *f,
                          enum phase phase)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();

    if (!ctx || !CHECK(reach(s, ctx, f, phase))) {
        fprintf(stderr, "%s does not reach phase '%s'\n", s->provider_name,
                phase_names[phase]);
        exit(1);
    }
    return ctx;
}
