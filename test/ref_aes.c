/* See ref_aes.h. FIPS 197 and SP 800-38D, section by section. */
#include "ref_aes.h"

#include <string.h>

/* ---- GF(2^8), FIPS 197, 4.2 ---------------------------------------------- */

static uint8_t mul8(uint8_t x, uint8_t y)
{
    unsigned r = 0, a = x;

    for (; y; y >>= 1, a <<= 1) {
        if (a & 0x100)
            a ^= 0x11b;
        if (y & 1)
            r ^= a;
    }
    return (uint8_t)r;
}

/* 5.1.1: the inverse is found by trying. */
static void make_tables(struct ref_aes *a)
{
    int x, y, i;

    for (x = 0; x < 15; x++)
        for (y = 0; y < 256; y++)
            a->mul[x][y] = mul8((uint8_t)x, (uint8_t)y);

    for (x = 0; x < 256; x++) {
        unsigned s = 0;

        for (y = 0; y < 256; y++)
            if (mul8((uint8_t)x, (uint8_t)y) == 1)
                break;
        y &= 255; /* zero has none and stays zero */
        for (i = 0; i < 8; i++)
            s |= ((y >> i ^ y >> (i + 4) % 8 ^ y >> (i + 5) % 8 ^
                   y >> (i + 6) % 8 ^ y >> (i + 7) % 8 ^ 0x63 >> i) &
                  1u)
                 << i;
        a->sbox[x] = (uint8_t)s;
        a->inv_sbox[s] = (uint8_t)x;
    }
}

/* ---- AES ----------------------------------------------------------------- */

void ref_aes_key(struct ref_aes *a, const uint8_t *key, size_t keylen)
{
    uint8_t *w = a->rk[0], rcon = 1;
    int nk = (int)keylen / 4, i, j;

    make_tables(a);
    a->rounds = nk + 6;
    memcpy(w, key, keylen);
    for (i = nk; i < 4 * (a->rounds + 1); i++) {
        uint8_t t[4];

        memcpy(t, w + 4 * (i - 1), 4);
        if (i % nk == 0) {
            uint8_t first = t[0];

            t[0] = a->sbox[t[1]] ^ rcon;
            t[1] = a->sbox[t[2]];
            t[2] = a->sbox[t[3]];
            t[3] = a->sbox[first];
            rcon = mul8(rcon, 2);
        } else if (nk > 6 && i % nk == 4) {
            for (j = 0; j < 4; j++)
                t[j] = a->sbox[t[j]];
        }
        for (j = 0; j < 4; j++)
            w[4 * i + j] = w[4 * (i - nk) + j] ^ t[j];
    }
}

static void xor16(uint8_t x[16], const uint8_t y[16])
{
    int i;

    for (i = 0; i < 16; i++)
        x[i] ^= y[i];
}

/* Each column times the circulant matrix whose first row is m. */
static void mix(const struct ref_aes *a, uint8_t s[16], const uint8_t m[4])
{
    uint8_t t[16];
    int c, r, k;

    for (c = 0; c < 4; c++)
        for (r = 0; r < 4; r++) {
            t[4 * c + r] = 0;
            for (k = 0; k < 4; k++)
                t[4 * c + r] ^= a->mul[m[(k - r + 4) % 4]][s[4 * c + k]];
        }
    memcpy(s, t, 16);
}

/* Row r turns left by r * by. */
static void shift(uint8_t s[16], int by)
{
    uint8_t t[16];
    int c, r;

    for (c = 0; c < 4; c++)
        for (r = 0; r < 4; r++)
            t[4 * c + r] = s[4 * ((c + r * by) % 4) + r];
    memcpy(s, t, 16);
}

static void substitute(uint8_t s[16], const uint8_t box[256])
{
    int i;

    for (i = 0; i < 16; i++)
        s[i] = box[s[i]];
}

void ref_aes_encrypt(const struct ref_aes *a, uint8_t out[16],
                     const uint8_t in[16])
{
    static const uint8_t m[4] = {2, 3, 1, 1};
    uint8_t s[16];
    int i;

    memcpy(s, in, 16);
    xor16(s, a->rk[0]);
    for (i = 1; i <= a->rounds; i++) {
        substitute(s, a->sbox);
        shift(s, 1);
        if (i < a->rounds)
            mix(a, s, m);
        xor16(s, a->rk[i]);
    }
    memcpy(out, s, 16);
}

void ref_aes_decrypt(const struct ref_aes *a, uint8_t out[16],
                     const uint8_t in[16])
{
    static const uint8_t m[4] = {14, 11, 13, 9};
    uint8_t s[16];
    int i;

    memcpy(s, in, 16);
    for (i = a->rounds; i > 0; i--) {
        xor16(s, a->rk[i]);
        if (i < a->rounds)
            mix(a, s, m);
        shift(s, 3);
        substitute(s, a->inv_sbox);
    }
    xor16(s, a->rk[0]);
    memcpy(out, s, 16);
}

