#!/bin/sh
# Runs a command on an emulated AVX-512 processor: Bochs and a small Linux.
#
#     vm.sh --setup VMLINUZ CACHE         once: makes the guest in CACHE
#     vm.sh CACHE CPU ROOT COMMAND...     one run
#
# VMLINUZ is the kernel of Debian's linux-image-cloud-amd64, CPU one of the
# models that `bochs-bin --help cpu` prints. The files below ROOT are laid over
# the guest's root folder, which holds busybox and its links; COMMAND starts in
# /payload. Its output and its exit code come back (128 + N after signal N);
# 125 means that the machine itself failed. The guest has one processor, no
# disk, no network, and a clock that counts instructions: 20 million make a
# second. A start takes about ten seconds.
#
# Debian packages: bochs bochs-term bochsbios vgabios cpio busybox-static lz4
# gcc binutils. The usual way to boot (BIOS, boot loader, decompression) would
# take minutes here, so a ROM of our own (rom.S) jumps straight into a kernel
# that lies uncompressed in memory, with its initramfs behind it.
#
# What Bochs 2.7 gets wrong, and what it costs to know: XSAVEC and XSAVES (off
# by clearcpuid; init.c tells the dynamic linker), the PKU bit of CPUID leaf
# 0xd (makes Linux drop AVX), and FSRM without ERMS (Linux' memmove then
# overwrites memory, because no BIOS has set IA32_MISC_ENABLE). Of AVX-512
# itself: vpbroadcastb with a mask from memory, vpconflict, masked
# vpmultishiftqb, vpshufbitqmb, masked vgf2p8affineqb, and no fault suppression
# in masked vpmovzx, vpmovsx and vpexpand from memory. Our kernels use none of
# these.
set -eu
LC_ALL=C
export LC_ALL

here=$(cd "$(dirname "$0")" && pwd)
mem=512       # MiB
ips=20000000  # emulated instructions per emulated second
image=$((0xfc0000)) # where Bochs puts the image; rom.S knows it as IMG
kernel_at=$((0x1000000))

die() {
    echo "vm: $*" >&2
    exit 125
}

need() {
    command -v "$1" >/dev/null 2>&1 || die "no $1; Debian package: $2"
}

# Little-endian 32-bit words on stdout.
words() {
    for w; do
        for shift in 0 8 16 24; do
            # shellcheck disable=SC2059
            printf "\\$(printf %o $((w >> shift & 255)))"
        done
    done
}

poke() { # poke FILE OFFSET: overwrites with stdin
    dd of="$1" bs=1 seek=$(($2)) conv=notrunc 2>/dev/null
}

archive() { # archive: the files named on stdin, as an initramfs on stdout
    cpio --quiet -o -H newc -R 0:0
}

# The kernel inside a vmlinuz: bytes 497 (setup sectors), 584 (payload offset
# and length) of the boot protocol's header say where. The last four bytes of
# the payload are the unpacked length.
unpack_kernel() {
    [ "$(dd if="$1" bs=1 skip=514 count=4 2>/dev/null)" = HdrS ] ||
        die "$1: not a Linux kernel"
    # shellcheck disable=SC2046
    set -- "$1" "$2" $(od -An -tu1 -j 497 -N 1 "$1") \
        $(od -An -tu4 -j 584 -N 8 "$1")
    tail -c +$((($3 + 1) * 512 + $4 + 1)) "$1" | head -c $(($5 - 4)) \
        >"$2.packed"
    case $(od -An -tx4 -N 4 "$2.packed") in
    *184c2102) need lz4 lz4 && lz4 -dcq <"$2.packed" >"$2" ;;
    *fd2fb528) need zstd zstd && zstd -dcq <"$2.packed" >"$2" ;;
    *587a37fd) need xz xz-utils && xz -dcq <"$2.packed" >"$2" ;;
    *) die "$1: compressed in a way not known here" ;;
    esac
    rm "$2.packed"
}

