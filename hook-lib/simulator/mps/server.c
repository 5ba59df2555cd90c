/* SPDX-License-Identifier: Apache-2.0 */
/* nvidia-cuda-mps-server: the daemon starts it with a socket as its standard input, and ends it by closing that. */
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char ignored;

    if (isatty(STDIN_FILENO)) {
        puts("nvidia-cuda-mps-server is launched by the MPS control daemon.");
        return 1;
    }
    while (read(STDIN_FILENO, &ignored, 1) > 0)
        ;
    return 0;
}
