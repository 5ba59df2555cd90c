#!/bin/sh
# The programs as a person sees them: tools_test.sh CASE, with DRIVER, PROBE and LIBRARIES in the environment.
set -u
dir=$(mktemp -d "${TMPDIR:-/tmp}/partita-tools-XXXXXX")
holder=
trap 'kill $holder 2> /dev/null; mps_end 2> /dev/null; rm -rf "$dir"' EXIT
root=$dir/root

fail() {
    echo "$*" >&2
    [ -f "$dir/out" ] && cat "$dir/out" >&2
    [ -f "$dir/err" ] && cat "$dir/err" >&2
    exit 1
}
expect_status() { # status command…
    want=$1
    shift
    "$@" > "$dir/out" 2> "$dir/err"
    got=$?
    [ "$got" -eq "$want" ] || fail "exit status $got, not $want: $*"
}
said() { grep -qe "$1" "$dir/out" || fail "stdout has no: $1"; }
said_not() { ! grep -qe "$1" "$dir/out" || fail "stdout has: $1"; }
complained() {
    grep -qe "$1" "$dir/err" || fail "stderr has no: $1"
    [ "$(wc -l < "$dir/err")" -eq 1 ] || fail "stderr has more than one line"
}
install() { expect_status 0 "$DRIVER" install --root "$root" --node worker-1 --gpus "$1" --libraries "$LIBRARIES"; }
smi() { LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu "$root/usr/bin/nvidia-smi" "$@"; }
probe() { LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu "$PROBE" "$@"; }
hold() { # bytes: starts a probe that holds them, and waits until it does
    LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu "$PROBE" hold "$1" > "$dir/held" &
    holder=$!
    until grep -q holding "$dir/held"; do kill -0 $holder || fail "the probe ended"; done
}
mps() { expect_status 0 sh -c "echo $1 | CUDA_MPS_PIPE_DIRECTORY=$dir/pipe $control"; }
expect_missing() { ! (echo get_server_list | CUDA_MPS_PIPE_DIRECTORY=$dir/pipe "$control") > /dev/null 2>&1; }
mps_begin() { # a daemon for this test alone, and programs that find it
    mkdir -p "$dir/pipe" "$dir/log"
    control=$root/usr/bin/nvidia-cuda-mps-control
    expect_status 0 env PATH="$root/usr/bin:$PATH" CUDA_MPS_PIPE_DIRECTORY="$dir/pipe" CUDA_MPS_LOG_DIRECTORY="$dir/log" "$control" -d
    export CUDA_MPS_PIPE_DIRECTORY="$dir/pipe"
}
mps_end() { [ ! -e "$dir/pipe/nvidia-cuda-mps-control.pid" ] || kill "$(cat "$dir/pipe/nvidia-cuda-mps-control.pid")"; }

case $1 in
the_driver_root_looks_like_a_driver)
    install h200x2,t4
    lib=$root/usr/lib/x86_64-linux-gnu
    [ "$(readlink "$lib/libcuda.so.1")" = libcuda.so.580.95.05 ] || fail "libcuda.so.1"
    [ "$(readlink "$lib/libnvidia-ml.so.1")" = libnvidia-ml.so.580.95.05 ] || fail "libnvidia-ml.so.1"
    [ -f "$lib/libcuda.so.580.95.05" ] && [ -x "$root/usr/bin/nvidia-smi" ] || fail "files are missing"
    for node in nvidia0 nvidia1 nvidia2 nvidiactl nvidia-uvm; do
        [ -c "$root/dev/$node" ] || fail "$node is no character device"
    done
    [ "$(stat -c %a "$root/run/partita-simulator")" = 777 ] || fail "mode of the state"
    devices=$root/sys/bus/pci/devices
    [ "$(cat "$devices/0000:1b:00.0/numa_node")" = 0 ] && [ "$(cat "$devices/0000:37:00.0/numa_node")" = 1 ] || fail "numa_node"
    [ "$(readlink "$devices/0000:29:00.0")" = ../../../devices/pci0000:1a/0000:29:00.0 ] || fail "PCIe root"
    ;;
installing_again_changes_nothing)
    install h200x2
    before=$(cd "$root" && find . -type f -o -type l | sort | xargs stat -c '%n %i %s')
    install h200x2
    after=$(cd "$root" && find . -type f -o -type l | sort | xargs stat -c '%n %i %s')
    [ "$before" = "$after" ] || fail "the files are not the same"
    ;;
