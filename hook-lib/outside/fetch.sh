#!/bin/sh
# Fetches what the tests and the release build take from elsewhere, by pinned checksums, into target/outside/<what>;
# nothing of it belongs to the project, and nothing of it is needed to build.
# fetch.sh [drivers|tools|headers|clients|compiler|style|numba|device-plugin|kueue|karpenter|cluster-autoscaler|volcano|kai]…, without an argument all
# but numba, which is large, and device-plugin, kueue, karpenter, cluster-autoscaler, volcano and kai, which are built for some minutes. What is there
# already is left alone. PARTITA_AUTOSCALER may name a git directory of Cluster Autoscaler's repository, to take it from there.
# Exit status 1, with the reason, if something cannot be had.
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
target=${PARTITA_OUTSIDE:-$here/../target/outside}
mkdir -p "$target"
target=$(cd "$target" && pwd -P)

stop() {
    echo "outside: $what: $1" >&2
    exit 1
}

need() {
    command -v "$1" > /dev/null 2>&1 || stop "$1 is missing: $2"
}

# begin WHAT PINS: false if target/outside/WHAT is of these pins; else an empty $part to fill.
begin() {
    what=$1
    pins=$2
    part=$target/.$what.part
    stamp | cmp -s - "$target/$what/.pins" && return 1
    need python3 "apt install python3"
    rm -rf "$part"
    mkdir "$part"
}

# stamp: what target/outside/WHAT is made of: its pins, and what of ours is built into it.
stamp() {
    cat "$pins"
    [ ! -d "$here/$what.missing" ] || (cd "$here/$what.missing" && find . -type f | sort | xargs sha256sum)
}

finish() {
    stamp > "$part/.pins"
    rm -rf "${target:?}/$what"
    mv "$part" "$target/$what"
    echo "outside: $what: fetched"
}

mirrors_of_apt() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 2> /dev/null | sort -u
}

# Packages of the distribution's own mirrors: those that apt is set up with, though it may not have the component. Mirrors drop old versions:
# a version that none of them has any more is left out, aloud, as long as another one is there.
packages() { # WHAT
    begin "$1" "$here/$1.pins" || return 0
    need dpkg-deb "only on Debian and its kin"
    mirrors=$(mirrors_of_apt)
    [ -n "$mirrors" ] || { apt-get update -q > /dev/null 2>&1 && mirrors=$(mirrors_of_apt); } || true
    [ -n "$mirrors" ] || stop "apt knows no Debian mirror: 'apt-get update' first, on Debian"
    gone=
    while read -r sum version path; do
        case $sum in '' | \#*) continue ;; esac
        case " $gone " in *" $version "*) continue ;; esac
        deb=$part/package.deb
        python3 - "$deb" "$sum" "$path" $mirrors << 'P' || {
import hashlib, sys, urllib.request
to, wanted, path = sys.argv[1:4]
tried = []
for mirror in sys.argv[4:]:
    try:
        with urllib.request.urlopen(mirror.rstrip("/") + "/" + path, timeout=120) as answer:
            package = answer.read()
    except OSError as e:
        tried.append(f"outside: {mirror}: {e}")
        continue
    got = hashlib.sha256(package).hexdigest()
    if got == wanted:
        open(to, "wb").write(package)
        sys.exit(0)
    tried.append(f"outside: {mirror}: {path} has the sum {got}, not {wanted}")
sys.exit("\n".join(tried))
P
            echo "outside: $what: $version is left out: $path cannot be had from apt's mirrors; newer ones: outside/$what.pins" >&2
            rm -rf "$part/$version" "$deb"
            gone="$gone $version"
            continue
        }
        dpkg-deb -x "$deb" "$part/unpacked"
        mkdir -p "$part/$version"
        "keep_$what" "$part/$version"
        rm -rf "$deb" "$part/unpacked"
    done < "$pins"
    [ -n "$(ls "$part")" ] || stop "no version of outside/$what.pins can be had"
    finish
    [ -z "$gone" ] || rm "$target/$what/.pins" # the next run tries again
}

