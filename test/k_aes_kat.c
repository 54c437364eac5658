/*
 * Known answers for AES, CBC and GCM, on every ops table that runs here and on
 * the tests' own reference: FIPS 197 appendix C, SP 800-38A F.2, and the test
 * cases of McGrew and Viega, "The Galois/Counter Mode of Operation".
 */
#include <string.h>

#include "check.h"
#include "levels.h"
#include "ref_aes.h"

/* ---- FIPS 197, appendix C ------------------------------------------------ */

static const char fips_plain[] = "00112233445566778899aabbccddeeff";

static const struct {
    const char *key, *cipher;
} fips197[] = {
    {"000102030405060708090a0b0c0d0e0f", "69c4e0d86a7b0430d8cdb78070b4c55a"},
    {"000102030405060708090a0b0c0d0e0f1011121314151617",
     "dda97ca4864cdfe06eaf70a0ec0d7191"},
    {"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
     "8ea2b7ca516745bfeafc49904b496089"},
};

static void test_reference(void)
{
    static struct ref_aes a;
    uint8_t key[32], plain[16], cipher[16], out[16];
    uint8_t x[16] = {0x12, 0x34}, one[16] = {0x80};
    size_t i;

    unhex(plain, 16, fips_plain);
    for (i = 0; i < 3; i++) {
        check_case("reference, FIPS 197 C.%zu", i + 1);
        ref_aes_key(&a, key, unhex(key, 32, fips197[i].key));
        unhex(cipher, 16, fips197[i].cipher);
        ref_aes_encrypt(&a, out, plain);
        CHECK_MEM(out, cipher, 16);
        ref_aes_decrypt(&a, out, cipher);
        CHECK_MEM(out, plain, 16);
    }
    check_case("reference, inversion in GF(2^128)");
    memcpy(out, x, 16);
    ref_gf_invert(out);
    ref_gf_mul(out, x);
    CHECK_MEM(out, one, 16);
}

static void test_fips197(const struct bc_cbc_ops *cbc)
{
    static struct bc_cbc c;
    uint8_t key[32], plain[16], cipher[16], out[16];
    size_t i;

    unhex(plain, 16, fips_plain);
    for (i = 0; i < 3; i++) {
        check_case("cbc %s, FIPS 197 C.%zu", cbc->name, i + 1);
        unhex(cipher, 16, fips197[i].cipher);
        bc_cbc_init(&c, cbc);
        bc_cbc_set_key(&c, key, unhex(key, 32, fips197[i].key));
        bc_cbc_encrypt(&c, out, plain, 1);
        CHECK_MEM(out, cipher, 16);
        memset(c.iv, 0, 16);
        bc_cbc_decrypt(&c, out, cipher, 1);
        CHECK_MEM(out, plain, 16);
    }
}

/* ---- SP 800-38A, F.2.1 to F.2.6 ------------------------------------------ */

static const char cbc_iv[] = "000102030405060708090a0b0c0d0e0f";
static const char cbc_plain[] =
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";

static const struct {
    const char *key, *cipher;
} sp800_38a[] = {
    {"2b7e151628aed2a6abf7158809cf4f3c",
     "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
     "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7"},
    {"8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
     "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a"
     "571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd"},
    {"603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
     "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
     "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b"},
};

static void test_sp800_38a(const struct bc_cbc_ops *cbc)
{
    static struct bc_cbc c;
    uint8_t key[32], plain[64], cipher[64], out[64];
    size_t i;

    unhex(plain, 64, cbc_plain);
    for (i = 0; i < 3; i++) {
        check_case("cbc %s, SP 800-38A, AES-%zu", cbc->name, 128 + 64 * i);
        unhex(cipher, 64, sp800_38a[i].cipher);
        bc_cbc_init(&c, cbc);
        bc_cbc_set_key(&c, key, unhex(key, 32, sp800_38a[i].key));
        unhex(c.iv, 16, cbc_iv);
        bc_cbc_encrypt(&c, out, plain, 4);
        CHECK_MEM(out, cipher, 64);
        CHECK_MEM(c.iv, cipher + 48, 16);
        unhex(c.iv, 16, cbc_iv);
        bc_cbc_decrypt(&c, out, cipher, 4);
        CHECK_MEM(out, plain, 64);
        CHECK_MEM(c.iv, cipher + 48, 16);
    }
}