installing_fewer_cards_takes_their_nodes_away)
    install h200x3
    install h200x1
    [ ! -e "$root/dev/nvidia1" ] && [ -e "$root/dev/nvidia0" ] || fail "device nodes"
    ;;
unknown_profiles_and_counts_are_usage_errors)
    for gpus in foo foox2 h200x0 h200x17 h200x h200x-1 h200x2, ,h200 '' h200x9,t4x8; do
        expect_status 2 "$DRIVER" install --root "$root" --node n --gpus "$gpus" --libraries "$LIBRARIES"
        complained "h200, h100, a100"
        [ ! -e "$root" ] || fail "something was written for '$gpus'"
    done
    expect_status 2 "$DRIVER" install --root "$root" --node n --gpus t4 --driver-version 5x
    complained "driver-version"
    expect_status 2 "$DRIVER" install --root "$root" --node 'a b' --gpus t4
    complained "node"
    expect_status 2 "$DRIVER" install --node n --gpus t4
    complained "root"
    ;;
an_mps_daemon_serves_those_who_find_it_and_ends_when_it_is_told)
    install t4
    mps_begin
    mps get_server_list
    [ ! -s "$dir/out" ] || fail "a server without a client"
    expect_status 1 env CUDA_MPS_PIPE_DIRECTORY="$dir/pipe" CUDA_MPS_LOG_DIRECTORY="$dir/log" "$control" -d
    complained "already running"
    hold 1Mi
    mps get_server_list
    server=$(cat "$dir/out")
    kill -0 "$server" || fail "no server runs for the client"
    mps "get_client_list $server"
    said "^$holder\$"
    mps "set_default_active_thread_percentage 50"
    mps get_default_active_thread_percentage
    said '^50.0$'
    mps bogus
    said 'Unknown command "bogus"'
    mps "quit -t 0"
    [ -e "$dir/pipe/nvidia-cuda-mps-control.pid" ] && fail "its pid file is left"
    ! kill -0 "$server" 2> /dev/null || fail "the server has outlived it"
    expect_status 1 sh -c "echo get_server_list | CUDA_MPS_PIPE_DIRECTORY=$dir/pipe $control"
    complained "Cannot find MPS control daemon process"
    ;;
an_mps_daemon_that_was_killed_is_found_missing_and_can_be_started_again)
    install t4
    mps_begin
    daemon=$(cat "$dir/pipe/nvidia-cuda-mps-control.pid")
    kill -9 "$daemon"
    until expect_missing; do :; done
    hold 1Mi # without it
    kill $holder
    mps_begin
    mps get_server_list
    ;;
profiles_are_one_a_line)
    expect_status 0 "$DRIVER" profiles
    said '^h200 NVIDIA H200, 143771 MiB'
    said '^rtx4090 NVIDIA GeForce RTX 4090, 24564 MiB'
    ;;
a_name_that_ends_in_a_count_like_letter_is_understood)
    install rtx4090x2
    expect_status 0 smi -L
    [ "$(wc -l < "$dir/out")" -eq 2 ] || fail "not two cards"
    ;;
the_state_tells_who_holds_what)
    install h200x2
    hold 1Gi
    expect_status 0 "$DRIVER" state --root "$root"
    said "\"pid\": $holder, \"memoryBytes\": 1073741824, \"overheadBytes\": 314572800"
    kill $holder
    wait $holder || fail "the probe failed"
    grep -q released "$dir/held" || fail "the probe did not say released"
    expect_status 0 "$DRIVER" state --root "$root"
    said_not '"pid"'
    ;;
nvidia_smi_shows_cards_and_processes)
    install h200x2
    hold 4Gi
    expect_status 0 smi
    said '| NVIDIA-SMI 580.95.05              Driver Version: 580.95.05      CUDA Version: 13.0     |'
    said '|   0  NVIDIA H200                    On  |   00000000:1B:00.0 Off |'
    said '|    4396MiB / 143771MiB |      0%      Default |'
    said " $holder      C   .*4396MiB |"
    [ "$(grep -c '^[|+]' "$dir/out")" -eq "$(grep -cE '^[|+].{89}[|+]$' "$dir/out")" ] || fail "a line has another width"
    expect_status 0 smi --query-compute-apps=pid,used_memory --format=csv,noheader,nounits
    said "^$holder, 4396$"
    kill $holder
    wait $holder
    expect_status 0 smi
    said 'No running processes found'
    ;;
