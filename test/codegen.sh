#!/bin/sh
# codegen.sh OBJDUMP OBJECT...
#
# What the compiler made of the kernels, object by object: no instruction of a
# level above the one in the object's name, and no function that leaves wide
# registers dirty. A stray AVX-512 instruction in an AVX2 object would be an
# illegal instruction on somebody else's processor; a forgotten vzeroupper
# costs its callers 35 ns (gcc 12 did that once).
objdump=$1
shift
failed=0
seen=0

# Prints "function: instruction" for each one that matches.
find_in() {
    "$objdump" -d --no-show-raw-insn "$1" | awk -F '\t' -v wanted="$2" '
        /^[0-9a-f]+ <.*>:$/ { name = $0; sub(/^[^<]*</, "", name)
                              sub(/>:$/, "", name) }
        NF > 1 { text = $2; for (i = 3; i <= NF; i++) text = text " " $i
                 if (text ~ wanted) print name ": " text }'
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

avx512='%zmm|%[xy]mm(1[6-9]|2[0-9]|3[01])|%k[0-7]'
avx='^v[a-z]|%[yz]mm'
above_sse2='^(pshufb|palignr|phadd|pmadd.bsw|pmulhrsw|psign|pabs[bwd])'
above_ssse3='^(aes|pclmul|pblend|pextr[bdq]|pinsr[bdq]|ptest|pmov[sz]x|pmuld)'

for object; do
    level=$(basename "$object" | sed -n 's/^.*_\([a-z0-9]*\)\.c\.[a-z]*$/\1/p')
    case $object in
    */x86/*) ;;
    *) level=baseline ;;
    esac
    case $level in
    vaes512 | avx512) forbidden='^vpmadd52' ;;
    ifma) forbidden='^vaes' ;;
    vaes256) forbidden=$avx512 ;;
    avx2) forbidden="$avx512|^vaes|^vpclmul" ;;
    aesni) forbidden=$avx ;;
    ssse3) forbidden="$avx|$above_ssse3" ;;
    baseline) forbidden="$avx|$above_sse2|$above_ssse3" ;;
    *)
        echo "$object: a level that codegen.sh does not know"
        failed=1
        continue
        ;;
    esac
    seen=$((seen + 1))
    complain "$object" "above its level, $level" \
        "$(find_in "$object" "$forbidden")"
    complain "$object" "no vzeroupper" "$(find_dirty "$object")"
done

test "$seen" -gt 0 || { echo "no objects"; exit 1; }
test "$failed" = 0 && echo "$seen objects, each within its level"
exit "$failed"
