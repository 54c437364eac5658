/*
 * ChaCha20 (RFC 8439, 2.3 and 2.4) over whole blocks, written once for every
 * vector width VL (words.h) and compiled once per level. Two arrangements of
 * the same arithmetic:
 *
 *  - upright: vector i holds word i of VL / 4 blocks, sixteen vectors are a
 *    set. No shuffles in the rounds, a transposition at the end. For long
 *    messages.
 *  - flat: a vector holds one row, four words, of VL / 16 blocks, so four
 *    vectors are a set. Diagonal rounds turn three of the rows. Computes as
 *    few blocks as a short message needs.
 *
 * The including file also defines
 *   UPRIGHT_SETS  sets computed side by side, 1 or 2: with two, each fills the
 *                 time the other waits for results, but they take 32 registers
 *   FLAT_SETS     most flat sets computed side by side: 2, or more than 4
 *   ONE_PASS      if Poly1305 shall run in the integer units beside the rounds
 * and the template gives it the functions of the ops table.
 */
#define UPRIGHT_BLOCKS (UPRIGHT_SETS * VL / 4)
#define FLAT_BLOCKS (FLAT_SETS * VL / 16)

/* A Poly1305 that runs in the integer units beside the rounds. */
struct beside {
    struct poly1305_64 mac;
    const uint8_t *in;
};

INLINE void beside_blocks(struct beside *b, int n)
{
    int i;

    if (b == NULL)
        return;
    UNROLL for (i = 0; i < n; i++)
    {
        poly1305_64_block(&b->mac, b->in, 1);
        b->in += 16;
    }
}

/* Columns (diagonal = 0) or diagonals (diagonal = 1) of the upright sets; n1
 * blocks of the MAC between the two halves and n2 at the end. */
INLINE void upright_round(words x[UPRIGHT_SETS][16], int diagonal,
                          struct beside *b, int n1, int n2)
{
    int first, i, s;

#define ABREAST(A, B, C, n)                                                    \
    UNROLL for (s = 0; s < UPRIGHT_SETS; s++)                                  \
        UNROLL for (i = first; i < first + W_ABREAST; i++)                     \
            W_STEP(x[s][A], x[s][B], x[s][C], n);
#define A_ i
#define B_ 4 + ((i + diagonal) & 3)
#define C_ 8 + ((i + 2 * diagonal) & 3)
#define D_ 12 + ((i + 3 * diagonal) & 3)
    UNROLL for (first = 0; first < 4; first += W_ABREAST)
    {
        ABREAST(A_, B_, D_, 16)
        ABREAST(C_, D_, B_, 12)
        ABREAST(A_, B_, D_, 8)
        ABREAST(C_, D_, B_, 7)
        beside_blocks(b, first == 0 ? n1 : n2);
    }
#undef ABREAST
#undef A_
#undef B_
#undef C_
#undef D_
}

/* The start of a set whose first block is `ahead` blocks after the counter. */
INLINE void upright_start(words x[16], const uint32_t state[16], uint32_t ahead)
{
    int i;

    UNROLL for (i = 0; i < 16; i++) x[i] = w_every(state[i]);
    x[12] = w_add(w_every(state[12] + ahead), w_numbers());
}

/*
 * Adds the start, brings the blocks in order and xors them onto in. All of the
 * key stream is ready before the first store, and the stores go upwards, so
 * that out may lie anywhere in front of in.
 */
INLINE void upright_end(words x[16], const uint32_t state[16], uint32_t ahead,
                        uint8_t *out, const uint8_t *in)
{
    words v[4];
    int i, j;

    UNROLL for (i = 0; i < 16; i++)
    {
        if (i != 12)
            x[i] = w_add(x[i], w_every(state[i]));
    }
    x[12] = w_add(x[12], w_add(w_every(state[12] + ahead), w_numbers()));

    /* Then x[4 i + j] holds bytes 16 i .. of blocks j, j + 4, j + 8 ..; */
    UNROLL for (i = 0; i < 16; i += 4) w_transpose_words(x + i);
    /* then x[4 i + j] holds bytes i VL .. of those blocks, one after another.
     */
    UNROLL for (j = 0; j < 4; j++)
    {
        UNROLL for (i = 0; i < 4; i++) v[i] = x[4 * i + j];
        w_lanes_in_order(v);
        UNROLL for (i = 0; i < 4; i++) x[4 * i + j] = v[i];
    }
    UNROLL for (i = 0; i < 16; i++)
    {
        int block = i * VL / 64, j_of_block = block % 4;
        int byte_of_j = block / 4 * 64 + i * VL % 64;

        w_store(out + i * VL, w_xor(x[4 * (byte_of_j / VL) + j_of_block],
                                    w_load(in + i * VL)));
    }
}

