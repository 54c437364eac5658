/*
 * The AES key schedule with AES-NI (FIPS 197, 5.2), both directions, and one
 * block encrypted. XMM registers at every level.
 *
 * AESKEYGENASSIST is microcoded or slow on most processors, so SubWord comes
 * from AESENCLAST: with the same word in all four columns its ShiftRows
 * changes nothing, and its round key adds the round constant.
 */
#ifndef BC_AES_KEY_H
#define BC_AES_KEY_H

#include "vec.h"

/* Each word xored with all words in front of it. */
INLINE block prefix_xor(block a)
{
    a = b_xor(a, _mm_slli_si128(a, 4));
    return b_xor(a, _mm_slli_si128(a, 8));
}

/*
 * The encryption half of the schedule. Returns E(K, 0), which GCM wants and
 * which costs one round behind the last round key; callers that drop it do
 * not pay for it.
 */
#define ROUND_KEY(i, k)                                                        \
    do {                                                                       \
        b_store(key->rk[i], k);                                                \
        zero = (i) == 0 ? (k) : _mm_aesenc_si128(zero, k);                     \
    } while (0)
#define LAST_ROUND_KEY(i, k)                                                   \
    do {                                                                       \
        b_store(key->rk[i], k);                                                \
        zero = _mm_aesenclast_si128(zero, k);                                  \
    } while (0)

/*
 * 128 and 256 bits. Round key i comes from the one d before, d = 1 or 2, and
 * from T[i], which SubWord made:
 *     w0' = w0 + T[i],  w1' = w1 + w0',  w2' = w2 + w1',  w3' = w3 + w2'.
 * All that the next SubWord waits for is the last word, W[i] = w3'. Solved for
 * the last words alone,
 *     W[i] = W[i-4d] + T[i],
 *     w2' = W[i] + W[i-d],  w1' = W[i] + W[i-2d],
 *     w0' = W[i] + W[i-d] + W[i-2d] + W[i-3d],
 * and W[i-4d] goes into AESENCLAST as its key. RotWord is no instruction:
 * without it a last word comes out of the chain one byte further up than the
 * one that went in, and four times later it stands where it stood, to meet
 * W[i-4d]. So the chain is one AESENCLAST a round key, and everything else is
 * beside it. On Zen 5 that takes 23 ns for 128 bits and 26 for 256; a shuffle
 * in the chain makes it 28 and 33, and words added one after the other 32.
 */
static const _Alignas(16) uint8_t last_word_up[4][16] = {
    /* The last word in all columns, moved up by 0 .. 3 bytes. */
    {12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15},
    {15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14},
    {14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13},
    {13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12},
};
static const _Alignas(16) uint8_t last_word_down[4][16] = {
    /* The same, down. */
    {12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15},
    {13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12},
    {14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13},
    {15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14},
};
#define LAST_WORD_UP(a, n)                                                     \
    _mm_shuffle_epi8(a, b_load_aligned(last_word_up[(n) % 4]))
#define LAST_WORD_DOWN(a, n)                                                   \
    _mm_shuffle_epi8(a, b_load_aligned(last_word_down[(n) % 4]))

/* Of every d-th round key: p holds W[i] + W[i-d] and W[i], twice; q the same
 * of the one before. */
struct family {
    block p, q;
};

INLINE struct family first_of_family(block a)
{
    struct family f;

    f.p = _mm_unpackhi_epi64(a, a);
    f.q = b_xor(a, _mm_slli_si128(a, 4));
    return f;
}

/* W[-3d], W[-2d] and W[-d] of the family that begins with a: not words of the
 * key, but what makes the equations true. In the places where the chain will
 * come upon them. */
#define W_3D(a) LAST_WORD_UP(prefix_xor(a), 1)
#define W_2D(a) LAST_WORD_UP(b_xor(a, _mm_slli_si128(a, 8)), 2)
#define W_1D(a) LAST_WORD_UP(b_xor(a, _mm_slli_si128(a, 4)), 3)

