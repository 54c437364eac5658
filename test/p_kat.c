/* Known answers through EVP: SP 800-38A F.2 (CBC), the examples of the GCM
 * specification and RFC 8439. They do not depend on the default provider. */
#include "evp.h"

#include <string.h>

struct answer {
    const char *cipher, *key, *iv, *aad, *plain, *text, *tag;
};

/* The message of SP 800-38A. */
#define F2                                                                     \
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"         \
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
/* The message and AAD of the GCM specification, test cases 4, 10 and 16. */
#define GP                                                                     \
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"         \
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
#define GA "feedfacedeadbeeffeedfacedeadbeefabaddad2"

static const struct answer answers[] = {
    {"AES-128-CBC", "2b7e151628aed2a6abf7158809cf4f3c",
     "000102030405060708090a0b0c0d0e0f", "", F2,
     "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
     "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7",
     ""},
    {"AES-192-CBC", "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
     "000102030405060708090a0b0c0d0e0f", "", F2,
     "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a"
     "571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd",
     ""},
    {"AES-256-CBC",
     "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
     "000102030405060708090a0b0c0d0e0f", "", F2,
     "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
     "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b",
     ""},
    {"AES-128-GCM", "00000000000000000000000000000000",
     "000000000000000000000000", "", "", "",
     "58e2fccefa7e3061367f1d57a4e7455a"},
    {"AES-128-GCM", "00000000000000000000000000000000",
     "000000000000000000000000", "", "00000000000000000000000000000000",
     "0388dace60b6a392f328c2b971b2fe78", "ab6e47d42cec13bdf53a67b21257bddf"},
    {"AES-128-GCM", "feffe9928665731c6d6a8f9467308308",
     "cafebabefacedbaddecaf888", GA, GP,
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
     "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
     "5bc94fbc3221a5db94fae95ae7121a47"},
    {"AES-128-GCM", "feffe9928665731c6d6a8f9467308308", "cafebabefacedbad", GA,
     GP,
     "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c7423"
     "73806900e49f24b22b097544d4896b424989b5e1ebac0f07c23f4598",
     "3612d2e79e3b0785561be14aaca2fccb"},
    {"AES-192-GCM", "feffe9928665731c6d6a8f9467308308feffe9928665731c",
     "cafebabefacedbaddecaf888", GA, GP,
     "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c"
     "7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9ccda2710",
     "2519498e80f1478f37ba55bd6d27618c"},
    {"AES-256-GCM",
     "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
     "cafebabefacedbaddecaf888", GA, GP,
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
     "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
     "76fc6ece0f4e1768cddf8853bb2d551b"},
    /* RFC 8439, 2.8.2 */
    {"ChaCha20-Poly1305",
     "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
     "070000004041424344454647", "50515253c0c1c2c3c4c5c6c7",
     "4c616469657320616e642047656e746c656d656e206f662074686520636c6173"
     "73206f66202739393a204966204920636f756c64206f6666657220796f75206f"
     "6e6c79206f6e652074697020666f7220746865206675747572652c2073756e73"
     "637265656e20776f756c642062652069742e",
     "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6"
     "3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36"
     "92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
     "3ff4def08e4b7a9de576d26586cec64b6116",
     "1ae10b594f09e26a7e902ecbd0600691"},
};

static int algorithm_named(const char *name)
{
    int i = 0;

    while (strcmp(algorithms[i].name, name) != 0)
        i++;
    return i;
}

static void check_answer(EVP_CIPHER_CTX *ctx, const struct answer *a)
{
    uint8_t key[32], iv[16], aad[64], plain[160], text[160], tag[16];
    uint8_t out[192], made[16];
    struct message m = {.alg = algorithm_named(a->cipher),
                        .enc = 1,
                        .nopad = 1,
                        .key = key,
                        .iv = iv,
                        .aad = aad,
                        .in = plain,
                        .tag = made};
    size_t n = unhex(text, sizeof(text), a->text);

    unhex(key, sizeof(key), a->key);
    m.iv_len = unhex(iv, sizeof(iv), a->iv);
    m.aad_len = unhex(aad, sizeof(aad), a->aad);
    m.len = unhex(plain, sizeof(plain), a->plain);
    m.tag_len = unhex(tag, sizeof(tag), a->tag);
    check_case("%s, iv %s, %zu bytes", a->cipher, a->iv, m.len);
    CHECK_INT(message_run(&ours, ctx, &m, out), n);
    CHECK_MEM(out, text, n);
    CHECK_MEM(made, tag, m.tag_len);
    m.enc = 0;
    m.in = text;
    m.tag = tag;
    CHECK_INT(message_run(&ours, ctx, &m, out), n);
    CHECK_MEM(out, plain, n);
    if (m.tag_len) {
        tag[n % 16] ^= 1;
        CHECK_INT(message_run(&ours, ctx, &m, out), -1);
        CHECK_QUEUE("");
    }
}

/* RFC 8439, 2.5.2 and A.3 */
static const struct {
    const char *key, *in, *tag;
} macs[] = {
    {"85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b",
     "43727970746f6772617068696320466f72756d2052657365617263682047726f"
     "7570",
     "a8061dc1305136c6c22b8baf0c0127a9"},
    {"0200000000000000000000000000000000000000000000000000000000000000",
     "ffffffffffffffffffffffffffffffff", "03000000000000000000000000000000"},
    {"02000000000000000000000000000000ffffffffffffffffffffffffffffffff",
     "02000000000000000000000000000000", "03000000000000000000000000000000"},
    {"0100000000000000000000000000000000000000000000000000000000000000",
     "fffffffffffffffffffffffffffffffff0ffffffffffffffffffffffffffffff"
     "11000000000000000000000000000000",
     "05000000000000000000000000000000"},
    {"0100000000000000000000000000000000000000000000000000000000000000",
     "fffffffffffffffffffffffffffffffffbfefefefefefefefefefefefefefefe"
     "01010101010101010101010101010101",
     "00000000000000000000000000000000"},
    {"0200000000000000000000000000000000000000000000000000000000000000",
     "fdffffffffffffffffffffffffffffff", "faffffffffffffffffffffffffffffff"},
    {"0100000000000000040000000000000000000000000000000000000000000000",
     "e33594d7505e43b900000000000000003394d7505e4379cd0100000000000000"
     "0000000000000000000000000000000001000000000000000000000000000000",
     "14000000000000005500000000000000"},
    {"0100000000000000040000000000000000000000000000000000000000000000",
     "e33594d7505e43b900000000000000003394d7505e4379cd0100000000000000"
     "00000000000000000000000000000000",
     "13000000000000000000000000000000"},
};

int main(void)
{
    EVP_CIPHER_CTX *ctx;
    size_t i;

    evp_open();
    ctx = EVP_CIPHER_CTX_new();
    for (i = 0; i < sizeof(answers) / sizeof(*answers); i++)
        check_answer(ctx, &answers[i]);
    EVP_CIPHER_CTX_free(ctx);
    for (i = 0; i < sizeof(macs) / sizeof(*macs); i++) {
        uint8_t key[32], in[64], tag[16], want[16];
        size_t len = unhex(in, sizeof(in), macs[i].in);

        check_case("POLY1305 answer %zu", i);
        unhex(key, sizeof(key), macs[i].key);
        unhex(want, sizeof(want), macs[i].tag);
        CHECK(poly1305_run(&ours, key, in, len, tag));
        CHECK_MEM(tag, want, 16);
    }
    evp_close();
    return check_done();
}
