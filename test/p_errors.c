/*
 * Every edge of the default provider's behaviour that callers may lean on, as
 * a sequence in the notation of script.h. Each step is compared with the
 * default provider of the running version (or, where the module is stricter,
 * must be refused); the row says besides what the last step has to answer.
 *
 * p_errors CIPHER "STEPS" runs one sequence and prints each step's answer.
 */
#include "script.h"

#include <string.h>

enum { ANY = -99 };

struct row {
    enum mode mode;
    const char *steps;
    int ret, outl; /* of the last step */
    const char *errors;
};

/* clang-format off */
static const struct row rows[] = {
    /* No key, no IV. */
    {GCM, "e i0 u16",              0,  0, "P102"},
    {GCM, "e i0 u0",               1,  0, ""},
    {GCM, "d k0 u16",              0,  0, "P102"},
    {GCM, "d k0 a16",              0,  0, "P102"},
    {GCM, "d k0 c16",             -1,  0, ""},
    {GCM, "d k0 f",                0,  0, NULL},
    {CHAPOLY, "e i0 u16",          0,  0, "P114"},
    {CHAPOLY, "e i0 a16",          0,  0, "P114"},
    {CHAPOLY, "e i0 c16",         -1,  0, "P114"},
    {CHAPOLY, "e i0 u0",           1,  0, ""},
    {CHAPOLY, "e i0 f",            0,  0, "P114"},
    {CHAPOLY, "e k0 u16",          0,  0, NULL},
    {CHAPOLY, "e k0 a16",          0,  0, NULL},
    {CHAPOLY, "e k0 f",            0,  0, NULL},
    {CHAPOLY, "d k0 u16",          0,  0, NULL},
    {CBC, "e k0 u16",              1, 16, ""},
    {CBC, "e k0 u16 f",            1, 16, ""},
    {CBC, "d k0 u16",              1,  0, ""},
    {CBC, "e i0 u16",              0,  0, "P114"},
    {CBC, "e i0 u0",               0,  0, "P114"},
    {CBC, "e i0 f",                0,  0, "P114"},
    {CBC, "e u16",                 0,  0, "P114"},
    {CBC, "d f",                   0,  0, "P114"},
    {CBC, "e c16",                -1,  0, NULL},
    /* Empty messages, tags, and what comes after final. */
    {GCM, "e b0 f",                1,  0, ""},
    {GCM, "e b0 f g16",            1,  0, ""},
    {GCM, "e b0 f g4",             1,  0, ""},
    {GCM, "e b0 F g16",            1,  0, ""},
    {GCM, "e b0 f u16",            0,  0, "P102"},
    {GCM, "e b0 f a16",            0,  0, "P102"},
    {GCM, "e b0 f u0",             1,  0, ""},
    {GCM, "e b0 f f",              0,  0, ""},
    {GCM, "e b0 u5 f k1",          1,  0, ""},
    {GCM, "e b0 u5 f k1 u16",      0,  0, "P102"},
    {GCM, "e b0 u5 f i1",          1,  0, ""},
    {GCM, "e b0 u5 f i1 u16",      1, 16, ""},
    {GCM, "e b0 u5 f i1 u16 f g16", 1, 0, ""},
    {GCM, "d b0 u16",              1, 16, ""},
    {GCM, "d b0 u16 f",            0,  0, NULL},
    {GCM, "d b0 u16 t16",          1,  0, ""},
    {GCM, "d b0 u16 t16 f",        1,  0, ""},
    {GCM, "d b0 a7 u16 t12 f",     1,  0, ""},
    {GCM, "d b0 a7 t1 f",          1,  0, ""},
    {GCM, "d b0 a7 u16 w16 f",     0,  0, ""},
    {GCM, "d b0 w1 f",             0,  0, ""},
    {GCM, "d b0 t0",               0,  0, "P110"},
    {GCM, "d b0 t17",              0,  0, "P103"},
    {GCM, "d b0 T16",              0,  0, "P103"},
    {GCM, "d b0 g16",              0,  0, "P110"},
    {GCM, "d b0 u5 t16 f g16",     0,  0, "P110"},
    {GCM, "e b0 t16",              0,  0, "P110"},
    {GCM, "e b0 T12",              0,  0, "P103"},
    {GCM, "e b0 g16",              0,  0, "P110"},
    {GCM, "e b0 u5 g16",           0,  0, "P110"},
    {GCM, "e b0 f g0",             0,  0, "P110"},
    {GCM, "e b0 f g17",            0,  0, "P110"},
    {CHAPOLY, "e b0 f",            1,  0, ""},
    {CHAPOLY, "e b0 f g16",        1,  0, ""},
    {CHAPOLY, "e b0 f g4",         1,  0, ""},
    {CHAPOLY, "e b0 F g16",        1,  0, ""},
    {CHAPOLY, "e b0 u5 f u16",     0,  0, ""},
    {CHAPOLY, "e b0 u5 f u0",      0,  0, ""},
    {CHAPOLY, "e b0 u5 f a16",     0,  0, ""},
    {CHAPOLY, "e b0 u5 f k1 u16",  0,  0, ""},
    {CHAPOLY, "e b0 u5 f n u16",   0,  0, ""},
    {CHAPOLY, "e b0 u5 f i1 u16",  1, 16, ""},
    {CHAPOLY, "e b0 u5 f i1 u16 f g16", 1, 0, ""},
    {CHAPOLY, "e b0 u5 f i0 u16 f g16", 1, 0, ""},
    {CHAPOLY, "d b0 u16",          1, 16, ""},
    {CHAPOLY, "d b0 u16 f",        0,  0, "P119"},
    {CHAPOLY, "d b0 f",            0,  0, "P119"},
    {CHAPOLY, "d b0 z",           -1,  0, "P119"},
    {CHAPOLY, "d b0 u16 t16",      1,  0, ""},
    {CHAPOLY, "d b0 u16 t16 f",    1,  0, ""},
    {CHAPOLY, "d b0 a7 t16 u16 f", 0,  0, ""}, /* right for nothing but AAD */
    {CHAPOLY, "d b0 a9 u16 w16 f", 0,  0, ""},
    {CHAPOLY, "d b0 a9 w16 z",    -1,  0, NULL},
    {CHAPOLY, "d b0 a9 t16 z",     0,  0, ""},
    {CHAPOLY, "e b0 a9 z g16",     1,  0, ""},
    {CHAPOLY, "d b0 t0",           0,  0, "P118"},
    {CHAPOLY, "d b0 t17",          0,  0, "P118"},
    {CHAPOLY, "d b0 t1",           1,  0, ""},
    {CHAPOLY, "d b0 g16",          0,  0, "P119"},
    {CHAPOLY, "e b0 t16",          0,  0, "P120"},
    {CHAPOLY, "e b0 T12",          1,  0, ""},
    {CHAPOLY, "e b0 T17",          0,  0, "P118"},
    {CHAPOLY, "e b0 T0",           0,  0, "P118"},
    {CHAPOLY, "e b0 g16",          1,  0, ""},
    {CHAPOLY, "e b0 g0",           0,  0, "P118"},
    {CHAPOLY, "e b0 g17",          0,  0, "P118"},
    /* Order of AAD and data. */
    {GCM, "e b0 u5 a5",            0,  0, "P102"},
    {GCM, "e b0 a5",               1,  5, ""},
    {GCM, "e b0 a0",               1,  0, ""},
    {GCM, "e b0 u0 a5 u5 f g16",   1,  0, ""},
    {GCM, "e b0 h5",               5,  0, ""},
    {GCM, "e b0 h5 c33",          33, 33, ""},
    {GCM, "e b0 h5 c33 z",         0,  0, ""},
    {GCM, "e b0 h5 c33 z g16",     1,  0, ""},
    {GCM, "e b0 c33 z c0",        -1,  0, NULL},
    {GCM, "e b0 a5 c0 a6 u3 f g16", 1, 0, ""},
    {GCM, "e b0 a5 c0 a11 f g16",  1,  0, ""},
    {GCM, "e b0 h5 c0 h6 c3 z g16", 1, 0, ""},
    {CHAPOLY, "e b0 u5 a5",        0,  0, ""},
    {CHAPOLY, "e b0 c5 h5",       -1,  0, ""},
    {CHAPOLY, "e b0 a5",           1,  5, ""},
    {CHAPOLY, "e b0 a0",           1,  0, ""},
    {CHAPOLY, "e b0 u0 a5 u5 f g16", 1, 0, ""},
    {CHAPOLY, "e b0 h5",           5,  0, ""},
    {CHAPOLY, "e b0 h5 c33",      33, 33, ""},
    {CHAPOLY, "e b0 h5 c33 z",     0,  0, ""},
    {CHAPOLY, "e b0 h5 c33 z g16", 1,  0, ""},
    {CHAPOLY, "e b0 a5 c0 a6 u3 f g16", 1, 0, ""},
    {CHAPOLY, "e b0 h5 c0 h6 c3 z g16", 1, 0, ""},
    /* Lengths. */
    {GCM, "e v0",                  0,  0, "P109"},
    {GCM, "e v1",                  1,  0, ""},
    {GCM, "e v128",                1,  0, ""},
    {GCM, "e v129",                0,  0, "P109"},
    {GCM, "e v1 b0 u40 f g16",     1,  0, ""},
    {GCM, "e v128 b0 u40 f g16",   1,  0, ""},
    {GCM, "e b0 v16 u16",          0,  0, "P102"},
    {GCM, "e b0 v12 u16",          1, 16, ""},
    {GCM, "e b0 v16 i0 u16",       1, 16, ""},
    {GCM, "e l8",                  0,  0, "E130"},
    {GCM, "e p0",                  1,  0, ""},
    {GCM, "e m3",                  1,  0, ""},
    {CHAPOLY, "e v12",             1,  0, ""},
    {CHAPOLY, "e v0",              0,  0, "P109"},
    {CHAPOLY, "e v8",              0,  0, "P109"},
    {CHAPOLY, "e v16",             0,  0, "P109"},
    {CHAPOLY, "e v13",             0,  0, "P109"},
    {CHAPOLY, "e l16",             0,  0, "P105"},
    {CHAPOLY, "e l32",             1,  0, ""},
    {CHAPOLY, "e p0",              1,  0, ""},
    {CBC, "e v12",                 1,  0, ""},
    {CBC, "e b0 v12 u16 q",        ANY, ANY, ""},
    {CBC, "e l8",                  0,  0, "E130"},
    {CBC, "e m3",                  1,  0, ""},
    {CBC, "e m15 q",               ANY, ANY, ""},
    {CBC, "e m3 b0 q",             ANY, ANY, ""},
    /* CBC: which bytes come out when, padding, and its errors. */
    {CBC, "e b0 u0",               1,  0, ""},
    {CBC, "e b0 u16",              1, 16, ""},
    {CBC, "e b0 u15",              1,  0, ""},
    {CBC, "e b0 u15 u1",           1, 16, ""},
    {CBC, "e b0 u15 u18",          1, 32, ""},
    {CBC, "e b0 f",                1, 16, ""},
    {CBC, "e b0 u16 f",            1, 16, ""},
    {CBC, "e b0 u16 f f",          1, 16, ""},
    {CBC, "e b0 u16 f u16",        1, 16, ""},
    {CBC, "e b0 u16 f u16 f",      1, 16, ""},
    {CBC, "d b0 f",                0,  0, "P107"},
    {CBC, "d b0 u16",              1,  0, ""},
    {CBC, "d b0 u0",               1,  0, ""},
    {CBC, "d b0 u17",              1, 16, ""},
    {CBC, "d b0 u32",              1, 16, ""},
    {CBC, "d b0 u33",              1, 32, ""},
    {CBC, "d b0 u16 f",            0,  0, "P100"},
    {CBC, "d b0 u16 f f",          0,  0, "P100"},
    {CBC, "d b0 u15 f",            0,  0, "P107"},
    {CBC, "d b0 p0 u17",           1, 16, ""},
    {CBC, "d b0 p0 u17 f",         0,  0, "P107"},
    {CBC, "d b0 p0 u32",           1, 32, ""},
    {CBC, "d b0 p0 u32 f",         1,  0, ""},
    {CBC, "d b0 p0 u32 f f",       1,  0, ""},
    {CBC, "e b0 p0 u17 f",         0,  0, "P107"},
    {CBC, "e b0 p0 u17 f f",       0,  0, "P107"},
    {CBC, "e b0 p0 u32 f",         1,  0, ""},
    {CBC, "e b0 p0 f",             1,  0, ""},
    {CBC, "e b0 c16",             16, 16, ""},
    {CBC, "e b0 c0",               0,  0, ""},
    {CBC, "e b0 c17",             -1,  0, NULL},
    {CBC, "d b0 c31",             -1,  0, NULL},
    {CBC, "e b0 c17 c32",         32, 32, ""},
    {CBC, "e b0 z",                0,  0, ""},
    {CBC, "e b0 u5 c16 u11",       1, 16, ""},
    /* Re-initialisation. */
    {CBC, "e b0 u32 n u32",        1, 32, ""},
    {CBC, "e b0 u37 n u32",        1, 32, ""},
    {CBC, "e b0 u37 k1 u32",       1, 32, ""},
    {CBC, "e b0 u37 i1 u32",       1, 32, ""},
    {CBC, "e b0 u32 D p0 u32",     1, 32, ""},
    {CBC, "d b0 E u37 f",          1, 16, ""},
    {CBC, "e b0 D E D p0 u80",     1, 80, ""},
    {CBC, "e b0 D i1 p0 u80",      1, 80, ""},
    {CBC, "e b0 p0 x0 u16 f",      1,  0, ""},
    {CBC, "e i0 k0 u16",           1, 16, ""},
    {CBC, "e k0 i0 u16",           1, 16, ""},
    {GCM, "e i0 k0 u16",           1, 16, ""},
    {GCM, "e k0 i0 u16",           1, 16, ""},
    {GCM, "e b0 a5 i1 a5 u5 f g16", 1, 0, ""},
    {GCM, "e b0 u5 D i0 u5 t16 f", 1,  0, ""},
    {CHAPOLY, "e i0 k0 u16",       1, 16, ""},
    {CHAPOLY, "e k0 i0 u16",       1, 16, ""},
    {CHAPOLY, "e b0 a5 i1 a5 u5 f g16", 1, 0, ""},
    {CHAPOLY, "e b0 u5 D i0 u5 t16 f", 1, 0, ""},
    /* Overlap in the direction that cannot come out right. */
    {CBC, "e b0 o48",              0,  0, NULL},
    {GCM, "e b0 o48",              0,  0, NULL},
    {CHAPOLY, "e b0 o48",          0,  0, NULL},
    /* Copies. */
    {CBC, "e b0 u37 y u16 f",      1, 16, ""},
    {GCM, "e b0 a5 u21 y u16 f y g16", 1, 0, ""},
    {CHAPOLY, "e b0 a5 u21 y u16 f y g16", 1, 0, ""},
};
/* clang-format on */

