# The shipped hook needs nothing of a node: no linker, no library.
set -eu
if readelf -lW "$1" | grep -q INTERP || readelf -dW "$1" | grep -q NEEDED; then
    echo "$1 is not static" >&2
    exit 1
fi
"$1" --help > /dev/null