nvidia_smi_answers_queries)
    install h200,t4
    expect_status 0 smi --query-gpu=index,name,memory.total,memory.used,driver_version --format=csv
    said '^index, name, memory.total \[MiB\], memory.used \[MiB\], driver_version$'
    said '^0, NVIDIA H200, 143771 MiB, 0 MiB, 580.95.05$'
    expect_status 0 smi -i 1 --query-gpu=name,memory.total --format=csv,noheader,nounits
    said '^Tesla T4, 15360$'
    said_not H200
    expect_status 2 smi --query-gpu=nonsense --format=csv
    expect_status 2 smi --query-gpu=name
    expect_status 6 smi -i 7
    expect_status 0 smi --help
    ;;
nvidia_smi_says_what_nvml_does_not_tell_it)
    install h200
    expect_status 0 "$DRIVER" mig --root "$root" --gpu 0 enable
    expect_status 0 smi --query-gpu=memory.total,utilization.gpu --format=csv,noheader
    said '^143771 MiB, \[N/A\]$'
    expect_status 0 "$DRIVER" fault --root "$root" --function nvmlDeviceGetMemoryInfo_v2 --error 4 # NVML_ERROR_NO_PERMISSION
    expect_status 0 smi --query-gpu=memory.total,memory.used,name --format=csv,noheader
    said '^\[Insufficient Permissions\], \[Insufficient Permissions\], NVIDIA H200$'
    expect_status 0 smi
    said '|                    N/A |     N/A      Default |$'
    ;;
nvidia_smi_sets_the_time_slice_of_a_card)
    install h200x2
    expect_status 0 smi compute-policy --list
    [ "$(grep -c 'timeslice DEFAULT' "$dir/out")" -eq 2 ] || fail "not both are as they were"
    expect_status 0 smi compute-policy -i 1 --set-timeslice 3
    expect_status 0 smi compute-policy -l
    said '^GPU 00000000:1B:00.0: timeslice DEFAULT$'
    said '^GPU 00000000:29:00.0: timeslice LONG$'
    uuid=$(smi -i 1 --query-gpu=uuid --format=csv,noheader)
    expect_status 0 smi compute-policy -i "$uuid" --set-timeslice=0
    expect_status 0 smi compute-policy -i "$uuid" -l
    said 'timeslice DEFAULT'
    expect_status 0 smi compute-policy -i 1 --set-timeslice 1
    mv "$root/dev/nvidia0" "$dir/nvidia0"
    expect_status 0 smi compute-policy -i 0 -l # as a container numbers it that has this card alone
    said '^GPU 00000000:29:00.0: timeslice SHORT$'
    mv "$dir/nvidia0" "$root/dev/nvidia0"
    expect_status 2 smi compute-policy -i 1 --set-timeslice 4
    expect_status 2 smi compute-policy -i 1
    expect_status 6 smi compute-policy -i 7 --set-timeslice 1
    expect_status 0 "$DRIVER" break --root "$root" --gpu 0
    expect_status 15 smi compute-policy -i 0 --set-timeslice 1
    # NVML alone is handed in, as the node's plugin does it; the sanitizer's runtime wants to be the first to be loaded
    expect_status 0 env ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD="$root/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1" \
        "$root/usr/bin/nvidia-smi" compute-policy -i 1 --set-timeslice 2
    expect_status 0 smi compute-policy -i 1 -l
    said 'timeslice MEDIUM'
    ;;
nvidia_smi_names_a_lost_card_and_goes_on)
    install h200x2
    expect_status 0 "$DRIVER" break --root "$root" --gpu 0
    expect_status 15 smi -L
    said 'GPU0: GPU is lost'
    said '^GPU 1: '
    expect_status 0 "$DRIVER" heal --root "$root" --gpu 0
    expect_status 0 smi -L
    expect_status 2 "$DRIVER" break --root "$root" --gpu 2
    ;;
nvidia_smi_without_a_driver_says_so)
    install t4
    expect_status 12 env LD_LIBRARY_PATH=/nonexistent "$root/usr/bin/nvidia-smi"
    rm "$root/dev/nvidiactl"
    expect_status 9 smi
    said "couldn't communicate with the NVIDIA driver"
    ;;
