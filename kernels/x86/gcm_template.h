/*
 * AES-GCM over whole blocks, one text for every vector width: CTR and GHASH
 * side by side, GCM_GROUP blocks at a time, and whatever is left in one pass.
 *
 * GHASH, the mathematics. A block is a polynomial over GF(2) modulo
 * P = x^128 + x^7 + x^2 + x + 1, and GCM's first bit is the coefficient of
 * x^0. Once its bytes are reversed, a block is a 128-bit integer whose bit i
 * belongs to x^(127-i), and a 256-bit integer's bit i belongs to x^(255-i).
 *
 * The carry-less product of two such 128-bit integers, seen as a 256-bit one,
 * comes out multiplied by x. To undo that, what we store for a power of H is
 *     S_n = H^n x^-1,
 * so that (data) * S_n = data H^n and S_m * S_n = S_(m+n). The multiplication
 * by x^-1 shifts the integer left by one bit; the bit that falls off at the
 * top is x^-1 = x^127 + x^6 + x + 1, the integer c200..0001.
 *
 * Reduction takes the lowest 64 bits, v, off a number at a time. Bit j of v
 * belongs to x^(n-j) for some n >= 128 that depends on where v stands, and
 *     x^(n-j) = x^(n-128-j) (x^7 + x^2 + x + 1):
 * that is v itself 128 bits higher, for the 1, and v * c200000000000000 64
 * bits higher, for the rest. With the next 64 bits up, w, and the 128 bits
 * above those, u, this is
 *     fold(u, w:v) = u + v:w + v * c200000000000000.
 *
 * Products of many blocks are summed up before they are reduced, in one of
 * two forms. D = D1:D0 is the data, S = S1:S0 the power.
 *
 * Karatsuba's three products, for many blocks, where the multiplier is what
 * limits (Zen 3 and Zen 5: one product in two cycles, whatever the width):
 *     hi = D1 S1,  lo = D0 S0,  mid = (D1 + D0)(S1 + S0) + hi + lo,
 *     D S = fold(hi, fold(mid, lo)).
 *
 * Four products in two columns, for a few blocks, where latency counts: D0's
 * part lies x^64 behind D1's, and x^64 can go into the constant,
 *     T = S x^64 mod P = fold(0, S),  hi = D1 S1 + D0 T1,  lo = D1 S0 + D0 T0,
 *     D S = D1 S + D0 T = fold(hi, lo),
 * one multiplication less between the data and the result.
 *
 * struct bc_gcm keeps S_n in powers[] and the first T_n in shifted[], from the
 * highest n down to 1, then zeros: a wide load at S_n takes the powers for n
 * blocks of data, and where the data end before the vector does, it multiplies
 * by zero.
 */

#define GCM_VECS 8
#define GCM_GROUP (GCM_VECS * LANES) /* blocks; as many powers are made */
#define GCM_FEW 2                    /* vectors hashed in two columns */

_Static_assert(GCM_GROUP <= BC_GCM_POWERS && GCM_FEW * LANES <= BC_GCM_SHIFTED,
               "no room for the powers");
_Static_assert(sizeof(((struct bc_gcm *)0)->powers) >=
                   16 * (BC_GCM_POWERS + LANES - 1),
               "a load at the first power leaves the array");

/* Bytes in reverse order, for GHASH's integers, and for counters, whose last
 * four bytes are a number; and the constant of fold(). */
