/* Vectors and stanzas; see vector.h. */
#define _DEFAULT_SOURCE
#include "vector.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int vector_algorithm(const char *name)
{
    int alg;

    for (alg = 0; alg < CIPHERS; alg++)
        if (strcasecmp(algorithms[alg].name, name) == 0)
            return alg;
    return -1;
}

void bytes_read(struct bytes *b, const char *value)
{
    size_t len = strlen(value);

    free(b->data);
    b->data = calloc(1, len + 1);
    if (value[0] == '"') {
        b->len = len - 2;
        memcpy(b->data, value + 1, b->len);
    } else {
        b->len = unhex(b->data, len + 1, value);
    }
}

static void check_seal(const struct vector *v, struct message *m,
                       EVP_CIPHER_CTX *ctx)
{
    uint8_t *out = malloc(v->plain.len + 32), tag[16], iv[16];
    long n;

    m->enc = 1;
    m->in = v->plain.data;
    m->len = v->plain.len;
    m->tag = tag;
    n = message_run(&ours, ctx, m, out);
    if (!v->valid) {
        CHECK_INT(n, -1);
    } else if (CHECK_INT(n, v->text.len)) {
        CHECK_MEM(out, v->text.data, v->text.len);
        CHECK_MEM(tag, v->tag.data, v->tag.len);
        if (v->next_iv.len) {
            CHECK(EVP_CIPHER_CTX_get_updated_iv(ctx, iv, sizeof(iv)));
            CHECK_MEM(iv, v->next_iv.data, v->next_iv.len);
        }
    }
    free(out);
}

static void check_open(const struct vector *v, struct message *m,
                       EVP_CIPHER_CTX *ctx)
{
    uint8_t *out = malloc(v->text.len + 32);
    long n;

    m->enc = 0;
    m->in = v->text.data;
    m->len = v->text.len;
    m->tag = v->tag.data;
    n = message_run(&ours, ctx, m, out);
    if (!v->valid)
        CHECK_INT(n, -1);
    else if (CHECK_INT(n, v->plain.len))
        CHECK_MEM(out, v->plain.data, v->plain.len);
    free(out);
}

void vector_check(const struct vector *v)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    struct message m = {.alg = v->alg,
                        .nopad = !v->padded,
                        .key = v->key.data,
                        .iv = v->iv.data,
                        .iv_len = v->iv.len,
                        .aad = v->aad.data,
                        .aad_len = v->aad.len,
                        .tag_len = v->tag.len};

    if (!CHECK_INT(v->key.len, algorithms[v->alg].key_len))
        return;
    if (v->seal)
        check_seal(v, &m, ctx);
    if (v->open)
        check_open(v, &m, ctx);
    ERR_clear_error();
    EVP_CIPHER_CTX_free(ctx);
}

void vector_clear(struct vector *v)
{
    free(v->key.data);
    free(v->iv.data);
    free(v->aad.data);
    free(v->plain.data);
    free(v->text.data);
    free(v->tag.data);
    free(v->next_iv.data);
    memset(v, 0, sizeof(*v));
}

/* ---- Stanzas ---------------------------------------------------------------
 */

char *file_read(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    long size;

    if (!f)
        return NULL;
    if (fseek(f, 0, SEEK_END) == 0 && (size = ftell(f)) >= 0) {
        rewind(f);
        text = malloc((size_t)size + 1);
        if (text && fread(text, 1, (size_t)size, f) == (size_t)size) {
            text[size] = '\0';
        } else {
            free(text);
            text = NULL;
        }
    }
    fclose(f);
    return text;
}

/* Cuts the line at *at off; NULL at the end of the text. */
static char *next_line(char **at)
{
    char *line = *at, *end, *last;

    if (!*line)
        return NULL;
    end = strchr(line, '\n');
    last = end ? end : line + strlen(line);
    *at = end ? end + 1 : last;
    *last = '\0';
    while (last > line && isspace((unsigned char)last[-1]))
        *--last = '\0';
    return line;
}

int stanza_next(char **at, struct stanza *s)
{
    char *line, *equals, *end;

    s->count = 0;
    while ((line = next_line(at)) != NULL) {
        s->line++;
        if (*line == '#')
            continue;
        if (*line == '[') {
            snprintf(s->section, sizeof(s->section), "%s", line);
            continue;
        }
        if (!*line) {
            if (s->count)
                return 1;
            continue;
        }
        if (s->count == STANZA_LINES)
            continue;
        equals = strchr(line, '=');
        s->name[s->count] = line;
        s->value[s->count] = line + strlen(line);
        if (equals) {
            for (end = equals; end > line && isspace((unsigned char)end[-1]);)
                end--;
            s->value[s->count] = equals + 1 + strspn(equals + 1, " \t");
            *equals = '\0';
            *end = '\0';
        }
        s->count++;
    }
    return s->count > 0;
}

const char *stanza_get(const struct stanza *s, const char *name)
{
    int i;

    for (i = 0; i < s->count; i++)
        if (strcasecmp(s->name[i], name) == 0)
            return s->value[i];
    return NULL;
}
