#!/bin/sh
# What 16 KiB take by instructions and execution ports, with either compiler, on
# processors that are not at hand.
#
#     sh bench/mca.sh > bench/results/mca.txt
#
# bench_steps runs each call instruction by instruction on this processor, so
# levels that it lacks are left out. The instructions are counted, and llvm-mca
# (Debian: llvm-19) reckons from its tables how long the whole sequence takes:
# powers of the key, loops, ends.
#
# MCA, COMPILERS, CPUS and JOBS choose other programs, processors (among those
# of least_cycles below) and jobs.
set -eu
LC_ALL=C
export LC_ALL

mca=${MCA:-llvm-mca-19}
compilers=${COMPILERS:-gcc clang}
cpus=${CPUS:-icelake-server sapphirerapids znver3 znver4}
jobs=${JOBS:-chacha20 poly1305 chacha20-poly1305-encrypt
    chacha20-poly1305-decrypt aes-128-gcm-encrypt aes-128-gcm-decrypt
    aes-256-gcm-encrypt aes-256-gcm-decrypt aes-128-cbc-decrypt
    aes-256-cbc-decrypt}
len=16384

top=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Builds bench_steps, the kernels in it as in the module; prints where it is.
build() { # compiler
    folder=$top/build/mca-$1
    {
        cmake -S "$top" -B "$folder" -DCMAKE_C_COMPILER="$1" \
            -DCMAKE_BUILD_TYPE=Release -DBULKCIPHER_TESTS=OFF &&
            cmake --build "$folder" --target bench_steps
    } >"$dir/log" 2>&1 || {
        cat "$dir/log" >&2
        exit 1
    }
    echo "$folder/bench/bench_steps"
}

# Lines of address, tab, instruction.
disassemble() { # program
    objdump -d --no-show-raw-insn "$1" | awk -F '\t' '
        /^ *[0-9a-f]+:\t/ {
            sub(/^ */, "", $1); sub(/:.*/, "", $1)
            text = $2; for (i = 3; i <= NF; i++) text = text " " $i
            sub(/ *#.*/, "", text); sub(/ *<.*/, "", text)
            print $1 "\t" text
        }'
}

# The instructions that stand at the addresses on stdin.
look_up() { # disassembly
    awk -F '\t' '
        NR == FNR { text[$1] = $2; next }
        !($1 in text) { print "nothing at " $1 >"/dev/stderr"; exit 1 }
        { print text[$1] }' "$1" -
}

# How many of the instructions on stdin are: all; stores to the stack; integer
# multiplications; and of the vector units, first for up to 256 bits, then for
# 512: all, multiplications, AES rounds, carry-less products, shifts, shuffles.
# Moves, loads, and xors of a register with itself want none of those units.
count() {
    awk '
        { all++ }
        /^v?mov.* %[a-z0-9]+,(-?0x[0-9a-f]+)?\(%rsp\)/ { stack++ }
        /^v?mov.* %[a-z0-9]+,-0x[0-9a-f]+\(%rbp\)/ { stack++ }
        /^i?mul/ { imul++ }
        !/%[xyz]mm/ || /^v?mov/ || /^vp?broadcast.*\(/ { next }
        /^v?pxor/ && split($2, r, ",") && r[1] == r[2] { next }
        {
            w = /%zmm/ ? 512 : 256
            n[w, "any"]++
            if ($1 ~ /^v?pmul|^vpmadd/) n[w, "multiply"]++
            else if ($1 ~ /^v?aes/) n[w, "aes"]++
            else if ($1 ~ /^v?pclmul/) n[w, "clmul"]++
            else if ($1 ~ /^v?p(s[lr][la]|ro[lr])v?[wdq]$/) n[w, "shift"]++
            else if ($1 ~ /^v?(p?shuf|punpck|p?align|p?perm|ps[lr]ldq)/ ||
                $1 ~ /^v?(p?extr|p?insr|p?insert|p?broadcast)/)
                n[w, "shuffle"]++
        }
        END {
            printf "%d %d %d", all, stack, imul
            for (w = 256; w <= 512; w += 256)
                printf " %d %d %d %d %d %d", n[w, "any"], n[w, "multiply"],
                    n[w, "aes"], n[w, "clmul"], n[w, "shift"], n[w, "shuffle"]
            print ""
        }'
}

# The fewest cycles in which the counts on stdin can be done. Instructions a
# cycle, of each kind in the order of count(); 0: there are none. Ice Lake and
# Sapphire Rapids are the servers, with a multiplier on port 5. AMD shifts and
# shuffles in the same units. All units of Zen 3 and 4 are for 256 bits, and a
# carry-less product is several operations for them.
least_cycles() { # processor
    case $1 in
    icelake-server) rates="5 1  3 2 2 1 2 2  2 2 1 1 1 1" ;;
    sapphirerapids) rates="6 1  3 2 2 1 2 2  2 2 1 1 1 1" ;;
    znver3) rates="6 1  4 2 2 0.5 2 2  0 0 0 0 0 0" ;;
    znver4) rates="6 1  4 2 2 1 2 2  2 1 1 0.67 1 1" ;;
    *) echo "mca.sh: no rates for $1" >&2 && exit 1 ;;
    esac
    awk -v rates="$rates" -v amd="${1%%znver*}" '
        function at_least(cycles) { if (cycles > most) most = cycles }
        {
            split(rates, rate, " ")
            at_least($1 / rate[1])
            at_least($3 / rate[2])
            if (amd == "") { $8 = $9 += $8; $14 = $15 += $14 }
            for (i = 4; i <= 9; i++) {
                cycles = $i / rate[i - 1]
                if ($(i + 6)) cycles += $(i + 6) / rate[i + 5]
                at_least(cycles)
            }
            print most
        }'
}

