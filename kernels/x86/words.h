/*
 * Vectors of 32-bit words: what the ChaCha20 template is written in. The file
 * that includes this defines VL, the bytes of a vector: 16 (SSSE3), 32 (AVX2)
 * or 64 (AVX-512 F). All differences between the widths live here.
 *
 *   w_load, w_store     VL bytes, any alignment
 *   w_every(x)          the word x in all places
 *   w_numbers()         0, 1, 2 .. in the places
 *   w_row(p)            16 bytes from p in each 128-bit lane
 *   w_lane_numbers()    the lane's number in each lane's first word, zeros
 *   w_add, w_xor        on each word
 *   w_rotl(a, n)        each word rotated left by the constant n
 *   w_turn(a, k)        the words of each lane moved down by k places
 *   w_transpose_words   four vectors as a 4x4 matrix of words in each lane
 *   w_lanes_in_order    four vectors, each with bytes 16 i .. 16 i + 15 of
 *                       block L in its lane L: block by block
 *
 * Rotations by 16 and 8 are byte shuffles below AVX-512, which has a rotation;
 * the others are two shifts.
 */
#ifndef BC_WORDS_H
#define BC_WORDS_H

#include <immintrin.h>

#include "../internal.h"

/* For each word: the bytes that a rotation by 16 or by 8 brings to a place. */
#define ROTL16 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13
#define ROTL8 3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14

/* The control byte of a word shuffle that moves words down by k places. */
#define TURN(k) (0xe4 >> 2 * (k) | (0xe4 << (8 - 2 * (k)) & 0xff))

#if VL == 16

typedef __m128i words;

#define w_load(p) _mm_loadu_si128((const __m128i *)(p))
#define w_store(p, a) _mm_storeu_si128((__m128i *)(p), a)
#define w_every(x) _mm_set1_epi32((int)(x))
#define w_numbers() _mm_setr_epi32(0, 1, 2, 3)
#define w_row(p) w_load(p)
#define w_lane_numbers() _mm_setzero_si128()
#define w_add _mm_add_epi32
#define w_xor _mm_xor_si128
#define w_turn(a, k) _mm_shuffle_epi32(a, TURN(k))
#define w_rotl(a, n)                                                           \
    ((n) == 16 ? _mm_shuffle_epi8(a, _mm_setr_epi8(ROTL16))                    \
     : (n) == 8                                                                \
         ? _mm_shuffle_epi8(a, _mm_setr_epi8(ROTL8))                           \
         : _mm_or_si128(_mm_slli_epi32(a, n), _mm_srli_epi32(a, 32 - (n))))
#define w_unpacklo32 _mm_unpacklo_epi32
#define w_unpackhi32 _mm_unpackhi_epi32
#define w_unpacklo64 _mm_unpacklo_epi64
#define w_unpackhi64 _mm_unpackhi_epi64

INLINE void w_lanes_in_order(words v[4])
{
    (void)v;
}

#elif VL == 32

typedef __m256i words;

#define w_load(p) _mm256_loadu_si256((const __m256i *)(p))
#define w_store(p, a) _mm256_storeu_si256((__m256i *)(p), a)
#define w_every(x) _mm256_set1_epi32((int)(x))
#define w_numbers() _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)
#define w_row(p)                                                               \
    _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(p)))
#define w_lane_numbers() _mm256_setr_epi32(0, 0, 0, 0, 1, 0, 0, 0)
#define w_add _mm256_add_epi32
#define w_xor _mm256_xor_si256
#define w_turn(a, k) _mm256_shuffle_epi32(a, TURN(k))
#define w_rotl(a, n)                                                           \
    ((n) == 16  ? _mm256_shuffle_epi8(a, _mm256_setr_epi8(ROTL16, ROTL16))     \
     : (n) == 8 ? _mm256_shuffle_epi8(a, _mm256_setr_epi8(ROTL8, ROTL8))       \
                : _mm256_or_si256(_mm256_slli_epi32(a, n),                     \
                                  _mm256_srli_epi32(a, 32 - (n))))
#define w_unpacklo32 _mm256_unpacklo_epi32
#define w_unpackhi32 _mm256_unpackhi_epi32
#define w_unpacklo64 _mm256_unpacklo_epi64
#define w_unpackhi64 _mm256_unpackhi_epi64

INLINE void w_lanes_in_order(words v[4])
{
    words a = _mm256_permute2x128_si256(v[0], v[1], 0x20);
    words b = _mm256_permute2x128_si256(v[2], v[3], 0x20);

    v[3] = _mm256_permute2x128_si256(v[2], v[3], 0x31);
    v[2] = _mm256_permute2x128_si256(v[0], v[1], 0x31);
    v[0] = a;
    v[1] = b;
}

#elif VL == 64

typedef __m512i words;

