#!/bin/sh
# OpenSSL's own test programs with the module in use: evp_test with all of its
# data, evp_extra_test, sslapitest, test_ssl_new and test_enc, from the source
# package of this Debian or Ubuntu release.
#
#     sh test/ossl_suite.sh [BUILD-FOLDER]       (default: build/release)
#
# The source and its build, some 5 minutes of one core, are kept in
# ~/.cache/bulkcipher (BULKCIPHER_CACHE in the environment: elsewhere). Programs,
# recipes and data stay as they are; only the configuration files that name the
# providers to load are replaced in a copy, so that the module is in them. What
# fails is run once more with the same files less the module; what fails there
# too is not ours.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$top/build/release}
. "$top/test/trace.sh"
. "$top/test/apt_source.sh"

cache=${BULKCIPHER_CACHE:-$HOME/.cache/bulkcipher}/openssl

# Tests that ask for what we refuse on purpose:
#  - decrypts with ChaCha20-Poly1305, never sets a tag, and expects success, that
#    is, unauthenticated plaintext. OpenSSL 4.0 refuses that as well.
refused_on_purpose=test_decrypt_null_chunks

need make make
need gcc gcc

build_programs() {
    mkdir -p "$cache/build"
    (
        cd "$cache/build"
        # Compiled quickly: it need not be fast.
        ../src/Configure shared no-engine no-afalgeng -O1
        nice make -j1 build_generated libcrypto.so libssl.so apps/openssl \
            providers/legacy.so util/wrap.pl util/shlib_wrap.sh \
            test/evp_test test/evp_extra_test test/evp_extra_test2 \
            test/sslapitest test/ssl_test
    ) >"$cache/build.log" 2>&1 || {
        tail -n 20 "$cache/build.log"
        die "OpenSSL did not build ($cache/build.log)"
    }
    touch "$cache/built"
}

fetch_source openssl "$cache"
[ -f "$cache/built" ] || build_programs

# ---- The copies: links to every file, and three files of their own.

# copy_source NAME PROVIDER...
copy_source() {
    copy=$work/$1
    shift
    cp -rs "$cache/src" "$copy"
    for file in apps/openssl.cnf test/default.cnf test/default-and-legacy.cnf; do
        legacy=
        case $file in *legacy*) legacy=legacy ;; esac
        rm "$copy/$file"
        {
            echo "openssl_conf = bc_init"
            sed 's/^openssl_conf *=.*//' "$cache/src/$file"
            # shellcheck disable=SC2086
            conf_sections "$work/ossl.counts" "$@" $legacy
        } >"$copy/$file"
    done
}

copy_source with bulkcipher default
copy_source without default

# run_recipe COPY NAME
run_recipe() {
    rm -rf "$work/results"
    mkdir "$work/results"
    SRCTOP=$work/$1 BLDTOP=$cache/build RESULT_D=$work/results NO_FIPS=1 \
        HARNESS_VERBOSE_FAILURE=yes \
        nice perl "$cache/src/test/run_tests.pl" "$2" >"$work/$1.log" 2>&1
}

# The names of the single tests that failed; those of programs and recipes that
# failed for it are not among them.
failed_tests() {
    sed -n 's/^ *not ok [0-9]* - //p' "$work/$1.log" |
        grep -v '^running \|^Test configuration ' | sort -u
}

# run_both RECIPE: 0 if nothing fails with the module but what may.
run_both() {
    rm -f "$work/ossl.counts"
    if run_recipe with "$1"; then
        printf '%-16s passes\n' "$1"
        return 0
    fi
    run_recipe without "$1" || true
    failed_tests with >"$work/failed"
    failed_tests without >"$work/failed-without"
    printf '%-16s ' "$1"
    if [ ! -s "$work/failed" ]; then
        echo "FAILED before it came to a test"
    else
        echo "passes, but for these tests"
    fi
    ours=0
    while read -r test; do
        if grep -qxF "$test" "$work/failed-without"; then
            why="without the module too"
        elif [ "$test" = "$refused_on_purpose" ]; then
            why="refused on purpose"
        else
            why="OURS"
            ours=1
        fi
        echo "    failed: $test ($why)"
    done <"$work/failed"
    [ -s "$work/failed" ] && [ $ours = 0 ] && return 0
    cp "$work/with.log" "$cache/$1.log"
    echo "    the output: $cache/$1.log"
    return 1
}

status=0
for recipe in test_evp test_evp_extra test_ssl_new test_enc; do
    run_both $recipe || status=1
    counts_of ossl | sed 's/^/    /'
done
# sslapitest wants no provider but its own in the default library context.
for copy in with without; do
    rm "$work/$copy/apps/openssl.cnf"
    cp "$cache/src/apps/openssl.cnf" "$work/$copy/apps/"
done
run_both test_sslapi || status=1
counts_of ossl | sed 's/^/    /'
exit $status