# The cycles that llvm-mca reckons for the instructions on stdin, one after
# another; those that lead elsewhere do not exist for it.
reckon() { # processor
    grep -v -E '^(notrack |bnd )?(call|ret|j)|^int3|nop|^xchg +%ax,%ax' |
        "$mca" -mcpu="$1" -iterations=1 2>"$dir/log" |
        awk '/^Total Cycles/ { print $3; found = 1 } END { exit !found }' || {
        cat "$dir/log" >&2
        exit 1
    }
}

# Lines of: job, level, compiler, instructions, stores to the stack, and for
# each processor cycles and fewest cycles, or - - where it lacks the level.
measure() {
    for cc in $compilers; do
        steps=$(build "$cc")
        disassemble "$steps" >"$dir/text"
        for job in $jobs; do
            for level in $("$steps" "$job"); do
                case $job-$level in
                aes-*-c) continue ;;       # a hundred times as long
                chacha20-ifma) continue ;; # what avx512 does
                esac
                "$steps" "$job" "$level" $len >"$dir/addresses"
                look_up "$dir/text" <"$dir/addresses" >"$dir/steps"
                count <"$dir/steps" >"$dir/counts"
                row="$job $level $cc $(cut -d ' ' -f 1-2 "$dir/counts")"
                for cpu in $cpus; do
                    if [ "$cpu" = znver3 ] && grep -q zmm "$dir/steps"; then
                        row="$row - -"
                    else
                        row="$row $(reckon "$cpu" <"$dir/steps")"
                        row="$row $(least_cycles "$cpu" <"$dir/counts")"
                    fi
                done
                echo "$row"
            done
        done
    done
}

# What measure() found, a table for each job and processor. A ratio says how many
# times as much the level called `base` takes with the same compiler.
tables() { # base, job...
    base=$1
    shift
    for job; do
        awk -v job="$job" -v base="$base" -v cpus="$cpus" -v len="$len" '
            $1 == job { row[++n] = $0 }
            $1 == job && $2 == base { for (i = 4; i <= NF; i++) of[$3, i] = $i }
            function figures(i, by) {
                printf " %8.3f %6.1f", f[i] / len, of[by, i] / f[i]
            }
            END {
                many = split(cpus, cpu, " ")
                for (k = 1; k <= many; k++) {
                    printf "\n%s, %s; ratios: %s / level\n", job, cpu[k], base
                    print "                instructions        by ports" \
                        "     by llvm-mca  ports /  spills"
                    print "level   by        /B  ratio      c/B  ratio" \
                        "     c/B  ratio llvm-mca   / KiB"
                    for (i = 1; i <= n; i++) {
                        split(row[i], f, " ")
                        at = 4 + 2 * k # cycles
                        if (f[at] == "-") continue
                        printf "%-7s %-6s", f[2], f[3]
                        printf "%6.2f %6.1f", f[4] / len, of[f[3], 4] / f[4]
                        figures(at + 1, f[3])
                        figures(at, f[3])
                        printf " %7.0f%% %7.1f\n",
                            100 * f[at + 1] / f[at], f[5] * 1024 / len
                    }
                }
            }' "$dir/rows"
    done
}

command -v "$mca" >/dev/null || {
    echo "mca.sh: no $mca; Debian package: llvm-19" >&2
    exit 1
}
# A libc with vectors of its own choice would count as the level's.
GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-ERMS
export GLIBC_TUNABLES
measure >"$dir/rows"

echo "command: sh bench/mca.sh"
"$mca" --version | sed -n 's/^.*LLVM version/llvm-mca/p'
for cc in $compilers; do
    "$cc" --version | sed -n 1p
done
sed -n 's/^model name[^:]*: /stepped on: /p' /proc/cpuinfo | sed 1q
cat <<'END'

Each call handles 16 KiB. Instructions: all that it executes. By ports: the
fewest cycles in which the units that they need can take them, whatever waits
for whatever (least_cycles in mca.sh). By llvm-mca: what its model of the
processor takes for them, in their order and with their latencies, but without
caches, branches and instruction fetch. Spills: stores to the stack other than
by calls.

Where the ports say more than llvm-mca, believe the ports. Its tables are wrong
in places: Ice Lake does 512-bit additions and logic on a third port, which such
instructions close; Zen 4 does two 512-bit AES rounds a cycle instead of one,
but takes two cycles for each vpmadd52, so ifma seems too slow there; Zen 3 and
4 take three cycles for an integer multiplication and a whole one for each adc,
so c seems too slow, and what is compared with it too fast.

c26 is the portable Poly1305 in five limbs of 26 bits, as compilers make it that
do not multiply 64 by 64 bits to 128: the plain scalar loop.
END
for job in $jobs; do
    case $job in
    aes-*) tables aesni "$job" ;;
    poly1305) tables c "$job" && tables c26 "$job" ;;
    *) tables c "$job" ;;
    esac
done
