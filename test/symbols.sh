#!/bin/sh
# The module as the linker sees it: one exported function, libc and nothing
# else needed, no writable data of its own, no text relocations, no executable
# stack.
#
#   sh test/symbols.sh MODULE
set -u

module=$1
for tool in nm readelf; do
    command -v $tool >/dev/null || {
        echo "skipped: no program $tool (package binutils)"
        exit 77
    }
done
failed=0

same() { # same WHAT GOT WANTED
    [ "$2" = "$3" ] || {
        echo "failed: $1"
        echo "    got:    $2"
        echo "    wanted: $3"
        failed=1
    }
}

exported=$(nm -D --defined-only "$module" | awk '{print $NF}' | xargs)
same "exported symbols" "$exported" OSSL_provider_init

needed=$(readelf -d "$module" |
    sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^ld-linux' | xargs)
same "libraries needed" "${needed%%.so*}" libc

# Tables of pointers lie in .data.rel.ro, which is read-only once relocated.
# What remains in .data and .bss is the compiler's start-up code.
writable=$(readelf -W -S "$module" |
    sed -n 's/^ *\[ *\([0-9]*\)\] \(\.data\|\.bss\|\.tdata\|\.tbss\) .*/\1/p' |
    xargs)
for section in $writable; do
    names=$(readelf -W -s "$module" | awk -v s="$section" \
        '$4 == "OBJECT" && $7 == s {print $8}' |
        grep -v -e '^completed' -e '^__dso_handle$' -e '^__TMC_END__$' | xargs)
    same "writable objects in section $section" "$names" ""
done

same "text relocations" "$(readelf -d "$module" | grep TEXTREL)" ""
stack=$(readelf -W -l "$module" | awk '/GNU_STACK/ {print $7}')
same "stack" "$stack" RW
same "lazy binding off" \
    "$(readelf -d "$module" | grep -c -e BIND_NOW -e 'Flags:.*NOW')" 2

# Nothing that could print, exit or read the environment.
undefined=$(nm -D --undefined-only "$module" | awk '{print $NF}' |
    sed 's/@.*//' | grep -E '^(getenv|secure_getenv|printf|puts|fputs|perror|exit|abort|system|dlopen|pthread_key_create|__cxa_thread_atexit.*|atexit)$' | xargs)
same "functions a library does without" "$undefined" ""

[ $failed = 0 ] && echo "symbols as they should be: $module"
exit $failed
