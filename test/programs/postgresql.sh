#!/bin/sh
# PostgreSQL serves psql over TLS, the module in both: 20 MB each way, with TLS
# 1.3 and with suites of TLS 1.2.
#
#     sh test/programs/postgresql.sh [BUILD-FOLDER]
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$top/build/release}
. "$top/test/trace.sh"
need psql postgresql-client
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -x "$bin/initdb" ] || skip "no initdb here (package postgresql)"

# The server refuses to run as root.
as_user=
if [ "$(id -u)" = 0 ]; then
    id postgres >/dev/null 2>&1 || skip "no user postgres, and we are root"
    as_user="runuser -u postgres --"
fi

certificate
conf server
conf client
# Built in a home that others cannot enter, the module would stay unseen.
cp "$module" "$tracer" "$work/"
sed -i "s#$module#$work/bulkcipher.so#; s#$tracer#$work/bulkcipher_trace.so#" \
    "$work/server.cnf"
mkdir "$work/data"
cp "$work/cert.pem" "$work/key.pem" "$work/data/"
: >"$work/server.counts"
chmod 666 "$work/server.counts"
chmod a+rx "$work" "$work"/*.so
[ -z "$as_user" ] || chown -R postgres "$work/data"
mkdir "$work/db"
[ -z "$as_user" ] || chown postgres "$work/db"
cd /
$as_user "$bin/initdb" -D "$work/db" -A trust -U tester -E UTF8 --no-sync \
    >"$work/initdb.log" 2>&1 || {
    tail -n 5 "$work/initdb.log"
    die "initdb"
}
chmod 600 "$work/data/key.pem"
port=$(free_port)
OPENSSL_CONF=$work/server.cnf $as_user "$bin/postgres" -D "$work/db" \
    -c listen_addresses=127.0.0.1 -c port="$port" \
    -c unix_socket_directories="$work/db" -c ssl=on -c fsync=off \
    -c ssl_cert_file="$work/data/cert.pem" \
    -c ssl_key_file="$work/data/key.pem" \
    >"$work/server.log" 2>&1 &
servers=$!
wait_for_port "$port"

query() {
    OPENSSL_CONF=$work/client.cnf timeout 120 psql -X -q -A -t \
        -d "host=localhost hostaddr=127.0.0.1 port=$port user=tester
            dbname=postgres sslmode=verify-full sslrootcert=$work/cert.pem" "$@"
}
tries=0
until query -c 'select 1' >/dev/null 2>"$work/psql.err"; do
    tries=$((tries + 1))
    [ $tries -lt 50 ] || {
        cat "$work/psql.err"
        tail -n 5 "$work/server.log"
        die "no connection"
    }
    sleep 0.2
done

# 20 MB of text, in and out again.
seq 500000 | awk '{ printf "%d %032d\n", $1, $1 * 7 }' >"$work/in"
expected=$(hash_of <"$work/in")

setting() {
    query -c "alter system set $1" -c 'select pg_reload_conf()' >/dev/null
}

while read -r version suite algorithm; do
    setting "ssl_max_protocol_version = '$version'"
    [ "$suite" = any ] || setting "ssl_ciphers = '$suite'"
    sleep 0.5 # until the server has read it
    rm -f "$work/client.counts"
    before=$(bytes_of server "$algorithm")
    query -c "create temporary table t (line text)" -c "\copy t from $work/in" \
        -c "select version, cipher from pg_stat_ssl
            where pid = pg_backend_pid()" -c "\copy t to $work/out" \
        >"$work/told" || die "$version $suite"
    [ "$(hash_of <"$work/out")" = "$expected" ] ||
        die "$version $suite: other bytes came back"
    must_use client "$algorithm" 38000000
    through=$(($(bytes_of server "$algorithm") - before))
    [ $through -ge 38000000 ] ||
        die "$suite: the server moved $through bytes through us"
    echo "$(tr '|' ' ' <"$work/told"): 20 MB each way, $algorithm in both"
done <<EOF
TLSv1.3 any AES-256-GCM
TLSv1.2 ECDHE-RSA-AES128-GCM-SHA256 AES-128-GCM
TLSv1.2 ECDHE-RSA-CHACHA20-POLY1305 ChaCha20-Poly1305
TLSv1.2 ECDHE-RSA-AES256-SHA384 AES-256-CBC
EOF
echo "server:"
counts_of server
