/*
 * AES-CBC over an ops table. The mode has nothing to add to whole blocks but
 * the schedule for decryption, which is made when it is first needed: many
 * keys only ever encrypt. Padding and partial blocks are EVP's rules and the
 * provider's matter.
 */
#include "internal.h"

void bc_cbc_init(struct bc_cbc *c, const struct bc_cbc_ops *ops)
{
    c->ops = ops;
    c->key.rounds = 0;
    c->key.has_dec = 0;
    memset(c->iv, 0, sizeof(c->iv));
}

void bc_cbc_set_key(struct bc_cbc *c, const uint8_t *key, size_t keylen)
{
    c->ops->set_key(&c->key, key, keylen);
}

void bc_cbc_encrypt(struct bc_cbc *c, uint8_t *out, const uint8_t *in,
                    size_t nblocks)
{
    c->ops->encrypt(&c->key, c->iv, out, in, nblocks);
}

APART void decrypt_first(struct bc_cbc *c, uint8_t *out, const uint8_t *in,
                         size_t nblocks)
{
    c->ops->add_dec(&c->key);
    c->ops->decrypt(&c->key, c->iv, out, in, nblocks);
}

void bc_cbc_decrypt(struct bc_cbc *c, uint8_t *out, const uint8_t *in,
                    size_t nblocks)
{
    if (c->key.has_dec)
        c->ops->decrypt(&c->key, c->iv, out, in, nblocks);
    else
        decrypt_first(c, out, in, nblocks);
}
