#include "cuda/timing_clocks.h"

#include <string.h>

#include "cores/cores.h"
#include "cuda/cuda_driver.h"
#include "partita/usage_region.h"

struct clock clocks[CLOCKS_MAX];

struct clock *clock_of(CUcontext context, int card) {
    struct clock *free = NULL;
    for (int i = 0; i < CLOCKS_MAX; i++) {
        if (clocks[i].context == context)
            return &clocks[i];
        if (!clocks[i].context && !free)
            free = &clocks[i];
    }
    if (free) {
        memset(free, 0, sizeof *free);
        free->context = context;
        free->card = card;
    }
    return free;
}

static CUevent take_event(struct clock *clock) {
    CUevent event = NULL;
    if (clock->spares > 0)
        return clock->spare[--clock->spares];
    if (DRIVER(cuEventCreate)(&event, CU_EVENT_DEFAULT) != CUDA_SUCCESS) {
        cores_unenforced(clock->card, PARTITA_COMPUTE_EVENT_FAILED);
        return NULL;
    }
    return event;
}

static void destroy_event(CUevent event) {
    if (DRIVER(cuEventDestroy_v2))
        DRIVER(cuEventDestroy_v2)(event);
}

void clock_drop_event(struct clock *clock, CUevent event) {
    if (!event)
        return;
    if (clock->spares < CLOCK_EVENTS)
        clock->spare[clock->spares++] = event;
    else
        destroy_event(event);
}

CUevent clock_record(struct clock *clock, CUstream stream) {
    CUevent event = take_event(clock);
    if (event && DRIVER(cuEventRecord)(event, stream) != CUDA_SUCCESS) {
        cores_unenforced(clock->card, PARTITA_COMPUTE_EVENT_FAILED);
        destroy_event(event); /* taken again, it might fail again */
        return NULL;
    }
    return event;
}

CUresult clock_since_base(const struct clock *clock, CUevent event, int64_t *ns) {
    float ms = 0;
    CUresult result = DRIVER(cuEventElapsedTime_v2) ? DRIVER(cuEventElapsedTime_v2)(&ms, clock->base, event)
                                                    : DRIVER(cuEventElapsedTime)(&ms, clock->base, event);
    *ns = (int64_t)((double)ms * 1e6);
    return result;
}
