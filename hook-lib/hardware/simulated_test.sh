#!/bin/sh
# simulated_test.sh RUN BUILD: hardware/run on a simulated card ends well, with a row for each part, and keeps nothing.
set -eu
run=$1 build=$2
node=$(mktemp -d)
trap 'rm -rf "$node"' EXIT
before=$(ls "$(dirname "$run")/results")
"$build/simulator/partita-sim-driver" install --root "$node" --node hardware --gpus h200x1 --libraries "$build/simulator"
# Limits are judged by hardware: here a machine that is busy with other tests may keep a process waiting.
sh "$run" --driver-root "$node" --built "$build" --seconds 0.5 --tolerance 100 > "$node/out" 2>&1 || { cat "$node/out"; exit 1; }
cat "$node/out"
for part in memory cores mps readings overhead runtime; do
    grep -q "^| $part |" "$node/out"
done
grep -q '| cores | mean absolute error | figure |' "$node/out"
for way in 'in a green context' 'as graphs of four kernels' 'as a graph with a WHILE node' 'as a graph with two IF nodes, one of which runs' \
    'beside a thread that polls' 'with copies of 64 MiB between'; do
    grep -q "^| cores | 30 % $way | pass | [0-9]" "$node/out"
done
for second in '' ', of which the second waits for each 1.5 ms'; do
    grep -q "^| cores | three programs without shares$second | figure | [0-9.]*, [0-9.]* and [0-9.]* % of the card's time |" "$node/out"
    for percent in 20 30 40; do
        grep -q "^| cores | $percent % of three with 20, 30 and 40 %$second | pass | [0-9]" "$node/out"
    done
done
grep -q "^| cores | the kernel's length, at the end against the beginning | figure | [0-9.]* |" "$node/out"
for kind in 'cuMemCreate: 128 MiB, mapped' cuMemAllocManaged: cuIpcOpenMemHandle:; do
    grep -q "^| memory | $kind.* | pass |" "$node/out"
done
for what in 'the daemon answers' 'limits of servers to come' get_server_list get_client_list 'limits of a server that runs' \
    'a share by MPS: cuMemCreate: 128 MiB' 'a share by MPS: beyond the quota: cuMemAlloc' quit; do
    grep -q "^| mps | $what | pass | [^ ]" "$node/out"
done
for what in 'of its environment' 'of the daemon'; do
    grep -q "^| mps | a client's memory limit, $what | not run | no limit is simulated: of [0-9]* MiB [1-9][0-9]* granted" "$node/out"
done
for part in '30 % of the threads, alone' '30 % of the threads beside 70 %' '70 % of the threads beside 30 %'; do
    grep -q "^| mps | $part | figure | [0-9.]* % of its throughput without a limit; it sees [1-9][0-9]* of [1-9]" "$node/out"
done
grep -q '| runtime | CUDA runtime, PyTorch | not run | they need a real driver |' "$node/out"
! grep -q FAIL "$node/out"
# Each reading that a program can tell is told right, whichever one the simulator plays.
readings() { PARTITA_NVML=$1/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1 LD_LIBRARY_PATH=$1/usr/lib/x86_64-linux-gnu "$build/hardware/partita-hardware" readings 2000000 1; }
[ "$(grep -c '^| readings | .* | figure | as the simulator by itself |' "$node/out")" = "$(readings "$node" | wc -l)" ]
"$build/simulator/partita-sim-driver" install --root "$node/contrary" --node hardware --gpus h200x1 --libraries "$build/simulator" --contrary all
readings "$node/contrary" > "$node/told"
cat "$node/told"
! grep -v 'samples-name-one' "$node/told" | grep -v 'figure	contrary$' # whom samples name cannot be told where there are none
"$build/simulator/partita-sim-driver" install --root "$node/named" --node hardware --gpus h200x1 --libraries "$build/simulator" --contrary samples-name-one
readings "$node/named" | grep -qx 'readings	samples-name-one	figure	contrary'
[ "$before" = "$(ls "$(dirname "$run")/results")" ]
