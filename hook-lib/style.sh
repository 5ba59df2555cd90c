#!/bin/sh
# What every C file of hook-lib has in common: the licence in the first line, at most 120 columns, and the format of .clang-format.
# `style.sh check` prints what breaks that, and exits with status 1 then; with 77 if it cannot tell, since clang-format was not fetched.
# `style.sh write` formats. Only the version of outside/style.pins counts: another one formats otherwise.
set -eu
cd "$(dirname "$0")"
tool=${PARTITA_OUTSIDE:-target/outside}/style/files/clang_format/data/bin/clang-format
files=$(find . -name target -prune -o -type f -name '*.[ch]' -print | sort)

check() {
    status=0
    for file in $files; do
        read -r first < "$file"
        [ "$first" = '/* SPDX-License-Identifier: Apache-2.0 */' ] || {
            echo "${file#./}: the first line is not the licence's: /* SPDX-License-Identifier: Apache-2.0 */" >&2
            status=1
        }
    done
    awk 'length($0) > 120 { print FILENAME ":" FNR ": more than 120 columns"; found = 1 } END { exit found }' $files >&2 || status=1
    if cmp -s outside/style.pins "${tool%/files/*}/.pins"; then
        "$tool" --dry-run -Werror $files || status=1
    elif [ "${PARTITA_REQUIRE_OUTSIDE:-}" ]; then
        echo "the format cannot be checked: clang-format is not here: sh hook-lib/build.sh fetch style" >&2
        status=1
    elif [ "$status" = 0 ]; then
        echo "the format is not checked: clang-format is not here: sh hook-lib/build.sh fetch style" >&2
        status=77
    fi
    [ "$status" = 0 ] || [ "$status" = 77 ] || echo "to format: sh hook-lib/build.sh style" >&2
    exit "$status"
}

write() {
    cmp -s outside/style.pins "${tool%/files/*}/.pins" || sh outside/fetch.sh style
    "$tool" -i $files
}

case "${1:-}" in
check) check ;;
write) write ;;
*)
    echo "usage: style.sh check|write" >&2
    exit 2
    ;;
esac
