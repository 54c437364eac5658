/*
 * Published test vectors: one of them run through the module, and the reader
 * of the line format that NIST's response files and OpenSSL's evp_test share:
 *
 *   Name = value        lines up to an empty one make a stanza
 *   # comment, [section]
 */
#ifndef BC_TEST_VECTOR_H
#define BC_TEST_VECTOR_H

#include "evp.h"

struct bytes {
    uint8_t *data;
    size_t len;
};

struct vector {
    int alg;
    struct bytes key, iv, aad, plain, text, tag;
    int seal, open; /* which directions to try */
    int valid;      /* 0: every direction tried must refuse */
    int padded;     /* CBC */
    struct bytes next_iv;
};

/* The algorithm of that name in any case, or -1. */
int vector_algorithm(const char *name);

void vector_check(const struct vector *v);
void vector_clear(struct vector *v);

/* Hex digits, or text in double quotes, into newly allocated bytes. */
void bytes_read(struct bytes *b, const char *value);

/* ---- Stanzas --------------------------------------------------------------
 */

#define STANZA_LINES 24

struct stanza {
    int count;
    char *name[STANZA_LINES], *value[STANZA_LINES];
    char section[64]; /* the last [section] before it */
    int line;         /* of the file */
};

/* The whole file in memory with a final zero, or NULL. */
char *file_read(const char *path);

/* The next stanza of the text at *at, which it cuts up; 0 at the end. */
int stanza_next(char **at, struct stanza *s);
/* NULL when there is no such line. */
const char *stanza_get(const struct stanza *s, const char *name);

#endif
