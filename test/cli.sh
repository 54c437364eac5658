#!/bin/sh
# The module under the openssl program: lists, enc, mac, speed, and what a
# user is told when something is wrong.
#
#   sh test/cli.sh MODULE-FOLDER AEAD-FILE-PROGRAM [OPENSSL]
#
# BC_QUICK=1 runs fewer speed tests.
set -u

modules=$1
aead_file=$2
openssl=${3-openssl}
command -v "$openssl" >/dev/null || {
    echo "skipped: no program openssl"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
OPENSSL_CONF=/dev/null
export OPENSSL_CONF

# Ours for what it has, default for the rest; and default alone.
ours="-provider-path $modules -provider bulkcipher -provider default"
mine="$ours -propquery provider=bulkcipher"
theirs="-provider default"

checks=0
failed=0

# check WHAT CONDITION...: the words after the first are a command.
check() {
    what=$1
    shift
    checks=$((checks + 1))
    "$@" || {
        failed=$((failed + 1))
        echo "failed: $what"
        echo "        $*"
    }
}

# Runs a command, keeps its output and status. A crash is never right.
try() {
    "$@" >"$work/out" 2>"$work/err"
    status=$?
    check "no crash (status $status): $*" test $status -lt 128
}

says() {
    grep -qi -e "$1" "$work/err" "$work/out" || {
        sed 's/^/        | /' "$work/err" | head -n 8
        return 1
    }
}

refused() { # refused WHAT TEXT: the last try failed and said why
    check "$1 is refused" test "$status" -ne 0
    check "$1: says '$2'" says "$2"
}

# ---- Lists -----------------------------------------------------------------

try "$openssl" list -providers $ours -verbose
check "list -providers" test $status = 0
for text in 'bulkcipher$' 'status: active' 'build info:' 'version:'; do
    check "list -providers shows '$text'" grep -q "$text" "$work/out"
done
try "$openssl" list -cipher-algorithms -provider-path "$modules" \
    -provider bulkcipher
for name in AES-128-CBC AES-192-CBC AES-256-CBC AES-128-GCM AES-192-GCM \
    AES-256-GCM ChaCha20-Poly1305; do
    check "list -cipher-algorithms shows $name" \
        grep -qi "$name.*@ bulkcipher" "$work/out"
done
try "$openssl" list -mac-algorithms -provider-path "$modules" \
    -provider bulkcipher
check "list -mac-algorithms shows POLY1305" \
    grep -q "POLY1305.*@ bulkcipher" "$work/out"

# ---- enc -------------------------------------------------------------------

key=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
iv=f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff
for size in 0 15 16 100003; do
    head -c $size /dev/urandom >"$work/plain"
    for bits in 128 192 256; do
        cipher=aes-$bits-cbc
        for way in ours-theirs theirs-ours; do
            if [ $way = ours-theirs ]; then
                first=$mine second=$theirs
            else
                first=$theirs second=$mine
            fi
            try "$openssl" enc -$cipher -pbkdf2 -iter 100 -pass pass:x $first \
                -in "$work/plain" -out "$work/text"
            check "enc $cipher, $size bytes, $way" test $status = 0
            try "$openssl" enc -d -$cipher -pbkdf2 -iter 100 -pass pass:x \
                $second -in "$work/text" -out "$work/again"
            check "enc -d $cipher, $size bytes, $way" \
                cmp -s "$work/plain" "$work/again"
        done
        k=$(echo $key | cut -c 1-$((bits / 4)))
        for by in "$mine" "$theirs"; do
            try "$openssl" enc -$cipher -K $k -iv $iv $by -in "$work/plain"
            cp "$work/out" "$work/text.$([ "$by" = "$mine" ] && echo a || echo b)"
        done
        check "enc -K $cipher, $size bytes: the same bytes" \
            cmp -s "$work/text.a" "$work/text.b"
    done
done

# ---- mac -------------------------------------------------------------------

for size in 0 1 16 100003; do
    head -c $size /dev/urandom >"$work/plain"
    try "$openssl" mac -macopt hexkey:$key $mine -in "$work/plain" POLY1305
    check "mac POLY1305, $size bytes" test $status = 0
    mv "$work/out" "$work/mac"
    try "$openssl" mac -macopt hexkey:$key $theirs -in "$work/plain" POLY1305
    check "mac POLY1305, $size bytes: as default's" cmp -s "$work/mac" \
        "$work/out"
done

# ---- speed (openssl 21119) -------------------------------------------------

speed() {
    try "$openssl" speed -seconds 1 $mine "$@"
    check "speed $*" test $status = 0
    check "speed $*: a result" grep -q "k *$" "$work/out"
    check "speed $*: no error" test -z "$(grep -i error "$work/err")"
}
speed -bytes 16 -evp AES-256-CBC
speed -bytes 16384 -decrypt -evp AES-128-CBC
speed -bytes 1 -evp AES-256-GCM
speed -bytes 1024 -aead -evp AES-256-GCM
speed -bytes 31 -evp ChaCha20-Poly1305
if [ "${BC_QUICK:-0}" = 0 ]; then
    speed -bytes 32 -evp AES-192-CBC
    speed -bytes 64 -decrypt -evp AES-128-GCM
    speed -bytes 8192 -evp AES-192-GCM
    speed -bytes 1024 -aead -evp ChaCha20-Poly1305
    # It sets no tag, which the module remarks upon; it measures all the same.
    try "$openssl" speed -seconds 1 $mine -bytes 1024 -decrypt \
        -evp ChaCha20-Poly1305
    check "speed -decrypt -evp ChaCha20-Poly1305" test $status = 0
fi

# ---- Bad input -------------------------------------------------------------

head -c 1000 /dev/zero >"$work/plain"
"$openssl" enc -aes-256-cbc -K $key -iv $iv $theirs -in "$work/plain" \
    -out "$work/text"
cbc="$openssl enc -d -aes-256-cbc -K $key -iv $iv $mine"
head -c 1007 "$work/text" >"$work/damaged"
printf 'X' >>"$work/damaged"
try $cbc -in "$work/damaged"
refused "damaged padding" "bad decrypt"
head -c 1001 "$work/text" >"$work/damaged"
try $cbc -in "$work/damaged"
refused "cut file" "wrong final block length"
: >"$work/damaged"
try $cbc -in "$work/damaged"
refused "empty file" "wrong final block length"
try "$openssl" enc -d -aes-256-cbc -K 00$key -iv $iv $mine -in "$work/text"
refused "key too long" "too long"
try "$openssl" enc -d -aes-256-cbc -K $key -iv xyz $mine -in "$work/text"
refused "IV that is not hex" "non-hex digit"
try "$openssl" enc -aes-256-gcm -K $key -iv $iv $mine -in "$work/plain"
refused "enc with an AEAD cipher" "AEAD ciphers not supported"
try "$openssl" mac -macopt hexkey:0011 $mine -in "$work/plain" POLY1305
refused "MAC key of two bytes" "invalid key length"
try "$openssl" mac $mine -in "$work/plain" POLY1305
refused "MAC without a key" "no key set"
try "$openssl" list -providers -provider-path "$work" -provider bulkcipher
refused "missing module" "unable to load provider bulkcipher"
echo "no module" >"$work/bulkcipher.so"
try "$openssl" list -providers -provider-path "$work" -provider bulkcipher
refused "damaged module" "unable to load provider bulkcipher"

# Forgeries through a program that uses the AEADs.
for name in AES-256-GCM ChaCha20-Poly1305; do
    aead="$aead_file bulkcipher $name"
    OPENSSL_MODULES=$modules
    export OPENSSL_MODULES
    $aead encrypt $key f0f1f2f3f4f5f6f7f8f9fafb <"$work/plain" >"$work/text"
    $aead_file default $name decrypt $key f0f1f2f3f4f5f6f7f8f9fafb \
        <"$work/text" >"$work/again"
    check "$name: default opens what ours made" cmp -s "$work/plain" \
        "$work/again"
    head -c 1000 "$work/text" >"$work/damaged"
    head -c 16 /dev/zero >>"$work/damaged"
    $aead decrypt $key f0f1f2f3f4f5f6f7f8f9fafb <"$work/damaged" \
        >"$work/out" 2>"$work/err"
    status=$?
    check "$name: forged tag refused" test $status -eq 1
    check "$name: nothing comes out" test ! -s "$work/out"
done

# A malformed configuration: libcrypto 3.0 goes on with the other providers, so
# what matters is that ours does not run in a state nobody asked for.
cat >"$work/openssl.cnf" <<END
openssl_conf = init
[init]
providers = list
[list]
bulkcipher = ours
default = theirs
[ours]
module = $modules/bulkcipher.so
isa = sse9
activate = 1
[theirs]
activate = 1
END
OPENSSL_CONF=$work/openssl.cnf
unset OPENSSL_MODULES
try "$openssl" list -providers
check "isa = sse9: not loaded" test -z "$(grep bulkcipher "$work/out")"
try "$openssl" enc -aes-256-cbc -K $key -iv $iv -propquery \
    provider=bulkcipher -in "$work/plain"
check "isa = sse9: not used" test $status -ne 0
sed -i 's/^isa.*/isa = c/' "$work/openssl.cnf"
try "$openssl" list -providers -verbose
check "isa = c: loaded" grep -q bulkcipher "$work/out"
check "isa = c: heeded" grep -q "build info:.*cbc=c " "$work/out"
try "$openssl" enc -aes-256-cbc -K $key -iv $iv -in "$work/plain"
check "isa = c: enc" test $status = 0

echo "$checks checks, $failed failed"
test $failed = 0
