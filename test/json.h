/*
 * Just enough JSON to walk through test vectors: a cursor into the text, with
 * objects and arrays entered and left by the caller's own loops:
 *
 *   json_enter(&at, '{');
 *   while (json_member(&at, key, sizeof(key)))
 *       if (!strcmp(key, "iv")) json_value(&at, text, sizeof(text));
 *       else json_value(&at, NULL, 0);
 *
 * Escapes are left as they stand: vectors are hex and plain words. Malformed
 * text ends the test.
 */
#ifndef BC_TEST_JSON_H
#define BC_TEST_JSON_H

#include <stddef.h>

/* Steps over '{' or '['. */
void json_enter(const char **at, char bracket);
/* The key of the next member, the cursor at its value; 0 after the last. */
int json_member(const char **at, char *key, size_t size);
/* The cursor at the next element; 0 after the last. */
int json_element(const char **at);
/* A string (without quotes), number or word; of an object or array, or with
 * text == NULL, nothing is kept. */
void json_value(const char **at, char *text, size_t size);

#endif
