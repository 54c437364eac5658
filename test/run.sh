#!/bin/sh
# Builds and tests everything: sh test/run.sh [--full]
#
#  1. gcc, Release, all tests                       build/release
#  2. gcc, Debug with ASan and UBSan, all tests     build/sanitize
#  3. gcc, ThreadSanitizer, the threads             build/threads
#  4. clang, Release, the kernel tests              build/clang
#  5. the format of the sources
#  6. the kernel tests, and the module inside openssl, on emulated processors,
#     so that every instruction-set level runs somewhere   build/emulated
#
# --full adds: lengths beyond 4 GiB, 32-bit x86, Arm and (big-endian) IBM Z, a
# build without optimisation, TLS at length, the programs of test/programs,
# other releases of OpenSSL, and its own tests (once built, kept in
# ~/.cache/bulkcipher).
#
# Installs the packages it lacks (apt-get, with sudo when not root). Exits with
# 0 only if all of it passed. A level that ran nowhere fails the run when CI is
# set. BULKCIPHER_VECTORS in the environment may name a folder with more test
# vectors (wycheproof/, evp-*/).
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
. cmake/packages.sh

full=
case ${1-} in
--full) full=1 ;;
'') ;;
*)
    echo "usage: sh test/run.sh [--full]" >&2
    exit 2
    ;;
esac

machine=$(uname -m)
jobs=$(nproc 2>/dev/null || echo 2)
began=$(date +%s)
stage_name=
results=
mkdir -p build/logs

finish_stage() {
    [ -z "$stage_name" ] || echo "--- $(($(date +%s) - stage_began)) s"
    stage_name=
}

stage() {
    finish_stage
    stage_name=$1
    stage_began=$(date +%s)
    echo
    echo "=== $1"
}

fail() {
    echo
    echo "FAILED in: $stage_name"
    echo "$*"
    exit 1
}

# quietly LOG COMMAND...: shows the end of the output only if it failed.
quietly() {
    log=build/logs/$1.log
    shift
    "$@" >"$log" 2>&1 || {
        tail -n 60 "$log"
        fail "command: $* (all of its output: $log)"
    }
}

# build FOLDER CMAKE-OPTION...
build() {
    folder=$1
    shift
    quietly "$folder-configure" cmake -S . -B "build/$folder" -G Ninja \
        -DBULKCIPHER_WERROR=ON \
        ${BULKCIPHER_VECTORS:+"-DBULKCIPHER_VECTORS=$BULKCIPHER_VECTORS"} "$@"
    quietly "$folder-build" cmake --build "build/$folder" -j "$jobs"
}

# run_tests FOLDER CTEST-OPTION...
run_tests() {
    folder=$1
    shift
    (
        cd "build/$folder"
        ${fixed-} ctest --output-on-failure --no-tests=error -j "$jobs" \
            -O "$top/build/logs/$folder-ctest.log" "$@"
    ) || fail "ctest, see above (build folder: build/$folder)"
    results="$results$(printf '%-10s %s' "$folder" \
        "$(grep 'tests passed' "build/logs/$folder-ctest.log")")
"
}

# ---- The stages

stage "Packages"
packages="gcc libc6-dev cmake ninja-build pkg-config libssl-dev openssl clang
    valgrind binutils python3-cryptography-vectors"
[ "$machine" != x86_64 ] || packages="$packages qemu-user bochs bochs-term
    bochsbios vgabios cpio busybox-static lz4"
[ -z "$full" ] || packages="$packages qemu-user gcc-i686-linux-gnu
    libc6-dev-i386-cross gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    gcc-s390x-linux-gnu libc6-dev-s390x-cross"
# shellcheck disable=SC2086
install_missing $packages || fail "see above"

stage "Release, gcc"
build release -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Release
[ -z "$full" ] || export BC_LONG=1 # lengths beyond 4 GiB: a minute
run_tests release
unset BC_LONG

