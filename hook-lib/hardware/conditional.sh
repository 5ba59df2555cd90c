# Part of hardware/run, in a subshell: graphs with conditional nodes at a core limit.
# shellcheck shell=sh disable=SC2154 # run's variables and functions

# Compiles conditional.cu for this card to FILE: its kernels take NVIDIA's device library, which is linked on their side of the card.
compile_conditional() { # FILE
    target=$(native "$program" target) &&
        timeout 120 "$nvcc" -arch="$target" -dc -o "$work/conditional.o" "$here/conditional.cu" &&
        timeout 120 "$nvcc" -arch="$target" -dlink -fatbin -lcudadevrt -o "$1" "$work/conditional.o"
}

nvcc=$(command -v nvcc || find /usr/local/cuda*/bin -name nvcc 2> /dev/null | sort | tail -n 1 || true)
conditional=${conditional:-$work/conditional.fatbin} reason=
if [ -z "$iterations" ]; then
    reason='the kernel does not run'
elif [ -n "$root" ]; then
    conditional=$here/conditional.cu # any file: the simulated card has the kernels
elif [ "$conditional" != "$work/conditional.fatbin" ]; then
    [ -r "$conditional" ] || reason="$conditional is not there"
elif [ -z "$nvcc" ]; then
    reason='no nvcc: neither on PATH nor under /usr/local/cuda*/bin'
elif ! compile_conditional "$conditional" > "$work/err" 2>&1; then
    row cores 'conditional nodes' FAIL "nvcc: $(tail -n 1 "$work/err")"
    reason='not compiled'
fi
if [ -z "$reason" ]; then
    export PARTITA_CONDITIONAL="$conditional"
    for way in "while:as a graph with a WHILE node" "if:as a graph with two IF nodes, one of which runs"; do
        share "way-${way%%:*}" "$quota" 30
        measure "way-${way%%:*}:${way%%:*}"
        judge "30 % ${way#*:}" "way-${way%%:*}" 30
    done
elif [ "$reason" != 'not compiled' ]; then
    row cores 'conditional nodes' 'not run' "$reason"
fi
