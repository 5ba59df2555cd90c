# Part of hardware/run: NVIDIA's Multi-Process Service, with the environment and the commands of the kubelet plugin (its NvidiaMps and MpsFolders).
# The daemon is one of its own, in the work folder; no setting of the card is changed. Run in a subshell, with whose end it ends.
# shellcheck shell=sh disable=SC2154 # run's variables and functions

mps=$work/mps
mps_program() {
    if [ -n "$root" ]; then
        find "$root" -name "$1" | head -n 1
    else
        command -v "$1" || ls "${libcuda%/*}/../bin/$1" "${libcuda%/*}/../../bin/$1" "/usr/local/nvidia/bin/$1" "/usr/bin/$1" 2> /dev/null | head -n 1
    fi
}
mps_runs() { [ -e "/proc/$1/exe" ]; } # not so of one that has ended and that nobody has waited for
# Until a condition holds: SECONDS COMMAND...
mps_await() {
    left=$(($1 * 10))
    shift
    until "$@"; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || return 1
        sleep 0.1
    done
}
# What the daemon answers, in one line: COMMANDS SECONDS
mps_tell() {
    printf "$1" | timeout -k 1 "$2" env -i CUDA_MPS_PIPE_DIRECTORY="$mps/pipe" "$control" > "$mps/answer" 2>&1 && told=0 || told=$?
    answer=$(tr -s '\n|' ' /' < "$mps/answer" | sed 's/ *$//')
}
mps_gone() { for each in $daemon $servers; do ! mps_runs "$each" || return 1; done; }
mps_end() {
    exec 9>&-
    mps_gone || mps_tell 'quit -t 1\n' 5
    mps_await 3 mps_gone || kill -9 $servers "$daemon" 2> /dev/null || true
}
# A client: SECONDS LIMIT PERCENT COMMAND..., of which LIMIT is in MiB, and both are empty where the environment does not have them
mps_client() {
    patience=$1 limited=${2:+CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=$2M} threads=${3:+CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=$3}
    shift 3
    # shellcheck disable=SC2086 # none or one word each
    native env CUDA_MPS_PIPE_DIRECTORY="$mps/pipe" $limited $threads timeout -k 5 "$patience" "$program" mps "$@"
}
# A row about what a client was granted: WHAT LIMIT FILE
mps_judge_memory() {
    granted=$(sed -n 's/^granted //p' "$3") refused=$(sed -n 's/^refused //p' "$3")
    if [ -z "$granted" ]; then
        row mps "$1" FAIL "no client: $(tail -n 1 "$3.err"); the logs end with: $(tail -q -n 1 "$mps/log/control.log" "$mps/log/server.log" 2> /dev/null | tr '\n|' ' /')"
        return
    fi
    result=FAIL
    if [ -n "$root" ]; then
        result='not run'
    elif [ "$refused" -ne 0 ] && [ $((granted / 1048576)) -le "$2" ] && [ $((granted / 1048576)) -ge $(($2 * 3 / 4)) ]; then
        result=pass
    fi
    row mps "$1" "$result" "${root:+no limit is simulated: }of $2 MiB $((granted / 1048576)) granted in pieces of 32, then error $refused; cuMemGetInfo before: $(($(sed -n 's/^free //p' "$3") / 1048576)) of $(($(sed -n 's/^total //p' "$3") / 1048576)) MiB free"
}

mps_measure_memory() {
    bound=$((quota / 1048576 / 2))
    mkfifo "$mps/input"
    mps_client 60 "$bound" '' memory "$quota" < "$mps/input" > "$mps/client" 2> "$mps/client.err" &
    holder=$!
    exec 9> "$mps/input"
    held() { grep -q '^held' "$mps/client" || ! kill -0 "$holder" 2> /dev/null; }
    mps_await 60 held || true
    mps_judge_memory "a client's memory limit, of its environment" "$bound" "$mps/client"

    mps_tell 'get_server_list\n' 4
    servers=$answer
    if [ "$told" -eq 0 ] && echo "$servers" | grep -Eqx '[1-9][0-9]{0,8}'; then
        row mps get_server_list pass "\"$servers\""
    else
        row mps get_server_list FAIL "status $told: \"$servers\""
        servers=
    fi
    mps_tell "get_client_list ${servers:-0}\n" 4
    client=$(sed -n 's/^pid //p' "$mps/client")
    row mps get_client_list "$(echo "$answer" | tr ' ' '\n' | grep -qx "${client:-none}" && echo pass || echo FAIL)" "status $told: \"$answer\"; the client is ${client:-not there}"
    row mps 'NVML, while a client holds 128 MiB' figure "$(native timeout 10 "$program" mps processes 2>&1 | tail -n 1); the server is ${servers:-not there}"
    if [ -n "$servers" ]; then
        mps_tell "set_active_thread_percentage $servers 100\nset_device_pinned_mem_limit $servers 0 $((quota / 1048576))M\n" 4
        row mps 'limits of a server that runs' "$([ "$told" -eq 0 ] && echo pass || echo FAIL)" "status $told: \"$answer\""
    fi
    exec 9>&-
    wait "$holder" || true
    grep -q '^held' "$mps/client" || return 0

    mps_client 60 '' '' memory $((quota * 2)) < /dev/null > "$mps/other" 2> "$mps/other.err" || true
    mps_judge_memory "a client's memory limit, of the daemon" $((quota / 1048576)) "$mps/other"
}

