/* A cursor through JSON text; see json.h. */
#include "json.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void malformed(const char *at)
{
    fprintf(stderr, "malformed JSON at \"%.40s\"\n", at);
    exit(1);
}

static void blanks(const char **at)
{
    while (isspace((unsigned char)**at) || **at == ',')
        ++*at;
}

void json_enter(const char **at, char bracket)
{
    blanks(at);
    if (**at != bracket)
        malformed(*at);
    ++*at;
}

int json_member(const char **at, char *key, size_t size)
{
    blanks(at);
    if (**at == '}') {
        ++*at;
        return 0;
    }
    if (**at != '"')
        malformed(*at);
    json_value(at, key, size);
    blanks(at);
    if (**at != ':')
        malformed(*at);
    ++*at;
    blanks(at);
    return 1;
}

int json_element(const char **at)
{
    blanks(at);
    if (**at == ']') {
        ++*at;
        return 0;
    }
    return 1;
}

/* A string up to its closing quote, or a word up to a delimiter. */
static size_t scalar(const char *at)
{
    size_t n = 1;

    if (*at != '"')
        return strcspn(at, ",]} \t\r\n");
    while (at[n] != '"') {
        if (!at[n])
            malformed(at);
        n += at[n] == '\\' && at[n + 1] ? 2 : 1;
    }
    return n + 1;
}

static void skip_structure(const char **at)
{
    int depth = 0;

    do {
        if (!**at)
            malformed(*at);
        if (**at == '{' || **at == '[')
            depth++;
        if (**at == '}' || **at == ']')
            depth--;
        *at += **at == '"' ? scalar(*at) : 1;
    } while (depth > 0);
}

void json_value(const char **at, char *text, size_t size)
{
    size_t len, quotes;

    blanks(at);
    if (**at == '{' || **at == '[') {
        skip_structure(at);
        return;
    }
    len = scalar(*at);
    quotes = **at == '"' ? 1 : 0;
    if (len == 0)
        malformed(*at);
    if (text) {
        if (len - 2 * quotes >= size)
            malformed(*at);
        memcpy(text, *at + quotes, len - 2 * quotes);
        text[len - 2 * quotes] = '\0';
    }
    *at += len;
}
