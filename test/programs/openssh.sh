#!/bin/sh
# OpenSSH with the module in ssh and sshd: 20 MB each way with each cipher of
# ours. aes256-gcm@openssh.com and the CBC ciphers reach a provider;
# chacha20-poly1305@openssh.com is made by OpenSSH from raw ChaCha20 and its own
# Poly1305, and reaches nobody's ChaCha20-Poly1305.
#
#     sh test/programs/openssh.sh [BUILD-FOLDER]
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$top/build/release}
. "$top/test/trace.sh"
PATH=$PATH:/usr/sbin:/sbin
need sshd openssh-server
need ssh openssh-client

bytes=20000000
data file $bytes
sent=$(hash_of <"$work/file")
conf sshd
conf ssh
ssh-keygen -q -t ed25519 -N '' -f "$work/host"
ssh-keygen -q -t ed25519 -N '' -f "$work/user"
port=$(free_port)
cat >"$work/sshd_config" <<EOF
ListenAddress 127.0.0.1
Port $port
HostKey $work/host
PidFile $work/sshd.pid
AuthorizedKeysFile $work/user.pub
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
UsePAM no
Ciphers aes256-gcm@openssh.com,aes128-gcm@openssh.com,aes128-cbc,aes192-cbc,aes256-cbc,chacha20-poly1305@openssh.com
EOF
chmod a+rx "$work"
# As root sshd wants this folder, which its service would have made.
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
OPENSSL_CONF=$work/sshd.cnf "$(command -v sshd)" -D -e \
    -f "$work/sshd_config" 2>"$work/sshd.err" &
servers=$!
wait_for_port "$port"

run_ssh() {
    OPENSSL_CONF=$work/ssh.cnf timeout 120 ssh -q -F none -i "$work/user" \
        -o IdentitiesOnly=yes -o StrictHostKeyChecking=no \
        -o UserKnownHostsFile=/dev/null -o BatchMode=yes -p "$port" "$@" ||
        {
            tail -n 5 "$work/sshd.err"
            die "ssh $*"
        }
}

while read -r cipher algorithm; do
    rm -f "$work/ssh.counts"
    before=$(bytes_of sshd "$algorithm")
    got=$(run_ssh -c "$cipher" 127.0.0.1 sha256sum <"$work/file")
    [ "${got%% *}" = "$sent" ] || die "$cipher: other bytes came to sshd"
    got=$(run_ssh -n -c "$cipher" 127.0.0.1 cat "$work/file" | hash_of)
    [ "$got" = "$sent" ] || die "$cipher: other bytes came to ssh"
    if [ "$algorithm" = - ]; then
        echo "$cipher: 20 MB each way, works; nothing of it reaches us"
        continue
    fi
    must_use ssh "$algorithm" $((2 * bytes))
    through=$(($(bytes_of sshd "$algorithm") - before))
    [ $through -ge $((2 * bytes)) ] ||
        die "$cipher: sshd moved $through bytes through us"
    echo "$cipher: 20 MB each way, $algorithm in ssh and in sshd"
done <<EOF
aes256-gcm@openssh.com AES-256-GCM
aes128-gcm@openssh.com AES-128-GCM
aes256-cbc AES-256-CBC
aes192-cbc AES-192-CBC
aes128-cbc AES-128-CBC
chacha20-poly1305@openssh.com -
EOF
echo "sshd:"
counts_of sshd
