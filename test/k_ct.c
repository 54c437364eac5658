/*
 * Constant time, judged in two ways, all four families, every length class:
 *
 *  - Under valgrind keys and texts are marked undefined, and memcheck reports
 *    every branch and every address that depends on them. A mark that is lost
 *    on the way would let every kernel pass; so what comes out must be marked
 *    again.
 *  - valgrind 3.19 offers AVX2, but neither VAES nor AVX-512. The levels that
 *    need those are stepped through, instruction by instruction, twice with
 *    different secrets: both must take the same way. That shows branches and
 *    loops, not addresses; the wide levels of a template have those of the
 *    narrow ones.
 *
 * Public: lengths, key sizes, nonces of 12 bytes, and whether two tags are
 * equal. Secret: all else, so also the counter that GHASH makes of an IV of
 * another length.
 */
#define _GNU_SOURCE
#include <string.h>

#include "check.h"
#include "levels.h"

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_COUNT_ERRORS 0
#define VALGRIND_MAKE_MEM_UNDEFINED(p, len) ((void)(p), (void)(len), 0)
#define VALGRIND_MAKE_MEM_DEFINED(p, len) ((void)(p), (void)(len), 0)
#define VALGRIND_GET_VBITS(p, bits, len) ((void)(p), (void)(bits), 0)
#endif

/* ---- Stepping ------------------------------------------------------------ */

#if defined(__x86_64__) && defined(__linux__)

#include <signal.h>
#include <ucontext.h>

#define MAX_CASES 256

/* The way so far: how many instructions, and a hash (FNV-1a, by words) of their
 * addresses. */
struct way {
    uint64_t steps, hash, last;
};

static struct way way, first_ways[MAX_CASES];
static size_t cases;
static int pass; /* 1 and 2; 0: no stepping */

/* The breakpoints around a case turn the trap flag (bit 8) on and off; every
 * other trap comes from it, in front of the next instruction. A repeated string
 * instruction traps each time round and counts once. */
static void on_trap(int signal_number, siginfo_t *info, void *context)
{
    greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;
    uint64_t next = (uint64_t)reg[REG_RIP];

    (void)signal_number;
    if (info->si_code == SI_KERNEL) {
        reg[REG_EFL] ^= 1 << 8;
    } else if (next != way.last) {
        way.steps++;
        way.hash = (way.hash ^ next) * UINT64_C(0x100000001b3);
        way.last = next;
    }
}

static void breakpoint(void)
{
    __asm__ volatile("int3" : : : "memory");
}

static void step_begin(void)
{
    memset(&way, 0, sizeof(way));
    if (pass)
        breakpoint();
}

static void step_end(void)
{
    if (pass)
        breakpoint();
    if (pass == 1 && CHECK(cases < MAX_CASES))
        first_ways[cases++] = way;
    if (pass == 2) {
        CHECK_INT(way.steps, first_ways[cases].steps);
        CHECK(way.hash == first_ways[cases].hash);
        cases++;
    }
}

/* 0 where the trap flag does nothing, as under an emulator of programs. */
static int can_step(void)
{
    struct sigaction action;
    int can;

    memset(&action, 0, sizeof(action));
    action.sa_sigaction = on_trap;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, NULL);
    pass = 1;
    step_begin();
    step_end();
    can = first_ways[0].steps > 0;
    cases = 0;
    return can;
}

static void start_pass(int number)
{
    pass = number;
    cases = 0;
}

#else

#define step_begin()
#define step_end()
#define can_step() 0
#define start_pass(number)

#endif

/* ---- A case -------------------------------------------------------------- */

#define MAX_LEN 2200

static uint8_t key[32], text[MAX_LEN], aad[64], out[MAX_LEN], tag[16];
static unsigned errors_before;

