#!/bin/sh
# The module, as it was built here, in the OpenSSL of other Debian releases:
# the p_* tests, and those of the command line.
#
#     sh test/other_openssl.sh [BUILD-FOLDER [RELEASE...]]
#
# Defaults: build/release, and trixie, sid and experimental (OpenSSL 3.5, 3.6 and
# 4.0 at the time of writing). Fetches libcrypto, openssl and
# the libraries below them from this machine's own mirror into
# ~/.cache/bulkcipher (BULKCIPHER_CACHE in the environment: elsewhere), and runs
# each program with their dynamic linker. Nothing is installed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../build/release}" && pwd)
[ $# = 0 ] || shift
[ $# != 0 ] || set -- trixie sid experimental
cache=${BULKCIPHER_CACHE:-$HOME/.cache/bulkcipher}
unset OPENSSL_CONF OPENSSL_MODULES

mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
    2>/dev/null | grep '/debian/*$' | head -n 1) || :
[ -n "$mirror" ] || {
    echo "skipped: no Debian mirror among this machine's package sources"
    exit 77
}

# fetch RELEASE FOLDER: makes FOLDER/root
fetch() {
    mkdir -p "$2/lists/partial" "$2/archives/partial"
    echo "deb $mirror $1 main" >"$2/sources.list"
    # Experimental is no whole release; the rest of it is sid.
    [ "$1" != experimental ] || echo "deb $mirror sid main" >>"$2/sources.list"
    (
        cd "$2"
        set -- -q -o Dir::Etc::sourcelist="$PWD/sources.list" \
            -o Dir::Etc::sourceparts=/dev/null \
            -o Dir::State::lists="$PWD/lists" -o Dir::Cache="$PWD" \
            -o APT::Sandbox::User=root -o APT::Default-Release="$1"
        rm -f ./*.deb
        apt-get "$@" update
        apt-get "$@" download libc6 openssl zlib1g libzstd1
        # The library's package is the one that this openssl depends on.
        apt-get "$@" download "$(dpkg-deb -f openssl_*.deb Depends |
            grep -o 'libssl[0-9a-z]*' | head -n 1)"
        for package in ./*.deb; do
            dpkg-deb -x "$package" root.new
        done
        mv root.new root
    ) >"$2/fetch.log" 2>&1 || {
        tail -n 20 "$2/fetch.log"
        echo "FAILED: fetching OpenSSL of $1"
        exit 1
    }
}

status=0

# try WHAT COMMAND...
try() {
    what=$1
    shift
    code=0
    "$@" >"$folder/log" 2>&1 || code=$?
    case $code in
    0) echo "passed: $what" ;;
    77) echo "$what: $(grep '^skipped' "$folder/log" | tail -n 1)" ;;
    *)
        echo "FAILED: $what, exit code $code"
        tail -n 40 "$folder/log"
        status=1
        ;;
    esac
}

# wrap PROGRAM: $folder/its-name runs it with this release's libraries.
wrap() {
    cat >"$folder/$(basename "$1")" <<EOF
#!/bin/sh
exec "$linker" --library-path "$libraries" "$1" "\$@"
EOF
    chmod +x "$folder/$(basename "$1")"
}

for release; do
    folder=$cache/$release
    [ -d "$folder/root" ] || fetch "$release" "$folder"
    libraries=$(dirname "$(find "$folder/root" -name 'libcrypto.so.[0-9]')")
    linker=$(find "$folder/root" -name 'ld-linux-*' | head -n 1)
    wrap "$folder/root/usr/bin/openssl"
    wrap "$build/test/aead_file"
    echo "--- $release: $("$folder/openssl" version)"
    for test in "$build"/test/p_*; do
        [ -f "$test" ] || continue
        wrap "$test"
        try "${test##*/}" "$folder/${test##*/}"
    done
    try "the command line" sh "$here/cli.sh" "$build/provider" \
        "$folder/aead_file" "$folder/openssl"
done
exit $status