static void check_row(int alg, const struct row *row)
{
    static struct step_result r;
    struct session *s = session_new(alg);
    const char *text = row->steps;
    struct step step = {'n', 0};

    check_case("%s \"%s\"", algorithms[alg].name, row->steps);
    while (step_parse(&text, &step))
        session_step(s, step, &r);
    if (r.skipped) {
        session_free(s);
        return;
    }
    if (row->ret != ANY)
        CHECK_INT(r.ret, row->ret);
    if (row->outl != ANY)
        CHECK_INT(r.outl, row->outl);
    /* What libcrypto itself queues beside ours changed in 3.2. */
    if (row->errors && (r.alone || OpenSSL_version_num() < 0x30200000L)) {
        struct errors want;

        snprintf(want.text, sizeof(want.text), "%s", row->errors);
        CHECK_ERRORS(r.errors, want);
    }
    session_free(s);
}

static int run_arguments(const char *name, const char *text)
{
    static struct step_result r;
    struct session *s;
    struct step step;
    char word[16];
    int alg = 0;

    while (alg < CIPHERS && strcmp(algorithms[alg].name, name) != 0)
        alg++;
    if (alg == CIPHERS)
        return 2;
    s = session_new(alg);
    while (step_parse(&text, &step)) {
        session_step(s, step, &r);
        step_print(word, step);
        printf("%-6s %s%s%d, %d \"%s\"\n", word, r.skipped ? "skipped " : "",
               r.alone ? "alone " : "", r.ret, r.outl, r.errors.text);
    }
    session_free(s);
    return check_done();
}

int main(int argc, char **argv)
{
    size_t i;
    int alg;

    evp_open();
    if (argc == 3)
        return run_arguments(argv[1], argv[2]);
    for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        for (alg = 0; alg < CIPHERS; alg++)
            if (algorithms[alg].mode == rows[i].mode)
                check_row(alg, &rows[i]);
    evp_close();
    return check_done();
}