/* ---- GF(2^128), SP 800-38D, 6.3: bit by bit -------------------------------
 */

static uint64_t get64(const uint8_t *p)
{
    uint64_t x = 0;
    int i;

    for (i = 0; i < 8; i++)
        x = x << 8 | p[i];
    return x;
}

static void put64(uint8_t *p, uint64_t x)
{
    int i;

    for (i = 0; i < 8; i++)
        p[i] = (uint8_t)(x >> (56 - 8 * i));
}

void ref_gf_mul(uint8_t x[16], const uint8_t y[16])
{
    uint64_t z0 = 0, z1 = 0, v0 = get64(y), v1 = get64(y + 8);
    int i;

    for (i = 0; i < 128; i++) {
        uint64_t lsb = v1 & 1;

        if (x[i / 8] >> (7 - i % 8) & 1) {
            z0 ^= v0;
            z1 ^= v1;
        }
        v1 = v1 >> 1 | v0 << 63;
        v0 = v0 >> 1 ^ lsb * (UINT64_C(0xe1) << 56);
    }
    put64(x, z0);
    put64(x + 8, z1);
}

/* x^(2^128 - 2), the product of x^(2^i) for i = 1 to 127. */
void ref_gf_invert(uint8_t x[16])
{
    uint8_t r[16] = {0x80}, s[16], t[16];
    int i;

    memcpy(s, x, 16);
    for (i = 1; i < 128; i++) {
        memcpy(t, s, 16);
        ref_gf_mul(s, t);
        ref_gf_mul(r, s);
    }
    memcpy(x, r, 16);
}

/* ---- GCM ----------------------------------------------------------------- */

void ref_gcm_key(struct ref_gcm *g, const uint8_t *key, size_t keylen)
{
    ref_aes_key(&g->aes, key, keylen);
    memset(g->h, 0, 16);
    ref_aes_encrypt(&g->aes, g->h, g->h);
}

void ref_ghash(const struct ref_gcm *g, uint8_t acc[16], const uint8_t *data,
               size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        acc[i % 16] ^= data[i];
        if (i % 16 == 15 || i == len - 1)
            ref_gf_mul(acc, g->h);
    }
}

void ref_ghash_lengths(const struct ref_gcm *g, uint8_t acc[16], uint64_t first,
                       uint64_t second)
{
    uint8_t b[16];

    put64(b, first * 8);
    put64(b + 8, second * 8);
    ref_ghash(g, acc, b, 16);
}

void ref_gcm_j0(const struct ref_gcm *g, uint8_t j0[16], const uint8_t *iv,
                size_t ivlen)
{
    memset(j0, 0, 16);
    if (ivlen == 12) {
        memcpy(j0, iv, 12);
        j0[15] = 1;
    } else {
        ref_ghash(g, j0, iv, ivlen);
        ref_ghash_lengths(g, j0, 0, ivlen);
    }
}

/* J0 = ((IV H) + L) H, solved for IV. */
void ref_gcm_iv_for_j0(const struct ref_gcm *g, uint8_t iv[16],
                       const uint8_t j0[16])
{
    uint8_t inverse[16];

    memcpy(inverse, g->h, 16);
    ref_gf_invert(inverse);
    memcpy(iv, j0, 16);
    ref_gf_mul(iv, inverse);
    iv[15] ^= 128; /* the length of the IV in bits */
    ref_gf_mul(iv, inverse);
}

void ref_gcm_inc(uint8_t ctr[16])
{
    int i;

    for (i = 15; i >= 12; i--)
        if (++ctr[i])
            return;
}

void ref_gcm_ctr(const struct ref_gcm *g, uint8_t *out, const uint8_t *in,
                 size_t len, const uint8_t ctr[16])
{
    uint8_t c[16], stream[16];
    size_t i;

    memcpy(c, ctr, 16);
    for (i = 0; i < len; i++) {
        if (i % 16 == 0) {
            ref_aes_encrypt(&g->aes, stream, c);
            ref_gcm_inc(c);
        }
        out[i] = in[i] ^ stream[i % 16];
    }
}

void ref_gcm_seal(const struct ref_gcm *g, uint8_t *out, uint8_t tag[16],
                  const uint8_t *iv, size_t ivlen, const uint8_t *aad,
                  size_t aadlen, const uint8_t *in, size_t len)
{
    uint8_t j0[16], ctr[16], acc[16] = {0};

    ref_gcm_j0(g, j0, iv, ivlen);
    memcpy(ctr, j0, 16);
    ref_gcm_inc(ctr);
    ref_gcm_ctr(g, out, in, len, ctr);
    ref_ghash(g, acc, aad, aadlen);
    ref_ghash(g, acc, out, len);
    ref_ghash_lengths(g, acc, aadlen, len);
    ref_gcm_ctr(g, tag, acc, 16, j0);
}