the_probe_tells_success_from_out_of_memory)
    install t4
    expect_status 0 probe info
    said '^device 0 uuid=GPU-.* name="Tesla T4" total=15644753920 free=15330181120$'
    expect_status 0 probe mem
    said '^free=15330181120 total=15644753920$'
    expect_status 0 probe alloc 8Gi
    said '^alloc 8589934592 CUDA_SUCCESS$'
    expect_status 3 probe alloc 15Gi
    said '^alloc 16106127360 CUDA_ERROR_OUT_OF_MEMORY$'
    expect_status 1 probe alloc 1Gi --device 4
    said 'CUDA_ERROR_INVALID_DEVICE'
    expect_status 0 probe hold 512Mi --seconds 0.05
    said '^holding 536870912$'
    said '^released$'
    for bytes in 1GB -1 x 0; do expect_status 2 probe alloc -- $bytes; done
    ;;
the_probe_gives_back_what_it_caches_before_it_is_out_of_memory_and_tries_again)
    install t4
    expect_status 3 probe fill 15Gi
    said '^filled 15300820992, out of memory$' # less than a piece of 64 MiB is left
    hold 4Gi
    probe fill 12Gi --every 0.01 > "$dir/filled" &
    filler=$!
    until grep -q 'out of memory' "$dir/filled"; do kill -0 $filler || fail "the probe ended"; done
    kill $holder
    wait $filler || fail "the probe failed"
    grep -qE '^filled [0-9]+, more at [0-9]+\.[0-9]{9}$' "$dir/filled" || fail "it does not say when it had more"
    [ "$(tail -n 1 "$dir/filled")" = 'filled 12884901888' ] || fail "it has not got all"
    ;;
faults_are_checked_and_listed)
    install t4
    fault() { "$DRIVER" fault --root "$root" "$@"; }
    expect_status 0 fault --function cuMemAlloc_v2 --error CUDA_ERROR_OUT_OF_MEMORY --every 2 --times 1
    expect_status 0 fault --function nvmlDeviceGetMemoryInfo --delay-us 100
    expect_status 0 fault --list
    said '^cuMemAlloc_v2 error 2 from 1 every 2 times 1: 0 of 0 calls met it$'
    said '^nvmlDeviceGetMemoryInfo delay 100 us from 1 every 1: 0 of 0 calls met it$'
    expect_status 3 probe alloc 1Mi
    expect_status 0 probe alloc 1Mi
    expect_status 0 fault --list
    said '^cuMemAlloc_v2 .*: 1 of 2 calls met it$'
    expect_status 0 fault --clear
    expect_status 0 fault --list
    said_not .
    expect_status 2 fault --function cuMemAllocate --error 2
    complained 'neither libcuda nor libnvidia-ml has this function'
    expect_status 2 fault --function cuMemAlloc_v2
    complained '\-\-error CODE or --delay-us N'
    expect_status 2 fault --function cuMemAlloc_v2 --error CUDA_ERROR_NO_SUCH
    complained CUDA_ERROR_OUT_OF_MEMORY
    expect_status 2 fault --function cuMemAlloc_v2 --error 2 --every 0
    complained 'whole number above 0'
    expect_status 2 "$DRIVER" xid --root "$root" --gpu 7 --xid 13
    complained 'none of the node'
    expect_status 2 "$DRIVER" xid --root "$root" --gpu 0 --xid many
    complained 'XID error'
    ;;
a_card_in_use_is_not_reset)
    install t4
    hold 1Gi
    expect_status 1 "$DRIVER" reset --root "$root" --gpu 0
    complained 'GPU 0 is in use by a process'
    kill $holder
    wait $holder
    expect_status 0 "$DRIVER" reset --root "$root" --gpu 0
    expect_status 2 "$DRIVER" reset --root "$root" --gpu 7
    complained 'none of the node'
    expect_status 2 "$DRIVER" reset --root "$root"
    complained '\-\-gpu'
    ;;