static void begin(void)
{
    rnd_bytes(key, sizeof(key));
    rnd_bytes(text, sizeof(text));
    rnd_bytes(aad, sizeof(aad));
    errors_before = VALGRIND_COUNT_ERRORS;
    (void)VALGRIND_MAKE_MEM_UNDEFINED(key, sizeof(key));
    (void)VALGRIND_MAKE_MEM_UNDEFINED(text, sizeof(text));
    (void)VALGRIND_MAKE_MEM_UNDEFINED(aad, sizeof(aad));
    memset(out, 0, sizeof(out));
    memset(tag, 0, sizeof(tag));
    step_begin();
}

/* Every byte has a bit that depends on a secret. */
static int is_secret(const uint8_t *p, size_t len)
{
    uint8_t bits[MAX_LEN];
    size_t i;

    if (len == 0)
        return 1;
    if (VALGRIND_GET_VBITS(p, bits, len) != 1)
        return 0;
    for (i = 0; i < len; i++)
        if (bits[i] == 0)
            return 0;
    return 1;
}

static void end(size_t len, size_t taglen)
{
    step_end();
    if (!RUNNING_ON_VALGRIND)
        return;
    CHECK_INT(VALGRIND_COUNT_ERRORS - errors_before, 0);
    CHECK(is_secret(out, len));
    CHECK(is_secret(tag, taglen));
    (void)VALGRIND_MAKE_MEM_DEFINED(key, sizeof(key));
    (void)VALGRIND_MAKE_MEM_DEFINED(text, sizeof(text));
    (void)VALGRIND_MAKE_MEM_DEFINED(aad, sizeof(aad));
    (void)VALGRIND_MAKE_MEM_DEFINED(out, sizeof(out));
    (void)VALGRIND_MAKE_MEM_DEFINED(tag, sizeof(tag));
}

/* Around the steps of the kernels: nothing, parts, a few vectors, many. */
static const uint16_t lengths[] = {0,   1,   15,  16,  17,   33,   63,  64,
                                   100, 127, 128, 192, 256,  320,  383, 512,
                                   513, 700, 768, 900, 1024, 1100, 2100};
#define LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

/* Stepping costs a microsecond an instruction: 1, 17, 64, 128, 320, 513, 900
 * and 2100 then. */
#define FOR_LENGTHS(i)                                                         \
    for ((i) = RUNNING_ON_VALGRIND ? 0 : 1; (i) < LENGTHS;                     \
         (i) += RUNNING_ON_VALGRIND ? 1 : 3)

static void test_cbc(const struct bc_cbc_ops *ops)
{
    static struct bc_cbc c;
    size_t keylen, i;

    bc_cbc_init(&c, ops);
    for (keylen = 16; keylen <= 32; keylen += 8)
        FOR_LENGTHS(i)
        {
            size_t n = lengths[i] / 16;

            check_case("cbc %s, AES-%zu, %zu blocks", ops->name, 8 * keylen, n);
            begin();
            bc_cbc_set_key(&c, key, keylen);
            memcpy(c.iv, text, 16);
            bc_cbc_encrypt(&c, out, text, n);
            bc_cbc_decrypt(&c, out, out, n);
            end(16 * n, 0);
        }
}

static void test_gcm(const struct bc_gcm_ops *ops)
{
    static const uint8_t iv[16] = {1, 2, 3, 4};
    static struct bc_gcm g;
    size_t keylen, ivlen, i;

    bc_gcm_init(&g, ops);
    for (keylen = 16; keylen <= 32; keylen += 8)
        for (ivlen = 12; ivlen <= 16; ivlen += 4)
            FOR_LENGTHS(i)
            {
                size_t len = lengths[i], cut = len / 3;

                check_case("gcm %s, AES-%zu, length %zu, IV of %zu bytes",
                           ops->name, 8 * keylen, len, ivlen);
                begin();
                bc_gcm_set_key(&g, key, keylen);
                bc_gcm_start(&g, iv, ivlen);
                bc_gcm_aad(&g, aad, len % sizeof(aad));
                bc_gcm_encrypt(&g, out, text, len);
                bc_gcm_tag(&g, tag);
                bc_gcm_start(&g, iv, ivlen);
                bc_gcm_aad(&g, aad, 13);
                bc_gcm_decrypt(&g, out, out, cut);
                bc_gcm_decrypt(&g, out + cut, out + cut, len - cut);
                bc_gcm_tag(&g, tag);
                end(len, 16);
            }
}