setup() {
    need cc gcc
    need as binutils
    need cpio cpio
    [ -x /bin/busybox ] || die "no /bin/busybox; Debian package: busybox-static"
    new=$2.new
    rm -rf "$new" "$2"
    mkdir -p "$new"

    cc -c -o "$new/rom.o" "$here/rom.S"
    objcopy -O binary "$new/rom.o" "$new/rom.bin"

    unpack_kernel "$1" "$new/vmlinux"
    objcopy -O binary "$new/vmlinux" "$new/vmlinux.bin"
    # The initramfs comes after the kernel's last segment, at a multiple of
    # 2 MiB.
    end=0
    for segment in $(readelf -lW "$new/vmlinux" |
        awk '$1 == "LOAD" { print $4 "+" $6 }'); do
        # shellcheck disable=SC2004 # an expression, which dash wants unpacked
        segment=$(($segment))
        [ $segment -le $end ] || end=$segment
    done
    initrd=$(((end + 0x1fffff) & ~0x1fffff))

    root=$new/root
    for dir in bin dev etc lib64 payload proc root sbin sys tmp usr/bin \
        usr/sbin .vm; do
        mkdir -p "$root/$dir"
    done
    cc -O2 -static -o "$root/init" "$here/init.c"
    cp /bin/busybox "$root/bin/busybox"
    for name in $(/bin/busybox --list); do
        [ "$name" = busybox ] || ln -s busybox "$root/bin/$name"
    done
    echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
    (cd "$root" && find . | archive) >"$new/base.cpio"

    # boot_params: the setup header's fields that a boot loader fills in, and
    # the number of entries in the memory map (vm.sh writes those per run).
    head -c 262144 /dev/zero >"$new/prefix"
    printf '\002' | poke "$new/prefix" 0x1e8
    printf '\125\252\000\000HdrS\017\002' | poke "$new/prefix" 0x1fe
    printf '\377\001' | poke "$new/prefix" 0x210
    words $initrd | poke "$new/prefix" 0x218
    words $((image + 0x1000)) | poke "$new/prefix" 0x228 # command line
    words $kernel_at | poke "$new/prefix" 0x230
    words 4095 | poke "$new/prefix" 0x238
    printf '%s' "console=ttyS0 quiet loglevel=1 panic=-1 acpi=off nolapic" \
        " noapic clearcpuid=xsavec,xsaves,pku,fsrm,aperfmperf" \
        " tsc_early_khz=$((ips / 1000)) tsc=reliable no_timer_check" \
        " mitigations=off lsm= apparmor=0 audit=0 cryptomgr.notests=1" \
        " random.trust_cpu=1 rdinit=/init" | poke "$new/prefix" 0x1000
    cat "$new/vmlinux.bin" >>"$new/prefix"
    truncate -s $((initrd - image)) "$new/prefix"
    cat "$new/base.cpio" >>"$new/prefix"
    echo $initrd >"$new/initrd"
    rm -rf "$root" "$new"/vmlinux* "$new/rom.o" "$new/base.cpio"
    mv "$new" "$2"
}

if [ "${1-}" = --setup ] && [ $# = 3 ]; then
    setup "$2" "$3"
    exit
fi
[ $# -ge 4 ] || die "usage: vm.sh --setup VMLINUZ CACHE |" \
    "vm.sh CACHE CPU ROOT COMMAND..."
cache=$1
cpu=$2
root=$3
shift 3
need bochs-bin bochs
need cpio cpio
vga=/usr/share/bochs/VGABIOS-lgpl-latest
[ -f $vga ] || vga=/usr/share/vgabios/vgabios.bin
[ -f $vga ] || die "no VGA BIOS; Debian packages: bochsbios vgabios"
initrd=$(cat "$cache/initrd")

tmp=$(mktemp -d "${TMPDIR:-/tmp}/vm.XXXXXX")
pid=
cleanup() {
    [ -z "$pid" ] || kill "$pid" 2>/dev/null || :
    rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 125' HUP INT TERM

# The image: what setup made, then ROOT and the command as a second archive.
mkdir "$tmp/.vm"
printf '%s\0' "$@" >"$tmp/.vm/args"
{
    cat "$cache/prefix"
    (cd "$root" && find -L . | cpio --quiet -o -H newc -L -R 0:0)
    (cd "$tmp" && echo .vm/args | archive)
} >"$tmp/image"
size=$(wc -c <"$tmp/image")
[ $((image + size + kernel_at)) -lt $((mem << 20)) ] ||
    die "$root does not fit into $mem MiB"
words $((size + image - initrd)) | poke "$tmp/image" 0x21c
words 0 0 $((0x9fc00)) 0 1 \
    $((0x100000)) 0 $(((mem - 1) << 20)) 0 1 | poke "$tmp/image" 0x2d0

# Bochs with a built-in debugger starts at its prompt, unless told by a file
# to continue; later versions have the debugger off unless asked for.
set -- -q -f "$tmp/bochsrc"
help=$(bochs-bin --help 2>&1 || :)
case $help in
*' -dbg '* | *' -debugger '*) ;;
*' -rc '*)
    echo c >"$tmp/rc"
    set -- "$@" -rc "$tmp/rc"
    ;;
esac
cat >"$tmp/bochsrc" <<EOF
display_library: rfb, options="timeout=0"
megs: $mem
romimage: file=$cache/rom.bin
vgaromimage: file=$vga
optramimage1: file=$tmp/image, address=$(printf '0x%x' $image)
cpu: model=$cpu, count=1, ips=$ips, reset_on_triple_fault=0
clock: sync=none, time0=$(date +%s)
pci: enabled=0
com1: enabled=1, mode=file, dev=$tmp/console
parport1: enabled=1, file=/dev/fd/3
parport2: enabled=1, file=/dev/fd/4
port_e9_hack: enabled=1
log: $tmp/log
panic: action=fatal
error: action=ignore
info: action=ignore
debug: action=ignore
EOF
# The display nobody looks at listens on a port (VNC): keep it in a network of
# its own where we may.
alone=
if unshare -n true 2>/dev/null; then
    alone='unshare -n'
fi
mkfifo "$tmp/1" "$tmp/2"
cat "$tmp/1" &
stdout=$!
cat "$tmp/2" >&2 &
stderr=$!
$alone bochs-bin "$@" 3>"$tmp/1" 4>"$tmp/2" >"$tmp/out" 2>"$tmp/err" \
    </dev/null &
pid=$!
wait $pid || :
pid=
wait $stdout $stderr || :
code=$(sed -n 's/^@@EXIT \([0-9]*\)$/\1/p' "$tmp/out" | tail -n 1)
if [ -z "$code" ]; then
    for file in console log err out; do
        [ ! -s "$tmp/$file" ] || {
            echo "vm: --- $file"
            tail -n 15 "$tmp/$file"
        } >&2
    done
    die "the machine stopped before the command ended"
fi
exit "$code"
