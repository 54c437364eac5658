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
 *   FLAT_SETS     most flat sets computed side by side: 2 or 4
 *   ONE_PASS      if Poly1305 shall run in the integer units beside the rounds
 * and the template gives it the functions of the ops table.
 */
#define UPRIGHT_BLOCKS (UPRIGHT_SETS * VL / 4)
#define FLAT_BLOCKS (FLAT_SETS * VL / 16)
/* See the ops table. With two upright sets, there is one for as many blocks. */
#define SEVERAL (UPRIGHT_SETS > 1 ? VL / 4 : FLAT_BLOCKS - 1)

/*
 * What runs in the integer units beside the rounds: a Poly1305 over the blocks
 * at `in`, or a block of ChaCha20 by itself.
 */
struct mac_beside {
    struct poly1305_64 mac;
    const uint8_t *in;
};

struct block_beside {
    uint32_t x[16];
};

INLINE void mac_blocks(struct mac_beside *b, int n)
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

INLINE void block_start(struct block_beside *b, const uint32_t state[16])
{
    if (b)
        memcpy(b->x, state, 64);
}

/* Quarter round number k of four. */
INLINE void block_quarter(struct block_beside *b, int diagonal, int k)
{
    if (b == NULL)
        return;
    chacha20_quarter_round(b->x, k, 4 + ((k + diagonal) & 3),
                           8 + ((k + 2 * diagonal) & 3),
                           12 + ((k + 3 * diagonal) & 3));
    /* Or else clang 14 moves the words into vectors. */
    if (diagonal && k == 3)
        __asm__(""
                : "+r"(b->x[0]), "+r"(b->x[4]), "+r"(b->x[8]), "+r"(b->x[12]));
}

INLINE void block_end(struct block_beside *b, const uint32_t state[16],
                      uint8_t *out)
{
    int i;

    if (b == NULL)
        return;
    UNROLL for (i = 0; i < 16; i++) store_le32(out + 4 * i, b->x[i] + state[i]);
}

/* Columns (diagonal = 0) or diagonals (diagonal = 1) of the upright sets; n1
 * blocks of the MAC between the two halves and n2 at the end, or the same round
 * of a block by itself, spread among the steps. */
INLINE void upright_round(words x[UPRIGHT_SETS][16], int sets, int diagonal,
                          struct mac_beside *b, int n1, int n2,
                          struct block_beside *block)
{
    int first, i, s;

#define ABREAST(A, B, C, n)                                                    \
    UNROLL for (s = 0; s < sets; s++)                                          \
        UNROLL for (i = first; i < first + W_ABREAST; i++)                     \
            W_STEP(x[s][A], x[s][B], x[s][C], n);
#define A_ i
#define B_ 4 + ((i + diagonal) & 3)
#define C_ 8 + ((i + 2 * diagonal) & 3)
#define D_ 12 + ((i + 3 * diagonal) & 3)
    UNROLL for (first = 0; first < 4; first += W_ABREAST)
    {
        ABREAST(A_, B_, D_, 16)
        if (W_ABREAST == 4)
            block_quarter(block, diagonal, 0);
        ABREAST(C_, D_, B_, 12)
        block_quarter(block, diagonal, W_ABREAST == 4 ? 1 : first);
        ABREAST(A_, B_, D_, 8)
        if (W_ABREAST == 4)
            block_quarter(block, diagonal, 2);
        ABREAST(C_, D_, B_, 7)
        block_quarter(block, diagonal, W_ABREAST == 4 ? 3 : first + 1);
        mac_blocks(b, first == 0 ? n1 : n2);
    }
#undef ABREAST
#undef A_
#undef B_
#undef C_
#undef D_
}

/*
 * Which blocks are computed: those from `ahead` after the counter on, but with
 * last = 1 the one before them in place of the last. That is how the key block
 * of a message comes along, out of the way of those that become data.
 */
struct upright_order {
    uint32_t ahead;
    int last;
};

INLINE words upright_counters(const uint32_t state[16], struct upright_order o,
                              int set)
{
    static const uint32_t in_place_of_last[2][VL / 4] = {
        {0}, {[VL / 4 - 1] = 0 - (uint32_t)UPRIGHT_BLOCKS}};
    words n = w_every(state[12] + o.ahead + (uint32_t)(set * VL / 4));

    n = w_add(n, w_numbers());
    if (set == UPRIGHT_SETS - 1)
        n = w_add(n, w_load(in_place_of_last[o.last]));
    return n;
}

INLINE void upright_start(words x[16], const uint32_t state[16],
                          struct upright_order o, int set)
{
    int i;

    UNROLL for (i = 0; i < 16; i++) x[i] = w_every(state[i]);
    x[12] = upright_counters(state, o, set);
}

