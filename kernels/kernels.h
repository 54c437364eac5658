/*
 * The kernels as the provider, the tests and the bench see them: key and mode
 * structs, ops tables, mode functions, and the choice of a table by CPU bits.
 * Nothing here knows OpenSSL.
 *
 * Conventions that hold for every function below:
 *  - No function allocates, fails, prints, or reads the environment. Lengths
 *    and states are checked by the caller; each comment says what must hold.
 *  - `len` counts bytes, `nblocks` counts 16-byte blocks.
 *  - Input and output may be any address; neither needs alignment.
 *  - in == out is fine, and so is any out <= in (out may overlap the bytes in
 *    front of in at any distance), and so are disjoint buffers. An output that
 *    starts inside the input (in < out < in + len) is not.
 *  - Secrets choose no branch, no address and no loop count. Lengths, key
 *    sizes and the choice of the table are public.
 *  - A struct holds no pointer into itself: copying its bytes duplicates it.
 *    All of them need 64-byte alignment, which _Alignas gives on the stack;
 *    an allocator must be told.
 */
#ifndef BC_KERNELS_H
#define BC_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* ---- CPU features and the choice ---------------------------------------- */

/*
 * What a table may need. A bit is set only if the processor has the
 * instructions *and* the operating system keeps the registers they use (XCR0).
 */
#define BC_CPU_SSSE3 (1u << 0)
#define BC_CPU_SSE41 (1u << 1)
#define BC_CPU_AESNI (1u << 2)
#define BC_CPU_PCLMUL (1u << 3)
#define BC_CPU_AVX (1u << 4)
#define BC_CPU_AVX2 (1u << 5)
#define BC_CPU_BMI2 (1u << 6)
#define BC_CPU_ADX (1u << 7)
#define BC_CPU_VAES (1u << 8) /* VEX/EVEX vaesenc on 32-byte vectors */
#define BC_CPU_VPCLMUL (1u << 9)
#define BC_CPU_AVX512F (1u << 10) /* with ZMM and mask state enabled */
#define BC_CPU_AVX512BW (1u << 11)
#define BC_CPU_AVX512VL (1u << 12)
#define BC_CPU_AVX512DQ (1u << 13)
#define BC_CPU_AVX512IFMA (1u << 14)
/* Policy, not capability: 512-bit vectors do not slow this processor down. */
#define BC_CPU_WIDE512 (1u << 15)

/* The bits of the processor we run on. Pure: no cache, no global. */
uint32_t bc_cpu(void);

/*
 * The bits that the level called `name` may use (openssl.cnf: isa = NAME), or
 * 0 in *known for a name that is no level. The names, in rising order, are
 * those of bc_isa_names(): one space-separated constant string.
 */
uint32_t bc_isa_mask(const char *name, int *known);
const char *bc_isa_names(void);

struct bc_cbc_ops;
struct bc_gcm_ops;
struct bc_chapoly_ops;
struct bc_poly1305_ops;

/* One table per family: what bc_select() chose. */
struct bc_kernels {
    const struct bc_cbc_ops *cbc;
    const struct bc_gcm_ops *gcm;
    const struct bc_chapoly_ops *chapoly;
    const struct bc_poly1305_ops *poly1305;
};

/* The first table of each list whose needs are all in `bits`. Pure. */
struct bc_kernels bc_select(uint32_t bits);

/* The lists themselves, best first, NULL at the end; the last entry is the
 * portable one and needs nothing. Tests and bench walk them. */
extern const struct bc_cbc_ops *const bc_cbc_list[];
extern const struct bc_gcm_ops *const bc_gcm_list[];
extern const struct bc_chapoly_ops *const bc_chapoly_list[];
extern const struct bc_poly1305_ops *const bc_poly1305_list[];

/* ---- Helpers ------------------------------------------------------------- */

/* 1 if the len bytes are equal, else 0; time depends on len alone. */
int bc_ct_equal(const void *a, const void *b, size_t len);

/* Overwrites len bytes with zeros; the compiler may not drop it. */
void bc_wipe(void *p, size_t len);

/* ---- AES key schedule ---------------------------------------------------- */

#define BC_AES_BLOCK 16
#define BC_AES_MAX_ROUNDS 14

/*
 * FIPS 197 round keys as bytes, in one flat array that both directions share:
 * rk[0..rounds] are the encryption round keys; rk[rounds..2 * rounds] are
 * those of the equivalent inverse cipher (section 5.3.5), which begins with
 * the last encryption round key and ends with the first. The second half is
 * there only when `has_dec` is set. How a level lays the keys out is its own
 * matter as long as it fits.
 */
