# shellcheck shell=sh
# Sourced by cmake/quickstart.sh and test/run.sh: installs what is missing.
#
#     install_missing PACKAGE...      Debian's and Ubuntu's package names
#
# Says what it is about to do before it does it. Where there is no apt-get, it
# says what is needed and goes on: the build will tell what is really missing.

install_missing() {
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "This machine has no apt-get. Needed, by their Debian names: $*"
        return 0
    fi
    missing=
    for package; do
        case $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) in
        *' installed') ;;
        *) missing="$missing $package" ;;
        esac
    done
    [ -n "$missing" ] || return 0

    as_root=
    if [ "$(id -u)" != 0 ]; then
        as_root=sudo
        command -v sudo >/dev/null 2>&1 || {
            echo "Missing, and neither root nor sudo to install it:$missing" >&2
            return 1
        }
    fi
    echo "Installing:$missing"
    log=$(mktemp)
    status=0
    # A list of packages that cannot be renewed may still be good enough, so
    # only the last command counts.
    for step in "apt-get -qq update" \
        "apt-get -qq -y --no-install-recommends install$missing"; do
        echo "\$ ${as_root:+$as_root }$step"
        status=0
        # shellcheck disable=SC2086
        $as_root env DEBIAN_FRONTEND=noninteractive $step \
            -o DPkg::Lock::Timeout=300 </dev/null >"$log" 2>&1 || {
            status=1
            cat "$log" >&2
        }
    done
    rm -f "$log"
    return $status
}
