#!/bin/sh
# Makes hook-lib/INTERCEPTED.md out of the lists of wrappers and of what the tests called (see called.c).
# intercepted.sh write|check CALLED: CALLED is a folder with a file a test program. check: exit status 1 with the reason where the file
# is not current, or a wrapper is reached by no test.
set -eu
LC_ALL=C
export LC_ALL
called=$2
cd "$(dirname "$0")/../.."

if [ -z "$(ls "$called" 2> /dev/null)" ]; then
    echo "no test has run yet; what is needed for the table: sh hook-lib/build.sh intercepted" >&2
    exit 1
fi
new=$called/../INTERCEPTED.md

# Lines: name, what it does. In the order of the lists.
listed() { # header, macro
    awk -v macro="define $2(X)" '
        index($0, macro) { inside = 1 }
        !inside { next }
        match($0, /\/\* .* \*\//) && !/define/ { does = substr($0, RSTART + 3, RLENGTH - 6) }
        match($0, /X\([A-Za-z0-9_]+\)/) && !/define/ { print substr($0, RSTART + 2, RLENGTH - 3) "\t" does }
        !/\\$/ { exit }' "$1"
}

table() {
    echo '| function | what the wrapper does | tests that call it |'
    echo '| --- | --- | --- |'
    for program in $(ls "$called"); do
        sort -u "$called/$program" | sed "s/\$/	$program/"
    done | awk -F '\t' '
        FILENAME == "-" { tests[$1] = tests[$1] (tests[$1] ? ", " : "") $2; next }
        !has_row { names = $1; does = $2; by = tests[$1]; has_row = 1; next }
        $2 == does && tests[$1] == by { names = names ", " $1; next }
        { print "| " names " | " does " | " by " |"; names = $1; does = $2; by = tests[$1] }
        END { print "| " names " | " does " | " by " |" }' - "$1"
}

listed shadow/cuda/cuda_driver.h CUDA_INTERCEPTED > "$called/../listed-cuda"
listed shadow/nvml/nvml_driver.h NVML_INTERCEPTED > "$called/../listed-nvml"
{
    cat << 'HEAD'
# What is intercepted

Made by a program; do not edit. After adding a wrapper or a test: **`sh hook-lib/build.sh intercepted`** and commit what changed.
The functions and what they do are the lists in `shadow/cuda/cuda_driver.h` and `shadow/nvml/nvml_driver.h`; the tests are the programs of `shadow/tests` that reached the wrapper
when they ran. A test fails when this file is not current, or a wrapper is reached by no test.

HEAD
    echo '## libcuda.so.1'
    table "$called/../listed-cuda"
    echo
    echo '## libnvidia-ml.so.1'
    table "$called/../listed-nvml"
} > "$new"

status=0
while IFS='	' read -r name does; do
    [ -n "$does" ] || { echo "$name: no comment above it in the list says what its wrapper does" >&2; status=1; }
    cat "$called"/* | grep -qx "$name" || { echo "$name: no test calls its wrapper" >&2; status=1; }
done << LISTED
$(cat "$called/../listed-cuda" "$called/../listed-nvml")
LISTED
if [ "$1" = write ]; then
    cp "$new" INTERCEPTED.md
elif ! cmp -s "$new" INTERCEPTED.md; then
    diff -u INTERCEPTED.md "$new" >&2 || true
    echo "hook-lib/INTERCEPTED.md is not current: run sh hook-lib/build.sh intercepted, and commit it" >&2
    status=1
fi
exit $status
