/* The model of a context; see script_model.h. */
#include "script_model.h"

#include <string.h>

static void restart(struct model *m)
{
    m->aad_len = m->text_len = 0;
    m->tag_set = 0;
    m->clean = 1;
    m->stale = 0;
}

static void forget(struct model *m, int enc)
{
    m->key = m->iv = -1;
    m->enc = enc;
    m->iv_len = (int)algorithms[m->alg].iv_len;
    m->iv_state = NO_IV;
    m->tag_ever = 0;
    restart(m);
}

void model_begin(struct model *m, int alg)
{
    memset(m, 0, sizeof(*m));
    m->alg = alg;
    m->mode = algorithms[alg].mode;
    m->key = m->iv = -1;
}

void model_follow(struct model *m, struct step step, const uint8_t *in,
                  const uint8_t *out)
{
    switch (step.what) {
    case 'e':
    case 'd':
        forget(m, step.what == 'e');
        break;
    case 'E':
    case 'D':
        if (m->enc != (step.what == 'E') && m->mode != CBC) {
            m->clean = 0;
            m->stale |= m->iv_state == IN_USE;
        }
        m->enc = step.what == 'E';
        break;
    case 'x':
    case 'X':
        forget(m, step.what == 'x');
        m->key = m->iv = step.n;
        m->iv_state = NEW_IV;
        break;
    case 'b':
    case 'k':
        m->key = step.n;
        if (step.what == 'k') {
            if (m->mode == CHAPOLY && m->iv_state == IN_USE) {
                restart(m);
                m->iv_state = NEW_IV;
            } else if (m->iv_state == IN_USE) {
                m->clean = 0;
                m->stale |= m->mode == GCM;
            }
            break;
        }
        /* fall through */
    case 'i':
        m->iv = step.n;
        m->iv_state = NEW_IV;
        restart(m);
        break;
    case 'v':
        if (m->mode == GCM && step.n != m->iv_len && m->iv_state != NO_IV)
            m->iv_state = USED_UP;
        if (m->mode == GCM)
            m->iv_len = step.n;
        break;
    case 'a':
    case 'h':
        if (step.n && m->iv_state == NEW_IV)
            m->iv_state = IN_USE;
        if (m->aad_len + (size_t)step.n > LOGGED)
            m->clean = 0;
        if (m->clean) {
            memcpy(m->aad + m->aad_len, in, (size_t)step.n);
            m->aad_len += (size_t)step.n;
        }
        break;
    case 'u':
    case 'c':
        if (step.n && m->iv_state == NEW_IV)
            m->iv_state = IN_USE;
        if (m->text_len + (size_t)step.n > LOGGED)
            m->clean = 0;
        if (m->clean)
            memcpy(m->plain + m->text_len, m->enc ? in : out, (size_t)step.n);
        m->text_len += (size_t)step.n;
        break;
    case 'f':
    case 'F':
    case 'z':
        if (m->mode != CBC)
            m->iv_state = USED_UP;
        m->spoilt = 0;
        break;
    case 't':
    case 'w':
        m->tag_set = m->tag_ever = 1;
        m->spoilt = 0;
        break;
    case 'T': /* ChaCha20-Poly1305 records the length; the bytes are stale */
        m->tag_ever = 1;
        break;
    default:
        break;
    }
}

void model_refused(struct model *m, struct step step, const char *error)
{
    if (step_is_final(step.what) &&
        (m->mode != CBC || strcmp(error, "P100") == 0))
        m->stale = 1;
    else if (step.what == 't' || step.what == 'w')
        m->spoilt = 1;
}

int step_is_final(char what)
{
    return what == 'f' || what == 'F' || what == 'z';
}

static int is_data(char what)
{
    return what != '\0' && strchr("auhc", what) != NULL;
}

int model_unspeakable(const struct model *m, struct step step)
{
    if (m->mode == CBC && (step.what == 'a' || step.what == 'h'))
        return 1;
    if (m->mode == CBC && step.what == 'F')
        return 1;
    /* Less than that may come out right: nothing is written yet. */
    if (step.what == 'o' && step.n < (m->mode == CBC ? 33 : 2))
        return 1;
    if (m->mode == GCM && m->enc && m->iv_state == NO_IV)
        return is_data(step.what) || step_is_final(step.what) ||
               step.what == 'o';
    if (m->mode == GCM && !m->enc && m->spoilt)
        return step_is_final(step.what);
    /* A second final: default makes another tag under the same nonce. */
    if (m->mode == CHAPOLY && m->iv_state == USED_UP)
        return step_is_final(step.what);
    /* A tag of an earlier message: not asked for here. */
    if (m->mode == CHAPOLY && !m->enc && step_is_final(step.what))
        return !m->tag_set && m->tag_ever;
    if (m->mode == CHAPOLY && step.what == 'T')
        return !m->enc;
    return 0;
}

enum verdict model_verdict(const struct model *m, struct step step,
                           const char **error)
{
    *error = NULL;
    if (step.what == 'o' && step.n > 1)
        return REFUSED;
    if ((step.what == 'c' || step.what == 'h') && step.n == 0 &&
        m->mode != CBC && m->key >= 0 &&
        (m->iv_state == NEW_IV || m->iv_state == IN_USE))
        return NO_EFFECT;
    if (m->mode == CBC && step.what == 'c' && (step.n % 16 || m->key < 0))
        return REFUSED;
    if (m->mode != CHAPOLY)
        return SAME;
    if ((is_data(step.what) && step.n > 0) || step_is_final(step.what)) {
        if (m->key < 0) {
            *error = "P114";
            return REFUSED;
        }
        if (m->iv_state == NO_IV)
            return REFUSED;
    }
    if (step.n == 0 && (step.what == 'c' || step.what == 'h'))
        return SAME;
    if (is_data(step.what) && m->iv_state == USED_UP) {
        *error = "";
        return REFUSED;
    }
    if ((step.what == 'a' || step.what == 'h') && step.n && m->text_len) {
        *error = "";
        return REFUSED;
    }
    if (step_is_final(step.what) && !m->enc && !m->tag_ever) {
        *error = "P119";
        return REFUSED;
    }
    return SAME;
}