# NAME PERCENT: a client's throughput, in a file of that name; PERCENT may be empty
mps_spin() {
    mps_client $((${mps_seconds%.*} + 30)) $((quota / 1048576)) "$2" spin "$mps_seconds" $ns "$iterations" > "$mps/$1" 2> "$mps/$1.err" || true
}
mps_judge_spin() { # NAME WHAT
    if [ -s "$mps/$1" ]; then
        row mps "$2" figure "$(cat "$mps/whole" "$mps/$1" | awk 'NR == 1 { all = $1; of = $2 } END { printf "%.1f %% of its throughput without a limit; it sees %d of %d multiprocessors", 100 * $1 / all, $2, of }')"
    else
        row mps "$2" FAIL "$(tail -n 1 "$mps/$1.err")"
    fi
}
mps_measure_threads() {
    mps_seconds=$(awk -v seconds="$seconds" 'BEGIN { print seconds / 4 }')
    mps_spin whole ''
    if [ ! -s "$mps/whole" ]; then
        row mps 'parts of the threads' FAIL "$(tail -n 1 "$mps/whole.err")"
        return
    fi
    mps_spin alone 30
    mps_spin one 30 &
    beside=$!
    mps_spin two 70
    wait "$beside" || true
    mps_judge_spin alone '30 % of the threads, alone'
    mps_judge_spin one '30 % of the threads beside 70 %'
    mps_judge_spin two '70 % of the threads beside 30 %'
}

# A container by MPS has the hook library as well, and MPS is told of the same bytes.
mps_measure_share() {
    share by-mps "$quota" 0
    if ! CUDA_MPS_PIPE_DIRECTORY=$mps/pipe CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=$((quota / 1048576))M inside by-mps timeout -k 5 120 "$program" memory > "$mps/rows" 2> "$work/err"; then
        row mps 'a share by MPS' FAIL "$(tail -n 1 "$work/err")"
    fi
    awk -F '\t' -v OFS='\t' '{ $1 = "mps"; $2 = "a share by MPS: " $2; print }' "$mps/rows" >> "$rows"
}

control=$(mps_program nvidia-cuda-mps-control || true)
server=$(mps_program nvidia-cuda-mps-server || true)
if [ -z "$control" ] || [ -z "$server" ]; then
    row mps 'all of it' 'not run' 'no nvidia-cuda-mps-control and nvidia-cuda-mps-server: neither on PATH nor beside the driver'
else
    mkdir -p "$mps/pipe" "$mps/log"
    daemon=none servers=
    trap mps_end EXIT
    trap 'exit 2' HUP INT TERM
    timeout -k 1 12 env -i CUDA_VISIBLE_DEVICES="$uuid" CUDA_MPS_PIPE_DIRECTORY="$mps/pipe" CUDA_MPS_LOG_DIRECTORY="$mps/log" PATH="${server%/*}" \
        LD_PRELOAD="$libcuda" "$control" -d > "$mps/begin" 2>&1 && began=0 || began=$?
    [ ! -s "$mps/pipe/nvidia-cuda-mps-control.pid" ] || daemon=$(cat "$mps/pipe/nvidia-cuda-mps-control.pid")
    mps_tell 'get_server_list\n' 4
    if [ "$began" -ne 0 ] || [ "$told" -ne 0 ]; then
        row mps 'the daemon answers' FAIL "-d: status $began, get_server_list: status $told: $(cat "$mps/begin" "$mps/log/control.log" 2> /dev/null | tail -n 1)"
    else
        row mps 'the daemon answers' pass "status 0: \"$answer\""
        mps_tell "set_default_active_thread_percentage 100\nset_default_device_pinned_mem_limit 0 $((quota / 1048576))M\nget_default_device_pinned_mem_limit 0\n" 4
        row mps 'limits of servers to come' "$([ "$told" -eq 0 ] && echo pass || echo FAIL)" "status $told: \"$answer\""
        mps_measure_memory
        if ! grep -q '^held' "$mps/client"; then
            row mps 'parts of the threads, and a share by MPS' 'not run' 'there was no client'
        elif [ -z "$iterations" ]; then
            row mps 'parts of the threads, and a share by MPS' 'not run' 'the kernel does not run'
        else
            mps_measure_threads
            mps_measure_share
        fi
        begin=$(date +%s%N)
        mps_tell 'quit -t 1\n' 5
        mps_await 5 mps_gone && gone=pass || gone=FAIL
        row mps quit "$gone" "status $told: \"$answer\"; daemon and server were gone after $((($(date +%s%N) - begin) / 1000000)) ms"
    fi
fi
