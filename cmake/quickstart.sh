#!/bin/sh
# From a fresh checkout to a working module in a few minutes:
#
#     sh cmake/quickstart.sh
#
# Builds the module below build/quickstart, writes an openssl.cnf for it, and
# uses both on real input, each result compared with that of OpenSSL's default
# provider; then measures both side by side. Nothing outside build/ changes,
# except that missing packages are installed (apt-get, with sudo when not
# root). Every command is shown before it runs.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
. cmake/packages.sh

build=build/quickstart
began=$(date +%s)
doing=

at_exit() {
    status=$?
    [ $status = 0 ] || {
        echo
        echo "FAILED while $doing."
    } >&2
}
trap at_exit EXIT

step() {
    doing=$1
    echo
    echo "== $1"
}

# Shows a command, then runs it.
run() {
    echo "\$ $1"
    eval "$1"
}

step "installing what is missing"
install_missing gcc libc6-dev cmake make pkg-config libssl-dev openssl
gcc --version | head -n 1
openssl version

step "building the module"
mkdir -p $build
run "cmake -S . -B $build -DBULKCIPHER_BENCH=OFF >$build/log 2>&1" ||
    { cat $build/log && false; }
run "cmake --build $build -j 2 --target bulkcipher bulkcipher-doctor aead_file >>$build/log 2>&1" ||
    { cat $build/log && false; }
ls -l $build/provider/bulkcipher.so

step "writing an openssl.cnf for the build tree"
ours=$build/openssl.cnf
cat >$ours <<EOF
openssl_conf = openssl_init

[openssl_init]
providers = provider_sect
alg_section = algorithm_sect

[provider_sect]
bulkcipher = bulkcipher_sect
default = default_sect

[bulkcipher_sect]
module = $top/$build/provider/bulkcipher.so
activate = 1

[default_sect]
activate = 1

[algorithm_sect]
default_properties = ?provider=bulkcipher
EOF
run "cat $ours"
# With this file OpenSSL uses its default provider and nothing else.
none=/dev/null

step "asking OpenSSL who serves what with this configuration"
run "OPENSSL_CONF=$ours $build/provider/bulkcipher-doctor"

# Something real to encrypt: this project's sources, some hundred kilobytes.
plain=$build/sources.tar
tar -cf $plain CMakeLists.txt kernels provider test
ls -l $plain

step "encrypting through the module, decrypting with the default provider"
pbkdf2="openssl enc -aes-256-cbc -pbkdf2 -pass pass:example"
run "OPENSSL_CONF=$ours $pbkdf2 -e -in $plain -out $build/cbc"
run "OPENSSL_CONF=$none $pbkdf2 -d -in $build/cbc -out $build/cbc.back"
run "cmp $plain $build/cbc.back"
echo "The same file came back. And the other way round:"
run "OPENSSL_CONF=$none $pbkdf2 -e -in $plain -out $build/cbc"
run "OPENSSL_CONF=$ours $pbkdf2 -d -in $build/cbc -out $build/cbc.back"
run "cmp $plain $build/cbc.back"

step "computing a Poly1305 code with both"
key=$(openssl rand -hex 32)
mac="openssl mac -macopt hexkey:$key -in $plain POLY1305"
run "OPENSSL_CONF=$ours $mac" | tee $build/mac.ours
run "OPENSSL_CONF=$none $mac" | tee $build/mac.default
[ -n "$(sed 1d $build/mac.ours)" ]
[ "$(tail -n 1 $build/mac.ours)" = "$(tail -n 1 $build/mac.default)" ]
echo "The codes are equal."

# `openssl enc` offers no AEAD ciphers; test/aead_file.c is a small EVP program
# that does. It asks for one provider by name.
export OPENSSL_MODULES="$build/provider"
aead=$build/test/aead_file
nonce=$(openssl rand -hex 12)
for cipher in AES-256-GCM ChaCha20-Poly1305; do
    step "encrypting with $cipher, both ways"
    for from in bulkcipher default; do
        to=default
        [ $from = bulkcipher ] || to=bulkcipher
        run "$aead $from $cipher encrypt $key $nonce <$plain >$build/aead.$from"
        run "$aead $to $cipher decrypt $key $nonce <$build/aead.$from >$build/aead.back"
        run "cmp $plain $build/aead.back"
    done
    run "cmp $build/aead.bulkcipher $build/aead.default"
    echo "The same file came back, and both encrypted it to the same bytes."
done

step "measuring both providers with \`openssl speed\`"
# speed OPENSSL_CONF BYTES CIPHER OPTION...: GB/s
speed() {
    conf=$1
    bytes=$2
    shift 2
    OPENSSL_CONF=$conf openssl speed -mr -seconds 1 -bytes "$bytes" \
        -evp "$@" 2>$build/speed.log |
        awk -F: '$1 == "+F" { printf "%.2f", $4 / 1e9; found = 1 }
            END { exit !found }' || { cat $build/speed.log >&2 && false; }
}
echo "GB/s, one second each. The first figure, for example, comes from"
echo "\$ OPENSSL_CONF=$none openssl speed -seconds 1 -bytes 1024" \
    "-evp AES-128-CBC"
echo
printf '%-28s %6s  %10s  %10s  %5s\n' job bytes default bulkcipher ratio
while read -r job; do
    for bytes in 1024 16384; do
        # shellcheck disable=SC2086
        theirs=$(speed $none $bytes $job)
        # shellcheck disable=SC2086
        mine=$(speed $ours $bytes $job)
        printf '%-28s %6s  %10s  %10s  %5s\n' "$job" $bytes "$theirs" "$mine" \
            "$(awk "BEGIN { printf \"%.2f\", $mine / $theirs }")"
    done
done <<EOF
AES-128-CBC
AES-256-CBC
AES-256-CBC -decrypt
AES-128-GCM -aead
AES-256-GCM -aead
ChaCha20-Poly1305 -aead
EOF

cat <<EOF

== Done in $(($(date +%s) - began)) s

To use the module in one program, start it with this configuration:

    OPENSSL_CONF=$top/$ours PROGRAM...

To use it on the whole machine, install it (cmake --install $build) and put
these lines into the openssl.cnf that \`openssl version -d\` leads to. Some of
its sections may be there already: add to them. README.md explains each line.

    openssl_conf = openssl_init         # at the top, before any section

    [openssl_init]
    providers = provider_sect
    alg_section = algorithm_sect

    [provider_sect]
    bulkcipher = bulkcipher_sect
    default = default_sect

    [bulkcipher_sect]
    activate = 1

    [default_sect]                      # without this, all else is lost
    activate = 1

    [algorithm_sect]
    default_properties = ?provider=bulkcipher
EOF