/* The next one, from its last word, which is in all columns, n bytes up. */
INLINE block next_of_family(struct family *f, block w, int n)
{
    block p = b_xor(LAST_WORD_DOWN(w, n), _mm_srli_epi64(f->p, 32));
    block a = b_xor(p, _mm_srli_si128(f->q, 8));

    f->q = f->p;
    f->p = p;
    return a;
}

#define STEP(i, f, n, rcon, to, from, old, emit)                               \
    to = _mm_aesenclast_si128(                                                 \
        from,                                                                  \
        b_xor(old, _mm_set1_epi32((int)((uint32_t)(rcon) << (n) % 4 * 8))));   \
    k = next_of_family(&(f), to, n);                                           \
    emit(i, k)

INLINE block expand_128(struct bc_aes_key *key, const uint8_t *raw)
{
    block k = b_load(raw), zero;
    struct family f = first_of_family(k);
    /* W[i-4] .. W[i-1], each in its place until it is needed. */
    block w0 = LAST_WORD_UP(k, 0), w1 = W_3D(k), w2 = W_2D(k), w3 = W_1D(k);

    ROUND_KEY(0, k);
    STEP(1, f, 1, 0x01, w1, w0, w1, ROUND_KEY);
    STEP(2, f, 2, 0x02, w2, w1, w2, ROUND_KEY);
    STEP(3, f, 3, 0x04, w3, w2, w3, ROUND_KEY);
    STEP(4, f, 4, 0x08, w0, w3, w0, ROUND_KEY);
    STEP(5, f, 5, 0x10, w1, w0, w1, ROUND_KEY);
    STEP(6, f, 6, 0x20, w2, w1, w2, ROUND_KEY);
    STEP(7, f, 7, 0x40, w3, w2, w3, ROUND_KEY);
    STEP(8, f, 8, 0x80, w0, w3, w0, ROUND_KEY);
    STEP(9, f, 9, 0x1b, w1, w0, w1, ROUND_KEY);
    STEP(10, f, 10, 0x36, w2, w1, w2, LAST_ROUND_KEY);
    return zero;
}

/*
 * Two families, whose words follow each other in the chain. Those of the
 * second come without RotWord and round constant. There are not the registers
 * for eight last words, and some would be spilled to the stack and left there,
 * so they are loaded from the round keys, by a pointer that the compiler does
 * not see through. (For 128 bits that loop through memory is too long.)
 */
#define OLD(i, n) LAST_WORD_UP(b_load_aligned(rk[i]), n)

INLINE block expand_256(struct bc_aes_key *key, const uint8_t *raw)
{
    const uint8_t(*rk)[16] = key->rk;
    block a = b_load(raw), b = b_load(raw + 16), w = LAST_WORD_UP(b, 0), zero;
    struct family f = first_of_family(a), g = first_of_family(b);
    block k;

    __asm__("" : "+r"(rk));
    ROUND_KEY(0, a);
    ROUND_KEY(1, b);
    STEP(2, f, 1, 0x01, w, w, W_3D(a), ROUND_KEY);
    STEP(3, g, 1, 0, w, w, W_3D(b), ROUND_KEY);
    STEP(4, f, 2, 0x02, w, w, W_2D(b_load_aligned(rk[0])), ROUND_KEY);
    STEP(5, g, 2, 0, w, w, W_2D(b_load_aligned(rk[1])), ROUND_KEY);
    STEP(6, f, 3, 0x04, w, w, W_1D(b_load_aligned(rk[0])), ROUND_KEY);
    STEP(7, g, 3, 0, w, w, W_1D(b_load_aligned(rk[1])), ROUND_KEY);
    STEP(8, f, 4, 0x08, w, w, OLD(0, 4), ROUND_KEY);
    STEP(9, g, 4, 0, w, w, OLD(1, 4), ROUND_KEY);
    STEP(10, f, 5, 0x10, w, w, OLD(2, 5), ROUND_KEY);
    STEP(11, g, 5, 0, w, w, OLD(3, 5), ROUND_KEY);
    STEP(12, f, 6, 0x20, w, w, OLD(4, 6), ROUND_KEY);
    STEP(13, g, 6, 0, w, w, OLD(5, 6), ROUND_KEY);
    STEP(14, f, 7, 0x40, w, w, OLD(6, 7), LAST_ROUND_KEY);
    return zero;
}