/* Blocks of the MAC in a double round, so that UPRIGHT_BLOCKS have their due:
 * the last few follow after the ten. */
#define BESIDE (UPRIGHT_BLOCKS * 4 / 10)

/* UPRIGHT_BLOCKS blocks, and as many bytes of a MAC if b is not NULL. The
 * rounds end before the first store: the MAC may read what is overwritten. */
INLINE void upright(const uint32_t state[16], uint8_t *out, const uint8_t *in,
                    struct beside *b)
{
    words x[UPRIGHT_SETS][16];
    int i, s;

    UNROLL for (s = 0; s < UPRIGHT_SETS; s++)
        upright_start(x[s], state, (uint32_t)(s * VL / 4));
    for (i = 0; i < 10; i++) {
        upright_round(x, 0, b, BESIDE > 0, BESIDE > 1);
        upright_round(x, 1, b, BESIDE > 2, 0);
    }
    beside_blocks(b, UPRIGHT_BLOCKS * 4 - 10 * BESIDE);
    UNROLL for (s = 0; s < UPRIGHT_SETS; s++)
        upright_end(x[s], state, (uint32_t)(s * VL / 4), out + s * VL * 16,
                    in + s * VL * 16);
}

/*
 * Columns (diagonal = 0) or diagonals (diagonal = 1) of flat sets. After a
 * column round the rows turn so that diagonals become columns, after a
 * diagonal round back. Row 1, which is ready last, stays where it is, so that
 * its turn does not lengthen the chain.
 */
INLINE void flat_round(words x[FLAT_SETS][4], int sets, int diagonal)
{
    int s;

    UNROLL for (s = 0; s < sets; s++)
    {
        W_STEP(x[s][0], x[s][1], x[s][3], 16);
    }
    UNROLL for (s = 0; s < sets; s++)
    {
        W_STEP(x[s][2], x[s][3], x[s][1], 12);
    }
    UNROLL for (s = 0; s < sets; s++)
    {
        W_STEP(x[s][0], x[s][1], x[s][3], 8);
    }
    UNROLL for (s = 0; s < sets; s++)
    {
        W_STEP(x[s][2], x[s][3], x[s][1], 7);
    }
    UNROLL for (s = 0; s < sets; s++)
    {
        words a = x[s][0], c = x[s][2];

        x[s][0] = diagonal ? w_turn(a, 1) : w_turn(a, 3);
        x[s][2] = diagonal ? w_turn(c, 3) : w_turn(c, 1);
        x[s][3] = w_turn(x[s][3], 2);
    }
}

/* One to sets * VL / 16 blocks. */
INLINE void flat(const uint32_t state[16], uint8_t *out, const uint8_t *in,
                 size_t nblocks, int sets)
{
    static const uint32_t next_set[4] = {VL / 16, 0, 0, 0};
    words x[FLAT_SETS][4], row[4], counter;
    int i, s;

    UNROLL for (i = 0; i < 4; i++) row[i] = w_row(state + 4 * i);
    row[3] = w_add(row[3], w_lane_numbers());
    counter = row[3];
    UNROLL for (s = 0; s < sets; s++)
    {
        UNROLL for (i = 0; i < 3; i++) x[s][i] = row[i];
        x[s][3] = counter;
        counter = w_add(counter, w_row(next_set));
    }
    for (i = 0; i < 10; i++) {
        flat_round(x, sets, 0);
        flat_round(x, sets, 1);
    }
    counter = row[3];
    UNROLL for (s = 0; s < sets; s++)
    {
        UNROLL for (i = 0; i < 3; i++) x[s][i] = w_add(x[s][i], row[i]);
        x[s][3] = w_add(x[s][3], counter);
        counter = w_add(counter, w_row(next_set));
        w_lanes_in_order(x[s]);
        UNROLL for (i = 0; i < 4; i++)
        {
            size_t at = (size_t)(4 * s + i) * VL;

            if (at < 64 * nblocks)
                w_store(out + at, w_xor(x[s][i], w_load(in + at)));
        }
    }
}

