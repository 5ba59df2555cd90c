/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels that give a graph's condition its value, by the names that the simulated card knows. On a real card only
 * NVIDIA's device library can do that, so nvcc compiles and links them: conditional.sh.
 */

/* What the condition is: device code can set it, and not read it. One graph at a time runs. */
static __device__ unsigned int rounds;

extern "C" __global__ void partita_set_conditional(cudaGraphConditionalHandle handle, unsigned int value) {
    rounds = value;
    cudaGraphSetConditional(handle, value);
}

extern "C" __global__ void partita_count_down(cudaGraphConditionalHandle handle) {
    rounds = rounds > 0 ? rounds - 1 : 0;
    cudaGraphSetConditional(handle, rounds);
}
