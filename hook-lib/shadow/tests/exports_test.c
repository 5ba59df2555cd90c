/* SPDX-License-Identifier: Apache-2.0 */
/* Exported memory that its owner has let go of stays in somebody's account for as long as the card holds it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cases.h"
#include "check.h"
#include "cuda_pages.h"
#include "partita/usage_region.h"
#include "scratch.h"
#include "stage.h"

#define QUOTA (4 * GIB)
#define EXPORTED (3 * GIB)
#define MEASURED MIB /* what the plugin finds that the owner takes beside its allocations */

static const char *box;
static CUmemFabricHandle *fabric; /* shared with the children */

static void stage(void) {
    fabric = mmap(NULL, sizeof *fabric, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(fabric != MAP_FAILED);
    stage_driver("h200x1");
    box = stage_container("box");
    stage_share(box, "share", 0, QUOTA);
}

static void quota_says(uint64_t overhead) {
    write_quota_with(box, "share", stage_gpu(0), QUOTA, 2,
                     overhead ? text("overhead %llu\n", (unsigned long long)overhead) : "");
}

/* As the plugin sees it, which has no seat. */
static struct partita_slot *slot_with_contexts_of(const char *share) {
    int file = open(region_path(box, share), O_RDWR | O_CLOEXEC);
    CHECK(file >= 0);
    struct partita_region *region = mmap(NULL, PARTITA_USAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(region != MAP_FAILED);
    close(file);
    for (uint32_t i = 0; i < region->high_water; i++)
        if (region->slots[i].contexts)
            return &region->slots[i];
    return NULL;
}

static struct partita_slot *slot_with_contexts(void) {
    return slot_with_contexts_of("share");
}

static CUresult release(CUmemGenericAllocationHandle handle) {
    return ((__typeof__(&cuMemRelease))cuda_function("cuMemRelease"))(handle);
}

static CUmemGenericAllocationHandle export_some(void) {
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemGenericAllocationHandle handle;
    __typeof__(&cuMemCreate) create = cuda_function("cuMemCreate");
    __typeof__(&cuMemExportToShareableHandle) export = cuda_function("cuMemExportToShareableHandle");
    CHECK_EQUAL(create(&handle, EXPORTED, &prop, 0), CUDA_SUCCESS);
    CHECK_EQUAL(export(fabric, handle, CU_MEM_HANDLE_TYPE_FABRIC, 0), CUDA_SUCCESS);
    return handle;
}

static CUresult take(uint64_t bytes) {
    CUdeviceptr pointer;
    return cuda.alloc(&pointer, bytes);
}

static void imports(void) {
    CUmemGenericAllocationHandle handle;
    cuda_start(box, 0);
    __typeof__(&cuMemImportFromShareableHandle) import = cuda_function("cuMemImportFromShareableHandle");
    CHECK_EQUAL(import(&handle, fabric, CU_MEM_HANDLE_TYPE_FABRIC), CUDA_SUCCESS);
    stage_ready();
}

static void exports_and_lets_go(void) {
    cuda_start(box, 0);
    CUmemGenericAllocationHandle handle = export_some();
    stage_ready();
    CHECK_EQUAL(release(handle), CUDA_SUCCESS);
    CHECK_EQUAL(stage_hardware_used(0), EXPORTED);
    CHECK_EQUAL(cuda_free(), QUOTA - EXPORTED);
    CHECK_EQUAL(take(2 * GIB), CUDA_ERROR_OUT_OF_MEMORY);
    stage_ready(); /* now it is measured */
    CHECK_EQUAL(take(2 * GIB), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(cuda_free(), QUOTA - EXPORTED - MEASURED);
    stage_ready(); /* the other one has ended, and that is measured */
    CHECK_EQUAL(take(QUOTA - 2 * MIB), CUDA_SUCCESS);
}

static void memory_that_only_an_importer_holds_stays_charged_until_the_plugin_has_counted_it_there(void) {
    stage();
    struct child owner = stage_child(exports_and_lets_go);
    child_wait(&owner);
    struct child importer = stage_child(imports);
    child_wait(&importer);
    CHECK(slot_with_contexts() == NULL);
    child_go(&owner);
    child_wait(&owner);
    struct partita_slot *slot = slot_with_contexts();
    CHECK(slot && slot->contexts == EXPORTED / PARTITA_UNIT && slot->overhead == 0);
    quota_says(EXPORTED);
    slot->overhead = MEASURED / PARTITA_UNIT;
    child_go(&owner);
    child_wait(&owner);
    CHECK_EQUAL(slot->contexts, MEASURED / PARTITA_UNIT);
    child_end(&importer);
    quota_says(0);
    child_end(&owner);
}

static void exports_and_lets_go_beside_memory_of_its_own(void) {
    CUdeviceptr its;
    cuda_start(box, 0);
    CHECK_EQUAL(cuda.alloc(&its, 2 * GIB), CUDA_SUCCESS);
    CUmemGenericAllocationHandle handle = export_some();
    stage_ready();
    CHECK_EQUAL(release(handle), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.free(its), CUDA_SUCCESS);
    CHECK_EQUAL(stage_hardware_used(0), EXPORTED);
    CHECK_EQUAL(cuda_free(), 2 * QUOTA - EXPORTED);
    stage_ready(); /* the other one has ended, and that is measured */
    CHECK_EQUAL(take(2 * QUOTA - 4 * MIB), CUDA_SUCCESS);
}

/* The second share has some of what is exported, and the first one all of what is the owner's own. */
static void what_one_share_left_behind_is_not_freed_with_memory_of_another(void) {
    static const char *const shares[] = {"share", "share-too"};
    struct partita_slot *slots[2];
    stage();
    stage_share(box, shares[1], 0, QUOTA);
    struct child owner = stage_child(exports_and_lets_go_beside_memory_of_its_own);
    child_wait(&owner);
    struct child importer = stage_child(imports);
    child_wait(&importer);
    child_go(&owner);
    child_wait(&owner);
    uint64_t left_behind = 0;
    for (int i = 0; i < 2; i++) {
        slots[i] = slot_with_contexts_of(shares[i]);
        CHECK(slots[i]);
        left_behind += slots[i]->contexts;
    }
    CHECK_EQUAL(left_behind, EXPORTED / PARTITA_UNIT);
    child_end(&importer);
    for (int i = 0; i < 2; i++)
        slots[i]->overhead = MEASURED / PARTITA_UNIT;
    child_end(&owner);
}

static void exported_memory_that_nobody_else_holds_is_given_back_at_once(void) {
    stage();
    cuda_start(box, 0);
    CHECK_EQUAL(release(export_some()), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), QUOTA);
    CUmemGenericAllocationHandle handle = export_some();
    CUdeviceptr at;
    __typeof__(&cuMemAddressReserve) reserve = cuda_function("cuMemAddressReserve");
    CHECK_EQUAL(reserve(&at, EXPORTED, 0, 0, 0), CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuMemMap))cuda_function("cuMemMap"))(at, EXPORTED, 0, handle, 0), CUDA_SUCCESS);
    CHECK_EQUAL(release(handle), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), QUOTA - EXPORTED);
    CHECK_EQUAL(((__typeof__(&cuMemUnmap))cuda_function("cuMemUnmap"))(at, EXPORTED), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), QUOTA);
}

