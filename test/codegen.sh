#!/bin/sh
# codegen.sh OBJDUMP AS OBJECT...
#
# What the compiler made of the kernels, object by object: no instruction beyond
# the level in the object's name, and no function that leaves wide registers
# dirty. A stray instruction of AVX-512 BW in an object for AVX-512 F would be an
# illegal one on somebody else's processor; a forgotten vzeroupper costs its
# callers 35 ns (gcc 12 did that once).
#
# Whether an instruction belongs to a level, the assembler knows: it is told
# what cmake/isa.cmake tells the compiler, and has to accept all of them.
objdump=$1
as=$2
shift 2
failed=0
seen=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# The instructions of an object as assembly, each with the function that it is
# in; without those that lead elsewhere, whose targets would be missing.
disassemble() {
    "$objdump" -d --no-show-raw-insn "$1" | awk -F '\t' '
        /^[0-9a-f]+ <.*>:$/ { name = $0; sub(/^[^<]*</, "", name)
                              sub(/>:$/, "", name) }
        /^ *[0-9a-f]+:\t/ {
            text = $2; for (i = 3; i <= NF; i++) text = text " " $i
            sub(/ *#.*/, "", text); sub(/ *<.*/, "", text)
            if (text !~ /^(notrack |bnd )?(call|j|ret)|nop/)
                print text " # in " name
        }'
}

# Prints the instructions beyond the extensions, such as +avx2+bmi2.
beyond() { # object, extensions
    disassemble "$1" >"$dir/s"
    [ -s "$dir/s" ] || echo "no instructions"
    "$as" -march="generic64$2" -o "$dir/o" "$dir/s" 2>"$dir/errors" && return
    sed -n 's/^[^:]*:\([0-9]*\): Error: .*/\1/p' "$dir/errors" |
        while read -r line; do
            sed -n "${line}p" "$dir/s"
        done | grep . || cat "$dir/errors"
}

# Prints each function with a YMM or ZMM register and no vzeroupper.
find_dirty() {
    "$objdump" -d --no-show-raw-insn "$1" | awk -F '\t' '
        function close_function() { if (wide && !clean) print name }
        /^[0-9a-f]+ <.*>:$/ { close_function(); wide = clean = 0; name = $0
                              sub(/^[^<]*</, "", name); sub(/>:$/, "", name) }
        /%[yz]mm/ { wide = 1 }
        /vzeroupper|vzeroall/ { clean = 1 }
        END { close_function() }'
}

complain() { # object, what, lines
    test -z "$3" && return
    failed=1
    echo "$1: $2"
    echo "$3" | head -n 5 | sed 's/^/    /'
}

for object; do
    level=$(basename "$object" | sed -n 's/^.*_\([a-z0-9]*\)\.c\.[a-z]*$/\1/p')
    case $object in
    */x86/*) ;;
    *) level=baseline ;;
    esac
    case $level in
    baseline) isa=+xsave ;; # xgetbv, behind a look at CPUID
    ssse3) isa=+ssse3 ;;
    aesni) isa=+sse4.1+aes+pclmul ;;
    avx2) isa=+avx2+bmi2 ;;
    vaes256) isa=+avx2+aes+pclmul+vaes+vpclmulqdq ;;
    avx512) isa=+avx512f ;; # no BW, VL, DQ: Knights Landing has none
    vaes512) isa=+avx512f+avx512bw+avx512vl+avx512dq+bmi2
             isa=$isa+aes+pclmul+vaes+vpclmulqdq ;;
    ifma) isa=+avx512f+avx512ifma+bmi2 ;;
    *)
        echo "$object: a level that codegen.sh does not know"
        failed=1
        continue
        ;;
    esac
    seen=$((seen + 1))
    complain "$object" "beyond its level, $level" "$(beyond "$object" "$isa")"
    complain "$object" "no vzeroupper" "$(find_dirty "$object")"
done

test "$seen" -gt 0 || { echo "no objects"; exit 1; }
test "$failed" = 0 && echo "$seen objects, each within its level"
exit "$failed"