#undef W_1D
#undef W_2D
#undef W_3D
#undef STEP
#undef OLD

/* Six words a step: a holds four, the lower half of b two. Two steps make
 * three round keys. */
INLINE block expand_192(struct bc_aes_key *key, const uint8_t *raw)
{
    const block rot = _mm_set1_epi32(0x04070605); /* of word 1 */
    block a = b_load(raw);
    block b = _mm_loadl_epi64((const __m128i *)(raw + 16));
    block old, zero;

#define STEP(rcon)                                                             \
    old = b;                                                                   \
    a = b_xor(prefix_xor(a), _mm_aesenclast_si128(_mm_shuffle_epi8(b, rot),    \
                                                  _mm_set1_epi32(rcon)));      \
    b = b_xor(b_xor(b, _mm_slli_epi64(b, 32)), _mm_shuffle_epi32(a, 0xff))
#define TWO_STEPS(i, rcon, emit)                                               \
    STEP(rcon);                                                                \
    ROUND_KEY((i) + 1, _mm_unpacklo_epi64(old, a));                            \
    ROUND_KEY((i) + 2, _mm_alignr_epi8(b, a, 8) /* a's upper, b's lower */);   \
    STEP(2 * (rcon));                                                          \
    emit((i) + 3, a)

    ROUND_KEY(0, a);
    TWO_STEPS(0, 0x01, ROUND_KEY);
    TWO_STEPS(3, 0x04, ROUND_KEY);
    TWO_STEPS(6, 0x10, ROUND_KEY);
    TWO_STEPS(9, 0x40, LAST_ROUND_KEY);
    return zero;
#undef TWO_STEPS
#undef STEP
}

#undef ROUND_KEY
#undef LAST_ROUND_KEY

INLINE block aes_expand(struct bc_aes_key *key, const uint8_t *raw,
                        size_t keylen)
{
    key->has_dec = 0;
    key->rounds = (uint32_t)keylen / 4 + 6;
    if (keylen == 16)
        return expand_128(key, raw);
    if (keylen == 24)
        return expand_192(key, raw);
    return expand_256(key, raw);
}

/* The equivalent inverse cipher's keys (FIPS 197, 5.3.5): the same in reverse
 * order, with InvMixColumns applied to all but the two at the ends. */
INLINE void aes_expand_dec(struct bc_aes_key *key)
{
    uint8_t(*dec)[16] = key->rk + key->rounds;
    uint32_t i;

    for (i = 1; i < key->rounds; i++)
        b_store(dec[i], _mm_aesimc_si128(b_load(key->rk[key->rounds - i])));
    b_store(dec[i], b_load(key->rk[0]));
    key->has_dec = 1;
}

/* E(K, x). */
INLINE block aes_encrypt(const struct bc_aes_key *key, block x)
{
    const uint8_t(*rk)[16] = key->rk;
    uint32_t i;

    x = b_xor(x, b_load_aligned(rk[0]));
    UNROLL
    for (i = 1; i < 10; i++)
        x = _mm_aesenc_si128(x, b_load_aligned(rk[i]));
    if (key->rounds > 10) {
        x = _mm_aesenc_si128(x, b_load_aligned(rk[10]));
        x = _mm_aesenc_si128(x, b_load_aligned(rk[11]));
        if (key->rounds > 12) {
            x = _mm_aesenc_si128(x, b_load_aligned(rk[12]));
            x = _mm_aesenc_si128(x, b_load_aligned(rk[13]));
        }
    }
    return _mm_aesenclast_si128(x, b_load_aligned(rk[key->rounds]));
}

#endif