struct bc_aes_key {
    _Alignas(64) uint8_t rk[2 * BC_AES_MAX_ROUNDS + 1][16];
    uint32_t rounds; /* 10, 12, 14 */
    uint32_t has_dec;
};

/* ---- AES-CBC (NIST SP 800-38A, 6.2) -------------------------------------- */

struct bc_cbc_ops {
    const char *name;
    uint32_t needs;
    /* Encryption schedule; keylen is 16, 24 or 32. Clears has_dec. */
    void (*set_key)(struct bc_aes_key *key, const uint8_t *raw, size_t keylen);
    /* Adds the decryption half from the encryption half. */
    void (*add_dec)(struct bc_aes_key *key);
    /* iv[16] is read and left as the last ciphertext block. nblocks may be 0.
     */
    void (*encrypt)(const struct bc_aes_key *key, uint8_t iv[16], uint8_t *out,
                    const uint8_t *in, size_t nblocks);
    void (*decrypt)(const struct bc_aes_key *key, uint8_t iv[16], uint8_t *out,
                    const uint8_t *in, size_t nblocks);
};

struct bc_cbc {
    struct bc_aes_key key;
    uint8_t iv[16]; /* the running IV; callers read and write it */
    const struct bc_cbc_ops *ops;
};

void bc_cbc_init(struct bc_cbc *c, const struct bc_cbc_ops *ops);
/* keylen 16, 24 or 32. Leaves iv alone. */
void bc_cbc_set_key(struct bc_cbc *c, const uint8_t *key, size_t keylen);
/* Whole blocks only. Both directions work after one bc_cbc_set_key(). */
void bc_cbc_encrypt(struct bc_cbc *c, uint8_t *out, const uint8_t *in,
                    size_t nblocks);
void bc_cbc_decrypt(struct bc_cbc *c, uint8_t *out, const uint8_t *in,
                    size_t nblocks);

/* ---- AES-GCM (NIST SP 800-38D) ------------------------------------------- */

/* Limits of SP 800-38D, 5.2.1.1, in bytes; the caller keeps them. */
#define BC_GCM_MAX_AAD ((UINT64_C(1) << 61) - 1)
#define BC_GCM_MAX_MSG ((UINT64_C(1) << 36) - 32)

/* Room for key powers: as many as the widest kernel wants, then zero blocks so
 * that a 64-byte load at H^1 stays inside. */
#define BC_GCM_POWERS 32
#define BC_GCM_SHIFTED 8 /* of them have a second form */

struct bc_gcm;

struct bc_gcm_ops {
    const char *name;
    uint32_t needs;
    /* Key schedule and H = E(K, 0); sets npowers to what it made. */
    void (*set_key)(struct bc_gcm *g, const uint8_t *key, size_t keylen);
    /* out = E(K, in), one block. */
    void (*block)(const struct bc_gcm *g, uint8_t out[16],
                  const uint8_t in[16]);
    /* The next three first multiply acc by H if it is open. */
    /* acc = ((acc ^ in[0]) H ^ in[1]) H ..., nblocks may be 0. */
    void (*ghash)(struct bc_gcm *g, const uint8_t *in, size_t nblocks);
    /* CTR over one or more whole blocks starting at g->ctr (which is advanced
     * by nblocks, modulo 2^32 in its last four bytes) and GHASH of the
     * ciphertext, of which the last multiplication may be left open. */
    void (*encrypt)(struct bc_gcm *g, uint8_t *out, const uint8_t *in,
                    size_t nblocks);
    void (*decrypt)(struct bc_gcm *g, uint8_t *out, const uint8_t *in,
                    size_t nblocks);
    /* GHASH of the block of both lengths, and E(K, J0). */
    void (*tag)(struct bc_gcm *g, uint8_t tag[16]);
};

