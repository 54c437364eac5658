/*
 * Random sequences of EVP calls on the module and on the default provider in
 * parallel, as script.h describes. BC_SEED chooses other sequences, BC_ROUNDS
 * how many. A failure prints the sequence up to the step that failed; give it
 * to p_errors as arguments to run it alone: p_errors AES-128-GCM "e b0 u5 f".
 */
#include "script.h"

#include <stdlib.h>
#include <string.h>

static int length(void)
{
    switch (rnd_below(6)) {
    case 0:
        return 0;
    case 1:
        return 16 * (int)rnd_below(10);
    case 2:
        return (int)rnd_below(SCRIPT_MAX);
    default:
        return (int)rnd_below(40);
    }
}

static int tag_length(void)
{
    return rnd_below(4) ? 16 : (int)rnd_below(19);
}

static struct step any(void)
{
    /* A letter's share is its number of occurrences. */
    static const char letters[] = "eedEDkkkiiiiiibbbbbbxxxXXXnn"
                                  "aaaaaaaaauuuuuuuuuuuuuuohhccczz"
                                  "ffffffffFttttttwTgggggvlppmqqqy";
    struct step step = {letters[rnd_below(sizeof(letters) - 1)], 0};

    switch (step.what) {

    case 'a':
    case 'u':
    case 'h':
    case 'c':
    case 'o':
        step.n = length();
        break;
    case 't':
    case 'w':
    case 'T':
    case 'g':
        step.n = tag_length();
        break;
    case 'v':
        step.n = rnd_below(3) ? 12 : (int)rnd_below(131);
        break;
    case 'l':
        step.n = 8 * (int)rnd_below(6);
        break;
    case 'm':
        step.n = (int)rnd_below(16);
        break;
    case 'p':
        step.n = (int)rnd_below(2);
        break;
    default:
        step.n = (int)rnd_below(4);
        break;
    }
    return step;
}

static int one_sequence(int alg, int round)
{
    static struct step_result r;
    struct session *s = session_new(alg);
    char text[1600] = "";
    int steps = 3 + (int)rnd_below(60), at = 0, i, good = 1;

    for (i = 0; i < steps && good; i++) {
        struct step step = any();

        if (i == 0)
            step.what = rnd_below(2) ? 'e' : 'd';
        /* A decryption that may succeed: the tag right before final. */
        if (session_stale(s)) {
            step.what = rnd_below(2) ? 'b' : rnd_below(2) ? 'x' : 'X';
            step.n = (int)rnd_below(4);
        }
        at += step_print(text + at, step);
        check_case("round %d: %s \"%s\"", round, algorithms[alg].name,
                   at < 400 ? text : text + at - 400);
        good = session_step(s, step, &r);
    }
    if (!good)
        fprintf(stderr, "whole sequence: %s \"%s\"\n", algorithms[alg].name,
                text);
    session_free(s);
    return good;
}

/* ---- POLY1305 --------------------------------------------------------------
 */

/* Update or final without a key, or after final, crashes default; there the
 * module answers alone: 0 and NO_KEY_SET. */
static void mac_sequence(int round)
{
    EVP_MAC_CTX *a = EVP_MAC_CTX_new(ours.poly1305);
    EVP_MAC_CTX *b = EVP_MAC_CTX_new(theirs.poly1305), *copy;
    uint8_t key[32], in[700], x[32], y[32];
    int steps = 3 + (int)rnd_below(40), i, keyed = 0, what, want;
    char text[300] = "";
    size_t at = 0, len, nx, ny;

    for (i = 0; i < steps; i++) {
        what = (int)rnd_below(8);
        len = rnd_below(2) ? rnd_below(40) : rnd_below(sizeof(in));
        text[at++] = "knuuufsy"[what];
        text[at] = '\0';
        check_case("round %d: POLY1305 \"%s\"", round, text);
        rnd_bytes(key, sizeof(key));
        rnd_bytes(in, len);
        ERR_clear_error();
        switch (what) {
        case 0:
            CHECK(EVP_MAC_init(a, key, 32, NULL));
            CHECK(EVP_MAC_init(b, key, 32, NULL));
            keyed = 1;
            break;
        case 1:
            want = EVP_MAC_init(b, NULL, 0, NULL);
            CHECK_INT(EVP_MAC_init(a, NULL, 0, NULL), want);
            CHECK_QUEUE("");
            break;
        case 2:
        case 3:
        case 4:
            CHECK_INT(EVP_MAC_update(a, in, len), keyed);
            if (keyed)
                EVP_MAC_update(b, in, len);
            CHECK_QUEUE(keyed ? "" : "P114");
            break;
        case 5:
            nx = ny = 0;
            CHECK_INT(EVP_MAC_final(a, x, &nx, 16 + rnd_below(17)), keyed);
            CHECK_QUEUE(keyed ? "" : "P114");
            if (keyed) {
                EVP_MAC_final(b, y, &ny, 16);
                CHECK_INT(nx, ny);
                CHECK_MEM(x, y, 16);
            }
            keyed = 0;
            break;
        case 6:
            CHECK_INT(EVP_MAC_final(a, NULL, &nx, 0), 1);
            CHECK_INT(nx, 16);
            CHECK_INT(EVP_MAC_final(a, x, &nx, 15), 0);
            CHECK_QUEUE("E155");
            break;
        default:
            copy = EVP_MAC_CTX_dup(a);
            if (CHECK(copy)) {
                EVP_MAC_CTX_free(a);
                a = copy;
            }
            break;
        }
    }
    EVP_MAC_CTX_free(a);
    EVP_MAC_CTX_free(b);
}

int main(void)
{
    const char *count = getenv("BC_ROUNDS");
    int rounds = count ? atoi(count) : quick ? 1000 : 20000, i, good = 1;

    evp_open();
    if (quick && !count)
        rounds = 1500;
    for (i = 0; i < rounds && good; i++)
        good = one_sequence((int)rnd_below(CIPHERS), i);
    for (i = 0; i < rounds && strict; i++)
        mac_sequence(i);
    evp_close();
    return check_done();
}