static const _Alignas(16) uint8_t byte_reversal[16] = {
    15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
static const _Alignas(16) uint64_t fold_constant[2] = {
    UINT64_C(0xc200000000000000), UINT64_C(0xc200000000000000)};

INLINE block reverse_bytes(block x)
{
    return _mm_shuffle_epi8(x, b_load_aligned(byte_reversal));
}

/* The comment above. */
INLINE vec fold(vec u, vec wv)
{
    return v_xor3(u, v_swap(wv), v_clmul(wv, v_every_at(fold_constant), 0x00));
}

/* Sums of products that are not reduced yet. */
struct columns {
    vec hi, mid, lo;
};

/* c += x (s1:s0) by Karatsuba. Each lane of m holds s1 + s0 in its lower half,
 * or in its upper one. c->mid lacks hi and lo. `start` makes it c = ... */
INLINE void add_product(struct columns *c, vec x, vec s, vec m, int upper,
                        int start)
{
    vec sum = v_xor(x, v_swap(x));
    vec hi = v_clmul(x, s, 0x11), lo = v_clmul(x, s, 0x00);
    vec mid = upper ? v_clmul(sum, m, 0x10) : v_clmul(sum, m, 0x00);

    c->hi = start ? hi : v_xor(c->hi, hi);
    c->mid = start ? mid : v_xor(c->mid, mid);
    c->lo = start ? lo : v_xor(c->lo, lo);
}

INLINE block reduce(const struct columns *c)
{
    return v_sum(fold(c->hi, fold(v_xor3(c->mid, c->hi, c->lo), c->lo)));
}

/* The same in two columns. */
INLINE void add_product_2(struct columns *c, vec x, vec s, vec t, int start)
{
    vec a = v_clmul(x, s, 0x11), b = v_clmul(x, t, 0x10);
    vec d = v_clmul(x, s, 0x01), e = v_clmul(x, t, 0x00);

    c->hi = start ? v_xor(a, b) : v_xor3(c->hi, a, b);
    c->lo = start ? v_xor(d, e) : v_xor3(c->lo, d, e);
}

INLINE vec reduce_2(const struct columns *c)
{
    return fold(c->hi, c->lo);
}

static const uint8_t *power_s(const struct bc_gcm *g, size_t n)
{
    return g->powers[BC_GCM_POWERS - n];
}

static const uint8_t *power_t(const struct bc_gcm *g, size_t n)
{
    return g->shifted[BC_GCM_SHIFTED - n];
}

/* The same of single blocks, in XMM registers at every width: in wide ones, of
 * which v_sum() would have to bring the lanes together, it takes longer. */
INLINE void b_add_product(block *hi, block *lo, block x, block s, block t)
{
    *hi = b_xor(*hi, b_xor(b_clmul(x, s, 0x11), b_clmul(x, t, 0x10)));
    *lo = b_xor(*lo, b_xor(b_clmul(x, s, 0x01), b_clmul(x, t, 0x00)));
}

INLINE block b_fold(block u, block wv)
{
    block v = b_clmul(wv, b_load_aligned(fold_constant), 0x00);

    return b_xor(b_xor(u, b_swap(wv)), v);
}

INLINE block b_product(block x, block s, block t)
{
    block hi = _mm_setzero_si128(), lo = hi;

    b_add_product(&hi, &lo, x, s, t);
    return b_fold(hi, lo);
}

INLINE block times_h(const struct bc_gcm *g, block x)
{
    return b_product(x, b_load_aligned(power_s(g, 1)),
                     b_load_aligned(power_t(g, 1)));
}

/* acc, byte-reversed, ready for the next block. */
INLINE block closed_acc(struct bc_gcm *g)
{
    block acc = reverse_bytes(b_load_aligned(g->acc));

    if (g->open) {
        g->open = 0;
        acc = times_h(g, acc);
    }
    return acc;
}

/* nblocks blocks of data in nvec vectors x, not yet byte-reversed; acc is.
 * Lanes of x behind the last block may hold anything. */
INLINE block ghash_vecs(const struct bc_gcm *g, block acc, const vec *x,
                        int nvec, size_t nblocks)
{
    const vec reverse = v_every_at(byte_reversal);
    const uint8_t *s = power_s(g, nblocks);
    struct columns c = {v_zero(), v_zero(), v_zero()};
    int i;

    /* Last the vector that has to wait for acc. */
    UNROLL
    for (i = nvec - 1; i >= 0; i--) {
        vec y = v_shuffle(x[i], reverse), si = v_load_a16(s + i * VL);

        if (i == 0)
            y = v_xor(y, v_lane0(acc));
        if (nvec <= GCM_FEW)
            add_product_2(&c, y, si, v_load_a16(power_t(g, nblocks) + i * VL),
                          i == nvec - 1);
        else
            add_product(&c, y, si, v_xor(si, v_swap(si)), 0, i == nvec - 1);
    }
    return nvec <= GCM_FEW ? v_sum(reduce_2(&c)) : reduce(&c);
}

/* The same from memory; `last` blocks (1..LANES) in the last vector. */
INLINE block ghash_from(const struct bc_gcm *g, block acc, const uint8_t *in,
                        int nvec, size_t last, size_t nblocks)
{
    vec x[GCM_VECS];
    int i;

    UNROLL
    for (i = 0; i < nvec - 1; i++)
        x[i] = v_load(in + i * VL);
    x[nvec - 1] = v_load_first(in + (nvec - 1) * VL, last);
    return ghash_vecs(g, acc, x, nvec, nblocks);
}

/* 1 .. GCM_GROUP blocks of data from memory. (acc must not become a vector: gcc
 * 12 omits the vzeroupper behind a call that passes one.) */
static block ghash_few(const struct bc_gcm *g, block acc, const uint8_t *in,
                       size_t nblocks)
{
    size_t last = (nblocks + LANES - 1) % LANES + 1;

    switch ((nblocks + LANES - 1) / LANES) {
#define CASE(n)                                                                \
    case n:                                                                    \
        return ghash_from(g, acc, in, n, last, nblocks)
        CASE(1);
        CASE(2);
        CASE(3);
        CASE(4);
        CASE(5);
        CASE(6);
        CASE(7);
        CASE(8);
#undef CASE
    }
    return acc;
}

/* ---- Powers of H --------------------------------------------------------- */

/* S_n and the others in s, and as many T as are used. */
INLINE void store_powers(struct bc_gcm *g, size_t n, vec s)
{
    v_store(g->powers[BC_GCM_POWERS - n], s);
    if (n <= GCM_FEW * LANES)
        v_store(g->shifted[BC_GCM_SHIFTED - n], fold(v_zero(), s));
}

/* At least n powers, n <= GCM_GROUP: from H^1 .. H^m come H^(m+1) .. H^2m. What
 * one step makes, the next multiplies by: the vector with the highest power
 * stays in a register, for to store it and to load that power again would take
 * as long as the product. With the last powers come the sums that the loop
 * wants. */
APART void more_powers(struct bc_gcm *g, size_t n)
{
    size_t m = g->npowers, i;
    vec highest;

    if (m < LANES) { /* two powers, four lanes */
        block s1 = b_load_aligned(power_s(g, 1));
        block s2 = b_load_aligned(power_s(g, 2));
        block t2 = b_load_aligned(power_t(g, 2));

        highest = v_shift_in(s2, v_lane0(s1));
        highest = v_shift_in(b_product(s1, s2, t2), highest);
        highest = v_shift_in(b_product(s2, s2, t2), highest);
        store_powers(g, LANES, highest);
        m = LANES;
    } else {
        highest = v_load_a16(power_s(g, m));
    }
    for (; m < n; m *= 2) {
        vec x = v_every(v_first(highest)), xt = fold(v_zero(), x);
        vec s = highest;

        for (i = 0; i < m; i += LANES) {
            struct columns c = {x, x, x};

            if (i != 0)
                s = v_load_a16(power_s(g, m - i));
            add_product_2(&c, s, x, xt, 1);
            s = reduce_2(&c);
            store_powers(g, 2 * m - i, s);
            if (i == 0)
                highest = s;
        }
    }
    g->npowers = (uint32_t)m;
    if (m == GCM_GROUP) {
        const uint8_t *s = power_s(g, GCM_GROUP);

        for (i = 0; i < GCM_VECS; i += 2) {
            vec a = v_load_a16(s + i * VL), b = v_load_a16(s + (i + 1) * VL);

            v_store(g->sums[i / 2 * LANES],
                    v_lower(v_xor(a, v_swap(a)), v_xor(b, v_swap(b))));
        }
    }
}

INLINE void need_powers(struct bc_gcm *g, size_t n)
{
    if (g->npowers < n)
        more_powers(g, n < GCM_GROUP ? n : GCM_GROUP);
}

static void gcm_set_key(struct bc_gcm *g, const uint8_t *raw, size_t keylen)
{
    block h = reverse_bytes(aes_expand(&g->key, raw, keylen));
    /* All ones if the top bit falls off. */
    block carry = _mm_srai_epi32(_mm_shuffle_epi32(h, 0xff), 31);
    block s =
        b_xor(_mm_slli_epi64(h, 1), _mm_slli_si128(_mm_srli_epi64(h, 63), 8));
    block t;

    s = b_xor(s, _mm_and_si128(
                     carry, _mm_set_epi64x((long long)0xc200000000000000, 1)));
    t = b_fold(_mm_setzero_si128(), s);
    b_store(g->powers[BC_GCM_POWERS - 1], s);
    b_store(g->shifted[BC_GCM_SHIFTED - 1], t);
    /* H^2 as well, for the tag. */
    s = b_product(s, s, t);
    b_store(g->powers[BC_GCM_POWERS - 2], s);
    b_store(g->shifted[BC_GCM_SHIFTED - 2], b_fold(_mm_setzero_si128(), s));
    g->npowers = 2;
}

/* ---- Single passes ------------------------------------------------------- */

static void gcm_block(const struct bc_gcm *g, uint8_t out[16],
                      const uint8_t in[16])
{
    b_store(out, aes_encrypt(&g->key, b_load(in)));
}

static void gcm_ghash(struct bc_gcm *g, const uint8_t *in, size_t nblocks)
{
    block acc = closed_acc(g);

    need_powers(g, nblocks);
    while (nblocks > GCM_GROUP) {
        acc = ghash_few(g, acc, in, GCM_GROUP);
        in += 16 * GCM_GROUP;
        nblocks -= GCM_GROUP;
    }
    acc = ghash_few(g, acc, in, nblocks);
    b_store(g->acc, reverse_bytes(acc));
}

/* SP 800-38D, 7.1 steps 5 and 6. Read as an integer, the block of both lengths
 * needs no byte reversed; they count bits. An open block is multiplied at the
 * same time. */
static void gcm_tag(struct bc_gcm *g, uint8_t tag[16])
{
    block x = _mm_slli_epi64(
        _mm_set_epi64x((long long)g->aad_len, (long long)g->msg_len), 3);
    block acc = reverse_bytes(b_load_aligned(g->acc));
    block hi = _mm_setzero_si128(), lo = hi;

    if (g->open)
        b_add_product(&hi, &lo, acc, b_load_aligned(power_s(g, 2)),
                      b_load_aligned(power_t(g, 2)));
    else
        x = b_xor(x, acc);
    b_add_product(&hi, &lo, x, b_load_aligned(power_s(g, 1)),
                  b_load_aligned(power_t(g, 1)));
    b_store(tag, b_xor(reverse_bytes(b_fold(hi, lo)), b_load_aligned(g->ej0)));
}

/* Round r of all vectors. */
#define ROUND(x, n, r)                                                         \
    do {                                                                       \
        vec k_ = v_key(&keys, r);                                              \
        UNROLL                                                                 \
        for (i = 0; i < (n); i++)                                              \
            (x)[i] = v_aesenc((x)[i], k_);                                     \
    } while (0)

/* Rounds 10 to 13, as far as the key has them. */
#define LATE_ROUNDS(x, n)                                                      \
    do {                                                                       \
        if (g->key.rounds > 10) {                                              \
            ROUND(x, n, 10);                                                   \
            ROUND(x, n, 11);                                                   \
            if (g->key.rounds > 12) {                                          \
                ROUND(x, n, 12);                                               \
                ROUND(x, n, 13);                                               \
            }                                                                  \
        }                                                                      \
    } while (0)

/* The next counters, after the first key addition. */
INLINE void start_counters(vec *ctr, vec *x, int nvec, vec k)
{
    const vec reverse = v_every_at(byte_reversal);
    const vec step = v_every(_mm_set_epi32(0, 0, 0, LANES));
    int i;

    UNROLL
    for (i = 0; i < nvec; i++) {
        x[i] = v_xor(v_shuffle(*ctr, reverse), k);
        *ctr = v_add32(*ctr, step);
    }
}

enum gcm_work {
    GCM_ENCRYPT,
    GCM_DECRYPT,
    GCM_CTR_ONLY, /* encryption that leaves GHASH to a later pass */
};

/*
 * nblocks blocks in nvec vectors, the last of which holds `last` blocks, AES
 * and GHASH after each other: the processor overlaps them as far as one waits
 * for the other. ctr holds the next LANES counters, byte-reversed.
 */
INLINE block gcm_vecs(const struct bc_gcm *g, block acc, vec *ctr, uint8_t *out,
                      const uint8_t *in, int nvec, size_t last, size_t nblocks,
                      enum gcm_work work)
{
    const struct v_keys keys = v_keys_in_memory(g->key.rk, g->key.rounds);
    vec x[GCM_VECS], data[GCM_VECS];
    int i, r;

    start_counters(ctr, x, nvec, v_key(&keys, 0));
    UNROLL
    for (r = 1; r < 10; r++)
        ROUND(x, nvec, r);
    LATE_ROUNDS(x, nvec);
    UNROLL
    for (i = 0; i < nvec; i++)
        data[i] = i < nvec - 1 ? v_load(in + i * VL)
                               : v_load_first(in + i * VL, last);
    if (work == GCM_DECRYPT)
        acc = ghash_vecs(g, acc, data, nvec, nblocks);
    UNROLL
    for (i = 0; i < nvec; i++) {
        x[i] = v_aesenclast(x[i], v_xor(v_last_key(&keys), data[i]));
        if (i < nvec - 1)
            v_store(out + i * VL, x[i]);
        else
            v_store_first(out + i * VL, x[i], last);
    }
    if (work == GCM_ENCRYPT)
        acc = ghash_vecs(g, acc, x, nvec, nblocks);
    return acc;
}

/* 0 .. GCM_GROUP blocks in one pass. */
INLINE block gcm_few(const struct bc_gcm *g, block acc, vec *ctr, uint8_t *out,
                     const uint8_t *in, size_t nblocks, enum gcm_work work)
{
    size_t last = (nblocks + LANES - 1) % LANES + 1;

    switch ((nblocks + LANES - 1) / LANES) {
#define CASE(n)                                                                \
    case n:                                                                    \
        return gcm_vecs(g, acc, ctr, out, in, n, last, nblocks, work)
        CASE(1);
        CASE(2);
        CASE(3);
        CASE(4);
        CASE(5);
        CASE(6);
        CASE(7);
        CASE(8);
#undef CASE
    }
    return acc;
}

/* ---- The loop ------------------------------------------------------------ */

/*
 * The compiler is to leave products between the rounds they stand between:
 * gcc would delay all of them and spill, clang would move them behind the
 * last round, where nothing overlaps them.
 */
#define STAY(c, x)                                                             \
    __asm__ volatile(""                                                        \
                     : V_REG((c).hi), V_REG((c).mid), V_REG((c).lo),           \
                       V_REG((x)[0]), V_REG((x)[1]), V_REG((x)[2]),            \
                       V_REG((x)[3]), V_REG((x)[4]), V_REG((x)[5]),            \
                       V_REG((x)[6]), V_REG((x)[7]))

/* One group through AES and, between the rounds, another (`hashed`) through
 * GHASH: what was encrypted before, or what is decrypted now. */
INLINE block gcm_group(const struct bc_gcm *g, struct v_keys keys, block acc,
                       vec *ctr, uint8_t *out, const uint8_t *in,
                       const uint8_t *hashed)
{
    const vec reverse = v_every_at(byte_reversal);
    const uint8_t *s = power_s(g, GCM_GROUP);
    struct columns c;
    vec x[GCM_VECS];
    int i, j, r;

    start_counters(ctr, x, GCM_VECS, v_key(&keys, 0));
    UNROLL
    for (r = 1; r < 10; r++) {
        ROUND(x, GCM_VECS, r);
        /* Vector 1 to 7, and 0, which has to wait for acc. */
        j = (r - 1) % GCM_VECS;
        if (r > 1) {
            vec y = v_shuffle(v_load(hashed + j * VL), reverse);

            if (j == 0)
                y = v_xor(y, v_lane0(acc));
            add_product(&c, y, v_load_a16(s + j * VL),
                        v_load_a16(g->sums[j / 2 * LANES]), j % 2, r == 2);
            STAY(c, x);
        }
    }
    acc = reduce(&c);
    LATE_ROUNDS(x, GCM_VECS);
    /* So that input which is both hashed and decrypted is read twice, not
     * kept in registers that are not there. */
    __asm__("" : "+r"(in));
    UNROLL
    for (i = 0; i < GCM_VECS; i++)
        v_store(out + i * VL, v_aesenclast(x[i], v_xor(v_last_key(&keys),
                                                       v_load(in + i * VL))));
    return acc;
}

/* One block, which is left open: the tag multiplies it and the lengths at
 * once, and in the narrow registers all is short. */
INLINE void gcm_one(struct bc_gcm *g, uint8_t *out, const uint8_t *in,
                    enum gcm_work work)
{
    block ctr = b_load_aligned(g->ctr), x = b_load(in), y;
    block acc = b_load_aligned(g->acc);

    if (g->open)
        acc = reverse_bytes(times_h(g, reverse_bytes(acc)));
    y = b_xor(x, aes_encrypt(&g->key, ctr));
    b_store(out, y);
    b_store(g->acc, b_xor(acc, work == GCM_ENCRYPT ? y : x));
    g->open = 1;
    ctr = _mm_add_epi32(reverse_bytes(ctr), _mm_cvtsi32_si128(1));
    b_store(g->ctr, reverse_bytes(ctr));
}

INLINE void gcm_many(struct bc_gcm *g, uint8_t *out, const uint8_t *in,
                     size_t nblocks, enum gcm_work work)
{
    const size_t group = 16 * GCM_GROUP;
    block next = reverse_bytes(b_load_aligned(g->ctr));
    block acc = closed_acc(g);
    vec ctr = v_add32(v_shuffle(v_every_at(g->ctr), v_every_at(byte_reversal)),
                      v_lane_numbers());

    need_powers(g, nblocks);
    next = _mm_add_epi32(next, _mm_cvtsi32_si128((int)(uint32_t)nblocks));
    b_store(g->ctr, reverse_bytes(next));

    if (nblocks >= 2 * GCM_GROUP) {
        const struct v_keys keys = v_keys_at_hand(g->key.rk, g->key.rounds);

        if (work == GCM_ENCRYPT) {
            gcm_vecs(g, acc, &ctr, out, in, GCM_VECS, LANES, GCM_GROUP,
                     GCM_CTR_ONLY);
            out += group;
            in += group;
            nblocks -= GCM_GROUP;
        }
        while (nblocks >= GCM_GROUP) {
            acc = gcm_group(g, keys, acc, &ctr, out, in,
                            work == GCM_ENCRYPT ? out - group : in);
            out += group;
            in += group;
            nblocks -= GCM_GROUP;
        }
        if (work == GCM_ENCRYPT)
            acc = ghash_from(g, acc, out - group, GCM_VECS, LANES, GCM_GROUP);
    }
    if (nblocks >= GCM_GROUP) {
        acc = gcm_vecs(g, acc, &ctr, out, in, GCM_VECS, LANES, GCM_GROUP, work);
        out += group;
        in += group;
        nblocks -= GCM_GROUP;
    }
    acc = gcm_few(g, acc, &ctr, out, in, nblocks, work);
    b_store(g->acc, reverse_bytes(acc));
}

APART void encrypt_many(struct bc_gcm *g, uint8_t *out, const uint8_t *in,
                        size_t nblocks)
{
    gcm_many(g, out, in, nblocks, GCM_ENCRYPT);
}

APART void decrypt_many(struct bc_gcm *g, uint8_t *out, const uint8_t *in,
                        size_t nblocks)
{
    gcm_many(g, out, in, nblocks, GCM_DECRYPT);
}

static void gcm_encrypt(struct bc_gcm *g, uint8_t *out, const uint8_t *in,
                        size_t nblocks)
{
    if (nblocks == 1)
        gcm_one(g, out, in, GCM_ENCRYPT);
    else
        encrypt_many(g, out, in, nblocks);
}

static void gcm_decrypt(struct bc_gcm *g, uint8_t *out, const uint8_t *in,
                        size_t nblocks)
{
    if (nblocks == 1)
        gcm_one(g, out, in, GCM_DECRYPT);
    else
        decrypt_many(g, out, in, nblocks);
}

#undef ROUND
#undef LATE_ROUNDS