/* After the first export, too: the driver takes its time to say what the card has free. */
static void what_the_card_has_free_is_asked_only_about_memory_that_was_exported(void) {
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemGenericAllocationHandle exported, kept;
    CUdeviceptr at;
    stage();
    cuda_start(box, 0);
    exported = export_some();
    CHECK_EQUAL(((__typeof__(&cuMemCreate))cuda_function("cuMemCreate"))(&kept, 2 * MIB, &prop, 0), CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuMemAddressReserve))cuda_function("cuMemAddressReserve"))(&at, 2 * MIB, 0, 0, 0),
                CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuMemMap))cuda_function("cuMemMap"))(at, 2 * MIB, 0, kept, 0), CUDA_SUCCESS);
    stage_delay("cuMemGetInfo_v2", 1);
    CHECK_EQUAL(release(kept), CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuMemUnmap))cuda_function("cuMemUnmap"))(at, 2 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(stage_delayed(), 0);
    CHECK_EQUAL(release(exported), CUDA_SUCCESS);
    CHECK_EQUAL(stage_delayed(), 2);
    CHECK_EQUAL(cuda_free(), QUOTA);
}

/* Without a context nothing tells what the card has free: what was exported would stay charged for a while. */
static void memory_that_could_not_be_exported_is_given_back_at_once(void) {
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemGenericAllocationHandle handle;
    stage();
    cuda_start(box, 0);
    CHECK_EQUAL(((__typeof__(&cuMemCreate))cuda_function("cuMemCreate"))(&handle, EXPORTED, &prop, 0), CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuMemExportToShareableHandle))cuda_function("cuMemExportToShareableHandle"))(
                    fabric, handle, CU_MEM_HANDLE_TYPE_FABRIC, 0),
                CUDA_ERROR_INVALID_VALUE);
    __typeof__(&cuCtxSetCurrent) set_current = cuda_function("cuCtxSetCurrent");
    CHECK_EQUAL(set_current(NULL), CUDA_SUCCESS);
    CHECK_EQUAL(release(handle), CUDA_SUCCESS);
    CHECK_EQUAL(set_current(cuda.context), CUDA_SUCCESS);
    CHECK_EQUAL(stage_hardware_used(0), 0);
    CHECK_EQUAL(cuda_free(), QUOTA);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(memory_that_only_an_importer_holds_stays_charged_until_the_plugin_has_counted_it_there),
        CASE(what_one_share_left_behind_is_not_freed_with_memory_of_another),
        CASE(exported_memory_that_nobody_else_holds_is_given_back_at_once),
        CASE(what_the_card_has_free_is_asked_only_about_memory_that_was_exported),
        CASE(memory_that_could_not_be_exported_is_given_back_at_once),
    };
    return RUN_CASES(cases, argc, argv);
}
