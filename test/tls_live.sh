#!/bin/sh
# openssl s_server and s_client, with the module on the server, on the client
# and on both, TLS 1.0 to 1.3, every suite that uses our ciphers, a file in each
# direction. Compares hashes, and by the tracing provider's counts proves that
# the module did the work.
#
#     sh test/tls_live.sh [BUILD-FOLDER [--full]]   (default: build/release)
#
# 10 MB each way and every suite in every role with --full; otherwise 256 KiB,
# and the suites take turns at the roles.
#
# Suites with MAC-then-encrypt and SHA-1 or SHA-256 never reach a provider's
# plain CBC on x86: libssl takes the default provider's AES-CBC-HMAC-SHA for
# them. They run all the same, and "nothing of it" comes through us.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$top/build/release}
full=${2-}
bytes=262144
[ -z "$full" ] || bytes=10000000
. "$top/test/trace.sh"
need openssl openssl

certificate
data up "$bytes"
data down "$bytes"
sent_up=$(hash_of <"$work/up")
sent_down=$(hash_of <"$work/down")
cd "$work"
conf server
conf client
: >empty.cnf # the default provider alone

# Each line: version, suite, encrypt-then-MAC, what must come through us.
suites='
tls1_3 TLS_AES_128_GCM_SHA256 - AES-128-GCM
tls1_3 TLS_AES_256_GCM_SHA384 - AES-256-GCM
tls1_3 TLS_CHACHA20_POLY1305_SHA256 - ChaCha20-Poly1305
tls1_2 ECDHE-RSA-AES128-GCM-SHA256 - AES-128-GCM
tls1_2 ECDHE-RSA-AES256-GCM-SHA384 - AES-256-GCM
tls1_2 ECDHE-RSA-CHACHA20-POLY1305 - ChaCha20-Poly1305
tls1_2 AES128-GCM-SHA256 - AES-128-GCM
tls1_2 DHE-RSA-AES256-GCM-SHA384 - AES-256-GCM
tls1_2 ECDHE-RSA-AES128-SHA256 etm AES-128-CBC
tls1_2 ECDHE-RSA-AES256-SHA384 etm AES-256-CBC
tls1_2 ECDHE-RSA-AES256-SHA384 mte AES-256-CBC
tls1_2 ECDHE-RSA-AES128-SHA etm AES-128-CBC
tls1_2 ECDHE-RSA-AES256-SHA etm AES-256-CBC
tls1_2 AES128-SHA etm AES-128-CBC
tls1_2 AES256-SHA256 etm AES-256-CBC
tls1_2 AES128-SHA256 mte -
tls1_2 AES256-SHA mte -
tls1_1 AES256-SHA etm AES-256-CBC
tls1_1 AES128-SHA mte -
tls1 AES128-SHA etm AES-128-CBC
tls1 AES256-SHA mte -
'

# Prints what a side is told about the suite.
suite_options() {
    case $1 in
    tls1_3) echo "-tls1_3 -ciphersuites $2" ;;
    *) echo "-$1 -cipher $2:@SECLEVEL=0" ;;
    esac
    [ "$3" != mte ] || echo "-no_etm"
}

# arrived FILE: waits until it has all bytes, 20 s at most.
arrived() {
    tries=0
    until [ "$(wc -c <"$1")" -ge "$bytes" ]; do
        tries=$((tries + 1))
        if [ $tries = 1000 ] || ! kill -0 "$client" 2>/dev/null; then
            tail -n 5 server.err client.err
            die "$case: $(wc -c <"$1") of $bytes bytes in $1"
        fi
        sleep 0.02
    done
}

# One connection: the client's file first, then the server's. (At the same time
# the two programs would wait for each other.)
transfer() {
    port=$(free_port)
    rm -f server.out client.out server.in
    : >server.out
    : >client.out
    mkfifo server.in
    exec 3<>server.in # stays open, so that s_server sees no end of file
    # shellcheck disable=SC2046
    OPENSSL_CONF=$server_conf openssl s_server -quiet \
        -accept "127.0.0.1:$port" -cert cert.pem -key key.pem \
        $(suite_options "$@") <&3 >server.out 2>server.err &
    server=$!
    servers=$server
    # The server may not listen yet; a client that finds nobody ends at once.
    tries=0
    while :; do
        # shellcheck disable=SC2046
        OPENSSL_CONF=$client_conf openssl s_client -quiet \
            -connect "127.0.0.1:$port" -CAfile cert.pem \
            -verify_return_error $(suite_options "$@") \
            <up >client.out 2>client.err &
        client=$!
        servers="$server $client"
        while kill -0 $client 2>/dev/null && [ ! -s server.out ]; do
            sleep 0.01
        done
        [ ! -s server.out ] || break
        tries=$((tries + 1))
        if [ $tries = 20 ]; then
            tail -n 5 server.err client.err
            die "$case: no connection"
        fi
        sleep 0.05
    done
    arrived server.out
    cat down >&3
    arrived client.out
    kill $servers
    wait $servers 2>/dev/null || true
    servers=
    exec 3>&-
    [ "$(hash_of <server.out)" = "$sent_up" ] ||
        die "$case: what the server got is not what was sent"
    [ "$(hash_of <client.out)" = "$sent_down" ] ||
        die "$case: what the client got is not what was sent"
}

echo "$suites" | grep . >suites # a file: a pipe would end in a subshell
turn=0
while read -r version suite mac algorithm; do
    roles="server client both"
    turn=$((turn % 3 + 1))
    [ -n "$full" ] || roles=$(echo $roles | cut -d' ' -f$turn)
    for role in $roles; do
        case="$version $suite $mac, module on $role"
        rm -f server.counts client.counts
        server_conf=$work/server.cnf
        client_conf=$work/client.cnf
        [ $role != client ] || server_conf=$work/empty.cnf
        [ $role != server ] || client_conf=$work/empty.cnf
        transfer "$version" "$suite" "$mac"
        for side in server client; do
            [ $role = $side ] || [ $role = both ] || continue
            case $algorithm in
            -)
                [ "$(uname -m)" = x86_64 ] || continue
                for bits in 128 256; do
                    used $side AES-$bits-CBC "$bytes" &&
                        die "$case: reached us after all"
                done
                ;;
            *) must_use $side "$algorithm" $((2 * bytes)) ;;
            esac
        done
    done
    [ "$algorithm" != - ] || algorithm="nothing of it"
    printf '%-7s %-29s %-3s %-18s through us on: %s\n' "$version" "$suite" \
        "$mac" "$algorithm" "$roles"
done <suites
