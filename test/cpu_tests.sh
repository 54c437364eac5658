#!/bin/sh
# What is run on each emulated processor: every kernel test, and the module
# inside the real `openssl`, its results compared with the default provider's.
#
#     cpu_tests.sh [PREFIX...]
#
# in a folder that holds k_*, aead_file and bulkcipher.so. PREFIX is what makes
# this machine run a program on another processor (qemu-x86_64 -cpu Haswell);
# inside the emulated machine of vm/ there is none.
set -u

prefix=$*
openssl=$(command -v openssl)
failures=0

result() { # result STATUS WHAT
    if [ "$1" = 0 ]; then
        echo "passed: $2"
    else
        echo "FAILED: $2 (exit code $1)"
        failures=$((failures + 1))
    fi
}

# The programs of this folder and openssl, on the emulated processor.
run() {
    # shellcheck disable=SC2086
    $prefix "$@"
}

BC_QUICK=1
OPENSSL_MODULES=$PWD
export BC_QUICK OPENSSL_MODULES

for test in ./k_*; do
    run "$test" 2>&1
    status=$?
    [ $status != 77 ] || status=0 # it ran nothing, and has said why
    result $status "${test#./}"
done

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
long_key=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
nonce=f0f1f2f3f4f5f6f7f8f9fafb
head -c 20000 "$openssl" >"$tmp/plain"

# With no other provider named, `openssl -provider bulkcipher` has nobody else
# to ask: what comes out is the module's work.
run "$openssl" list -providers -verbose -provider bulkcipher >"$tmp/list" 2>&1
cat "$tmp/list"
grep -q 'status: active' "$tmp/list"
result $? "openssl loads the module"

crypt() { # crypt PROVIDER CIPHER KEY encrypt|decrypt: from stdin to stdout
    case $2 in
    *-CBC)
        direction=-e
        [ "$4" = encrypt ] || direction=-d
        run "$openssl" enc "$direction" "-$2" -provider "$1" -K "$3" \
            -iv "${nonce}fcfdfeff"
        ;;
    *) run ./aead_file "$1" "$2" "$4" "$3" $nonce ;;
    esac
}

for cipher in AES-128-CBC AES-192-CBC AES-256-CBC AES-128-GCM AES-192-GCM \
    AES-256-GCM ChaCha20-Poly1305; do
    case $cipher in
    *128*) key=$(echo $long_key | cut -c 1-32) ;;
    *192*) key=$(echo $long_key | cut -c 1-48) ;;
    *) key=$long_key ;;
    esac
    crypt bulkcipher $cipher "$key" encrypt <"$tmp/plain" >"$tmp/ours" &&
        crypt default $cipher "$key" encrypt <"$tmp/plain" >"$tmp/default" &&
        cmp "$tmp/ours" "$tmp/default" &&
        crypt bulkcipher $cipher "$key" decrypt <"$tmp/default" >"$tmp/back" &&
        cmp "$tmp/back" "$tmp/plain"
    result $? "$cipher, the module against the default provider"
done

ours=$(run "$openssl" mac -provider bulkcipher -macopt hexkey:$long_key \
    -in "$tmp/plain" POLY1305) &&
    default=$(run "$openssl" mac -macopt hexkey:$long_key -in "$tmp/plain" \
        POLY1305) &&
    [ -n "$ours" ] && [ "$ours" = "$default" ]
result $? "POLY1305, the module against the default provider"

echo "$failures failures"
[ $failures = 0 ]
