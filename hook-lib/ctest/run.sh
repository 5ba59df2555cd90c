#!/bin/sh
# run.sh FOLDER OPTION...: runs ctest in a build folder, with files in memory. What it writes stands in ctest.log there, too. Tests that measure
# time fail now and then on a machine that is busy with others: one that fails is tried once more, and named at the end, on stderr.
set -eu
folder=$1
shift
here=$(cd "$(dirname "$0")" && pwd -P)
jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)
slots=$((2 * jobs)) # a test that keeps a processor busy takes two (shadow/tests/CMakeLists.txt)
TMPDIR=$(mktemp -d "$(sh "$here/../../build/scratch.sh")/ctest-XXXXXX") # a test that fails or is killed leaves its files there
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 1' HUP INT TERM
status=0
(cd "$folder" && ctest --output-on-failure --parallel "$slots" --repeat until-pass:2 --output-log ctest.log "$@") || status=$?
sed -n 's/.*Test *#[0-9]*: \(.*[^.]\) \.*\*\*\*\(Failed\|Timeout\|Exception\).*/hook-lib: failed at least once: \1/p' "$folder/ctest.log" | sort -u >&2
exit $status
