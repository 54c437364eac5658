#!/bin/sh
# The kernel tests, and the module inside `openssl`, on processors this machine
# is not: older ones under qemu-user, AVX-512 ones in a virtual machine (vm/).
#
#     emulate.sh BUILD STATIC OUT [MODEL...]
#
# BUILD is a build with the module, STATIC one whose tests are linked
# statically. OUT receives MODEL.log for each model; without models, all run,
# two at a time. Exit code 0 only if everything passed everywhere.
set -eu

# qemu-user lacks VPCLMULQDQ and all of AVX-512; Bochs has them. Neither can be a
# Knights Landing: Bochs has no AVX-512 without VL, and before version 3 none
# without BW and DQ. That our AVX-512 F files hold none of those instructions,
# codegen.sh shows.
qemu_models="Haswell SandyBridge Westmere Nehalem"
bochs_models="corei7_icelake_u corei7_skylake_x"
guest_kernel=linux-image-cloud-amd64
most=1200 # seconds for one of them; two minutes are usual

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
static=$(cd "$2" && pwd)
out=$(mkdir -p "$3" && cd "$3" && pwd)
shift 3

# What the processor is, for the reader of the log.
describe() {
    case $1 in
    corei7_icelake_u) echo "Ice Lake: AVX-512 with VAES and IFMA (Bochs)" ;;
    corei7_skylake_x) echo "Skylake-X: AVX-512 without VAES (Bochs)" ;;
    Haswell) echo "Haswell: AVX2 without VAES (qemu-user)" ;;
    SandyBridge) echo "Sandy Bridge: AVX without AVX2 (qemu-user)" ;;
    Westmere) echo "Westmere: AES-NI without AVX (qemu-user)" ;;
    Nehalem) echo "Nehalem: SSSE3 without AES-NI (qemu-user)" ;;
    esac
}

# A root folder with the tests, the module, openssl, and their libraries.
make_root() {
    rm -rf "$out/root"
    mkdir -p "$out/root/payload"
    cp "$static"/test/k_* "$build/provider/bulkcipher.so" \
        "$build/test/aead_file" "$here/cpu_tests.sh" "$out/root/payload"
    rm -rf "$out"/root/payload/*.dir
    openssl=$(command -v openssl)
    for file in "$openssl" "$build/provider/bulkcipher.so"; do
        ldd "$file"
    done | grep -o '/[^ ]*' | sort -u | while read -r library; do
        cp -L --parents "$library" "$out/root"
    done
    cp -L --parents "$openssl" "$out/root"
}

# The guest's kernel: unpacked from Debian's package, nothing is installed.
make_guest() {
    [ ! -f "$out/guest/initrd" ] || return 0
    (
        cd "$out"
        image=$(apt-cache depends $guest_kernel |
            sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p')
        ls linux-image-*.deb >/dev/null 2>&1 ||
            apt-get -qq -o APT::Sandbox::User=root download "$image"
        dpkg-deb --fsys-tarfile linux-image-*.deb |
            tar -xOf - --wildcards './boot/vmlinuz-*' >vmlinuz
    )
    sh "$here/vm/vm.sh" --setup "$out/vmlinuz" "$out/guest"
}

one() {
    case $1 in
    corei7_*)
        timeout $most sh "$here/vm/vm.sh" "$out/guest" "$1" "$out/root" \
            sh cpu_tests.sh
        ;;
    *)
        cd "$out/root/payload"
        timeout $most sh cpu_tests.sh qemu-x86_64 -cpu "$1"
        ;;
    esac
}

if [ $# = 0 ]; then
    rm -f "$out"/*.log
    make_root
    if [ -f "$out/guest/initrd" ] ||
        apt-cache show $guest_kernel >/dev/null 2>&1; then
        make_guest
    else
        echo "skipped: AVX-512 processors: no package $guest_kernel here"
        bochs_models=
    fi
    # The slowest first, so that none runs alone at the end.
    # shellcheck disable=SC2086
    printf '%s\n' $bochs_models $qemu_models |
        xargs -P 2 -n 1 sh "$0" "$build" "$static" "$out"
    exit
fi

for model; do
    start=$(date +%s)
    status=0
    (one "$model") >"$out/$model.log" 2>&1 </dev/null || status=$?
    seconds=$(($(date +%s) - start))
    if [ $status = 0 ]; then
        echo "passed in $seconds s: $(describe "$model")"
    else
        echo "FAILED (exit code $status): $(describe "$model")"
        grep -v -e '^level: ' -e '^passed: ' -e "TCG doesn't support" \
            "$out/$model.log" | tail -n 60
        exit 1
    fi
done
