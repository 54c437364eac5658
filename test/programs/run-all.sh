#!/bin/sh
# Every program of this folder, one after the other, and a table of how it went.
#
#     sh test/programs/run-all.sh [BUILD-FOLDER [--install]]
#
# --install: installs the programs that are missing (Debian, Ubuntu). Otherwise
# what is not here is skipped. Each output is kept in BUILD-FOLDER/programs.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=${1:-$top/build/release}
if [ "${2-}" = --install ]; then
    . "$top/cmake/packages.sh"
    wanted="nginx curl openssh-server openssh-client postgresql
        python3-cryptography python3-cryptography-vectors
        python3-pytest-subtests python3-pretend dpkg-dev make"
    command -v node >/dev/null || wanted="$wanted nodejs"
    # shellcheck disable=SC2086
    install_missing $wanted || exit 1
fi

mkdir -p "$build/programs"
table=
status=0
for script in "$here"/*.sh; do
    name=$(basename "$script" .sh)
    [ "$name" != run-all ] || continue
    log=$build/programs/$name.log
    echo "--- $name"
    code=0
    sh "$script" "$build" >"$log" 2>&1 || code=$?
    cat "$log"
    case $code in
    0) how=works ;;
    77) how=$(sed -n 's/^skipped:/skipped:/p' "$log" | tail -n 1) ;;
    *)
        how="FAILED ($log)"
        status=1
        ;;
    esac
    table="$table$(printf '%-12s %s' "$name" "$how")
"
done
echo
printf '%s' "$table"
exit $status