/*
 * Adds the start, brings the blocks in order and xors them onto in. All of the
 * set's key stream is ready before its first store, and the stores go upwards,
 * so that out may lie anywhere in front of in.
 */
INLINE void upright_end(words x[16], const uint32_t state[16],
                        struct upright_order o, int set, uint8_t *out,
                        const uint8_t *in)
{
    words v[4];
    int i, j;

    UNROLL for (i = 0; i < 16; i++)
    {
        if (i != 12)
            x[i] = w_add(x[i], w_every(state[i]));
    }
    x[12] = w_add(x[12], upright_counters(state, o, set));

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

/*
 * `sets` sets of blocks, set s from in[s] to out[s]; beside them as many bytes
 * of a MAC if mac is not NULL, or the block at the counter to key if block is
 * not NULL. The rounds end before the first store: the MAC may read what is
 * overwritten.
 */
INLINE void upright(const uint32_t state[16], int sets, struct upright_order o,
                    uint8_t *const out[UPRIGHT_SETS],
                    const uint8_t *const in[UPRIGHT_SETS],
                    struct mac_beside *mac, struct block_beside *block,
                    uint8_t *key)
{
    words x[UPRIGHT_SETS][16];
    int i, s;

    block_start(block, state);
    UNROLL for (s = 0; s < sets; s++) upright_start(x[s], state, o, s);
    for (i = 0; i < 10; i++) {
        upright_round(x, sets, 0, mac, BESIDE > 0, BESIDE > 1, block);
        upright_round(x, sets, 1, mac, BESIDE > 2, 0, block);
    }
    mac_blocks(mac, UPRIGHT_BLOCKS * 4 - 10 * BESIDE);
    block_end(block, state, key);
    UNROLL for (s = 0; s < sets; s++)
        upright_end(x[s], state, o, s, out[s], in[s]);
}

/* Each upright set-up is a function of its own: in the middle of larger ones
 * gcc 12 and clang 14 spill more. */
APART void upright_alone(const uint32_t state[16], struct upright_order o,
                         uint8_t *const out[UPRIGHT_SETS],
                         const uint8_t *const in[UPRIGHT_SETS])
{
    upright(state, UPRIGHT_SETS, o, out, in, NULL, NULL, NULL);
}

/* UPRIGHT_BLOCKS from in to out. */
INLINE void upright_xor(const uint32_t state[16], uint8_t *out,
                        const uint8_t *in, struct mac_beside *mac)
{
    const struct upright_order in_turn = {0, 0};
    uint8_t *outs[UPRIGHT_SETS];
    const uint8_t *ins[UPRIGHT_SETS];
    int s;

    UNROLL for (s = 0; s < UPRIGHT_SETS; s++)
    {
        outs[s] = out + s * VL * 16;
        ins[s] = in + s * VL * 16;
    }
    if (mac)
        upright(state, UPRIGHT_SETS, in_turn, outs, ins, mac, NULL, NULL);
    else
        upright_alone(state, in_turn, outs, ins);
}

/* Where the blocks of a pass go; see the ops table. */
struct places {
    uint8_t *key, *stream, *out;
    const uint8_t *in;
    size_t nblocks, n;
};

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

/* VL bytes of key stream, the first of them byte `at` of a pass. Branches on
 * public numbers. */
INLINE void put(const struct places *p, size_t at, words x)
{
    if (p->key) {
        if (at < 64) {
            w_store(p->key + at, x);
            return;
        }
        at -= 64;
    }
    if (at < 64 * p->n)
        w_store(p->out + at, w_xor(x, w_load(p->in + at)));
    else if (at < 64 * p->nblocks)
        w_store(p->stream + at, x);
}

/* The blocks of a pass, at most sets * VL / 16. */
INLINE void flat(const uint32_t state[16], const struct places *p, int sets)
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
            put(p, (size_t)(4 * s + i) * VL, x[s][i]);
        }
    }
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
    if (at < len)
        bc_chapoly_ops_c.use_stream(out + at, in + at, stream + at, len - at);
}

/* `sets` sets with the key block beside. */
INLINE void upright_beside(const uint32_t state[16], int sets,
                           uint8_t *const out[UPRIGHT_SETS],
                           const uint8_t *const in[UPRIGHT_SETS], uint8_t *key)
{
    const struct upright_order o = {1, 0};
    struct block_beside block;

    upright(state, sets, o, out, in, NULL, &block, key);
}

APART void upright_key(const uint32_t state[16],
                       uint8_t *const out[UPRIGHT_SETS],
                       const uint8_t *const in[UPRIGHT_SETS], uint8_t *key)
{
    upright_beside(state, UPRIGHT_SETS, out, in, key);
}

