/*
 * Instruction times and the limits that follow from them. Every loop is
 * written in assembly: what is timed is then exactly what is written, and the
 * file needs no instruction-set flags. A loop runs only if bc_cpu() says that
 * the processor has its instructions.
 */
#include "limits.h"

#include <string.h>

#include "bench.h"
#include "kernels.h"

/* What each width needs beside the instruction itself. */
#define NEED_YMM (BC_CPU_AVX | BC_CPU_AVX2)
#define NEED_ZMM                                                               \
    (NEED_YMM | BC_CPU_AVX512F | BC_CPU_AVX512BW | BC_CPU_AVX512VL |           \
     BC_CPU_AVX512DQ)

#if defined(__x86_64__)

#include <emmintrin.h>

/* clang-format off */

/* ---- Loops --------------------------------------------------------------- */

/* `body` is repeated n times. Upper halves are cleared at the end: code with
 * legacy encodings that follows would pay for dirty ones. */
#define LOOP(name, body, end)                                                  \
    static void name(void *arg, size_t n)                                      \
    {                                                                          \
        (void)arg;                                                             \
        __asm__ volatile(".p2align 6\n1:\n" body "dec %0\njnz 1b\n" end        \
            : "+r"(n) :                                                        \
            : "cc", "rax", "rcx", "rdx", "xmm0", "xmm1", "xmm2", "xmm3",       \
              "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",         \
              "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");                    \
    }

