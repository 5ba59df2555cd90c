/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that keep a simulated card busy under core limits, what they really got of it, and a stand-in for the plugin
 * that writes the card reports.
 */
#ifndef PARTITA_CORES_STAGE_H
#define PARTITA_CORES_STAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cuda_events.h"
#include "cuda_graphs.h"
#include "cuda_launch.h"
#include "partita/usage_region.h"
#include "scratch.h"
#include "stage.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

#define CUDA(name) ((__typeof__(&name))cuda_function(#name))

enum { SPINNERS = 8 };

struct spinner {
    const char *container;
    uint64_t ns;          /* a kernel */
    unsigned int streams; /* 0: the default stream */
    uint64_t idle_ns;     /* after each kernel the program waits for it, and so long; 0: it never waits */
    uint64_t gap_ns;      /* after each kernel the program has work of its own for so long, and does not wait */
    uint64_t within_ns;   /* each kernel is in a graph, before a function of the program that takes so long */
    bool waits;
    bool high; /* its share has the higher priority */
    pid_t pid;
    struct child child;
};

/* One simulated card and no containers yet. */
void cores_stage(void);

/* The same with other cards. */
void cores_stage_of(const char *gpus);

/*
 * The same as the first, where NVML samples use over such periods and tells of each so much later, in microseconds; 0:
 * as the simulator does by itself.
 */
void cores_stage_sampled(unsigned int period_us, unsigned int delay_us);

/* The same as the first, of a card that gives processes time slices whatever the simulator does by itself. */
void cores_stage_sliced(void);

/* A container with a share of card 0. */
const char *cores_container(const char *name, unsigned int cores, const char *core_limit, unsigned int priority);

/* Its quota from now on. */
void cores_quota(const char *container, unsigned int cores, const char *core_limit, unsigned int priority);

/* Starts the program in a process of its own; it spins until it is killed. */
struct spinner *spinner_start(struct spinner spinner);
void spinner_kill(struct spinner *spinner);
void spinners_forget(void); /* all were killed: their places are free */

/* ns of card 0 that the process had so far, by the hardware's own account. */
uint64_t cores_busy(pid_t pid);

/* Bytes of card 0 that living processes' allocations take, by the hardware's own account. */
uint64_t cores_held(void);

/* Percent of card 0 that the spinners had in the time. */
void spinners_measure(struct spinner *const spinners[], unsigned int count, unsigned int ms, double percent[]);

/*
 * Writes card reports for all spinners' containers every 150 ms from now on, and what NVML samples of the spinners into
 * their slots, in a process of its own. Ends with the test.
 */
void cores_reporter(void);

/* In this process, after cuda_start: the kernel that spins. */
CUfunction spin_function(void);

/* A node of a kernel with one thread; the parameters stay the caller's. */
CUDA_KERNEL_NODE_PARAMS_v2 kernel_of_one_thread(CUfunction function, void **parameters);
void spin(CUfunction function, uint64_t ns, CUstream stream);

/* The region of a container. */
const struct partita_region *cores_region(const char *container);

void wait_ms(unsigned int ms);
uint64_t cores_now(void); /* CLOCK_MONOTONIC, ns */

#endif
