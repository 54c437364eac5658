#!/bin/sh
# Builds what is missing, runs the benchmarks, prints their tables, and keeps
# the run: tables, CSV, JSON and a picture. README.md explains the figures.
#
#   sh bench/run.sh [--quick] [--kernels] [--evp] [--tls] [--out DIR]
#                   [--build DIR]
#
#   --quick     about one minute instead of five; kept in the build folder,
#               not in bench/results, unless --out says where
#   --kernels, --evp, --tls    only these (default: all three)
#   --out DIR   where to keep the run; default: bench/results/<this CPU>
#   --build DIR the build folder; default: build
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname -- "$here")
build=$top/build
out=
quick=
parts=

usage()
{
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit "$1"
}

while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=--quick ;;
    --kernels | --evp | --tls) parts="$parts ${1#--}" ;;
    --out | --build)
        [ $# -gt 1 ] || usage 2
        case $1 in
        --out) out=$2 ;;
        --build) build=$2 ;;
        esac
        shift
        ;;
    --help | -h) usage 0 ;;
    *)
        echo "run.sh: unknown option $1" >&2
        usage 2 >&2
        ;;
    esac
    shift
done
parts=${parts:-kernels evp tls}

say()
{
    echo "run.sh: $*" >&2
}

need()
{
    command -v "$1" >/dev/null || {
        say "$1 is missing; on Debian or Ubuntu: apt-get install $2"
        exit 1
    }
}

# A name for the processor that sorts well: maker, what the model's name says
# beyond that, generation where we know it, and the compiler.
slug()
{
    compiler=$1
    LC_ALL=C lscpu | awk -F ': *' -v compiler="$compiler" '
        $1 == "Model name" && !name { name = tolower($2) }
        $1 == "CPU family" { family = $2 }
        $1 == "Model" { model = $2 + 0 }
        $1 == "Architecture" { arch = $2 }
        END {
            gsub(/\((r|tm)\)|@.*|cpu|processor|[0-9]+-core/, "", name)
            g = ""
            if (family == 25)
                g = (model >= 16 && model < 32) || (model >= 96 && \
                    model < 128) || model >= 160 ? "zen4" : "zen3"
            else if (family == 26)
                g = "zen5"
            else if (family == 23)
                g = model >= 48 ? "zen2" : "zen1"
            else if (family == 6) {
                g = model == 85 ? "skylake-x" : model == 106 || \
                    model == 108 ? "icelake" : model == 143 ? \
                    "sapphirerapids" : model == 207 ? "emeraldrapids" : \
                    model == 173 ? "graniterapids" : "model" model
            }
            s = (name ? name : arch) "-" g "-" compiler
            gsub(/[^a-z0-9]+/, "-", s)
            gsub(/^-|-$/, "", s)
            print s
        }'
}

# ---- Build --------------------------------------------------------------

need cmake cmake
need awk mawk
if [ ! -f "$build/CMakeCache.txt" ]; then
    say "configuring $build"
    cmake -S "$top" -B "$build" -DCMAKE_BUILD_TYPE=Release >/dev/null
fi
if grep -Eq '^BULKCIPHER_SANITIZE:STRING=.|^CMAKE_BUILD_TYPE:.*=Debug' \
    "$build/CMakeCache.txt"; then
    say "$build is a build with sanitizers or without optimisation: its"
    say "figures would mean nothing; name another with --build"
    exit 1
fi
say "building $build"
cmake --build "$build" >"$build/bench-build.log" 2>&1 || {
    tail -30 "$build/bench-build.log" >&2
    say "the build failed; all of it is in $build/bench-build.log"
    exit 1
}

# ---- Run ----------------------------------------------------------------

cc=$(sed -n 's/^CMAKE_C_COMPILER:[^=]*=//p' "$build/CMakeCache.txt")
case $("$cc" --version 2>/dev/null | head -1) in
*clang*) compiler=clang ;;
*) compiler=gcc ;;
esac
compiler=$compiler$("$cc" -dumpversion | sed 's/\..*//')
if [ -z "$out" ]; then
    if [ -n "$quick" ]; then
        out=$build/bench-quick
    else
        out=$here/results/$(slug "$compiler")
    fi
fi
mkdir -p "$out"

load=$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo 0)
if [ "${load%.*}" -ge 1 ]; then
    say "the machine is busy (load $load): ratios will do, shares of the"
    say "limit and absolute figures want it idle"
fi

# Copies, as an installed module is one. The linker's own file lies in scattered
# pages of memory, and short calls into those take up to 20 ns longer.
modules=$build/bench/modules
mkdir -p "$modules"
cp "$build/provider/bulkcipher.so" "$build/bench/floor.so" "$modules"

for part in $parts; do
    say "bench_$part"
    # Through a file, so that the exit status is the program's.
    "$build/bench/bench_$part" $quick --modules "$modules" \
        --csv "$out/$part.csv" >"$out/$part.txt" || {
        say "bench_$part failed"
        exit 1
    }
    cat "$out/$part.txt"
    echo
done

# ---- Keep ---------------------------------------------------------------

cd "$out"
set --
for part in kernels evp tls; do
    [ -f "$part.csv" ] && set -- "$@" "$part.csv"
done
awk -f "$here/json.awk" "$@" >results.json
[ ! -f evp.csv ] || awk -f "$here/svg.awk" evp.csv >ratios.svg
say "kept in $out: tables (.txt), $* results.json ratios.svg"