/* One loop for each width; `body` is a macro that takes the register name. */
#define LOOPS(name, body)                                                      \
    LOOP(name##_16, body("xmm"), "vzeroupper\n")                               \
    LOOP(name##_32, body("ymm"), "vzeroupper\n")                               \
    LOOP(name##_64, body("zmm"), "vzeroupper\n")                               \
    static void (*const name[BENCH_WIDTHS])(void *, size_t) = {                \
        name##_16, name##_32, name##_64};

/* A step of the chain through register d; register 15 never changes. */
#define CHAIN(op, v, d) op " %%" v "15,%%" v #d ",%%" v #d "\n"
#define SHIFT(op, v, d) op ",%%" v #d ",%%" v #d "\n"
/* Depends on nothing that changes, so only the pipes hold it up. Not for xor
 * and subtraction: x ^ x is no work at all for most processors. */
#define FREE(op, v) op " %%" v "15,%%" v "15,%%" v "14\n"

/* Twelve chains: enough for a latency of 4 at three a cycle. */
#define CHAINS(op, v)                                                          \
    CHAIN(op, v, 0) CHAIN(op, v, 1) CHAIN(op, v, 2) CHAIN(op, v, 3)            \
    CHAIN(op, v, 4) CHAIN(op, v, 5) CHAIN(op, v, 6) CHAIN(op, v, 7)            \
    CHAIN(op, v, 8) CHAIN(op, v, 9) CHAIN(op, v, 10) CHAIN(op, v, 11)

#define AES(v) CHAINS("vaesenc", v)
#define CLMUL(v) CHAINS("vpclmulqdq $0,", v)
#define MULUDQ(v) CHAINS("vpmuludq", v)
#define MADD52(v) CHAINS("vpmadd52luq", v)
#define ADD(v) CHAINS("vpaddd", v)
LOOPS(aes_loops, AES)
LOOPS(clmul_loops, CLMUL)
LOOPS(muludq_loops, MULUDQ)
LOOPS(madd52_loops, MADD52)
LOOPS(add_loops, ADD)

#define AES_SERIAL "aesenc %%xmm15,%%xmm0\n"
LOOP(aes_latency_loop, AES_SERIAL AES_SERIAL AES_SERIAL AES_SERIAL, "")

#define MULX "mulx %%rdx,%%rax,%%rcx\n"
LOOP(mul64_loop, MULX MULX MULX MULX, "")

/* ---- Mixes --------------------------------------------------------------- */

/*
 * One vector of AES-GCM: as many AES chains as rounds, three or four products
 * (m, m4), and between them x, x, x, y: the further work of a block. That is
 * byte swap, counter, whitening, the halves' xor, the unpacking and the
 * accumulators: 11 instructions with Karatsuba's three products, 9 with four
 * products in two accumulators. Additions stand for the xors (same pipes).
 */
#define GCM10(v, x, y, m, m4)                                                  \
    CHAIN("vaesenc", v, 0) CHAIN("vaesenc", v, 1) x CHAIN("vaesenc", v, 2) m   \
    CHAIN("vaesenc", v, 3) CHAIN("vaesenc", v, 4) x CHAIN("vaesenc", v, 5) m   \
    CHAIN("vaesenc", v, 6) CHAIN("vaesenc", v, 7) y CHAIN("vaesenc", v, 8) m   \
    CHAIN("vaesenc", v, 9) m4
#define GCM12(v, x, y, m, m4)                                                  \
    CHAIN("vaesenc", v, 10) CHAIN("vaesenc", v, 11) GCM10(v, x, y, m, m4)
#define GCM14(v, x, y, m, m4)                                                  \
    CHAIN("vaesenc", v, 12) CHAIN("vaesenc", v, 13) GCM12(v, x, y, m, m4)

#define PRODUCT(v) FREE("vpclmulqdq $0,", v)
#define WORK3(v) FREE("vpshufb", v) FREE("vpaddd", v) FREE("vpaddq", v)
#define WORK4(v) WORK3(v) FREE("vpaddd", v)

#define BARE10(v) GCM10(v, "", "", PRODUCT(v), "")
#define BARE12(v) GCM12(v, "", "", PRODUCT(v), "")
#define BARE14(v) GCM14(v, "", "", PRODUCT(v), "")
#define KARATSUBA10(v) GCM10(v, WORK4(v), WORK3(v), PRODUCT(v), "")
#define KARATSUBA12(v) GCM12(v, WORK4(v), WORK3(v), PRODUCT(v), "")
#define KARATSUBA14(v) GCM14(v, WORK4(v), WORK3(v), PRODUCT(v), "")
#define FOUR10(v) GCM10(v, WORK3(v), WORK3(v), PRODUCT(v), PRODUCT(v))
#define FOUR12(v) GCM12(v, WORK3(v), WORK3(v), PRODUCT(v), PRODUCT(v))
#define FOUR14(v) GCM14(v, WORK3(v), WORK3(v), PRODUCT(v), PRODUCT(v))
LOOPS(bare10_loops, BARE10)
LOOPS(bare12_loops, BARE12)
LOOPS(bare14_loops, BARE14)
LOOPS(karatsuba10_loops, KARATSUBA10)
LOOPS(karatsuba12_loops, KARATSUBA12)
LOOPS(karatsuba14_loops, KARATSUBA14)
LOOPS(four10_loops, FOUR10)
LOOPS(four12_loops, FOUR12)
LOOPS(four14_loops, FOUR14)

/* The instructions of a quarter-round without its dependencies. AVX2 rotates
 * by 16 and 8 with a byte shuffle, by 12 and 7 with two shifts and an or;
 * AVX-512 has a rotation. */
#define QUARTER_AVX2(v)                                                        \
    CHAIN("vpaddd", v, 0) CHAIN("vpxor", v, 1) CHAIN("vpshufb", v, 2)          \
    CHAIN("vpaddd", v, 3) CHAIN("vpxor", v, 4) SHIFT("vpslld $12", v, 5)       \
    SHIFT("vpsrld $20", v, 6) CHAIN("vpor", v, 7)                              \
    CHAIN("vpaddd", v, 8) CHAIN("vpxor", v, 9) CHAIN("vpshufb", v, 10)         \
    CHAIN("vpaddd", v, 11) CHAIN("vpxor", v, 12) SHIFT("vpslld $7", v, 13)     \
    SHIFT("vpsrld $25", v, 14) CHAIN("vpor", v, 2)
#define QUARTER_AVX512(v)                                                      \
    CHAIN("vpaddd", v, 0) CHAIN("vpxord", v, 1) SHIFT("vprold $16", v, 2)      \
    CHAIN("vpaddd", v, 3) CHAIN("vpxord", v, 4) SHIFT("vprold $12", v, 5)      \
    CHAIN("vpaddd", v, 6) CHAIN("vpxord", v, 7) SHIFT("vprold $8", v, 8)       \
    CHAIN("vpaddd", v, 9) CHAIN("vpxord", v, 10) SHIFT("vprold $7", v, 11)
LOOP(quarter_16, QUARTER_AVX2("xmm"), "vzeroupper\n")
LOOP(quarter_32, QUARTER_AVX2("ymm"), "vzeroupper\n")
LOOP(quarter_64, QUARTER_AVX512("zmm"), "vzeroupper\n")
static void (*const quarter_loops[BENCH_WIDTHS])(void *, size_t) = {
    quarter_16, quarter_32, quarter_64};
static const double quarter_length[BENCH_WIDTHS] = {16, 16, 12};

/* Poly1305 in radix 2^26: one product to two other instructions. */
#define POLY_MIX(v)                                                            \
    CHAIN("vpmuludq", v, 0) FREE("vpaddq", v) FREE("vpaddq", v)                \
    CHAIN("vpmuludq", v, 1) FREE("vpaddq", v) FREE("vpaddq", v)                \
    CHAIN("vpmuludq", v, 2) FREE("vpaddq", v) FREE("vpaddq", v)                \
    CHAIN("vpmuludq", v, 3) FREE("vpaddq", v) FREE("vpaddq", v)
LOOPS(poly_loops, POLY_MIX)

/* clang-format on */

/* ---- Copies: the limit of messages that the caches do not hold ----------- */

struct copy {
    uint8_t *out;
    const uint8_t *in;
};

static void copy_plain(void *arg, size_t n)
{
    const struct copy *c = arg;

    while (n--)
        memcpy(c->out, c->in, BENCH_MAX_LEN);
}

static void copy_stream(void *arg, size_t n)
{
    const struct copy *c = arg;

    while (n--)
        for (size_t i = 0; i + 16 <= BENCH_MAX_LEN; i += 16)
            _mm_stream_si128(
                (__m128i *)(void *)(c->out + i),
                _mm_loadu_si128((const __m128i *)(const void *)(c->in + i)));
}

/* ---- Measuring ----------------------------------------------------------- */

/* Core cycles for one of the `per` parts of a loop's body. */
static double cycles(void (*run)(void *, size_t), void *arg, double per)
{
    static const struct bench_options few = {.quick = 1};
    struct bench_contender c = {.run = run, .arg = arg};
    double cycle = 0, least;

    bench_race(&few, &c, 1, &cycle);
    least = bench_min(&c.series);
    bench_series_free(&c.series);
    return least / per / cycle;
}

static double less(double a, double b)
{
    return a < b ? a : b;
}

static void measure_width(struct bench_limits *l, int w, uint32_t bits)
{
    const uint32_t need[BENCH_WIDTHS] = {BC_CPU_AVX, NEED_YMM, NEED_ZMM};
    const uint32_t vaes = w ? BC_CPU_VAES : BC_CPU_AESNI;
    const uint32_t vpclmul = w ? BC_CPU_VPCLMUL : BC_CPU_PCLMUL;
    const uint32_t ifma = NEED_ZMM | BC_CPU_AVX512IFMA;

    if (need[w] & ~bits)
        return;
    l->add[w] = cycles(add_loops[w], NULL, 12);
    l->muludq[w] = cycles(muludq_loops[w], NULL, 12);
    l->poly[w] = cycles(poly_loops[w], NULL, 4);
    l->chacha[w] = cycles(quarter_loops[w], NULL, 1);
    if ((bits & ifma) == ifma)
        l->madd52[w] = cycles(madd52_loops[w], NULL, 12);
    if (bits & vaes)
        l->aes[w] = cycles(aes_loops[w], NULL, 12);
    if (bits & vpclmul)
        l->clmul[w] = cycles(clmul_loops[w], NULL, 12);
    if ((bits & vaes) && (bits & vpclmul)) {
        l->gcm_bare[w][0] = cycles(bare10_loops[w], NULL, 1);
        l->gcm_bare[w][1] = cycles(bare12_loops[w], NULL, 1);
        l->gcm_bare[w][2] = cycles(bare14_loops[w], NULL, 1);
        l->gcm[w][0] = less(cycles(karatsuba10_loops[w], NULL, 1),
                            cycles(four10_loops[w], NULL, 1));
        l->gcm[w][1] = less(cycles(karatsuba12_loops[w], NULL, 1),
                            cycles(four12_loops[w], NULL, 1));
        l->gcm[w][2] = less(cycles(karatsuba14_loops[w], NULL, 1),
                            cycles(four14_loops[w], NULL, 1));
    }
}

void bench_limits_copy(struct bench_limits *l, uint8_t *out, const uint8_t *in)
{
    struct copy copy = {out, in};
    double plain = cycles(copy_plain, &copy, BENCH_MAX_LEN);
    double stream = cycles(copy_stream, &copy, BENCH_MAX_LEN);

    l->copy_plain = l->copy_plain > 0 ? less(plain, l->copy_plain) : plain;
    l->copy_stream = l->copy_stream > 0 ? less(stream, l->copy_stream) : stream;
}

void bench_limits_measure(struct bench_limits *l, uint32_t bits, uint8_t *out,
                          const uint8_t *in)
{
    memset(l, 0, sizeof(*l));
    bench_progress("instruction times ...");
    for (int w = 0; w < BENCH_WIDTHS; w++)
        measure_width(l, w, bits);
    if (bits & BC_CPU_AESNI)
        l->aes_latency = cycles(aes_latency_loop, NULL, 4);
    if (bits & BC_CPU_BMI2)
        l->mul64 = cycles(mul64_loop, NULL, 4);
    bench_limits_copy(l, out, in);
    bench_progress(NULL);
}

#else

static const double quarter_length[BENCH_WIDTHS] = {16, 16, 12};

static double less(double a, double b)
{
    return a < b ? a : b;
}

void bench_limits_copy(struct bench_limits *l, uint8_t *out, const uint8_t *in)
{
    (void)l;
    (void)out;
    (void)in;
}

void bench_limits_measure(struct bench_limits *l, uint32_t bits, uint8_t *out,
                          const uint8_t *in)
{
    (void)bits;
    (void)out;
    (void)in;
    memset(l, 0, sizeof(*l));
}

#endif

/* ---- The limit of a job -------------------------------------------------- */

static const double bytes_of[BENCH_WIDTHS] = {16, 32, 64};

/* The index of the widest vectors that `bits` allow, -1: none. */
static int width_of(uint32_t bits)
{
    if ((bits & BC_CPU_AVX512F) != 0)
        return 2;
    if ((bits & BC_CPU_AVX2) != 0)
        return 1;
    return (bits & (BC_CPU_SSSE3 | BC_CPU_AESNI)) != 0 ? 0 : -1;
}

/* 80 quarter-rounds on one word per lane, then feed-forward, transposition,
 * and load, xor and store: 16 + 64 + 32 instructions. */
static double chacha20_limit(const struct bench_limits *l, int w)
{
    double further = 112 * l->chacha[w] / quarter_length[w];

    return (80 * l->chacha[w] + further) / (16 * bytes_of[w]);
}

/* Scalar: 4 products of 64 x 64 bits and 2 of the low halves for 16 bytes. */
static double poly1305_scalar_limit(const struct bench_limits *l)
{
    return 6 * l->mul64 / 16;
}

static double poly1305_limit(const struct bench_limits *l, int w, uint32_t bits)
{
    /* Radix 2^44: 9 products, low and high halves, on as many blocks as there
     * are 64-bit lanes. */
    if ((bits & BC_CPU_AVX512IFMA) != 0)
        return 18 * l->madd52[w] / (2 * bytes_of[w]);
    /* Radix 2^26: 25 products and 48 additions, carries and splits. */
    if (w > 0)
        return 73.0 / 3 * l->poly[w] / (2 * bytes_of[w]);
    return poly1305_scalar_limit(l);
}

static double chapoly_limit(const struct bench_limits *l, int w, uint32_t bits)
{
    double cipher = chacha20_limit(l, w);
    double one_after_other = cipher + poly1305_limit(l, w, bits);
    double scalar = poly1305_scalar_limit(l);
    double side_by_side = scalar > cipher ? scalar : cipher;

    return less(one_after_other, side_by_side);
}

double bench_limit(const struct bench_limits *l, enum bench_job job,
                   size_t keylen, size_t len, uint32_t bits)
{
    int w = width_of(bits);
    size_t rounds = keylen / 4 + 6;
    double limit = 0, memory = less(l->copy_plain, l->copy_stream);

    if (w < 0 || l->add[0] == 0)
        return 0;
    switch (job) {
    case BENCH_CBC_ENCRYPT:
        limit = (double)rounds * l->aes_latency / 16;
        break;
    case BENCH_CBC_DECRYPT:
        if (w > 0 && (bits & BC_CPU_VAES) == 0)
            w = 0;
        limit = (double)rounds * l->aes[w] / bytes_of[w];
        break;
    case BENCH_GCM:
        if (w > 0 && (bits & BC_CPU_VAES) == 0)
            w = 0;
        limit = l->gcm[w][(rounds - 10) / 2] / bytes_of[w];
        break;
    case BENCH_CHAPOLY:
        limit = chapoly_limit(l, w, bits);
        break;
    case BENCH_POLY1305:
        return poly1305_limit(l, w, bits); /* reads only: no copy */
    }
    return len >= BENCH_MAX_LEN && memory > limit ? memory : limit;
}

/* ---- The listing --------------------------------------------------------- */

static void print_line(FILE *csv, const char *name, const double *t)
{
    printf("  %-34s", name);
    for (int w = 0; w < BENCH_WIDTHS; w++)
        if (t[w] > 0)
            printf(" %8.2f", t[w]);
        else
            printf(" %8s", "-");
    printf("\n");
    if (csv)
        fprintf(csv, "# cycles of %s: %.3f %.3f %.3f\n", name, t[0], t[1],
                t[2]);
}

static void print_one(FILE *csv, const char *name, double t)
{
    printf("  %-34s %8.3f\n", name, t);
    if (csv)
        fprintf(csv, "# cycles of %s: %.4f\n", name, t);
}

void bench_limits_print(const struct bench_limits *l, FILE *csv)
{
    if (l->add[0] == 0)
        return;
    printf("\nCore cycles from one instruction to the next, many in flight\n"
           "  %-34s %8s %8s %8s\n",
           "", "16 bytes", "32", "64");
    print_line(csv, "vaesenc", l->aes);
    print_line(csv, "vpclmulqdq", l->clmul);
    print_line(csv, "vpmuludq", l->muludq);
    print_line(csv, "vpmadd52luq", l->madd52);
    print_line(csv, "vpaddd", l->add);
    print_line(csv, "a ChaCha20 quarter-round", l->chacha);
    print_line(csv, "Poly1305's vpmuludq + 2 vpaddq", l->poly);
    for (int i = 0; i < 3; i++) {
        double bare[BENCH_WIDTHS], full[BENCH_WIDTHS];
        char name[64];

        for (int w = 0; w < BENCH_WIDTHS; w++) {
            bare[w] = l->gcm_bare[w][i];
            full[w] = l->gcm[w][i];
        }
        snprintf(name, sizeof(name), "%d vaesenc + 3 vpclmulqdq", 10 + 2 * i);
        print_line(csv, name, bare);
        snprintf(name, sizeof(name), "GCM-%d, all of a vector's work",
                 128 + 64 * i);
        print_line(csv, name, full);
    }
    print_one(csv, "aesenc, each waiting for the last", l->aes_latency);
    print_one(csv, "mulx", l->mul64);
    print_one(csv, "copying 30 MB, a byte", l->copy_plain);
    print_one(csv, "the same with streaming stores", l->copy_stream);
}