APART void upright_key_short(const uint32_t state[16],
                             uint8_t *const out[UPRIGHT_SETS],
                             const uint8_t *const in[UPRIGHT_SETS],
                             uint8_t *key)
{
    upright_beside(state, 1, out, in, key);
}

/*
 * A pass in upright sets: all, or one with a key block. Only whole sets are
 * used at once; what else shall be goes through stream. The key block takes the
 * last place if that is free, and is else made beside them.
 */
static void upright_pass(const uint32_t state[16], const struct places *p,
                         int sets)
{
    struct upright_order o = {0, 0};
    uint8_t *out[UPRIGHT_SETS] = {NULL}, *last;
    const uint8_t *in[UPRIGHT_SETS] = {NULL};
    size_t direct = 64 * p->n & ~(size_t)(VL * 16 - 1), at;
    int s;

    for (s = 0; s < sets; s++) {
        at = (size_t)s * VL * 16;
        out[s] = (at < direct ? p->out : p->stream) + at;
        in[s] = at < direct ? p->in + at : out[s];
    }
    if (p->key == NULL) {
        upright_alone(state, o, out, in);
    } else if (sets < UPRIGHT_SETS) {
        upright_key_short(state, out, in, p->key);
    } else if (p->nblocks == UPRIGHT_BLOCKS) {
        upright_key(state, out, in, p->key);
    } else {
        o.ahead = 1;
        o.last = 1;
        upright_alone(state, o, out, in);
        last = p->stream + 64 * (UPRIGHT_BLOCKS - 1);
        memcpy(p->key, last, 64);
        wipe_inline(last, 64);
    }
    use_stream(p->out + direct, p->in + direct, p->stream + direct,
               64 * p->n - direct);
}

/* One pass (see the ops table). */
static void pass(uint32_t state[16], uint8_t *key, uint8_t *stream,
                 size_t nblocks, uint8_t *out, const uint8_t *in, size_t n)
{
    const struct places p = {key, stream, out, in, nblocks, n};
    size_t all = nblocks + (key != NULL);

    if (all == 1) {
        /* Integer instructions have half the latency of vector ones on Zen 5:
         * 300 cycles against 520. Elsewhere it makes no difference. */
        bc_chapoly_ops_c.pass(state, key, stream, nblocks, out, in, n);
        return;
    }
    if (all <= VL / 16)
        flat(state, &p, 1);
    else if (all <= VL / 8)
        flat(state, &p, 2);
#if FLAT_SETS > 2
    else if (all <= VL / 4)
        flat(state, &p, 4);
#endif
    else if (nblocks == SEVERAL) /* and a key */
        upright_pass(state, &p, 1);
    else
        upright_pass(state, &p, UPRIGHT_SETS);
    state[12] += (uint32_t)all;
}

/* ChaCha20 of nblocks blocks (see the ops table). */
static void chacha20(uint32_t state[16], uint8_t *out, const uint8_t *in,
                     size_t nblocks)
{
    uint8_t rest[64 * UPRIGHT_BLOCKS];

    for (; nblocks >= UPRIGHT_BLOCKS; nblocks -= UPRIGHT_BLOCKS) {
        upright_xor(state, out, in, NULL);
        state[12] += UPRIGHT_BLOCKS;
        in += 64 * UPRIGHT_BLOCKS;
        out += 64 * UPRIGHT_BLOCKS;
    }
    if (nblocks > SEVERAL) {
        memset(rest, 0, sizeof(rest));
        pass(state, NULL, rest, UPRIGHT_BLOCKS, out, in, nblocks);
        state[12] -= UPRIGHT_BLOCKS - (uint32_t)nblocks;
        bc_wipe(rest, sizeof(rest));
    } else if (nblocks) {
        pass(state, NULL, NULL, nblocks, out, in, nblocks);
    }
}

#if defined(ONE_PASS)

_Static_assert(BESIDE <= 3, "a double round has room for three blocks");

/* See the ops table. */
static void beside(struct bc_chapoly *c, uint8_t *out, const uint8_t *in,
                   const uint8_t *text, size_t nblocks)
{
    struct mac_beside b;

    poly1305_settle(&c->mac);
    b.mac = poly1305_64_load(&c->mac);
    b.in = text;
    for (; nblocks; nblocks -= UPRIGHT_BLOCKS) {
        upright_xor(c->state, out, in, &b);
        c->state[12] += UPRIGHT_BLOCKS;
        in += 64 * UPRIGHT_BLOCKS;
        out += 64 * UPRIGHT_BLOCKS;
    }
    poly1305_64_store(&c->mac, b.mac);
}

#endif
