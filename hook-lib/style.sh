#!/bin/sh
# What every C file of hook-lib has in common: `style.sh check` prints the files that break it, and exits with status 1 then.
# The first line names the licence.
set -eu
cd "$(dirname "$0")"
[ "${1:-}" = check ] || {
    echo "usage: style.sh check" >&2
    exit 2
}
files=$(find . -name target -prune -o -type f -name '*.[ch]' -print | sort)
status=0

for file in $files; do
    read -r first < "$file"
    [ "$first" = '/* SPDX-License-Identifier: Apache-2.0 */' ] || {
        echo "${file#./}: the first line does not name the licence: /* SPDX-License-Identifier: Apache-2.0 */" >&2
        status=1
    }
done
exit $status