static void test_chapoly(const struct bc_chapoly_ops *ops)
{
    static const uint8_t nonce[12] = {1, 2, 3, 4};
    static struct bc_chapoly c;
    size_t i;

    bc_chapoly_init(&c, ops);
    FOR_LENGTHS(i)
    {
        size_t len = lengths[i], cut = len / 3;

        check_case("chapoly %s, length %zu", ops->name, len);
        begin();
        bc_chapoly_set_key(&c, key);
        bc_chapoly_start(&c, nonce);
        bc_chapoly_aad(&c, aad, len % sizeof(aad));
        bc_chapoly_encrypt(&c, out, text, len);
        bc_chapoly_tag(&c, tag);
        bc_chapoly_start(&c, nonce);
        bc_chapoly_aad(&c, aad, 13);
        bc_chapoly_decrypt(&c, out, out, cut);
        bc_chapoly_decrypt(&c, out + cut, out + cut, len - cut);
        bc_chapoly_tag(&c, tag);
        end(len, 16);
    }
}

static void test_poly1305(const struct bc_poly1305_ops *ops)
{
    static struct bc_poly1305 p;
    size_t i;

    bc_poly1305_init(&p, ops);
    FOR_LENGTHS(i)
    {
        size_t len = lengths[i], cut = len / 3;

        check_case("poly1305 %s, length %zu", ops->name, len);
        begin();
        bc_poly1305_set_key(&p, key);
        bc_poly1305_update(&p, text, cut);
        bc_poly1305_update(&p, text + cut, len - cut);
        bc_poly1305_tag(&p, tag);
        end(0, 16);
    }
}

/* The answer is public, how it was found is not. */
static void test_equal(void)
{
    size_t i;

    for (i = 0; i <= 16; i++) {
        int equal;

        check_case("tags that differ at byte %zu (16: nowhere)", i);
        begin();
        memcpy(tag, text, 16);
        if (i < 16)
            tag[i] ^= 0x80;
        equal = bc_ct_equal(tag, text, 16);
        (void)VALGRIND_MAKE_MEM_DEFINED(&equal, sizeof(equal));
        CHECK_INT(equal, i == 16);
        end(0, 16);
    }
}

/* What valgrind does not run; only that is worth the time to step through. */
#define BEYOND_VALGRIND (BC_CPU_VAES | BC_CPU_VPCLMUL | BC_CPU_AVX512F)

/* The call under valgrind once; stepped through, twice, after a first time for
 * the loader, which finds libc's functions when they are first called. */
#define JUDGE(call)                                                            \
    do {                                                                       \
        int pass_;                                                             \
        for (pass_ = 0; pass_ <= (RUNNING_ON_VALGRIND ? 0 : 2); pass_++) {     \
            start_pass(pass_);                                                 \
            call;                                                              \
        }                                                                      \
    } while (0)

#define WALK(family, list, test)                                               \
    do {                                                                       \
        size_t i_;                                                             \
        for (i_ = 0; (list)[i_]; i_++)                                         \
            if ((RUNNING_ON_VALGRIND ||                                        \
                 ((list)[i_]->needs & BEYOND_VALGRIND) != 0) &&                \
                level_runs(family, (list)[i_]->name, (list)[i_]->needs))       \
                JUDGE(test((list)[i_]));                                       \
    } while (0)

int main(void)
{
    if (!RUNNING_ON_VALGRIND && !can_step()) {
        check_skip("no instruction can be stepped through here");
        return check_done();
    }
    WALK("cbc", bc_cbc_list, test_cbc);
    WALK("gcm", bc_gcm_list, test_gcm);
    WALK("chapoly", bc_chapoly_list, test_chapoly);
    WALK("poly1305", bc_poly1305_list, test_poly1305);
    JUDGE(test_equal());
    return check_done();
}
