# Sourced by the scripts that run programs with the module: a folder for their
# files, configurations with the tracing provider, servers that end with the
# script. The script says which build folder to use: build=..., before.
#
# shellcheck shell=sh

build=$(cd "$build" && pwd) || exit 2
module=$build/provider/bulkcipher.so
tracer=$build/test/bulkcipher_trace.so
for file in "$module" "$tracer" "$build/test/trace_counts"; do
    [ -f "$file" ] || {
        echo "$0: no $file: build first, or name the build folder"
        exit 2
    }
done
unset OPENSSL_CONF OPENSSL_MODULES

work=$(mktemp -d "${TMPDIR:-/tmp}/bulkcipher.XXXXXX")
servers=
end_all() {
    # shellcheck disable=SC2086
    [ -z "$servers" ] || kill $servers 2>/dev/null || true
    servers=
    wait
    rm -rf "$work"
}
trap end_all EXIT
trap 'exit 1' INT TERM HUP

skip() {
    echo "skipped: $*"
    exit 77
}

die() {
    echo "FAILED: $*"
    exit 1
}

# need PROGRAM PACKAGE
need() {
    command -v "$1" >/dev/null || skip "no $1 here (package $2)"
}

# conf NAME [PROVIDER...]: writes $work/NAME.cnf, in which the module counts
# into $work/NAME.counts and stands before default and the other providers.
conf() {
    name=$1
    shift
    {
        echo "openssl_conf = bc_init"
        echo "nodejs_conf = bc_init"
        conf_sections "$work/$name.counts" bulkcipher default "$@"
    } >"$work/$name.cnf"
}

# conf_sections COUNTS PROVIDER...: the sections that bc_init names.
conf_sections() {
    counts=$1
    shift
    printf '[bc_init]\nproviders = bc_providers\n[bc_providers]\n'
    for provider; do
        case $provider in
        bulkcipher) echo "bulkcipher = bc_module" ;;
        *) echo "$provider = bc_other" ;;
        esac
    done
    cat <<EOF
[bc_other]
activate = 1
[bc_module]
activate = 1
module = $tracer
target = $module
counts = $counts
EOF
}

counts_of() {
    "$build/test/trace_counts" "$work/$1.counts" || true
}

# bytes_of NAME ALGORITHM: encrypted and decrypted together so far.
bytes_of() {
    counts_of "$1" 2>/dev/null |
        awk -v name="$2" '$1 == name { n = $4 + $7 } END { printf "%d", n }'
}

# used NAME ALGORITHM BYTES: did that many bytes go through the module?
used() {
    "$build/test/trace_counts" "$work/$1.counts" "$2" "$3"
}

must_use() {
    used "$@" && return
    counts_of "$1"
    die "$1: fewer than $3 bytes of $2 went through the module"
}

free_port() {
    perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(Listen => 1,
        LocalAddr => "127.0.0.1")->sockport'
}

# wait_for_port PORT: until somebody listens there, 10 s at most.
wait_for_port() {
    perl -MIO::Socket::INET -e 'for (1 .. 200) {
        exit 0 if IO::Socket::INET->new(PeerAddr => "127.0.0.1:$ARGV[0]");
        select undef, undef, undef, 0.05;
    }
    exit 1' "$1" || die "nobody listens on port $1"
}

# certificate: $work/cert.pem and $work/key.pem, for localhost.
certificate() {
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost,IP:127.0.0.1 \
        -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null ||
        die "no certificate"
}

# data NAME BYTES: a file of random bytes.
data() {
    head -c "$2" /dev/urandom >"$work/$1"
}

hash_of() {
    sha256sum | cut -d' ' -f1
}
