# Sourced by the tests that use a program's own tests: its source package.
#
#     fetch_source PACKAGE FOLDER     makes FOLDER/src, or skips the test
#
# Release files seldom list sources, so a private list of them is made from the
# machine's own, and /etc stays as it is. Kept for the next time.
#
# shellcheck shell=sh

fetch_source() {
    package=$1
    folder=$2
    [ ! -f "$folder/fetched" ] || return 0
    command -v apt-get >/dev/null || skip "no apt-get, hence no source package"
    need dpkg-source dpkg-dev
    rm -rf "$folder"
    mkdir -p "$folder/lists/partial" "$folder/archives/partial" \
        "$folder/sources"
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
        /etc/apt/sources.list.d/*.sources; do
        [ -f "$list" ] || continue
        sed -E 's/^(Types:).*/\1 deb-src/; s/^deb /deb-src /' "$list" \
            >"$folder/sources/$(basename "$list")"
    done
    (
        cd "$folder"
        set -- -q -o Dir::Etc::sourcelist=/dev/null \
            -o Dir::Etc::sourceparts="$folder/sources" \
            -o Dir::State::lists="$folder/lists" -o Dir::Cache="$folder" \
            -o APT::Sandbox::User=root
        apt-get "$@" update
        # A mirror may list a version that it does not hold yet.
        for version in $(apt-cache "$@" showsrc "$package" |
            sed -n 's/^Version: //p' | sort -rVu); do
            if apt-get "$@" source --download-only "$package=$version"; then
                dpkg-source -x ./*.dsc src && touch fetched && break
            fi
            rm -rf ./*.dsc ./*.tar.* src
        done
    ) >"$folder/fetch.log" 2>&1 || true
    [ -f "$folder/fetched" ] ||
        skip "the source package $package did not come ($folder/fetch.log)"
}
