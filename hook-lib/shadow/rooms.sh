#!/bin/sh
# Includes between the rooms go one way, and nothing of CUDA or NVML comes into share/ and cores/, where other vendors'
# cards join. From outside only a room's interface is included: share/cards.h, cores/cores.h. No two files have a static
# function of one name. Prints what breaks this, and exits with status 1 then.
set -eu
cd "$(dirname "$0")"
broken=0
system='dirent|dlfcn|elf|errno|fcntl|limits|link|pthread|sched|signal|stdbool|stddef|stdint|stdio|stdlib|string|time|unistd|sys/[a-z]+'

room() { # ROOM, pattern of the headers of ours that its files may include
    [ -d "$1" ] || { echo "shadow/$1 is missing" >&2; exit 1; }
    if grep -HE '^[[:space:]]*#[[:space:]]*include' "$1"/*.[ch] | grep -vE "\"($2)\"|<($system)\.h>" >&2; then
        echo "shadow/$1 may not include that (shadow/rooms.sh)" >&2
        broken=1
    fi
}

room common 'common/[a-z0-9_]+\.h'
room share '(common|share|partita)/[a-z0-9_]+\.h'
room cores '(common|cores|share|partita)/[a-z0-9_]+\.h'
room cuda '(common|cuda|partita)/[a-z0-9_]+\.h|share/cards\.h|cores/cores\.h|cuda_[a-z0-9_]+\.h'
room nvml '(common|nvml|partita)/[a-z0-9_]+\.h|share/cards\.h|cores/cores\.h|nvml_[a-z0-9_]+\.h'

# A profile and a backtrace name a function, not its file.
twice=$(for file in common/*.[ch] share/*.[ch] cores/*.[ch] cuda/*.[ch] nvml/*.[ch]; do
    sed -nE "s,^ *static (inline )?[A-Za-z_][A-Za-z0-9_ ]*[ *]([a-z0-9_]+)\\(.*,\\2 $file,p" "$file" | sort -u
done | sort | awk '$1 == name { print name ": in " file " and in " $2 } { name = $1; file = $2 }')
[ -z "$twice" ] || {
    echo "$twice" >&2
    echo "static functions have names of their own (shadow/rooms.sh)" >&2
    broken=1
}
exit $broken
