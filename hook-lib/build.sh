#!/bin/sh
# Builds and tests hook-lib without Maven: `build.sh build` leaves target/dist, `build.sh test` runs ctest on it
# and under AddressSanitizer and UBSan, and what threads do under ThreadSanitizer (26 s of processor time, built and run); no argument does
# both. Maven calls the same. `build.sh intercepted` makes INTERCEPTED.md anew, `build.sh style` formats the C files.
# `build.sh fetch` gets what tests and the release build take from elsewhere (outside/README.md). `build.sh release` builds what is shipped, for
# old C libraries and other processors; `build.sh release-test` proves it (release/README.md).
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

# One at a time: Maven and the release build's test call it beside each other.
build() {
    mkdir -p target
    (
        flock 9
        configure target/release -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$(pwd -P)/target/dist"
        compile target/release
        cmake --install target/release > target/release.log
    ) 9> target/build.lock
}

# The release build is tested where the sanitizers stand in the way: what the shipped libraries need, RTLD_DEEPBIND.
run_tests() {
    build
    for what in $outside; do
        [ -e "target/outside/$what/.pins" ] || echo "hook-lib: tests that need $what are skipped: not fetched (sh hook-lib/build.sh fetch)" >&2
    done
    sh ctest/run.sh target/release --timeout 60 --label-regex shipped
    sanitized
    sh ctest/run.sh target/asan --timeout 60
    threads
}

# What several threads do at once, under ThreadSanitizer.
threads() {
    configure target/tsan -DCMAKE_BUILD_TYPE=Debug -DPARTITA_SANITIZE=thread
    compile target/tsan
    sh ctest/run.sh target/tsan --timeout 60 --tests-regex '^shadow\..*thread'
}

# The calls that the tests make are noted (see shadow/tests/called.c), each time from the beginning.
sanitized() {
    configure target/asan -DCMAKE_BUILD_TYPE=Debug -DPARTITA_SANITIZE=address,undefined -DPARTITA_CALL_LOG=ON
    compile target/asan
    rm -rf target/asan/called
    mkdir target/asan/called
}

intercepted() {
    sanitized
    sh ctest/run.sh target/asan --timeout 60 --tests-regex '^shadow\.' > /dev/null || {
        tail -n 30 target/asan/ctest.log >&2
        exit 1
    }
    sh shadow/tests/intercepted.sh write "$(pwd -P)/target/asan/called"
}

# Each target for that many seconds; what is new goes into the corpus, what fails into target/fuzz/found.
fuzz() {
    need clang "apt install clang libclang-rt-dev"
    configure target/fuzz -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPARTITA_SANITIZE=address,undefined -DPARTITA_FUZZ=ON
    cmake --build target/fuzz --parallel "$jobs" --target fuzz-quota --target fuzz-report --target fuzz-region > target/fuzz.log 2>&1 || { cat target/fuzz.log >&2; exit 1; }
    mkdir -p target/fuzz/found
    for each in quota report region; do
        mkdir -p "target/fuzz/corpus-$each"
        target/fuzz/fuzz/fuzz-$each -max_total_time="$1" -max_len=4200 -timeout=20 -print_final_stats=1 -artifact_prefix=target/fuzz/found/ "target/fuzz/corpus-$each" "fuzz/corpus/$each" > "target/fuzz/$each.log" 2>&1 || { tail -n 40 "target/fuzz/$each.log" >&2; exit 1; }
        echo "fuzz: $each: $(sed -n 's/^stat::number_of_executed_units: *//p' "target/fuzz/$each.log") inputs tried, $(ls "target/fuzz/corpus-$each" | wc -l) kept"
    done
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
outside='drivers tools headers clients style' # what tests take from elsewhere
mkdir -p target
case "${1:-all}" in
build) build ;;
test) run_tests ;;
all) run_tests ;;
intercepted) intercepted ;;
fetch)
    shift
    sh outside/fetch.sh "$@"
    ;;
release)
    shift
    sh release/release.sh "$@"
    ;;
style) sh style.sh write ;;
fuzz) fuzz "${2:?usage: build.sh fuzz SECONDS}" ;;
release-test)
    shift
    sh release/test.sh "$@"
    ;;
*)
    echo "usage: build.sh [build|test|intercepted|style|fetch [WHAT...]|release [TARGET...]|release-test [TARGET...]|fuzz SECONDS]" >&2
    exit 2
    ;;
esac
