/*
 * AES without tables and without special instructions, and the portable CBC
 * table made of it. Runs on every processor and in the same time for every
 * key and text; the faster levels are tested against it.
 *
 * The state is bitsliced: four blocks are 64 bytes, and bit b of all of them
 * stands in the 64-bit word q[b]. SubBytes is then a circuit of logical
 * operations that computes 64 bytes at once. Byte (row r, column c) of block k
 * (0 <= r, c, k <= 3) has the bit position
 *
 *     16 r + 4 c + k
 *
 * in each word, that is, a row is 16 neighbouring bits. Taking the next row,
 * as MixColumns does, rotates the word by 16, and ShiftRows rotates each group
 * of 16 bits by multiples of four.
 */
#include "aes_c.h"
#include "internal.h"

typedef uint64_t sliced[8];

/* ---- Into the sliced form and back -------------------------------------- */

/* Swaps the bits of *x under mask << n with those of *y under mask. */
static void swap_bits(uint64_t *x, uint64_t *y, int n, uint64_t mask)
{
    uint64_t t = (*x >> n ^ *y) & mask;

    *x ^= t << n;
    *y ^= t;
}

/* Transposes the 8x8 bits that each byte position of the eight words makes up:
 * bit b of byte t of w[j] changes places with bit j of byte t of w[b]. */
static void transpose(sliced w)
{
    int i;

    for (i = 0; i < 8; i += 2)
        swap_bits(&w[i], &w[i + 1], 1, UINT64_C(0x5555555555555555));
    for (i = 0; i < 8; i += 4) {
        swap_bits(&w[i], &w[i + 2], 2, UINT64_C(0x3333333333333333));
        swap_bits(&w[i + 1], &w[i + 3], 2, UINT64_C(0x3333333333333333));
    }
    for (i = 0; i < 4; i++)
        swap_bits(&w[i], &w[i + 4], 4, UINT64_C(0x0f0f0f0f0f0f0f0f));
}

/* The four bytes of x at the even byte positions of the result. */
static uint64_t spread(uint32_t x)
{
    uint64_t y = x;

    y = (y | y << 16) & UINT64_C(0x0000ffff0000ffff);
    return (y | y << 8) & UINT64_C(0x00ff00ff00ff00ff);
}

