/*
 * What script.c knows of a cipher context: enough to tell the calls on which
 * the module and the default provider have to agree from those where the
 * module is stricter on purpose, and from those that crash the latter.
 */
#ifndef BC_TEST_SCRIPT_MODEL_H
#define BC_TEST_SCRIPT_MODEL_H

#include "script.h"

#define LOGGED 8192 /* AAD and plaintext kept to make right tags */

enum iv_state { NO_IV, NEW_IV, IN_USE, USED_UP };

struct model {
    int alg;
    enum mode mode;
    int enc, key, iv, iv_len; /* key and iv: which of four, or -1 */
    enum iv_state iv_state;
    int tag_set, tag_ever; /* for this message, for this context */
    int stale;             /* only a new key and IV make sense now */
    int clean;             /* the logs below hold the whole message */
    int spoilt;            /* default keeps the tag it has just refused */
    size_t aad_len, text_len;
    uint8_t aad[LOGGED], plain[LOGGED];
};

void model_begin(struct model *m, int alg);

/* What an accepted step does; in and out are its bytes. */
void model_follow(struct model *m, struct step step, const uint8_t *in,
                  const uint8_t *out);
/* What a step that default refused does; error is what it queued. */
void model_refused(struct model *m, struct step step, const char *error);

/* Calls that default crashes on, or answers at random. */
int model_unspeakable(const struct model *m, struct step step);

/* Where the module differs from default on purpose. *error is the error it
 * has to queue, NULL when any will do. */
enum verdict { SAME, REFUSED, NO_EFFECT };
enum verdict model_verdict(const struct model *m, struct step step,
                           const char **error);

int step_is_final(char what);

#endif
