/*
 * Vectors of 16-byte blocks: what the AES templates are written in. The file
 * that includes this defines VL, the bytes of a vector: 16 (SSE), 32 (AVX2,
 * VAES, VPCLMULQDQ) or 64 (AVX-512 of the Skylake server kind, VAES,
 * VPCLMULQDQ). A vector holds LANES blocks, the first in its lowest bits.
 *
 * All differences between the widths live here. `block` is one block in an
 * XMM register at every width.
 */
#ifndef BC_VEC_H
#define BC_VEC_H

#include <immintrin.h>

#include "../internal.h"

#define LANES (VL / 16)

typedef __m128i block;

INLINE block b_load(const void *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

INLINE void b_store(void *p, block x)
{
    _mm_storeu_si128((__m128i *)p, x);
}

/* From 16-byte aligned memory, so that SSE may use it as an operand. */
INLINE block b_load_aligned(const void *p)
{
    return _mm_load_si128((const __m128i *)p);
}

INLINE block b_xor(block a, block b)
{
    return _mm_xor_si128(a, b);
}

INLINE block b_swap(block a)
{
    return _mm_shuffle_epi32(a, 0x4e);
}

#define b_clmul _mm_clmulepi64_si128

/*
 * What each width offers under the same name:
 *
 *   v_load, v_store    LANES blocks, any alignment
 *   v_stream           the same past the caches; VL-aligned
 *   v_load_a16         LANES blocks, aligned as one
 *   v_load_first       the first n blocks (1..LANES), zeros behind
 *   v_store_first      the first n lanes (1..LANES)
 *   v_every(b)         b in every lane
 *   v_every_at(p)      the same from 16-byte aligned memory
 *   v_lane0(b)         b in lane 0, zeros behind
 *   v_first(a)         lane 0
 *   v_sum(a)           the xor of all lanes
 *   v_shift_in(b, a)   a moved up by one lane, b in lane 0
 *   v_lane_numbers()   0, 1, .. LANES - 1, each as a 128-bit number
 *   v_xor3(a, b, c)    a ^ b ^ c
 *   v_clmul(a, b, i)   carry-less product of one half of each lane of a and b:
 *                      bit 0 of i picks a's upper half, bit 4 b's
 *   v_swap(a)          the halves of each lane exchanged
 *   v_lower(a, b)      the lower halves of each lane of a and b
 *   v_shuffle(a, b)    byte shuffle in each lane
 *   v_add32            on 32-bit numbers
 *   V_REG(a)           a as an operand, read and written, of an asm statement
 *
 * V_STREAM_FROM is the size in bytes from which on output had better go past
 * the caches. AES-128-CBC decryption, out of place, GB/s plain and streamed:
 *   Zen 5, 64 bytes  8 MiB 36.0 39.4   16 MiB 23-26 29-35   30 MB 19.5 19.5
 *   Zen 5, 32 bytes  8 MiB 20.3 20.8   16 MiB 19.6 18.9     30 MB 18.4 14.2
 *   Zen 5, 16 bytes  8 MiB 10.3 10.3   16 MiB  9.9  8.3     30 MB  9.8  7.7
 * Single blocks do not fill a line fast enough: never. 32-byte vectors stream
 * for the sake of Zen 3, where copying 30 MB takes off from 13 to 19 GB/s.
 */
#if VL == 16

typedef __m128i vec;

#define V_STREAM_FROM SIZE_MAX
#define v_zero _mm_setzero_si128
#define v_load(p) b_load(p)
#define v_store(p, a) b_store(p, a)
#define v_stream(p, a) _mm_stream_si128((__m128i *)(p), a)
#define v_load_a16(p) b_load_aligned(p)
#define v_load_first(p, n) ((void)(n), b_load(p))
#define v_store_first(p, a, n) ((void)(n), b_store(p, a))
#define v_every(b) (b)
#define v_every_at(p) b_load_aligned(p)
#define v_lane0(b) (b)
#define v_first(a) (a)
#define v_sum(a) (a)
#define v_shift_in(b, a) (b)
#define v_lane_numbers _mm_setzero_si128
#define v_xor _mm_xor_si128
#define V_REG(a) "+x"(a)
#define v_xor3(a, b, c) v_xor(v_xor(b, c), a)
#define v_clmul b_clmul
#define v_swap b_swap
#define v_lower _mm_unpacklo_epi64
#define v_shuffle _mm_shuffle_epi8
#define v_add32 _mm_add_epi32
#define v_aesenc _mm_aesenc_si128
#define v_aesenclast _mm_aesenclast_si128
#define v_aesdec _mm_aesdec_si128
#define v_aesdeclast _mm_aesdeclast_si128

#elif VL == 32

typedef __m256i vec;

#define V_STREAM_FROM ((size_t)8 << 20)
#define v_zero _mm256_setzero_si256
#define v_load(p) _mm256_loadu_si256((const __m256i *)(p))
#define v_store(p, a) _mm256_storeu_si256((__m256i *)(p), a)
#define v_stream(p, a) _mm256_stream_si256((__m256i *)(p), a)
#define v_load_a16(p) v_load(p)
#define v_every _mm256_broadcastsi128_si256
#define v_every_at(p) _mm256_broadcastsi128_si256(b_load_aligned(p))
#define v_lane0 _mm256_zextsi128_si256
#define v_first _mm256_castsi256_si128
#define v_shift_in(b, a)                                                       \
    _mm256_inserti128_si256(_mm256_castsi128_si256(b),                         \
                            _mm256_castsi256_si128(a), 1)
#define v_lane_numbers() _mm256_set_epi64x(0, 1, 0, 0)
#define v_xor _mm256_xor_si256
#define V_REG(a) "+x"(a)
#define v_xor3(a, b, c) v_xor(v_xor(b, c), a)
#define v_clmul _mm256_clmulepi64_epi128
#define v_swap(a) _mm256_shuffle_epi32(a, 0x4e)
#define v_lower _mm256_unpacklo_epi64
#define v_shuffle _mm256_shuffle_epi8
#define v_add32 _mm256_add_epi32
#define v_aesenc _mm256_aesenc_epi128
#define v_aesenclast _mm256_aesenclast_epi128
#define v_aesdec _mm256_aesdec_epi128
#define v_aesdeclast _mm256_aesdeclast_epi128

/* Branches on the public length: AMD's masked stores are microcoded. Each
 * block is loaded by itself: the last two of a message are GCM's own, stored
 * a moment before, and a load that covers two stores waits until both have
 * left the store queue (15 cycles on Zen 5). */
INLINE vec v_load_first(const void *p, size_t n)
{
    const uint8_t *b = p;
    vec first = v_lane0(b_load(b));

    return n == 1 ? first : _mm256_inserti128_si256(first, b_load(b + 16), 1);
}

INLINE void v_store_first(void *p, vec a, size_t n)
{
    if (n == LANES)
        v_store(p, a);
    else
        b_store(p, _mm256_castsi256_si128(a));
}

INLINE block v_sum(vec a)
{
    return b_xor(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
}

#elif VL == 64

typedef __m512i vec;

#define V_STREAM_FROM ((size_t)8 << 20)
#define v_zero _mm512_setzero_si512
#define v_load(p) _mm512_loadu_si512(p)
#define v_store(p, a) _mm512_storeu_si512(p, a)
#define v_stream(p, a) _mm512_stream_si512((__m512i *)(p), a)
#define v_load_a16(p) v_load(p)
#define v_every _mm512_broadcast_i32x4
#define v_every_at(p) _mm512_broadcast_i32x4(b_load_aligned(p))
#define v_lane0 _mm512_zextsi128_si512
#define v_first _mm512_castsi512_si128
#define v_shift_in(b, a) _mm512_inserti32x4(_mm512_alignr_epi64(a, a, 6), b, 0)
#define v_lane_numbers() _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0)
#define v_xor _mm512_xor_si512
#define V_REG(a) "+v"(a)
#define v_xor3(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0x96)
#define v_clmul _mm512_clmulepi64_epi128
#define v_swap(a) _mm512_shuffle_epi32(a, (_MM_PERM_ENUM)0x4e)
#define v_lower _mm512_unpacklo_epi64
#define v_shuffle _mm512_shuffle_epi8
#define v_add32 _mm512_add_epi32
#define v_aesenc _mm512_aesenc_epi128
#define v_aesenclast _mm512_aesenclast_epi128
#define v_aesdec _mm512_aesdec_epi128
#define v_aesdeclast _mm512_aesdeclast_epi128

#define FIRST(n) ((__mmask8)(0xffu >> (8 - 2 * (n))))
#define v_store_first(p, a, n) _mm512_mask_storeu_epi64(p, FIRST(n), a)

/* As above; a masked load waits even for a single store (40 cycles). */
INLINE vec v_load_first(const void *p, size_t n)
{
    const uint8_t *b = p;

    if (n == 1)
        return v_lane0(b_load(b));
    if (n == 2)
        return _mm512_inserti64x2(v_lane0(b_load(b)), b_load(b + 16), 1);
    return _mm512_maskz_loadu_epi64(FIRST(n), p);
}

INLINE block v_sum(vec a)
{
    __m256i b = _mm256_xor_si256(_mm512_castsi512_si256(a),
                                 _mm512_extracti64x4_epi64(a, 1));

    return b_xor(_mm256_castsi256_si128(b), _mm256_extracti128_si256(b, 1));
}

#endif

/*
 * Round keys in every lane. `in_memory` keys are read where they are used,
 * which costs a load; `at_hand` ones, for loops, are read before, as many as
 * there are registers for. Only AVX-512 has some: 32, and there it pays, since
 * on Zen 5 a broadcast from memory to 64 bytes takes a turn of a shuffle unit
 * (to 32 bytes it does not). The keys of rounds 10 to 13 stay in memory: with
 * all 15 at hand, some would be spilled to the stack, and left there.
 */
struct v_keys {
    const uint8_t (*rk)[16];
    uint32_t rounds;
#if VL == 64
    int at_hand;
    vec early[10], last;
#endif
};

INLINE struct v_keys v_keys_in_memory(const uint8_t (*rk)[16], uint32_t rounds)
{
    struct v_keys keys;

    keys.rk = rk;
    keys.rounds = rounds;
#if VL == 64
    keys.at_hand = 0;
#endif
    return keys;
}

INLINE struct v_keys v_keys_at_hand(const uint8_t (*rk)[16], uint32_t rounds)
{
    struct v_keys keys = v_keys_in_memory(rk, rounds);
#if VL == 64
    int r;

    keys.at_hand = 1;
    UNROLL
    for (r = 0; r < 10; r++)
        keys.early[r] = v_every_at(rk[r]);
    keys.last = v_every_at(rk[rounds]);
#endif
    return keys;
}

INLINE vec v_key(const struct v_keys *keys, int r)
{
#if VL == 64
    if (keys->at_hand && r < 10)
        return keys->early[r];
#endif
    return v_every_at(keys->rk[r]);
}

INLINE vec v_last_key(const struct v_keys *keys)
{
#if VL == 64
    if (keys->at_hand)
        return keys->last;
#endif
    return v_every_at(keys->rk[keys->rounds]);
}

#endif