keep_drivers() { # FOLDER
    find "$part/unpacked" -type f \( -name 'libcuda.so.*' -o -name 'libnvidia-ml.so.*' \) -exec sh -c '
        for file; do
            name=${file##*/}
            cp "$file" "$0/${name%%.so.*}.so.1"
        done' "$1" {} +
}

keep_tools() { # FOLDER
    cp "$part/unpacked/usr/bin/"* "$1"
}

# Wheels that are only unpacked: headers, a compiler and clang-format.
wheels() {
    begin "$1" "$here/$1.pins" || return 0
    python3 -m venv "$part/.venv" || stop "python3's venv is missing: apt install python3-venv"
    "$part/.venv/bin/pip" install -q --disable-pip-version-check --no-deps --require-hashes --only-binary :all: --target "$part/files" -r "$pins" ||
        stop "pip could not install outside/$1.pins"
    rm -rf "$part/.venv"
    finish
}

# A virtual environment; it knows its own path, so it is made in place.
environment() { # WHAT
    begin "$1" "$here/$1.pins" || return 0
    rm -rf "${target:?}/$1" "$part"
    python3 -m venv "$target/$1" || stop "python3's venv is missing: apt install python3-venv"
    "$target/$1/bin/pip" install -q --disable-pip-version-check --no-deps --require-hashes --only-binary :all: -r "$pins" ||
        stop "pip could not install outside/$1.pins"
    cp "$pins" "$target/$1/.pins"
    echo "outside: $1: fetched"
}

# module VERSIONED SUM: the folder of a Go module at a version that Go's checksum database vouches for.
module() {
    field() { printf '%s\n' "$got" | sed -n "s/.*\"$1\": \"\(.*\)\",*$/\1/p"; }
    got=$(go mod download -json "$1") || stop "$1 cannot be had from Go's module proxy: $(field Error)"
    [ "$(field Sum)" = "$2" ] || stop "$1 has the sum $(field Sum), not $2"
    field Dir
}

# lay FROM TO: a copy of a folder that can be written.
lay() {
    mkdir -p "${2%/*}"
    cp -r "$1" "$2"
    chmod -R u+w "$2"
}

# compile: the $packages of $part/source, with what lies in WHAT.missing added: what that lacks.
compile() {
    [ ! -d "$here/$what.missing" ] || cp -r "$here/$what.missing/." "$part/source"
    for package in $(echo "$packages" | tr , ' '); do
        (cd "$part/source" && GOFLAGS= CGO_ENABLED="$cgo" go build -ldflags '-s -w' -o "$part/${package##*/}" "./$package") ||
            stop "$name $version cannot be built"
    done
}

# Go programs, built from a module, whose own go.sum pins what it needs. The first line of the pins names it and its programs, with commas between
# them, and what else of it is kept beside these. Each further line names a module that belongs into a folder of it, as where it is made.
programs() { # WHAT, 1 if it needs cgo
    cgo=$2
    begin "$1" "$here/$1.pins" || return 0
    need go "a Go that its module can be built with, 1.26 or newer: https://go.dev/dl"
    grep -v '^#' "$pins" | {
        read -r name version sum packages beside
        dir=$(module "$name@$version" "$sum") || exit 1
        lay "$dir" "$part/source"
        while read -r inner innerversion innersum folder; do
            dir=$(module "$inner@$innerversion" "$innersum") || exit 1
            lay "$dir" "$part/source/$folder"
        done
        compile
        [ -z "$beside" ] || cp -r "$part/source/$beside" "$part/"
    }
    rm -rf "$part/source"
    finish
}

# Go programs, built from a folder of a git repository at a commit that a tag of it names, for a module that Go's module proxy does not have. Its own
# go.sum pins what it needs.
programs_of_repository() { # WHAT, a git directory to take it from, empty for the repository of the pins
    cgo=0
    git=$2
    begin "$1" "$here/$1.pins" || return 0
    need go "a Go that its module can be built with, 1.26 or newer: https://go.dev/dl"
    need git "apt install git"
    grep -v '^#' "$pins" | {
        read -r name version commit folder packages
        if [ -z "$git" ]; then
            git=$part/git
            git init -q --bare "$git"
            git --git-dir="$git" fetch -q --depth 1 "$name" "refs/tags/$version:refs/tags/$version" ||
                stop "$name cannot be had; PARTITA_AUTOSCALER may name a git directory of it"
        fi
        got=$(git --git-dir="$git" rev-parse --verify -q "refs/tags/$version^{commit}") || stop "$git has no tag $version"
        [ "$got" = "$commit" ] || stop "the tag $version is commit $got, not $commit"
        git --git-dir="$git" archive -o "$part/source.tar" "$commit:$folder"
        mkdir "$part/source"
        tar -xf "$part/source.tar" -C "$part/source"
        compile
    }
    rm -rf "$part/source" "$part/source.tar" "$part/git"
    finish
}

for each in ${*:-drivers tools headers clients compiler style}; do
    case $each in
    drivers | tools) packages "$each" ;;
    clients | numba) environment "$each" ;;
    headers | compiler | style) wheels "$each" ;;
    device-plugin) programs "$each" 1 ;;
    kueue | karpenter | volcano | kai) programs "$each" 0 ;;
    cluster-autoscaler) programs_of_repository "$each" "${PARTITA_AUTOSCALER:-}" ;;
    *)
        echo "usage: fetch.sh [drivers|tools|headers|clients|compiler|style|numba|device-plugin|kueue|karpenter|cluster-autoscaler|volcano|kai]..." >&2
        exit 2
        ;;
    esac
done