#define w_load(p) _mm512_loadu_si512(p)
#define w_store(p, a) _mm512_storeu_si512(p, a)
#define w_every(x) _mm512_set1_epi32((int)(x))
#define w_numbers()                                                            \
    _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define w_row(p) _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(p)))
#define w_lane_numbers()                                                       \
    _mm512_setr_epi32(0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0)
#define w_add _mm512_add_epi32
#define w_xor _mm512_xor_si512
#define w_turn(a, k) _mm512_shuffle_epi32(a, (_MM_PERM_ENUM)TURN(k))
#define w_rotl(a, n) _mm512_rol_epi32(a, n)
#define w_unpacklo32 _mm512_unpacklo_epi32
#define w_unpackhi32 _mm512_unpackhi_epi32
#define w_unpacklo64 _mm512_unpacklo_epi64
#define w_unpackhi64 _mm512_unpackhi_epi64

INLINE void w_lanes_in_order(words v[4])
{
    words a = _mm512_shuffle_i32x4(v[0], v[1], 0x44); /* lanes 0 1 of each */
    words b = _mm512_shuffle_i32x4(v[2], v[3], 0x44);
    words c = _mm512_shuffle_i32x4(v[0], v[1], 0xee); /* lanes 2 3 */
    words d = _mm512_shuffle_i32x4(v[2], v[3], 0xee);

    v[0] = _mm512_shuffle_i32x4(a, b, 0x88); /* the even ones: lane 0 */
    v[1] = _mm512_shuffle_i32x4(a, b, 0xdd);
    v[2] = _mm512_shuffle_i32x4(c, d, 0x88);
    v[3] = _mm512_shuffle_i32x4(c, d, 0xdd);
}

#endif

/*
 * W_STEP: one of the four steps of a quarter round, as a statement. W_ABREAST:
 * how many of the four columns or diagonals of a set the template takes a step
 * forward in before the next step: with 16 registers two, which touch 14
 * vectors and leave two registers for the rotations.
 *
 * In assembly for 32 and 64 bytes, because left to themselves the compilers
 * lose track of registers that are just enough. Spills of gcc 12 / clang 14 in
 * a double round, and cycles for 16 KiB on Zen 5:
 *   64 bytes, 32 vectors in 32 registers   36 / 14 to 0 / 0   6600 to 5500
 *   32 bytes, 16 vectors in 16 registers   17 / 7 to 3 / 4   24000 to 20000
 * And volatile for 32 bytes, so that the order of the steps stays as written:
 * 1 to 2 % of the pass with Poly1305 beside it, with both compilers.
 */
#if VL == 64

#define W_ABREAST 4
#define W_STEP(sum, with, turned, n)                                           \
    __asm__("vpaddd %2, %0, %0\n\t"                                            \
            "vpxord %0, %1, %1\n\t"                                            \
            "vprold $" #n ", %1, %1"                                           \
            : "+v"(sum), "+v"(turned)                                          \
            : "v"(with))

#elif VL == 32

static const uint8_t bytes_rotl[2][32]
    __attribute__((aligned(32))) = {{ROTL16, ROTL16}, {ROTL8, ROTL8}};

#define W_ABREAST 2
#define W_STEP(sum, with, turned, n)                                           \
    do {                                                                       \
        if ((n) == 16 || (n) == 8) {                                           \
            __asm__ volatile("vpaddd %2, %0, %0\n\t"                           \
                             "vpxor %0, %1, %1\n\t"                            \
                             "vpshufb %3, %1, %1"                              \
                             : "+x"(sum), "+x"(turned)                         \
                             : "x"(with), "m"(bytes_rotl[(n) == 8]));          \
        } else {                                                               \
            words up_;                                                         \
            __asm__ volatile("vpaddd %3, %0, %0\n\t"                           \
                             "vpxor %0, %1, %1\n\t"                            \
                             "vpslld %4, %1, %2\n\t"                           \
                             "vpsrld %5, %1, %1\n\t"                           \
                             "vpor %2, %1, %1"                                 \
                             : "+x"(sum), "+x"(turned), "=&x"(up_)             \
                             : "x"(with), "i"(n), "i"(32 - (n)));              \
        }                                                                      \
    } while (0)

#else

#define W_ABREAST 2
#define W_STEP(sum, with, turned, n)                                           \
    do {                                                                       \
        (sum) = w_add(sum, with);                                              \
        (turned) = w_rotl(w_xor(turned, sum), n);                              \
    } while (0)

#endif

INLINE void w_transpose_words(words v[4])
{
    words a = w_unpacklo32(v[0], v[1]), b = w_unpackhi32(v[0], v[1]);
    words c = w_unpacklo32(v[2], v[3]), d = w_unpackhi32(v[2], v[3]);

    v[0] = w_unpacklo64(a, c);
    v[1] = w_unpackhi64(a, c);
    v[2] = w_unpacklo64(b, d);
    v[3] = w_unpackhi64(b, d);
}

#endif
