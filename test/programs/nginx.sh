#!/bin/sh
# nginx serves files to curl, the module in both: TLS 1.2 and 1.3, a file of
# 100 MB with each suite, then 64 connections at a time.
#
#     sh test/programs/nginx.sh [BUILD-FOLDER]
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$top/build/release}
. "$top/test/trace.sh"
need nginx nginx
need curl curl

certificate
conf nginx
conf curl
mkdir "$work/www"
data www/large 100000000
data www/small 1000000
chmod -R a+rX "$work"
port=$(free_port)
cat >"$work/nginx.conf" <<EOF
daemon off;
$([ "$(id -u)" != 0 ] || echo "user root;")
worker_processes 2;
pid $work/nginx.pid;
error_log $work/error.log;
events { worker_connections 256; }
http {
    access_log off;
    client_body_temp_path $work/t1;
    proxy_temp_path $work/t2;
    fastcgi_temp_path $work/t3;
    uwsgi_temp_path $work/t4;
    scgi_temp_path $work/t5;
    server {
        listen 127.0.0.1:$port ssl;
        root $work/www;
        ssl_certificate $work/cert.pem;
        ssl_certificate_key $work/key.pem;
        ssl_protocols TLSv1.2 TLSv1.3;
        ssl_ciphers HIGH;
    }
}
EOF
OPENSSL_CONF=$work/nginx.cnf nginx -c "$work/nginx.conf" 2>"$work/nginx.err" &
servers=$!
wait_for_port "$port"

url=https://localhost:$port
get() {
    OPENSSL_CONF=$work/curl.cnf curl -sS --fail --max-time 300 \
        --cacert "$work/cert.pem" "$@"
}

large=$(hash_of <"$work/www/large")
while read -r version option suite algorithm; do
    rm -f "$work/curl.counts"
    before=$(bytes_of nginx "$algorithm")
    got=$(get "--tlsv$version" --tls-max "$version" "--$option" "$suite" \
        "$url/large" | hash_of)
    [ "$got" = "$large" ] || die "TLS $version, $suite: other bytes came"
    must_use curl "$algorithm" 100000000
    sent=$(($(bytes_of nginx "$algorithm") - before))
    [ $sent -ge 100000000 ] || die "$suite: nginx sent $sent bytes through us"
    echo "TLS $version $suite: 100 MB, $algorithm in nginx and in curl"
done <<EOF
1.2 ciphers ECDHE-RSA-AES128-GCM-SHA256 AES-128-GCM
1.2 ciphers ECDHE-RSA-AES256-GCM-SHA384 AES-256-GCM
1.2 ciphers ECDHE-RSA-CHACHA20-POLY1305 ChaCha20-Poly1305
1.2 ciphers ECDHE-RSA-AES256-SHA384 AES-256-CBC
1.3 tls13-ciphers TLS_AES_128_GCM_SHA256 AES-128-GCM
1.3 tls13-ciphers TLS_AES_256_GCM_SHA384 AES-256-GCM
1.3 tls13-ciphers TLS_CHACHA20_POLY1305_SHA256 ChaCha20-Poly1305
EOF

small=$(hash_of <"$work/www/small")
for version in 1.2 1.3; do
    mkdir "$work/got"
    before=$(bytes_of nginx AES-256-GCM)
    get "--tlsv$version" --tls-max "$version" --parallel --parallel-immediate \
        --parallel-max 64 --ciphers ECDHE-RSA-AES256-GCM-SHA384 \
        -o "$work/got/#1" "$url/small?[1-64]" 2>"$work/curl.err" || {
        cat "$work/curl.err"
        die "TLS $version, 64 connections"
    }
    for i in $(seq 64); do
        [ "$(hash_of <"$work/got/$i")" = "$small" ] ||
            die "TLS $version, connection $i of 64: other bytes came"
    done
    rm -r "$work/got"
    sent=$(($(bytes_of nginx AES-256-GCM) - before))
    [ $sent -ge 64000000 ] || die "64 connections: nginx sent $sent through us"
    echo "TLS $version: 64 connections at a time, 1 MB each"
done
echo "nginx:"
counts_of nginx
