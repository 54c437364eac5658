/*
 * AES-CBC over whole blocks, one text for every vector width. Encryption is
 * serial by nature and runs in XMM registers at the latency of AESENC;
 * decryption keeps eight vectors in flight.
 */

/*
 * The serial chain holds nothing but the rounds: the next block enters by way
 * of the last round key, because
 *     AESENCLAST(x, last ^ next ^ first) = ciphertext ^ next ^ first
 * is the state after the next block's first key addition. The ciphertext
 * itself is taken out beside the chain.
 */
INLINE void cbc_encrypt_rounds(const struct bc_aes_key *key, uint8_t iv[16],
                               uint8_t *out, const uint8_t *in, size_t nblocks,
                               uint32_t rounds)
{
    const uint8_t(*rk)[16] = key->rk;
    block first = b_load_aligned(rk[0]), last = b_load_aligned(rk[rounds]);
    block next = b_xor(first, b_load(in)), x = b_xor(b_load(iv), next);
    uint32_t r;

    for (;;) {
        UNROLL
        for (r = 1; r < rounds; r++)
            x = _mm_aesenc_si128(x, b_load_aligned(rk[r]));
        if (--nblocks == 0)
            break;
        in += 16;
        next = b_xor(first, b_load(in));
        x = _mm_aesenclast_si128(x, b_xor(last, next));
        b_store(out, b_xor(x, next));
        out += 16;
    }
    x = _mm_aesenclast_si128(x, last);
    b_store(out, x);
    b_store(iv, x);
}

static void cbc_encrypt(const struct bc_aes_key *key, uint8_t iv[16],
                        uint8_t *out, const uint8_t *in, size_t nblocks)
{
    if (nblocks == 0)
        return;
    if (key->rounds == 10)
        cbc_encrypt_rounds(key, iv, out, in, nblocks, 10);
    else if (key->rounds == 12)
        cbc_encrypt_rounds(key, iv, out, in, nblocks, 12);
    else
        cbc_encrypt_rounds(key, iv, out, in, nblocks, 14);
}

#define CBC_VECS 8
#define CBC_GROUP (CBC_VECS * LANES) /* blocks */

/*
 * nvec vectors, the last of which holds `last` blocks (1..LANES). The block in
 * front of each block comes from memory once more, one block lower, which
 * costs a load and saves registers; all loads precede the first store, since
 * out may be in. Returns the last block of ciphertext, the next IV.
 */
INLINE block cbc_decrypt_vecs(const struct bc_aes_key *key, block iv,
                              uint8_t *out, const uint8_t *in, int nvec,
                              size_t last, int stream)
{
    const uint8_t(*rk)[16] = key->rk + key->rounds;
    vec x[CBC_VECS], front[CBC_VECS], k;
    block next_iv = b_load(in + (size_t)(nvec - 1) * VL + 16 * (last - 1));
    int i, r;

    k = v_every_at(rk[0]);
    UNROLL
    for (i = 0; i < nvec; i++) {
        x[i] = i < nvec - 1 ? v_load(in + i * VL)
                            : v_load_first(in + i * VL, last);
        if (i == 0)
            front[0] = v_shift_in(iv, x[0]);
        x[i] = v_xor(x[i], k);
    }
#define ROUND(r)                                                               \
    do {                                                                       \
        k = v_every_at(rk[r]);                                                 \
        UNROLL                                                                 \
        for (i = 0; i < nvec; i++)                                             \
            x[i] = v_aesdec(x[i], k);                                          \
    } while (0)

    UNROLL
    for (r = 1; r < 10; r++)
        ROUND(r);
    if (key->rounds > 10) {
        ROUND(10);
        ROUND(11);
        if (key->rounds > 12) {
            ROUND(12);
            ROUND(13);
        }
    }
#undef ROUND

    k = v_every_at(rk[key->rounds]);
    UNROLL
    for (i = 0; i < nvec; i++) {
        if (i > 0)
            front[i] = i < nvec - 1 ? v_load(in + i * VL - 16)
                                    : v_load_first(in + i * VL - 16, last);
        x[i] = v_aesdeclast(x[i], v_xor(k, front[i]));
    }
    UNROLL
    for (i = 0; i < nvec; i++) {
        if (stream)
            v_stream(out + i * VL, x[i]);
        else if (i < nvec - 1)
            v_store(out + i * VL, x[i]);
        else
            v_store_first(out + i * VL, x[i], last);
    }
    return next_iv;
}

/* 0 .. CBC_GROUP blocks in one pass. */
INLINE block cbc_decrypt_few(const struct bc_aes_key *key, block iv,
                             uint8_t *out, const uint8_t *in, size_t nblocks)
{
    size_t last = (nblocks + LANES - 1) % LANES + 1;

    switch ((nblocks + LANES - 1) / LANES) {
#define CASE(n)                                                                \
    case n:                                                                    \
        return cbc_decrypt_vecs(key, iv, out, in, n, last, 0)
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
    return iv;
}

/* The part of a long message that can be streamed, when out is on a block
 * boundary and does not overlap in. Returns how many blocks it did. */
static size_t cbc_decrypt_stream(const struct bc_aes_key *key, uint8_t iv[16],
                                 uint8_t *out, const uint8_t *in,
                                 size_t nblocks)
{
    size_t done = (0 - (uintptr_t)out) % VL / 16;
    block prev = cbc_decrypt_few(key, b_load(iv), out, in, done);

    while (nblocks - done >= CBC_GROUP) {
        prev = cbc_decrypt_vecs(key, prev, out + 16 * done, in + 16 * done,
                                CBC_VECS, LANES, 1);
        done += CBC_GROUP;
    }
    _mm_sfence();
    b_store(iv, prev);
    return done;
}

static void cbc_decrypt(const struct bc_aes_key *key, uint8_t iv[16],
                        uint8_t *out, const uint8_t *in, size_t nblocks)
{
    block prev;

    if (nblocks >= V_STREAM_FROM / 16 && (uintptr_t)out % 16 == 0 &&
        (uintptr_t)out - (uintptr_t)in >= 16 * nblocks &&
        (uintptr_t)in - (uintptr_t)out >= 16 * nblocks) {
        size_t done = cbc_decrypt_stream(key, iv, out, in, nblocks);

        out += 16 * done;
        in += 16 * done;
        nblocks -= done;
    }
    prev = b_load(iv);
    while (nblocks > CBC_GROUP) {
        prev = cbc_decrypt_vecs(key, prev, out, in, CBC_VECS, LANES, 0);
        out += 16 * CBC_GROUP;
        in += 16 * CBC_GROUP;
        nblocks -= CBC_GROUP;
    }
    b_store(iv, cbc_decrypt_few(key, prev, out, in, nblocks));
}

static void cbc_set_key(struct bc_aes_key *key, const uint8_t *raw,
                        size_t keylen)
{
    (void)aes_expand(key, raw, keylen);
}

static void cbc_add_dec(struct bc_aes_key *key)
{
    aes_expand_dec(key);
}