/* ---- McGrew and Viega, appendix B ---------------------------------------- */

#define KEY_64 "feffe9928665731c"
#define KEY_128 KEY_64 "6d6a8f9467308308"
#define KEY_192 KEY_128 KEY_64
#define KEY_256 KEY_128 KEY_128
#define ZERO_64 "0000000000000000"
#define ZERO_128 ZERO_64 ZERO_64
#define ZERO_IV ZERO_64 "00000000"
#define IV_8 "cafebabefacedbad"
#define IV_12 IV_8 "decaf888"
#define IV_60                                                                  \
    "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728"         \
    "c3c0c95156809539fcf0e2429a6b525416aedbf5a0de6a57a637b39b"
#define AAD_20 "feedfacedeadbeeffeedfacedeadbeefabaddad2"
#define PLAIN_60                                                               \
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"         \
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
#define PLAIN_64 PLAIN_60 "1aafd255"

static const struct {
    const char *key, *iv, *aad, *plain, *cipher, *tag;
} gcm_cases[] = {
    {ZERO_128, ZERO_IV, "", "", "", "58e2fccefa7e3061367f1d57a4e7455a"},
    {ZERO_128, ZERO_IV, "", ZERO_128, "0388dace60b6a392f328c2b971b2fe78",
     "ab6e47d42cec13bdf53a67b21257bddf"},
    {KEY_128, IV_12, "", PLAIN_64,
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
     "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985",
     "4d5c2af327cd64a62cf35abd2ba6fab4"},
    {KEY_128, IV_12, AAD_20, PLAIN_60,
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
     "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
     "5bc94fbc3221a5db94fae95ae7121a47"},
    {KEY_128, IV_8, AAD_20, PLAIN_60,
     "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c7423"
     "73806900e49f24b22b097544d4896b424989b5e1ebac0f07c23f4598",
     "3612d2e79e3b0785561be14aaca2fccb"},
    {KEY_128, IV_60, AAD_20, PLAIN_60,
     "8ce24998625615b603a033aca13fb894be9112a5c3a211a8ba262a3cca7e2ca7"
     "01e4a9a4fba43c90ccdcb281d48c7c6fd62875d2aca417034c34aee5",
     "619cc5aefffe0bfa462af43c1699d050"},
    {ZERO_128 ZERO_64, ZERO_IV, "", "", "", "cd33b28ac773f74ba00ed1f312572435"},
    {ZERO_128 ZERO_64, ZERO_IV, "", ZERO_128,
     "98e7247c07f0fe411c267e4384b0f600", "2ff58d80033927ab8ef4d4587514f0fb"},
    {KEY_192, IV_12, "", PLAIN_64,
     "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c"
     "7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9ccda2710acade256",
     "9924a7c8587336bfb118024db8674a14"},
    {KEY_192, IV_12, AAD_20, PLAIN_60,
     "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c"
     "7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9ccda2710",
     "2519498e80f1478f37ba55bd6d27618c"},
    {KEY_192, IV_8, AAD_20, PLAIN_60,
     "0f10f599ae14a154ed24b36e25324db8c566632ef2bbb34f8347280fc4507057"
     "fddc29df9a471f75c66541d4d4dad1c9e93a19a58e8b473fa0f062f7",
     "65dcc57fcf623a24094fcca40d3533f8"},
    {KEY_192, IV_60, AAD_20, PLAIN_60,
     "d27e88681ce3243c4830165a8fdcf9ff1de9a1d8e6b447ef6ef7b79828666e45"
     "81e79012af34ddd9e2f037589b292db3e67c036745fa22e7e9b7373b",
     "dcf566ff291c25bbb8568fc3d376a6d9"},
    {ZERO_128 ZERO_128, ZERO_IV, "", "", "",
     "530f8afbc74536b9a963b4f1c4cb738b"},
    {ZERO_128 ZERO_128, ZERO_IV, "", ZERO_128,
     "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919"},
    {KEY_256, IV_12, "", PLAIN_64,
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
     "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad",
     "b094dac5d93471bdec1a502270e3cc6c"},
    {KEY_256, IV_12, AAD_20, PLAIN_60,
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
     "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
     "76fc6ece0f4e1768cddf8853bb2d551b"},
    {KEY_256, IV_8, AAD_20, PLAIN_60,
     "c3762df1ca787d32ae47c13bf19844cbaf1ae14d0b976afac52ff7d79bba9de0"
     "feb582d33934a4f0954cc2363bc73f7862ac430e64abe499f47c9b1f",
     "3a337dbf46a792c45e454913fe2ea8f2"},
    {KEY_256, IV_60, AAD_20, PLAIN_60,
     "5a8def2f0c9e53f1f75d7853659e2a20eeb2b22aafde6419a058ab4f6f746bf4"
     "0fc0c3b780f244452da3ebf1c5d82cdea2418997200ef82e44ae7e3f",
     "a44a8266ee1c8eb0c8b5d4cf5ae9f19a"},
};

