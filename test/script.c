/* The interpreter behind script.h; the model is in script_model.c. */
#include "script_model.h"

#include <stdlib.h>
#include <string.h>

#define SENTINEL 0xee

struct session {
    int alg;
    EVP_CIPHER_CTX *a, *b; /* the module's, default's */
    struct model model;
    uint8_t keys[4][32], ivs[4][128];
    uint8_t in[SCRIPT_MAX + 64];
    unsigned int calls; /* varies the input */
};

struct session *session_new(int alg)
{
    struct session *s = calloc(1, sizeof(*s));

    s->alg = alg;
    model_begin(&s->model, alg);
    s->a = EVP_CIPHER_CTX_new();
    s->b = EVP_CIPHER_CTX_new();
    rnd_bytes(s->keys, sizeof(s->keys));
    rnd_bytes(s->ivs, sizeof(s->ivs));
    rnd_bytes(s->in, sizeof(s->in));
    return s;
}

void session_free(struct session *s)
{
    EVP_CIPHER_CTX_free(s->a);
    EVP_CIPHER_CTX_free(s->b);
    free(s);
}

int session_stale(const struct session *s)
{
    return s->model.stale;
}

/* ---- One step on one side --------------------------------------------------
 */

/* The right tag of what was decrypted so far. */
static void right_tag(const struct session *s, uint8_t tag[16])
{
    static uint8_t scratch[LOGGED];
    struct message m = {.alg = s->alg,
                        .enc = 1,
                        .key = s->keys[s->model.key],
                        .iv = s->ivs[s->model.iv],
                        .iv_len = (size_t)s->model.iv_len,
                        .aad = s->model.aad,
                        .aad_len = s->model.aad_len,
                        .in = s->model.plain,
                        .len = s->model.text_len,
                        .tag = tag,
                        .tag_len = 16};
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();

    message_run(&theirs, ctx, &m, scratch);
    EVP_CIPHER_CTX_free(ctx);
}

static int look(EVP_CIPHER_CTX *ctx, uint8_t *out, int random_iv)
{
    size_t key_len = 99, iv_len = 99, tag_len = 99;
    unsigned int padding = 99, num = 99;
    OSSL_PARAM p[] = {
        OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_KEYLEN, &key_len),
        OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_IVLEN, &iv_len),
        OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_AEAD_TAGLEN, &tag_len),
        OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_PADDING, &padding),
        OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_NUM, &num),
        OSSL_PARAM_construct_end(),
    };
    int ret = EVP_CIPHER_CTX_get_params(ctx, p);

    sprintf((char *)out, "%zu %zu %zu %u %u %d", key_len, iv_len, tag_len,
            padding, num, EVP_CIPHER_CTX_get_iv_length(ctx));
    if (!random_iv) {
        ret += 2 * EVP_CIPHER_CTX_get_original_iv(ctx, out + 100, 128);
        ret += 4 * EVP_CIPHER_CTX_get_updated_iv(ctx, out + 300, 128);
    }
    return ret;
}

static EVP_CIPHER_CTX *move_to_copy(EVP_CIPHER_CTX *ctx, int *ret)
{
    EVP_CIPHER_CTX *copy = EVP_CIPHER_CTX_new();

    *ret = EVP_CIPHER_CTX_copy(copy, ctx);
    if (!*ret) {
        EVP_CIPHER_CTX_free(copy);
        return ctx;
    }
    EVP_CIPHER_CTX_free(ctx);
    return copy;
}

