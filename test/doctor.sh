#!/bin/sh
# bulkcipher-doctor with configurations good and bad: its exit code, and that it
# names the mistake.
#
#     doctor.sh BUILD
set -u

build=$(cd "$1" && pwd)
doctor=$build/provider/bulkcipher-doctor
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
OPENSSL_MODULES=$work # whatever this machine has installed stays out of it
export OPENSSL_MODULES
failures=0

# configure PROVIDERS OURS DEFAULT ALGORITHMS: lines of the four sections
configure() {
    printf '%s\n' 'openssl_conf = init' '[init]' 'providers = providers' \
        'alg_section = algorithms' '[providers]' "$1" '[ours]' "$2" \
        '[default_sect]' "$3" '[algorithms]' "$4" | tr ';' '\n' >"$work/cnf"
}

# expect STATUS TEXT WHAT
expect() {
    status=0
    OPENSSL_CONF=$work/cnf "$doctor" >"$work/out" 2>&1 || status=$?
    if [ $status = "$1" ] && grep -q -e "$2" "$work/out"; then
        echo "passed: $3"
    else
        echo "FAILED: $3: exit code $status, want $1 and '$2'"
        sed 's/^/    /' "$work/cnf" "$work/out"
        failures=$((failures + 1))
    fi
}

both='bulkcipher = ours;default = default_sect'
ours="module = $build/provider/bulkcipher.so;activate = 1"
on='activate = 1'
prefer='default_properties = ?provider=bulkcipher'

configure "$both" "$ours" "$on" "$prefer"
expect 0 'All as it should be' "a good configuration"
configure "$both" "$ours" "$on" ''
expect 0 'All as it should be' "bulkcipher first, no properties"
configure 'default = default_sect;bulkcipher = ours' "$ours" "$on" "$prefer"
expect 0 'All as it should be' "default first, but bulkcipher preferred"
configure 'default = default_sect;bulkcipher = ours' "$ours" "$on" ''
expect 1 'other providers serve' "default first"
configure 'zzz = ours;default = default_sect' "$ours" "$on" ''
expect 1 'no provider bulkcipher is active' "a name of our own choice"
configure 'bulkcipher = ours' "$ours" "$on" ''
expect 1 'default provider is not active' "default not listed"
configure "$both" "module = $work/none.so;activate = 1" "$on" "$prefer"
expect 1 'none.so' "the module is missing"
configure "$both" 'activate = 1' "$on" "$prefer"
expect 1 "$work/bulkcipher.so" "no module in the folder"
configure "$both" "$ours;isa = best" "$on" "$prefer"
expect 1 'choose one of: c ssse3 aesni' "an isa level that is none"
configure "$both" "$ours;isa = c" "$on" "$prefer"
expect 0 'cbc=c gcm=c chapoly=c poly1305=c' "isa = c"
configure 'default = default_sect' '' "$on" ''
expect 1 'no provider bulkcipher is active' "bulkcipher not listed"
rm "$work/cnf"
expect 1 'cannot be read' "no file"

[ $failures = 0 ]