struct bc_gcm {
    /* The message. `open`: the last block is xored into acc as far as it has
     * come, but not yet multiplied by H. A block that is not full is open. */
    _Alignas(64) uint8_t acc[16];
    uint8_t ctr[16];    /* next counter block */
    uint8_t ej0[16];    /* E(K, J0) */
    uint8_t stream[16]; /* key stream of the open message block */
    uint64_t aad_len;   /* bytes so far */
    uint64_t msg_len;
    uint32_t open;
    uint32_t npowers;    /* key powers made so far */
    uint32_t oldnpowers; /* the most that earlier keys have left */
    const struct bc_gcm_ops *ops;
    struct bc_aes_key key;
    /* From the highest power down to H^1, then zeros: `powers` as the level
     * likes to have them, the others for what it derives from them. */
    _Alignas(64) uint8_t powers[BC_GCM_POWERS + 4][16];
    _Alignas(64) uint8_t shifted[BC_GCM_SHIFTED + 4][16];
    _Alignas(64) uint8_t sums[BC_GCM_POWERS / 2][16];
};

void bc_gcm_init(struct bc_gcm *g, const struct bc_gcm_ops *ops);
/* keylen 16, 24 or 32. The message under way, if any, is lost: start again. */
void bc_gcm_set_key(struct bc_gcm *g, const uint8_t *key, size_t keylen);
/* All zero again, but no more written than was: a context that saw only short
 * messages has few key powers. Begin again with bc_gcm_init(). */
void bc_gcm_wipe(struct bc_gcm *g);
/* A new message; needs a key. ivlen is 1 or more bytes (12 is the fast path;
 * others go through GHASH, SP 800-38D 7.1 step 2). */
void bc_gcm_start(struct bc_gcm *g, const uint8_t *iv, size_t ivlen);
/* AAD in any number of pieces, all before the first byte of the message. */
void bc_gcm_aad(struct bc_gcm *g, const uint8_t *aad, size_t len);
/* The message in any number of pieces, one direction a message. */
void bc_gcm_encrypt(struct bc_gcm *g, uint8_t *out, const uint8_t *in,
                    size_t len);
void bc_gcm_decrypt(struct bc_gcm *g, uint8_t *out, const uint8_t *in,
                    size_t len);
/* Ends the message. The caller truncates, and compares with bc_ct_equal(). */
void bc_gcm_tag(struct bc_gcm *g, uint8_t tag[16]);

/* ---- Poly1305 (RFC 8439, 2.5) -------------------------------------------- */

#define BC_POLY1305_KEY 32
#define BC_POLY1305_TAG 16

struct bc_poly1305;

struct bc_poly1305_ops {
    const char *name;
    uint32_t needs;
    /* h = (h + block) r for each of nblocks (which may be 0) 16-byte blocks:
     * whole ones with hibit = 1, which stands for the 1 byte behind each; or
     * with hibit = 0 the one block that the caller padded himself. */
    void (*blocks)(struct bc_poly1305 *p, const uint8_t *in, size_t nblocks,
                   uint32_t hibit);
    /* Brings the sum into h when blocks() has left it in lanes; NULL for a
     * level that never does. */
    void (*settle)(struct bc_poly1305 *p);
    /* Bytes of struct bc_poly1305's powers that the level uses. */
    size_t powers;
};

struct bc_poly1305 {
    /* The sum as h[0] + h[1] 2^64 + h[2] 2^128 with h[2] <= 4: not fully
     * reduced, which bc_poly1305_tag() does. Out of date while in_lanes. */
    _Alignas(64) uint64_t h[3];
    uint64_t r[2];   /* clamped */
    uint64_t s[2];   /* added at the end */
    uint64_t len;    /* bytes so far; low 4 bits: buf's fill */
    uint8_t buf[16]; /* the open block, zeros behind its bytes */
    const struct bc_poly1305_ops *ops;
    /* What a level makes of r when a message is long enough to use it; its own
     * business but for npowers, which is 0 when nothing is there. */
    uint32_t npowers;
    /* The sum is among it, in a vector's lanes: to bring it together takes as
     * long as two dozen blocks, so that waits until h is needed. */
    uint32_t in_lanes;
    _Alignas(64) uint64_t powers[116];
};

void bc_poly1305_init(struct bc_poly1305 *p, const struct bc_poly1305_ops *ops);
/* All zero again; begin again with bc_poly1305_init(). */
void bc_poly1305_wipe(struct bc_poly1305 *p);
/* Starts a message under a one-time key. */
void bc_poly1305_set_key(struct bc_poly1305 *p, const uint8_t key[32]);
void bc_poly1305_update(struct bc_poly1305 *p, const uint8_t *in, size_t len);
/* Ends the message; a new key is needed before the next. */
void bc_poly1305_tag(struct bc_poly1305 *p, uint8_t tag[16]);