static void run(struct session *s, int module, struct step step,
                const uint8_t *in, const uint8_t *tag, struct step_result *r)
{
    const struct side *side = module ? &ours : &theirs;
    EVP_CIPHER_CTX **slot = module ? &s->a : &s->b, *ctx = *slot;
    const EVP_CIPHER *cipher = side->cipher[s->alg];
    const uint8_t *key = s->keys[step.n & 3], *iv = s->ivs[step.n & 3];
    int n = step.n;

    module &= strict;
    r->outl = 0;
    memset(r->out, SENTINEL, sizeof(r->out));
    ERR_clear_error();
    switch (step.what) {
    case 'e':
    case 'd':
        r->ret =
            EVP_CipherInit_ex(ctx, cipher, NULL, NULL, NULL, step.what == 'e');
        break;
    case 'E':
    case 'D':
        /* Default needs the key again when the direction of CBC changes. */
        key = module || s->model.mode != CBC || s->model.key < 0
                  ? NULL
                  : s->keys[s->model.key];
        r->ret =
            EVP_CipherInit_ex(ctx, NULL, NULL, key, NULL, step.what == 'E');
        break;
    case 'x':
    case 'X':
        r->ret =
            EVP_CipherInit_ex(ctx, cipher, NULL, key, iv, step.what == 'x');
        break;
    case 'k':
        r->ret = EVP_CipherInit_ex(ctx, NULL, NULL, key, NULL, -1);
        break;
    case 'i':
        r->ret = EVP_CipherInit_ex(ctx, NULL, NULL, NULL, iv, -1);
        break;
    case 'b':
        r->ret = EVP_CipherInit_ex(ctx, NULL, NULL, key, iv, -1);
        break;
    case 'n':
        r->ret = EVP_CipherInit_ex(ctx, NULL, NULL, NULL, NULL, -1);
        break;
    case 'a':
        r->ret = EVP_CipherUpdate(ctx, NULL, &r->outl, in, n);
        break;
    case 'u':
        r->ret = EVP_CipherUpdate(ctx, r->out, &r->outl, in, n);
        break;
    case 'o':
        memcpy(r->out, in, (size_t)n);
        r->ret = EVP_CipherUpdate(ctx, r->out + 1, &r->outl, r->out, n);
        if (!r->ret) {
            CHECK_MEM(r->out, in, (size_t)n);
            memset(r->out, SENTINEL, sizeof(r->out));
        }
        break;
    case 'h':
        r->ret = EVP_Cipher(ctx, NULL, in, (unsigned int)n);
        break;
    case 'c':
        r->ret = EVP_Cipher(ctx, r->out, in, (unsigned int)n);
        r->outl = r->ret > 0 ? r->ret : 0;
        break;
    case 'z':
        /* CVE-2026-75803: default's does not verify; its final does. */
        if (!module && s->model.mode == CHAPOLY)
            r->ret = EVP_CipherFinal_ex(ctx, r->out, &r->outl) - 1;
        else
            r->ret = EVP_Cipher(ctx, NULL, NULL, 0);
        break;
    case 'f':
        r->ret = EVP_CipherFinal_ex(ctx, r->out, &r->outl);
        break;
    case 'F':
        r->ret = EVP_CipherFinal_ex(ctx, NULL, &r->outl);
        break;
    case 't':
    case 'w':
        memcpy(r->out, tag, 32);
        r->ret = EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, n, r->out);
        break;
    case 'T':
        r->ret = EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, n, NULL);
        break;
    case 'g':
        r->ret = EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, n, r->out);
        break;
    case 'v':
        r->ret = EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, n, NULL);
        break;
    case 'l':
        r->ret = EVP_CIPHER_CTX_set_key_length(ctx, n);
        break;
    case 'p':
        r->ret = EVP_CIPHER_CTX_set_padding(ctx, n);
        break;
    case 'm':
        r->ret = EVP_CIPHER_CTX_set_num(ctx, n);
        break;
    case 'q':
        r->ret = look(ctx, r->out,
                      s->model.mode == GCM && s->model.enc &&
                          s->model.iv_state == NO_IV);
        break;
    case 'y':
        *slot = move_to_copy(ctx, &r->ret);
        break;
    default:
        fprintf(stderr, "no step '%c'\n", step.what);
        abort();
    }
    r->errors = errors_take();
}

static int accepted(struct step step, const struct step_result *r)
{
    return strchr("hcz", step.what) ? r->ret >= 0 : r->ret > 0;
}

static int check_refusal(struct step step, const struct step_result *r,
                         const char *error)
{
    size_t i;
    int touched = 0;

    for (i = 0; i < sizeof(r->out); i++)
        touched |= r->out[i] ^ SENTINEL;
    if (error && strcmp(r->errors.text, error) != 0)
        fprintf(stderr, "    queued \"%s\", expected \"%s\"\n", r->errors.text,
                error);
    return CHECK(!accepted(step, r)) & CHECK(!touched) &
           CHECK(!error || strcmp(r->errors.text, error) == 0);
}

static int check_agreement(const struct session *s, struct step step,
                           const struct step_result *got,
                           const struct step_result *want)
{
    size_t len = (size_t)want->outl;
    int good = CHECK_INT(got->ret, want->ret) &
               CHECK_ERRORS(got->errors, want->errors);

    if (!good || !accepted(step, want))
        return good;
    if (step.what == 'q')
        len = 450;
    else if (step.what == 'g')
        /* Before final ChaCha20-Poly1305 gives whatever is there. */
        len = s->model.iv_state == USED_UP && !s->model.spoilt ? (size_t)step.n
                                                               : 0;
    return CHECK_INT(got->outl, want->outl) &&
           CHECK_MEM(got->out, want->out, len);
}

int session_step(struct session *s, struct step step, struct step_result *r)
{
    static struct step_result other;
    const uint8_t *in = s->in + s->calls++ % 61;
    uint8_t tag[32] = {0};
    const char *error;
    enum verdict verdict = model_verdict(&s->model, step, &error);
    int good;

    memset(r, 0, sizeof(*r));
    if (model_unspeakable(&s->model, step) || (!strict && verdict != SAME)) {
        r->skipped = 1;
        return 1;
    }
    if (step.what == 't' && !s->model.enc && s->model.clean &&
        s->model.key >= 0 && s->model.iv >= 0 && s->model.mode != CBC)
        right_tag(s, tag);
    if (step.what == 'w')
        memcpy(tag, s->in, 16);
    run(s, 1, step, in, tag, r);
    if (verdict != SAME) {
        r->alone = 1;
        good = verdict == REFUSED ? check_refusal(step, r, error)
                                  : CHECK_INT(r->ret, 0);
        s->model.stale |= step_is_final(step.what);
        return good;
    }
    run(s, 0, step, in, tag, &other);
    good = check_agreement(s, step, r, &other);
    if (accepted(step, &other))
        model_follow(&s->model, step, in, other.out);
    else
        model_refused(&s->model, step, other.errors.text);
    return good;
}

/* ---- Notation -------------------------------------------------------------
 */

int step_parse(const char **text, struct step *step)
{
    char *end;

    while (**text == ' ')
        ++*text;
    if (!**text)
        return 0;
    step->what = *(*text)++;
    step->n = (int)strtol(*text, &end, 10);
    *text = end;
    return 1;
}

int step_print(char *text, struct step step)
{
    if (strchr("edEDnzfFqy", step.what))
        return sprintf(text, "%c ", step.what);
    return sprintf(text, "%c%d ", step.what, step.n);
}
