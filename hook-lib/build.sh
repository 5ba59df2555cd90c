#!/bin/sh
# Builds and tests hook-lib without Maven: `build.sh build` leaves target/dist, `build.sh test` runs ctest on it
# and under AddressSanitizer and UBSan, no argument does both. Maven calls the same.
set -eu
cd "$(dirname "$0")"

need() {
    command -v "$1" > /dev/null 2>&1 && return
    echo "hook-lib: $1 is missing: $2" >&2
    exit 1
}

configure() { # folder, options…
    folder=$1
    shift
    # A build folder that was made elsewhere cannot be used here.
    if [ -f "$folder/CMakeCache.txt" ] && ! grep -qx "CMAKE_HOME_DIRECTORY:INTERNAL=$(pwd -P)" "$folder/CMakeCache.txt"; then
        rm -rf "$folder"
    fi
    cmake -S . -B "$folder" "$@" > "$folder.log" 2>&1 || { cat "$folder.log" >&2; exit 1; }
}

compile() { # folder
    cmake --build "$1" --parallel "$jobs" > "$1.log" 2>&1 || { cat "$1.log" >&2; exit 1; }
}

build() {
    configure target/release -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$(pwd -P)/target/dist"
    compile target/release
    cmake --install target/release > target/release.log
}

# The release build is tested where the sanitizers stand in the way: what the shipped libraries need, RTLD_DEEPBIND.
run_tests() {
    build
    (cd target/release && ctest --output-on-failure --parallel "$jobs" --timeout 60 --label-regex shipped)
    configure target/asan -DCMAKE_BUILD_TYPE=Debug -DPARTITA_SANITIZE=address,undefined
    compile target/asan
    cd target/asan
    ctest --output-on-failure --parallel "$jobs" --timeout 60
}

need cmake "apt install cmake (3.18 or newer)"
need cc "apt install gcc libc6-dev"
if ! command -v make > /dev/null 2>&1 && command -v ninja > /dev/null 2>&1; then
    CMAKE_GENERATOR=Ninja
    export CMAKE_GENERATOR
else
    need make "apt install make"
fi
jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)
mkdir -p target
case "${1:-all}" in
build) build ;;
test) run_tests ;;
all) run_tests ;;
*)
    echo "usage: build.sh [build|test]" >&2
    exit 2
    ;;
esac
