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

/* The last word of a, rotated by one byte (RotWord), in all four columns. */
INLINE block last_word_rotated(block a)
{
    return _mm_shuffle_epi8(a, _mm_set1_epi32(0x0c0f0e0d));
}

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
 * 128 bits: round key i comes from the one before and T[i], which SubWord made:
 *     w0' = w0 + T[i],  w1' = w1 + w0',  w2' = w2 + w1',  w3' = w3 + w2'.
 * All that the next SubWord waits for is the last word, W[i] = w3'. Solved for
 * the last words alone,
 *     W[i] = W[i-4] + T[i],
 *     w2' = W[i] + W[i-1],  w1' = W[i] + W[i-2],
 *     w0' = W[i] + W[i-1] + W[i-2] + W[i-3].
 * W[i-4] goes into AESENCLAST as its key, so that the chain is a shuffle and an
 * AESENCLAST a round key: on Zen 5 a tenth (VL 64) to a fifth (VL 16, 32) less
 * time than with words added one after the other. (Keeping W[i] in all four
 * rotations saves the shuffle, too, but clang then spills some to the stack, to
 * be left there, and so it does with 256 bits in this form.)
 */
INLINE block expand_128(struct bc_aes_key *key, const uint8_t *raw)
{
    block a = b_load(raw), zero;
    block pairs = b_xor(a, _mm_slli_si128(a, 4));
    /* W[i] to W[i-3], each in all four columns; before the first round key
     * what makes the equations true. */
    block w = _mm_shuffle_epi32(a, 0xff), w1 = _mm_shuffle_epi32(pairs, 0xff);
    block w2 = _mm_shuffle_epi32(b_xor(a, _mm_slli_si128(a, 8)), 0xff);
    block w3 = _mm_shuffle_epi32(prefix_xor(a), 0xff), next;

/* Of equal words the shifts leave 0 and 2, 0 and 1, and 0. */
#define STEP(i, rcon, emit)                                                    \
    next = _mm_aesenclast_si128(last_word_rotated(w),                          \
                                b_xor(w3, _mm_set1_epi32(rcon)));              \
    w3 = w2;                                                                   \
    w2 = w1;                                                                   \
    w1 = w;                                                                    \
    w = next;                                                                  \
    a = b_xor(w, b_xor(_mm_srli_epi64(w1, 32),                                 \
                       b_xor(_mm_srli_si128(w2, 8), _mm_srli_si128(w3, 12)))); \
    emit(i, a)

    ROUND_KEY(0, a);
    STEP(1, 0x01, ROUND_KEY);
    STEP(2, 0x02, ROUND_KEY);
    STEP(3, 0x04, ROUND_KEY);
    STEP(4, 0x08, ROUND_KEY);
    STEP(5, 0x10, ROUND_KEY);
    STEP(6, 0x20, ROUND_KEY);
    STEP(7, 0x40, ROUND_KEY);
    STEP(8, 0x80, ROUND_KEY);
    STEP(9, 0x1b, ROUND_KEY);
    STEP(10, 0x36, LAST_ROUND_KEY);
    return zero;
#undef STEP
}

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

INLINE block expand_256(struct bc_aes_key *key, const uint8_t *raw)
{
    block a = b_load(raw), b = b_load(raw + 16), zero;

/* The words in front are ready before SubWord is: they go in as its key. */
#define EVEN(i, rcon, emit)                                                    \
    a = _mm_aesenclast_si128(last_word_rotated(b),                             \
                             b_xor(prefix_xor(a), _mm_set1_epi32(rcon)));      \
    emit(i, a)
#define ODD(i)                                                                 \
    b = _mm_aesenclast_si128(_mm_shuffle_epi32(a, 0xff), prefix_xor(b));       \
    ROUND_KEY(i, b)

    ROUND_KEY(0, a);
    ROUND_KEY(1, b);
    EVEN(2, 0x01, ROUND_KEY);
    ODD(3);
    EVEN(4, 0x02, ROUND_KEY);
    ODD(5);
    EVEN(6, 0x04, ROUND_KEY);
    ODD(7);
    EVEN(8, 0x08, ROUND_KEY);
    ODD(9);
    EVEN(10, 0x10, ROUND_KEY);
    ODD(11);
    EVEN(12, 0x20, ROUND_KEY);
    ODD(13);
    EVEN(14, 0x40, LAST_ROUND_KEY);
    return zero;
#undef EVEN
#undef ODD
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