/* ---- ChaCha20-Poly1305 (RFC 8439, 2.8) ------------------------------------
 */

#define BC_CHAPOLY_KEY 32
#define BC_CHAPOLY_NONCE 12
#define BC_CHAPOLY_TAG 16
/* 2^32 - 1 blocks of 64 bytes: counter 0 makes the Poly1305 key. */
#define BC_CHAPOLY_MAX_MSG ((UINT64_C(1) << 38) - 64)

/* Room for key stream made ahead: as many blocks as the widest pass makes. */
#define BC_CHAPOLY_STREAM 2048
/* AAD that is kept until the message shows how much key stream to make. */
#define BC_CHAPOLY_EARLY 64

struct bc_chapoly;

struct bc_chapoly_ops {
    const char *name;
    uint32_t needs;
    /* The Poly1305 that goes with it. */
    const struct bc_poly1305_ops *poly1305;
    /* How many blocks of 64 bytes a pass of ChaCha20 makes: any number up to
     * `several`, or `many`, a power of two, for which there is room in
     * BC_CHAPOLY_STREAM; or many - 1 with a key block. */
    uint32_t several, many;
    /* out = in ^ key stream of whole 64-byte blocks. state: RFC 8439 2.3, the
     * 16 words in native order; state[12] is advanced by nblocks. */
    void (*chacha20)(uint32_t state[16], uint8_t *out, const uint8_t *in,
                     size_t nblocks);
    /* One pass: the next block of key stream to key, unless that is NULL, and
     * nblocks further ones. The first n of those are used at once, out = in ^
     * block; the others go to stream, number i to stream + 64 i. The stream is
     * all zero before, and beyond nblocks also after. */
    void (*pass)(uint32_t state[16], uint8_t *key, uint8_t *stream,
                 size_t nblocks, uint8_t *out, const uint8_t *in, size_t n);
    /* out = in ^ stream, and the stream is wiped. */
    void (*use_stream)(uint8_t *out, const uint8_t *in, uint8_t *stream,
                       size_t len);
    /* ChaCha20 of nblocks 64-byte blocks, a multiple of `many`, and beside it
     * Poly1305 of as many bytes of text, which may be in, or what was put out
     * before. NULL if one after the other is as fast. */
    void (*beside)(struct bc_chapoly *c, uint8_t *out, const uint8_t *in,
                   const uint8_t *text, size_t nblocks);
};

struct bc_chapoly {
    _Alignas(64) uint32_t state[16]; /* constants, key, counter, nonce */
    uint64_t aad_len;                /* bytes so far */
    uint64_t msg_len;
    uint64_t first_len; /* of msg_len, in the first piece */
    uint64_t expected;  /* bytes after it in the message before this */
    /* Key stream of the message's next bytes is stream[at] .. stream[end - 1],
     * the rest of stream is zero. */
    uint32_t at, end;
    uint32_t keyed; /* mac has its key, and the AAD so far */
    const struct bc_chapoly_ops *ops;
    /* The AAD so far, if not keyed, and 16 zeros behind it. */
    uint8_t early[BC_CHAPOLY_EARLY + 16];
    struct bc_poly1305 mac;
    _Alignas(64) uint8_t stream[BC_CHAPOLY_STREAM];
};

/* c is all zero before, as bc_chapoly_wipe() leaves it. */
void bc_chapoly_init(struct bc_chapoly *c, const struct bc_chapoly_ops *ops);
/* All zero again; begin again with bc_chapoly_init(). */
void bc_chapoly_wipe(struct bc_chapoly *c);
void bc_chapoly_set_key(struct bc_chapoly *c, const uint8_t key[32]);
/* A new message. The key may come later, but before anything of it. */
void bc_chapoly_start(struct bc_chapoly *c, const uint8_t nonce[12]);
/* AAD in any number of pieces, all before the first byte of the message. */
void bc_chapoly_aad(struct bc_chapoly *c, const uint8_t *aad, size_t len);
/* The message in any number of pieces, one direction a message. */
void bc_chapoly_encrypt(struct bc_chapoly *c, uint8_t *out, const uint8_t *in,
                        size_t len);
void bc_chapoly_decrypt(struct bc_chapoly *c, uint8_t *out, const uint8_t *in,
                        size_t len);
/* Ends the message. The caller truncates, and compares with bc_ct_equal(). */
void bc_chapoly_tag(struct bc_chapoly *c, uint8_t tag[16]);

#endif
