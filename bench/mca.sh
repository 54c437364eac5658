#!/bin/sh
# The hot loops of the 64-byte AES kernels on processors that are not at hand,
# as llvm-mca (Debian: llvm-19) reckons them from its tables. Caches, branches
# and the front end do not exist there.
#
#   sh bench/mca.sh > bench/results/mca-vaes512.txt
#
# MCA, COMPILERS and CPUS choose other programs and processors.
set -eu

mca=${MCA:-llvm-mca-19}
compilers=${COMPILERS:-gcc clang}
cpus=${CPUS:-icelake-server sapphirerapids znver4}
kernels=$(dirname "$0")/../kernels
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

flags="-O2 -std=gnu11 -fPIC -DBC_X86_64 -mavx512f -mavx512bw -mavx512vl
    -mavx512dq -mbmi2 -maes -mpclmul -mvaes -mvpclmulqdq"

# One turn of the busiest loop of a function, as a key of that many rounds
# goes through it: branches on the number of rounds (10 and 12 are compared
# with, one way or another) are followed, those of other kinds fall through.
turn() { # object, function, rounds
    objdump -d --no-show-raw-insn "$1" | awk -F '\t' -v f="$2" -v rounds="$3" '
        $0 ~ "^[0-9a-f]+ <" f ">:$" { inside = 1; next }
        /^$/ { inside = 0 }
        inside && NF > 1 {
            split($1, a, ":"); gsub(/ /, "", a[1])
            text = $2; for (i = 3; i <= NF; i++) text = text " " $i
            sub(/ *#.*/, "", text); sub(/ *<.*/, "", text)
            at[a[1]] = ++n; code[n] = text
        }
        function follow(head,   i, w, steps, taken) {
            body = ""; work = 0; bound = -1
            for (i = head; steps < 700; steps++) {
                split(code[i], w, " ")
                if (w[1] ~ /^j/) {
                    taken = w[1] == "jmp"
                    if (bound >= 0) {
                        if (w[1] == "jbe") taken = rounds <= bound
                        if (w[1] == "jb") taken = rounds < bound
                        if (w[1] == "ja") taken = rounds > bound
                        if (w[1] == "jae") taken = rounds >= bound
                    }
                    if (!(w[2] in at)) return 0
                    if (at[w[2]] == head && !(bound >= 0 && !taken))
                        return work
                    i = taken ? at[w[2]] : i + 1
                    bound = -1
                } else {
                    if (w[1] ~ /^(ret|call)/) return 0
                    bound = -1
                    if (w[1] ~ /^cmp/ && code[i] ~ /\$0x[a-d],/) {
                        match(code[i], /\$0x[a-d],/)
                        bound = 9 + index("abcd", substr(code[i], RSTART + 3, 1))
                        if (bound == 9) bound = -1
                    }
                    body = body code[i] "\n"
                    if (code[i] ~ /^v(aes|pclmul).*zmm/) work++
                    if (code[i] ~ /^vmovnt/) return 0
                    i++
                }
                if (i == head) return work
                if (i > n) return 0
            }
            return 0
        }
        END {
            for (i = 1; i <= n; i++) {
                split(code[i], w, " ")
                if (w[1] !~ /^j/ || !(w[2] in at)) continue
                h = at[w[2]]
                if (h in tried) continue
                tried[h] = 1
                if (follow(h) > best) { best = work; loop = body }
            }
            printf "%s", loop
        }'
}

echo "command: sh bench/mca.sh"
"$mca" --version | sed -n 's/^.*LLVM version/llvm-mca/p'
for cc in $compilers; do
    "$cc" --version | sed -n 1p
done
echo
cat <<'END'
One turn handles 512 bytes. instr: all instructions; AES, prod: AES rounds and
carry-less products; spills: stores to the stack. The limit: two 512-bit vector
instructions a cycle (moves not counted), one of them AES, and on Zen 4 two
products in three cycles. llvm-mca's table lets Zen 4 do two AES rounds a
cycle, which it does not: where the ratio is below 1, believe the limit.
END
echo
printf '%-15s %-6s %-12s %-7s %5s %4s %4s %6s %7s %7s %6s\n' processor \
    by loop key instr AES prod spills c/B limit ratio
for cc in $compilers; do
    extra=
    test "${cc#gcc}" = "$cc" || extra=-fno-tree-ter # as in cmake/isa.cmake
    # shellcheck disable=SC2086
    "$cc" $flags $extra -c "$kernels/x86/aes_vaes512.c" -o "$dir/o"
    for f in gcm_encrypt gcm_decrypt cbc_decrypt; do
        for rounds in 10 14; do
            turn "$dir/o" $f $rounds > "$dir/s"
            instr=$(wc -l < "$dir/s")
            aes=$(grep -c '^vaes' "$dir/s") || true
            prod=$(grep -c '^vpclmul' "$dir/s") || true
            ops=$(grep '^v' "$dir/s" | grep -vc '^vmov\|^vbroad') || true
            spills=$(grep -c '^vmov[^,]*mm[0-9]*,[^,]*(%r[sb]p' "$dir/s") ||
                true
            for cpu in $cpus; do
                cycles=$("$mca" -mcpu="$cpu" -iterations=200 "$dir/s" |
                    awk '/^Total Cycles/ { print $3 / 200 }')
                echo "$cpu $cc $f $rounds $instr $aes $prod $spills $cycles $ops"
            done
        done
    done
done | awk '
    {
        limit = $6 > $10 / 2 ? $6 : $10 / 2
        if ($1 == "znver4" && $7 * 1.5 > limit) limit = $7 * 1.5
        printf "%-15s %-6s %-12s AES-%d %5d %4d %4d %6d %7.3f %7.3f %6.2f\n",
            $1, $2, $3, $4 == 10 ? 128 : 256, $5, $6, $7, $8, $9 / 512,
            limit / 512, $9 / limit
    }'