static uint32_t gather(uint64_t y)
{
    y &= UINT64_C(0x00ff00ff00ff00ff);
    y = (y | y >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (uint32_t)(y | y >> 16);
}

/*
 * After transpose(), bit 8 t + j of each word came from byte t of w[j]. With
 * 8 t + j = 16 r + 4 c + k follows j = 4 (c mod 2) + k and t = 2 r + c / 2:
 * w[k] takes columns 0 and 2 of block k with their rows in turn, w[4 + k]
 * takes columns 1 and 3.
 */
static void put_block(sliced w, int k, const uint32_t col[4])
{
    w[k] = spread(col[0]) | spread(col[2]) << 8;
    w[4 + k] = spread(col[1]) | spread(col[3]) << 8;
}

static void load_blocks(sliced q, const uint8_t *in, size_t nblocks)
{
    int k, c;

    for (k = 0; k < 4; k++) {
        uint32_t col[4] = {0, 0, 0, 0};

        if ((size_t)k < nblocks)
            for (c = 0; c < 4; c++)
                col[c] = load_le32(in + 16 * k + 4 * c);
        put_block(q, k, col);
    }
    transpose(q);
}

static void store_blocks(uint8_t *out, sliced q, size_t nblocks)
{
    size_t k;

    transpose(q);
    for (k = 0; k < nblocks; k++) {
        store_le32(out + 16 * k, gather(q[k]));
        store_le32(out + 16 * k + 4, gather(q[4 + k]));
        store_le32(out + 16 * k + 8, gather(q[k] >> 8));
        store_le32(out + 16 * k + 12, gather(q[4 + k] >> 8));
    }
}

/* ---- SubBytes ------------------------------------------------------------ */

/*
 * The S-box as the circuit of J. Boyar and R. Peralta, "A depth-16 circuit for
 * the AES S-box" (2011), section 3, in the paper's names: a linear layer makes
 * the y from the input, inversion in GF(2^4) over a tower field makes t25 to
 * t45, eighteen products z and a linear layer make the output. The paper
 * counts from the most significant bit: x0 is bit 7.
 */
/* clang-format off */
static void sub_bytes(sliced q)
{
    uint64_t x0 = q[7], x1 = q[6], x2 = q[5], x3 = q[4];
    uint64_t x4 = q[3], x5 = q[2], x6 = q[1], x7 = q[0];

    uint64_t y14 = x3 ^ x5, y13 = x0 ^ x6, y9 = x0 ^ x3, y8 = x0 ^ x5;
    uint64_t t0 = x1 ^ x2;
    uint64_t y1 = t0 ^ x7;
    uint64_t y4 = y1 ^ x3, y12 = y13 ^ y14, y2 = y1 ^ x0, y5 = y1 ^ x6;
    uint64_t y3 = y5 ^ y8, t1 = x4 ^ y12;
    uint64_t y15 = t1 ^ x5, y20 = t1 ^ x1;
    uint64_t y6 = y15 ^ x7, y10 = y15 ^ t0, y11 = y20 ^ y9;
    uint64_t y7 = x7 ^ y11, y17 = y10 ^ y11, y19 = y10 ^ y8;
    uint64_t y16 = t0 ^ y11;
    uint64_t y21 = y13 ^ y16, y18 = x0 ^ y16;

    uint64_t t2 = y12 & y15, t7 = y13 & y16, t12 = y9 & y11;
    uint64_t t4 = (y3 & y6) ^ t2, t6 = (y4 & x7) ^ t2;
    uint64_t t9 = (y5 & y1) ^ t7, t11 = (y2 & y7) ^ t7;
    uint64_t t14 = (y14 & y17) ^ t12, t16 = (y8 & y10) ^ t12;
    uint64_t t21 = t4 ^ t14 ^ y20, t22 = t6 ^ t16 ^ y19;
    uint64_t t23 = t9 ^ t14 ^ y21, t24 = t11 ^ t16 ^ y18;

    uint64_t t25 = t21 ^ t22, t26 = t21 & t23;
    uint64_t t27 = t24 ^ t26, t31 = t22 ^ t26;
    uint64_t t29 = (t25 & t27) ^ t22;
    uint64_t t33 = (t31 & (t23 ^ t24)) ^ t24;
    uint64_t t36 = t24 & (t27 ^ t33);
    uint64_t t37 = t36 ^ t23 ^ t33;
    uint64_t t40 = t25 ^ (t29 & (t27 ^ t36));
    uint64_t t41 = t40 ^ t37, t42 = t29 ^ t33, t43 = t29 ^ t40;
    uint64_t t44 = t33 ^ t37, t45 = t42 ^ t41;

    uint64_t z0 = t44 & y15, z1 = t37 & y6, z2 = t33 & x7;
    uint64_t z3 = t43 & y16, z4 = t40 & y1, z5 = t29 & y7;
    uint64_t z6 = t42 & y11, z7 = t45 & y17, z8 = t41 & y10;
    uint64_t z9 = t44 & y12, z10 = t37 & y3, z11 = t33 & y4;
    uint64_t z12 = t43 & y13, z13 = t40 & y5, z14 = t29 & y2;
    uint64_t z15 = t42 & y9, z16 = t45 & y14, z17 = t41 & y8;

    uint64_t t46 = z15 ^ z16, t48 = z5 ^ z13, t53 = z0 ^ z3;
    uint64_t t57 = z2 ^ z12 ^ t53, t58 = z4 ^ t46, t59 = z3 ^ z6 ^ z7;
    uint64_t t62 = z7 ^ z8 ^ t58, t63 = z9 ^ z10 ^ t58;
    uint64_t t64 = z4 ^ t59, t65 = z14 ^ t57 ^ t62, t66 = z1 ^ t63;
    uint64_t s3 = t53 ^ t66;

    q[7] = t59 ^ t63;
    q[6] = ~(t64 ^ s3);
    q[5] = ~(z16 ^ z17 ^ t64 ^ t65);
    q[4] = s3;
    q[3] = z2 ^ z5 ^ t66;
    q[2] = z10 ^ z11 ^ t65;
    q[1] = ~(z12 ^ t48 ^ t62);
    q[0] = ~(t48 ^ t46 ^ t57);
}
/* clang-format on */

/* The inverse of the affine map at the end of the S-box (FIPS 197, 5.3.2):
 * bit i becomes bit i + 2 ^ bit i + 5 ^ bit i + 7, and 05 is added. */
static void inv_affine(sliced q)
{
    sliced x;
    int i;

    memcpy(x, q, sizeof(x));
    for (i = 0; i < 8; i++)
        q[i] = x[(i + 2) & 7] ^ x[(i + 5) & 7] ^ x[(i + 7) & 7];
    q[0] = ~q[0];
    q[2] = ~q[2];
}

/* S = A o inv, so the inverse S-box, inv o A^-1, is A^-1 o S o A^-1. */
static void inv_sub_bytes(sliced q)
{
    inv_affine(q);
    sub_bytes(q);
    inv_affine(q);
}

/* ---- ShiftRows, MixColumns, AddRoundKey ---------------------------------- */

/* Row r, the 16 bits from 16 r, turns by r columns of four bits. */
static void shift_rows(sliced q)
{
    int i;

    for (i = 0; i < 8; i++) {
        uint64_t x = q[i];

        q[i] = (x & UINT64_C(0x000000000000ffff)) |
               (x >> 4 & UINT64_C(0x000000000fff0000)) |
               (x << 12 & UINT64_C(0x00000000f0000000)) |
               (x >> 8 & UINT64_C(0x000000ff00000000)) |
               (x << 8 & UINT64_C(0x0000ff0000000000)) |
               (x >> 12 & UINT64_C(0x000f000000000000)) |
               (x << 4 & UINT64_C(0xfff0000000000000));
    }
}

static void inv_shift_rows(sliced q)
{
    int i;

    for (i = 0; i < 8; i++) {
        uint64_t x = q[i];

        q[i] = (x & UINT64_C(0x000000000000ffff)) |
               (x << 4 & UINT64_C(0x00000000fff00000)) |
               (x >> 12 & UINT64_C(0x00000000000f0000)) |
               (x >> 8 & UINT64_C(0x000000ff00000000)) |
               (x << 8 & UINT64_C(0x0000ff0000000000)) |
               (x << 12 & UINT64_C(0xf000000000000000)) |
               (x >> 4 & UINT64_C(0x0fff000000000000));
    }
}

/* The byte n rows further down the column, 1 <= n <= 3. */
static uint64_t row_after(uint64_t x, int n)
{
    return x >> 16 * n | x << (64 - 16 * n);
}

/*
 * With a the byte, b, c, d those below it, the result is 2 a + 3 b + c + d =
 * 2 (a + b) + b + (c + d), and c + d is a + b two rows further. Doubling moves
 * bit 7 to x^8 = x^4 + x^3 + x + 1, bits 4, 3, 1 and 0.
 */
static void mix_columns(sliced q)
{
    sliced s; /* a + b */
    uint64_t b[8];
    int i;

    for (i = 0; i < 8; i++) {
        b[i] = row_after(q[i], 1);
        s[i] = q[i] ^ b[i];
    }
    for (i = 0; i < 8; i++) {
        q[i] = s[(i + 7) & 7] ^ b[i] ^ row_after(s[i], 2);
        if (i == 1 || i == 3 || i == 4)
            q[i] ^= s[7];
    }
}

/*
 * The inverse matrix is that of MixColumns times (5, 0, 4, 0): first
 * a + 4 (a + c), then MixColumns. Four times d moves bits 6 and 7 to
 * d6 x^8 + d7 x^9 = d6 (x^4 + x^3 + x + 1) + d7 (x^5 + x^4 + x^2 + x).
 */
static void inv_mix_columns(sliced q)
{
    sliced d;
    int i;

    for (i = 0; i < 8; i++)
        d[i] = q[i] ^ row_after(q[i], 2);
    q[0] ^= d[6];
    q[1] ^= d[6] ^ d[7];
    q[2] ^= d[0] ^ d[7];
    q[3] ^= d[1] ^ d[6];
    q[4] ^= d[2] ^ d[6] ^ d[7];
    q[5] ^= d[3] ^ d[7];
    q[6] ^= d[4];
    q[7] ^= d[5];
    mix_columns(q);
}

/*
 * A round key is the same for the four blocks, so in sliced form each of its
 * bits stands four times in a row. One of the four is enough: word b keeps
 * the copies of block b mod 4, and four words share 64 bits. (8 words of 64
 * bits for each round would not fit into struct bc_aes_key.)
 */
#define BLOCK_0 UINT64_C(0x1111111111111111)

static void pack_round_key(uint8_t rk[16], const sliced q)
{
    uint64_t half[2] = {0, 0};
    int i;

    for (i = 0; i < 8; i++)
        half[i / 4] |= q[i] & BLOCK_0 << i % 4;
    memcpy(rk, half, 16);
}

static void add_round_key(sliced q, const uint8_t rk[16])
{
    uint64_t half[2];
    int i;

    memcpy(half, rk, 16);
    for (i = 0; i < 8; i++) {
        uint64_t x = half[i / 4] >> i % 4 & BLOCK_0;

        q[i] ^= (x << 4) - x; /* each 0001 becomes 1111 */
    }
}

/* ---- The cipher ---------------------------------------------------------- */

static uint32_t sub_word(uint32_t x)
{
    sliced q = {spread(x)};

    transpose(q);
    sub_bytes(q);
    transpose(q);
    return gather(q[0]);
}

/* FIPS 197, 5.2, on columns as little-endian words: RotWord takes the lowest
 * byte to the top, and Rcon goes to the lowest byte. */
void bc_aes_c_set_key(struct bc_aes_key *key, const uint8_t *raw, size_t keylen)
{
    uint32_t w[4 * (BC_AES_MAX_ROUNDS + 1)];
    uint32_t nk = (uint32_t)keylen / 4, rcon = 1, i, k;
    sliced q;

    key->rounds = nk + 6;
    key->has_dec = 0;
    for (i = 0; i < nk; i++)
        w[i] = load_le32(raw + 4 * i);
    for (; i < 4 * (key->rounds + 1); i++) {
        uint32_t t = w[i - 1];

        if (i % nk == 0) {
            t = sub_word(t >> 8 | t << 24) ^ rcon;
            rcon = (rcon << 1) ^ (rcon >> 7) * 0x11b;
        } else if (nk == 8 && i % 8 == 4) {
            t = sub_word(t);
        }
        w[i] = w[i - nk] ^ t;
    }
    for (i = 0; i <= key->rounds; i++) {
        for (k = 0; k < 4; k++)
            put_block(q, (int)k, w + 4 * i);
        transpose(q);
        pack_round_key(key->rk[i], q);
    }
    bc_wipe(w, sizeof(w));
    bc_wipe(q, sizeof(q));
}

void bc_aes_c_encrypt(const struct bc_aes_key *key, uint8_t *out,
                      const uint8_t *in, size_t nblocks)
{
    sliced q;
    uint32_t i;

    load_blocks(q, in, nblocks);
    add_round_key(q, key->rk[0]);
    for (i = 1; i < key->rounds; i++) {
        sub_bytes(q);
        shift_rows(q);
        mix_columns(q);
        add_round_key(q, key->rk[i]);
    }
    sub_bytes(q);
    shift_rows(q);
    add_round_key(q, key->rk[i]);
    store_blocks(out, q, nblocks);
}

void bc_aes_c_decrypt(const struct bc_aes_key *key, uint8_t *out,
                      const uint8_t *in, size_t nblocks)
{
    sliced q;
    uint32_t i;

    load_blocks(q, in, nblocks);
    add_round_key(q, key->rk[key->rounds]);
    for (i = key->rounds - 1; i > 0; i--) {
        inv_shift_rows(q);
        inv_sub_bytes(q);
        add_round_key(q, key->rk[i]);
        inv_mix_columns(q);
    }
    inv_shift_rows(q);
    inv_sub_bytes(q);
    add_round_key(q, key->rk[0]);
    store_blocks(out, q, nblocks);
}

/* ---- CBC ----------------------------------------------------------------- */

/* Decryption walks the encryption schedule backwards. */
static void cbc_add_dec(struct bc_aes_key *key)
{
    key->has_dec = 1;
}

static void cbc_encrypt(const struct bc_aes_key *key, uint8_t iv[16],
                        uint8_t *out, const uint8_t *in, size_t nblocks)
{
    struct half2 c = load_16(iv);

    for (; nblocks > 0; nblocks--, in += 16, out += 16) {
        uint8_t x[16];

        store_16(x, xor_16(c, load_16(in)));
        bc_aes_c_encrypt(key, out, x, 1);
        c = load_16(out);
    }
    store_16(iv, c);
}

static void cbc_decrypt(const struct bc_aes_key *key, uint8_t iv[16],
                        uint8_t *out, const uint8_t *in, size_t nblocks)
{
    struct half2 prev = load_16(iv);

    while (nblocks > 0) {
        size_t n = nblocks < 4 ? nblocks : 4, i;
        struct half2 c[4];

        /* The ciphertext is needed twice, and `out` may lie over it. */
        for (i = 0; i < n; i++)
            c[i] = load_16(in + 16 * i);
        bc_aes_c_decrypt(key, out, in, n);
        for (i = 0; i < n; i++) {
            store_16(out + 16 * i, xor_16(prev, load_16(out + 16 * i)));
            prev = c[i];
        }
        in += 16 * n;
        out += 16 * n;
        nblocks -= n;
    }
    store_16(iv, prev);
}

const struct bc_cbc_ops bc_cbc_ops_c = {
    .name = "c",
    .needs = 0,
    .set_key = bc_aes_c_set_key,
    .add_dec = cbc_add_dec,
    .encrypt = cbc_encrypt,
    .decrypt = cbc_decrypt,
};
