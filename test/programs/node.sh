#!/bin/sh
# Node.js with --openssl-config: crypto, and TLS between two ends in one process.
# Many builds of Node.js carry an OpenSSL of their own; the module must load
# into that as well.
#
#     sh test/programs/node.sh [BUILD-FOLDER]
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$top/build/release}
. "$top/test/trace.sh"
need node nodejs

certificate
cat >"$work/run.js" <<'EOF'
const crypto = require('crypto');
const fs = require('fs');
const tls = require('tls');
const assert = require('assert');

const folder = process.argv[2];
const data = crypto.randomBytes(4000000);

// There and back, in uneven pieces; a changed tag must be noticed.
function cipher(name, keyLength, ivLength) {
    const aead = !name.endsWith('cbc');
    const options = aead ? { authTagLength: 16 } : undefined;
    const key = crypto.randomBytes(keyLength);
    const iv = crypto.randomBytes(ivLength);
    const aad = crypto.randomBytes(21);
    const c = crypto.createCipheriv(name, key, iv, options);
    if (aead) c.setAAD(aad, { plaintextLength: data.length });
    const sealed = Buffer.concat([c.update(data.subarray(0, 1000001)),
        c.update(data.subarray(1000001)), c.final()]);
    const open = (tag) => {
        const d = crypto.createDecipheriv(name, key, iv, options);
        if (aead) {
            d.setAAD(aad, { plaintextLength: data.length });
            d.setAuthTag(tag);
        }
        return Buffer.concat([d.update(sealed), d.final()]);
    };
    const tag = aead ? c.getAuthTag() : undefined;
    assert(open(tag).equals(data), name);
    if (aead) {
        tag[5] ^= 1;
        assert.throws(() => open(tag), /unable to authenticate/);
    }
}

function serve(options) {
    return new Promise((resolve, reject) => {
        const server = tls.createServer({ ...options,
            cert: fs.readFileSync(folder + '/cert.pem'),
            key: fs.readFileSync(folder + '/key.pem') },
            (socket) => socket.pipe(socket));
        server.listen(0, '127.0.0.1', () => {
            const got = [];
            let length = 0;
            const client = tls.connect({ ...options,
                port: server.address().port, host: '127.0.0.1',
                servername: 'localhost',
                ca: fs.readFileSync(folder + '/cert.pem') },
                () => client.write(data));
            client.on('error', reject);
            client.on('data', (piece) => {
                got.push(piece);
                length += piece.length;
                if (length < data.length) return;
                assert(Buffer.concat(got).equals(data));
                console.log('tls: ' + client.getProtocol() + ' ' +
                    client.getCipher().standardName + ', 4 MB each way');
                client.destroy();
                server.close(resolve);
            });
        });
    });
}

(async () => {
    console.log('Node.js ' + process.versions.node + ', OpenSSL ' +
        process.versions.openssl +
        (process.config.variables.node_shared_openssl ? ', the system\'s'
            : ', its own'));
    for (const bits of [128, 192, 256]) {
        cipher('aes-' + bits + '-cbc', bits / 8, 16);
        cipher('aes-' + bits + '-gcm', bits / 8, 12);
    }
    cipher('chacha20-poly1305', 32, 12);
    console.log('crypto: 4 MB there and back with each cipher');
    for (const suite of ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384',
        'TLS_CHACHA20_POLY1305_SHA256'])
        await serve({ ciphers: suite });
    for (const suite of ['ECDHE-RSA-AES128-GCM-SHA256',
        'ECDHE-RSA-CHACHA20-POLY1305', 'ECDHE-RSA-AES256-SHA384'])
        await serve({ ciphers: suite, maxVersion: 'TLSv1.2' });
})().catch((error) => {
    console.error(error);
    process.exit(1);
});
EOF
conf node
timeout 300 node --openssl-config="$work/node.cnf" "$work/run.js" "$work" ||
    die "node"
# crypto: 8 MB each; TLS: there and back, each way encrypted and decrypted.
must_use node AES-192-CBC 8000000
must_use node AES-192-GCM 8000000
must_use node AES-128-CBC 8000000
for algorithm in AES-256-CBC AES-128-GCM AES-256-GCM ChaCha20-Poly1305; do
    must_use node $algorithm 24000000
done
counts_of node
