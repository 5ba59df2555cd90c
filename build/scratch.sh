#!/bin/sh
# scratch.sh [GIB]: prints the folder in which tests best keep what they make and delete. That is one in memory, where there
# is one with so many GiB free (1 without) that programs may be started from; else what TMPDIR says, or /tmp. A disk's file
# system is slow at this: the C tests alone make and delete 200,000 links, and for each new one ext4 looks through all that
# were deleted in the last minutes.
kib=$((${1:-1} * 1048576))
folder=/dev/shm
if [ -z "${TMPDIR:-}" ] && [ -w "$folder" ] && [ "$(stat -f -c %T "$folder" 2> /dev/null)" = tmpfs ] &&
    [ "$(df -P -k "$folder" | awk 'NR == 2 { print $4 }')" -ge "$kib" ] &&
    [ "$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)" -ge "$kib" ]; then
    program=$(mktemp "$folder/partita-XXXXXX") && printf '#!/bin/sh\n' > "$program" && chmod 700 "$program" &&
        "$program" 2> /dev/null && fit=yes
    rm -f "$program"
fi
[ "${fit:-}" = yes ] && echo "$folder" || echo "${TMPDIR:-/tmp}"