/* With gcm == NULL the reference. */
static void test_gcm_cases(const struct bc_gcm_ops *gcm)
{
    static struct bc_gcm g;
    static struct ref_gcm r;
    uint8_t key[32], iv[64], aad[32], plain[64], cipher[64], tag[16];
    uint8_t out[64], out_tag[16];
    size_t i;

    for (i = 0; i < sizeof(gcm_cases) / sizeof(gcm_cases[0]); i++) {
        size_t keylen = unhex(key, sizeof(key), gcm_cases[i].key);
        size_t ivlen = unhex(iv, sizeof(iv), gcm_cases[i].iv);
        size_t aadlen = unhex(aad, sizeof(aad), gcm_cases[i].aad);
        size_t len = unhex(plain, sizeof(plain), gcm_cases[i].plain);

        CHECK_INT(unhex(cipher, sizeof(cipher), gcm_cases[i].cipher), len);
        unhex(tag, 16, gcm_cases[i].tag);
        if (gcm == NULL) {
            check_case("reference, GCM test case %zu", i + 1);
            ref_gcm_key(&r, key, keylen);
            ref_gcm_seal(&r, out, out_tag, iv, ivlen, aad, aadlen, plain, len);
            CHECK_MEM(out, cipher, len);
            CHECK_MEM(out_tag, tag, 16);
            continue;
        }
        check_case("gcm %s, test case %zu", gcm->name, i + 1);
        bc_gcm_init(&g, gcm);
        bc_gcm_set_key(&g, key, keylen);
        bc_gcm_start(&g, iv, ivlen);
        bc_gcm_aad(&g, aad, aadlen);
        bc_gcm_encrypt(&g, out, plain, len);
        bc_gcm_tag(&g, out_tag);
        CHECK_MEM(out, cipher, len);
        CHECK_MEM(out_tag, tag, 16);
        bc_gcm_start(&g, iv, ivlen);
        bc_gcm_aad(&g, aad, aadlen);
        bc_gcm_decrypt(&g, out, cipher, len);
        bc_gcm_tag(&g, out_tag);
        CHECK_MEM(out, plain, len);
        CHECK_MEM(out_tag, tag, 16);
    }
}

int main(void)
{
    size_t i;

    test_reference();
    test_gcm_cases(NULL);
    for (i = 0; bc_cbc_list[i]; i++) {
        if (!level_runs("cbc", bc_cbc_list[i]->name, bc_cbc_list[i]->needs))
            continue;
        test_fips197(bc_cbc_list[i]);
        test_sp800_38a(bc_cbc_list[i]);
    }
    for (i = 0; bc_gcm_list[i]; i++)
        if (level_runs("gcm", bc_gcm_list[i]->name, bc_gcm_list[i]->needs))
            test_gcm_cases(bc_gcm_list[i]);
    return check_done();
}