stage "Debug with AddressSanitizer and UndefinedBehaviorSanitizer, gcc"
build sanitize -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS_DEBUG="-O1 -g" -DBULKCIPHER_BENCH=OFF \
    -DBULKCIPHER_SANITIZE=address,undefined
run_tests sanitize

# Threads that share a context's slot must hand it over in good order. The
# sanitizer knows a few layouts of memory, so the addresses are not randomised,
# where that is allowed.
stage "Threads under ThreadSanitizer, gcc"
build threads -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS_DEBUG="-O1 -g" -DBULKCIPHER_BENCH=OFF \
    -DBULKCIPHER_SANITIZE=thread
fixed=
! setarch -R true 2>/dev/null || fixed="setarch -R"
run_tests threads -R p_lifetime

stage "Release, clang: the kernel tests"
build clang -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Release
run_tests clang -L kernel

stage "Format of the sources"
case $(clang-format --version 2>/dev/null) in
*' version 14.'*)
    find kernels provider test bench -name '*.[ch]' -exec \
        clang-format --dry-run -Werror {} + ||
        fail "clang-format -i FILE mends it"
    echo "as .clang-format says"
    ;;
*) echo "skipped: clang-format 14 is not here, and others differ" ;;
esac

if [ "$machine" = x86_64 ]; then
    stage "Emulated processors"
    build static -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Release \
        -DBULKCIPHER_PROVIDER=OFF -DCMAKE_EXE_LINKER_FLAGS=-static
    sh test/emulate.sh build/release build/static build/emulated ||
        fail "see above, and build/emulated/*.log"
fi

if [ -n "$full" ]; then
    stage "No optimisation, gcc"
    build O0 -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_FLAGS_DEBUG=-O0
    run_tests O0
    for target in i386 aarch64 s390x; do
        stage "Kernel tests for $target"
        build $target -DCMAKE_BUILD_TYPE=Release -DBULKCIPHER_PROVIDER=OFF \
            -DCMAKE_TOOLCHAIN_FILE="$top/cmake/toolchains/$target.cmake"
        run_tests $target -L kernel
    done
    stage "TLS: every suite in every role, 10 MB each way"
    sh test/tls_live.sh build/release --full || fail "see above"
    stage "Programs that use the module"
    sh test/programs/run-all.sh build/release --install || fail "see above"
    stage "Other releases of OpenSSL"
    sh test/other_openssl.sh build/release || [ $? = 77 ] || fail "see above"
    stage "OpenSSL's own tests, with the module"
    sh test/ossl_suite.sh build/release || [ $? = 77 ] || fail "see above"
fi

# ---- Where each level ran. Every kernel test prints lines such as
# `level: gcm vaes512 runs`; this machine's are in CTest's own log.

stage "Where each level was tested"
for log in build/release/Testing/Temporary/LastTest.log build/emulated/*.log; do
    [ -f "$log" ] || continue
    where=$(basename "$log" .log)
    [ "$where" != LastTest ] || where=native
    sed -n "s/^level: /$where /p" "$log"
done >build/logs/levels
status=0
awk '
    {
        level = sprintf("%-10s %-10s", $2, $3)
        if (!(level in where)) {
            order[++n] = level
            where[level] = ""
        }
        if ($4 == "runs" && !seen[level, $1]++)
            where[level] = where[level] " " $1
    }
    END {
        for (i = 1; i <= n; i++) {
            if (where[order[i]] == "") {
                where[order[i]] = " NOWHERE"
                nowhere = 1
            }
            print order[i] where[order[i]]
        }
        exit nowhere || n == 0
    }' build/logs/levels || status=$?
if [ $status != 0 ]; then
    echo "A level was tested nowhere."
    [ -z "${CI-}" ] || fail "in CI every level must run somewhere"
fi

finish_stage
echo
printf '%s' "$results"
echo "All passed in $(($(date +%s) - began)) s."
