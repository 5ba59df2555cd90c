#!/bin/sh
# Builds what is shipped, by `zig cc`, for processors and C libraries older than this machine's: target/dist-release/<processor>-<libc>/,
# laid out as target/dist. release.sh [TARGET...]: x86_64-gnu aarch64-gnu x86_64-musl aarch64-musl, all without an argument.
# The same sources give the same bytes, in whatever folder.
set -eu
cd "$(dirname "$0")/.."
here=$(pwd -P)
zig=${PARTITA_OUTSIDE:-$here/target/outside}/compiler/files/ziglang/zig
GLIBC=2.17 # the oldest that a container may have

[ -x "$zig" ] || {
    echo "release: the compiler is not here: sh hook-lib/build.sh fetch compiler" >&2
    exit 1
}
ZIG_GLOBAL_CACHE_DIR=${ZIG_GLOBAL_CACHE_DIR:-$here/target/zig-cache}
ZIG_LOCAL_CACHE_DIR=$ZIG_GLOBAL_CACHE_DIR
export ZIG_GLOBAL_CACHE_DIR ZIG_LOCAL_CACHE_DIR
jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)

# compiler TARGET [OPTION...]: a cc for it; prints its path
compiler() {
    target=$1
    shift
    case $target in
    *-gnu) triple=${target%-*}-linux-gnu.$GLIBC ;;
    *-musl) triple=${target%-*}-linux-musl ;;
    esac
    mkdir -p "$here/target/zig-cc"
    wrapper=$here/target/zig-cc/$target${1:+-$1}
    printf '#!/bin/sh\nexec "%s" cc -target %s -fno-sanitize=undefined %s "$@"\n' "$zig" "$triple" "$*" > "$wrapper.new"
    chmod +x "$wrapper.new"
    cmp -s "$wrapper.new" "$wrapper" && rm "$wrapper.new" || mv "$wrapper.new" "$wrapper"
    echo "$wrapper"
}

# tree FOLDER CC TARGET OPTION...: configures and builds, all or what $only names
only=all
tree() {
    folder=$1 cc=$2 processor=${3%-*}
    shift 3
    if [ -f "$folder/CMakeCache.txt" ] && ! grep -qx "CMAKE_HOME_DIRECTORY:INTERNAL=$here" "$folder/CMakeCache.txt"; then
        rm -rf "$folder"
    fi
    mkdir -p "$folder"
    {
        cmake -S . -B "$folder" -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$processor" "$@" &&
            cmake --build "$folder" --parallel "$jobs" --target "$only"
    } > "$folder.log" 2>&1 || {
        tail -n 40 "$folder.log" >&2
        exit 1
    }
}

# Stripped at once; no path of this folder in it; no identity besides the bytes.
shipped() { # TARGET OPTION...
    target=$1
    shift
    tree "target/zig-$target" "$(compiler "$target")" "$target" -DPARTITA_TESTS=OFF -DCMAKE_INSTALL_PREFIX="$here/target/dist-release/$target" \
        "-DCMAKE_C_FLAGS=-ffile-prefix-map=$here=. -g0" -DCMAKE_SHARED_LINKER_FLAGS=-s -DCMAKE_EXE_LINKER_FLAGS=-s "$@"
}

# The CDI hook is a static program, which the compiler makes with musl alone: it is the same in both.
release() {
    case $1 in
    *-gnu)
        only=partita-cdi-hook
        shipped "${1%-gnu}-musl"
        only=all
        shipped "$1" -DPARTITA_CDI_HOOK=OFF
        ;;
    *) shipped "$1" ;;
    esac
    rm -rf "target/dist-release/$1"
    cmake --install "target/zig-$1" >> "target/zig-$1.log"
    case $1 in *-gnu) cp "target/zig-${1%-gnu}-musl/cdi-hook/partita-cdi-hook" "target/dist-release/$1/lib/" ;; esac
    echo "release: target/dist-release/$1"
}

if [ "${1:-}" = tree ]; then # tree FOLDER TARGET COMPILER-OPTION CMAKE-OPTION...: for test.sh
    folder=$2 target=$3 option=$4
    shift 4
    tree "$folder" "$(compiler "$target" $option)" "$target" "$@"
    exit
fi
# One at a time: `./partita release` and the release build's test call it beside each other.
mkdir -p target
exec 9> target/release-build.lock
flock -n 9 || {
    echo "release: another build of it runs here; waiting for it" >&2
    flock 9
}
for each in ${*:-x86_64-gnu aarch64-gnu x86_64-musl aarch64-musl}; do
    case $each in
    x86_64-gnu | aarch64-gnu | x86_64-musl | aarch64-musl) release "$each" ;;
    *)
        echo "usage: release.sh [x86_64-gnu|aarch64-gnu|x86_64-musl|aarch64-musl]..." >&2
        exit 2
        ;;
    esac
done
