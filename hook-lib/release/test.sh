#!/bin/sh
# Proves the release build: the same bytes from another folder; what each library needs; the shadows' tests with the released libraries on
# glibc, on musl, and under an emulator on aarch64. Fails where something for that is missing, and says what. test.sh [TARGET...]: what concerns
# these targets only, all without an argument (which takes many minutes). test.sh build [TARGET...]: only what takes the compiler long.
set -eu
cd "$(dirname "$0")/.."
here=$(pwd -P)
only_build=false
[ "${1:-}" != build ] || { only_build=true && shift; }
targets=${*:-x86_64-gnu aarch64-gnu x86_64-musl aarch64-musl}

wanted() { # target
    case " $targets " in *" $1 "*) ;; *) return 1 ;; esac
}

need() { # path or name, how to get it
    command -v "$1" > /dev/null 2>&1 || [ -e "$1" ] && return
    echo "release: $1 is missing: $2" >&2
    exit 1
}
need readelf "apt install binutils"
need "/lib/ld-musl-$(uname -m).so.1" "apt install musl"
ARM_ROOT=/usr/aarch64-linux-gnu
! wanted aarch64-musl || need qemu-aarch64 "apt install qemu-user"
! wanted aarch64-gnu || need qemu-aarch64 "apt install qemu-user"
! wanted aarch64-gnu || need $ARM_ROOT/lib/ld-linux-aarch64.so.1 "apt install libc6-arm64-cross"
! wanted aarch64-gnu || need $ARM_ROOT/lib/libgcc_s.so.1 "apt install libgcc-s1-arm64-cross"
[ "$(uname -m)" = x86_64 ] || {
    echo "release: to be tested on x86_64" >&2
    exit 1
}

tests() { # name, target whose libraries are tested, folder, ctest options...
    name=$1 folder=$3
    PARTITA_TEST_SHADOWS=$here/target/dist-release/$2/lib
    export PARTITA_TEST_SHADOWS
    shift 3
    sh ctest/run.sh "$folder" --timeout 120 "$@" > /dev/null || {
        tail -n 60 "$folder/ctest.log" >&2
        echo "release: $name: FAILED" >&2
        exit 1
    }
    echo "release: $name: $(sed -n 's/.*, \(.*\) tests failed out of \(.*\)/\2 tests, \1 failed/p' "$folder/ctest.log")"
}

musl_tests() {
    sh release/release.sh tree target/zig-tests-musl x86_64-musl -dynamic -DPARTITA_CDI_HOOK=OFF
}

sh release/release.sh $targets
if $only_build; then
    ! wanted x86_64-gnu && ! wanted x86_64-musl || musl_tests
    exit
fi

another=$(mktemp -d)/a-folder-of-another-name
trap 'rm -rf "${another%/*}"' EXIT
mkdir "$another"
tar -c --exclude ./target . | tar -x -C "$another"
PARTITA_OUTSIDE=$here/target/outside ZIG_GLOBAL_CACHE_DIR=$here/target/zig-cache sh "$another/release/release.sh" $targets > /dev/null
for target in $targets; do
    (cd target/dist-release/"$target" && find . -type f | sort | xargs sha256sum) > "$another/ours"
    (cd "$another/target/dist-release/$target" && find . -type f | sort | xargs sha256sum) > "$another/theirs"
    cmp "$another/ours" "$another/theirs" || {
        diff "$another/ours" "$another/theirs" >&2 || true
        echo "release: $target: another folder gives other bytes" >&2
        exit 1
    }
    if grep -rlqa -e "$here" -e "$another" target/dist-release/"$target"; then
        echo "release: $target: paths of the build in it: $(grep -rla -e "$here" target/dist-release/"$target")" >&2
        exit 1
    fi
    for library in cuda nvidia-ml; do
        cmake -DREADELF=readelf -DREAL=lib$library-real.so.1 -DLIBRARY="target/dist-release/$target/lib/lib$library-shadow.so" \
            -P shadow/tests/shipped_library.cmake
    done
    echo "release: $target: the same bytes from another folder; needs only the driver and libc"
done

if wanted x86_64-gnu; then
    sh build.sh build
    tests "tests on glibc" x86_64-gnu target/release --tests-regex '^shadow\.'
fi

# Debian's musl is older than the compiler's: what would ask it for a newer function does not start.
if wanted x86_64-musl; then
    musl_tests
    tests "tests on musl" x86_64-musl target/zig-tests-musl --tests-regex '^shadow\.' --exclude-regex clients_test
fi
if wanted x86_64-gnu; then
    musl_tests
    tests "tests on musl of the shadows built for glibc" x86_64-gnu target/zig-tests-musl --tests-regex '^shadow\.' --exclude-regex clients_test
fi

# Under the emulator a program cannot start one of its own processor: the tool that sets the driver up is started under another emulator, and tests
# that run a second program are left out. README.md has the reason for each.
EMULATED='clients_test|real_driver_test|linked_with_libcuda|after_exec|run_by_another|spawning_test|the_probe_says|loses_a_slot_to_another|closed_every_descriptor|cannot_be_mapped_for_a_while|what_a_reset_took|in_the_middle_of_the_first_call|opens_nothing'
if wanted aarch64-gnu; then
    emulated=$here/target/partita-sim-driver-emulated
    printf '#!/bin/sh\nexec qemu-aarch64 -L %s %s "$@"\n' $ARM_ROOT "$here/target/dist-release/aarch64-gnu/bin/partita-sim-driver" > "$emulated"
    chmod +x "$emulated"
    sh release/release.sh tree target/zig-tests-aarch64-gnu aarch64-gnu '' -DPARTITA_CDI_HOOK=OFF "-DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64;-L;$ARM_ROOT" \
        -DPARTITA_TEST_SIM_DRIVER="$emulated"
    tests "tests on aarch64's glibc (qemu)" aarch64-gnu target/zig-tests-aarch64-gnu --tests-regex '^shadow\.' \
        --exclude-regex "$EMULATED"
fi
if wanted aarch64-musl; then
    sh release/release.sh tree target/zig-tests-aarch64 aarch64-musl '' -DPARTITA_CDI_HOOK=OFF -DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64
    tests "ledger, seats, tables and quota on aarch64 (qemu)" aarch64-musl target/zig-tests-aarch64 --tests-regex '^shadow\.(ledger|seats|table|quota|array_size)_test' \
        --exclude-regex "$EMULATED"
fi
