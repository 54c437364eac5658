#!/bin/sh
# Python: its ssl module, 10 MB each way in TLS 1.2 and 1.3; and the package
# python3-cryptography with its own tests of AEAD, CBC and Poly1305, taken from
# its source package.
#
#     sh test/programs/python.sh [BUILD-FOLDER]
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$top/build/release}
. "$top/test/trace.sh"
. "$top/test/apt_source.sh"
python=/usr/bin/python3 # the system's: another may bring its own OpenSSL
need $python python3

# ---- The ssl module, server and client in one process

certificate
cat >"$work/tls.py" <<'EOF'
import hashlib, os, socket, ssl, sys, threading

folder, version, suite = sys.argv[1:]
data = os.urandom(10_000_000)

def context(purpose):
    c = ssl.SSLContext(purpose)
    c.minimum_version = c.maximum_version = getattr(ssl.TLSVersion, version)
    if version == "TLSv1_2":
        c.set_ciphers(suite)
    return c

def receive(connection):
    got = hashlib.sha256()
    left = len(data)
    while left:
        piece = connection.recv(min(left, 65536))
        if not piece:
            sys.exit("the connection ended early")
        got.update(piece)
        left -= len(piece)
    if got.digest() != hashlib.sha256(data).digest():
        sys.exit("other bytes came")

def serve():
    with server.wrap_socket(listener.accept()[0], server_side=True) as c:
        receive(c)
        c.sendall(data)

server = context(ssl.PROTOCOL_TLS_SERVER)
server.load_cert_chain(folder + "/cert.pem", folder + "/key.pem")
client = context(ssl.PROTOCOL_TLS_CLIENT)
client.load_verify_locations(folder + "/cert.pem")
listener = socket.create_server(("127.0.0.1", 0))
thread = threading.Thread(target=serve, daemon=True)
thread.start()
with socket.create_connection(listener.getsockname(), timeout=60) as s:
    with client.wrap_socket(s, server_hostname="localhost") as c:
        c.sendall(data)
        receive(c)
        print("ssl:", c.version(), c.cipher()[0] + ": 10 MB each way, ", end="")
thread.join(60)
EOF
while read -r version suite algorithm; do
    conf ssl
    rm -f "$work/ssl.counts"
    OPENSSL_CONF=$work/ssl.cnf timeout 120 $python "$work/tls.py" "$work" \
        "$version" "$suite" || die "ssl, $version $suite"
    must_use ssl "$algorithm" 40000000
    echo "$algorithm at both ends"
done <<EOF
TLSv1_3 any AES-256-GCM
TLSv1_2 ECDHE-RSA-AES128-GCM-SHA256 AES-128-GCM
TLSv1_2 ECDHE-RSA-CHACHA20-POLY1305 ChaCha20-Poly1305
TLSv1_2 ECDHE-RSA-AES256-SHA384 AES-256-CBC
EOF

# ---- The tests of python3-cryptography

for needed in cryptography cryptography_vectors pytest pytest_subtests pretend; do
    $python -c "import $needed" 2>/dev/null ||
        skip "the rest: no $needed here (packages python3-cryptography," \
            "python3-cryptography-vectors, python3-pytest-subtests," \
            "python3-pretend)"
done
cache=${BULKCIPHER_CACHE:-$HOME/.cache/bulkcipher}/cryptography
fetch_source python-cryptography "$cache"
conf cryptography
# Without the rest of the source, so that the installed package is tested.
cp -r "$cache/src/tests" "$work/tests"
cd "$work"
tests=
for name in aead aes aes_gcm block ciphers poly1305; do
    tests="$tests tests/hazmat/primitives/test_$name.py"
done
# shellcheck disable=SC2086
OPENSSL_CONF=$work/cryptography.cnf $python -m pytest -q -W ignore \
    -p no:cacheprovider $tests >"$work/pytest.log" 2>&1 || {
    grep -a '^FAILED\|^ERROR\|^E  ' "$work/pytest.log" | head -40
    die "cryptography's tests"
}
echo "cryptography: $(tail -n 1 "$work/pytest.log")"
for algorithm in AES-128-CBC AES-256-CBC AES-128-GCM AES-256-GCM \
    ChaCha20-Poly1305 POLY1305; do
    must_use cryptography $algorithm 1000
done
counts_of cryptography