/* ChaCha20 of nblocks blocks (see the ops table). */
static void chacha20(uint32_t state[16], uint8_t *out, const uint8_t *in,
                     size_t nblocks)
{
    uint8_t rest[64 * UPRIGHT_BLOCKS];

    for (; nblocks >= UPRIGHT_BLOCKS; nblocks -= UPRIGHT_BLOCKS) {
        upright(state, out, in, NULL);
        state[12] += UPRIGHT_BLOCKS;
        in += 64 * UPRIGHT_BLOCKS;
        out += 64 * UPRIGHT_BLOCKS;
    }
    if (nblocks > FLAT_BLOCKS) {
        memcpy(rest, in, 64 * nblocks);
        memset(rest + 64 * nblocks, 0, sizeof(rest) - 64 * nblocks);
        upright(state, rest, rest, NULL);
        memcpy(out, rest, 64 * nblocks);
        bc_wipe(rest, sizeof(rest));
    } else if (nblocks == 1) {
        /* Integer instructions have half the latency of vector ones on Zen 5:
         * 300 cycles against 520. Elsewhere it makes no difference. */
        bc_chapoly_ops_c.chacha20(state, out, in, 1);
        return;
#if FLAT_SETS > 4
    } else if (nblocks > VL / 4) {
        flat(state, out, in, nblocks, FLAT_SETS);
#endif
#if FLAT_SETS > 2
    } else if (nblocks > VL / 8) {
        flat(state, out, in, nblocks, 4);
#endif
    } else if (nblocks > VL / 16) {
        flat(state, out, in, nblocks, 2);
    } else if (nblocks) {
        flat(state, out, in, nblocks, 1);
    }
    state[12] += (uint32_t)nblocks;
}

/* See the ops table. Upwards and load before store, so that out may lie in
 * front of in at any distance. */
static void use_stream(uint8_t *out, const uint8_t *in, uint8_t *stream,
                       size_t len)
{
    words zero = w_every(0), x;
    size_t at = 0;

    for (; len - at >= VL; at += VL) {
        x = w_xor(w_load(in + at), w_load(stream + at));
        w_store(stream + at, zero);
        w_store(out + at, x);
    }
    bc_chapoly_ops_c.use_stream(out + at, in + at, stream + at, len - at);
}

#if defined(ONE_PASS)

_Static_assert(BESIDE <= 3, "a double round has room for three blocks");

/* The MAC runs one pass behind the cipher, over what that has put out. */
static void encrypt(struct bc_chapoly *c, uint8_t *out, const uint8_t *in,
                    size_t nblocks)
{
    struct beside b;

    chacha20(c->state, out, in, UPRIGHT_BLOCKS);
    poly1305_settle(&c->mac);
    b.mac = poly1305_64_load(&c->mac);
    b.in = out;
    while ((nblocks -= UPRIGHT_BLOCKS) != 0) {
        in += 64 * UPRIGHT_BLOCKS;
        out += 64 * UPRIGHT_BLOCKS;
        upright(c->state, out, in, &b);
        c->state[12] += UPRIGHT_BLOCKS;
    }
    poly1305_64_store(&c->mac, b.mac);
    c->mac.ops->blocks(&c->mac, out, UPRIGHT_BLOCKS * 4, 1);
}

static void decrypt(struct bc_chapoly *c, uint8_t *out, const uint8_t *in,
                    size_t nblocks)
{
    struct beside b;

    poly1305_settle(&c->mac);
    b.mac = poly1305_64_load(&c->mac);
    for (; nblocks; nblocks -= UPRIGHT_BLOCKS) {
        b.in = in;
        upright(c->state, out, in, &b);
        c->state[12] += UPRIGHT_BLOCKS;
        in += 64 * UPRIGHT_BLOCKS;
        out += 64 * UPRIGHT_BLOCKS;
    }
    poly1305_64_store(&c->mac, b.mac);
}

#endif