mig_is_switched_and_cut_by_the_tool)
    install h200,t4
    mig() { "$DRIVER" mig --root "$root" "$@"; }
    expect_status 0 mig --gpu 0 list
    said '^GPU 0: MIG disabled$'
    expect_status 1 mig --gpu 0 create 1g.18gb
    complained 'MIG is not enabled on GPU 0; enable it first'
    expect_status 0 mig --gpu 0 enable
    expect_status 0 mig --gpu 0 create 3g.71gb:0
    expect_status 0 mig --gpu 0 create 1g.18gb
    said 'GPU instance 13: 1g.18gb at 6:1$'
    said 'room for 2 of 7 1g.18gb$'
    expect_status 1 mig --gpu 0 create 4g.71gb
    complained 'occupied; list shows by what'
    expect_status 2 mig --gpu 0 create 3g.40gb
    complained 'they are 1g.18gb, 1g.18gb+me, 1g.35gb, 2g.35gb, 3g.71gb, 4g.71gb, 7g.141gb'
    expect_status 2 mig --gpu 0 create 2g.35gb:3
    complained 'only at one of 0, 2, 4'
    expect_status 2 mig --gpu 0 destroy 5
    complained "no GPU instance '5'"
    expect_status 2 mig --gpu 0
    expect_status 1 mig --gpu 1 enable
    complained 'Tesla T4) cannot do MIG'
    expect_status 0 smi -L
    said '^GPU 0: NVIDIA H200 (UUID: GPU-'
    said '^  MIG 3g.71gb     Device  0: (UUID: MIG-'
    said '^  MIG 1g.18gb     Device  1: (UUID: MIG-'
    hold 1Gi
    expect_status 0 "$DRIVER" state --root "$root"
    said '"name": "NVIDIA H200 MIG 3g.71gb", "gpuInstance": 1,'
    expect_status 1 mig --gpu 0 destroy 1
    complained 'in use by a process'
    expect_status 1 mig --gpu 0 disable
    complained 'the change is pending'
    kill $holder
    wait $holder
    expect_status 0 mig --gpu 0 destroy 1
    expect_status 0 mig --gpu 0 disable
    expect_status 0 smi -L
    said_not MIG
    expect_status 0 "$DRIVER" --help
    said 'create PROFILE\[:START\] | destroy ID'
    ;;
a_wrong_mig_layout_in_the_configuration_is_named)
    install h200
    for layout in on 'enabled 1g.18gb' 'enabled 1g.18gb:7' 'enabled 1g.18gb:1 3g.71gb:0' 'enabled 2g.20gb:0' 'disabled 1g.18gb:0'; do
        sed -i "s/^  mig .*/  mig $layout/" "$root/etc/partita-simulator/node.conf"
        expect_status 1 "$DRIVER" state --root "$root"
        complained 'node.conf: line .* is not understood'
    done
    ;;
a_number_that_is_none_or_has_no_room_is_named)
    for line in 'memory -1' 'context-overhead 99999999999999999999' 'clock-mhz 4294968276' 'sm-count -9999999999' 'numa one'; do
        install t4
        sed -i "s/^  ${line% *} .*/  $line/" "$root/etc/partita-simulator/node.conf"
        expect_status 1 "$DRIVER" state --root "$root"
        complained 'node.conf: line .* is not understood'
    done
    install t4
    sed -i 's/^gpu 0$/gpu first/' "$root/etc/partita-simulator/node.conf"
    expect_status 1 "$DRIVER" state --root "$root"
    complained 'node.conf: line .* is not understood'
    ;;
a_contrary_reading_that_there_is_not_is_named_with_those_that_there_are)
    for readings in 'all no-such' '' pools; do
        expect_status 2 "$DRIVER" install --root "$root" --node n --gpus t4 --libraries "$LIBRARIES" --contrary "$readings"
        complained 'names a reading that there is not; there are: all, graph-memory-stays-used, .*container-pids;'
    done
    expect_status 0 "$DRIVER" install --root "$root" --node n --gpus t4 --libraries "$LIBRARIES" --contrary 'all -pools-keep'
    grep -qx 'contrary all -pools-keep' "$root/etc/partita-simulator/node.conf" || fail 'node.conf has no such line'
    for reading in $(sed -n 's/^    X(SIM_[A-Z_]*, "\(.*\)").*/\1/p' "$SOURCES/node/contrary.h"); do
        grep -q "^| \`$reading\` |" "$SOURCES/README.md" || fail "README.md has no row for $reading"
    done
    ;;
every_function_can_be_made_to_fail)
    for file in "$SOURCES"/cuda/*.c "$SOURCES"/nvml/*.c; do
        awk '/^(CUresult cu|nvmlReturn_t nvml)[A-Z][^;]*$/ { name = $2 }
            /^\{/ && name != "" { getline; if (!/FAULT_POINT\(\);/) print FILENAME ": " name; name = "" }
            /;/ { name = "" }' "$file"
    done | grep -v -e 'cuGetErrorName(' -e 'cuGetErrorString(' -e ' cuInit(' > "$dir/out"
    said_not .
    ;;
*)
    echo "no case $1" >&2
    exit 2
    ;;
esac
