/* SPDX-License-Identifier: Apache-2.0 */
/* cuGetProcAddress answers as NVIDIA's libcuda 535.261.03 does. */
#include "simulated.h"

struct question {
    const char *symbol;
    int version;
    cuuint64_t flags;
    const char *export; /* NULL: none */
    CUdriverProcAddressQueryResult status;
};

static void ask(const struct question *questions, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct question *question = &questions[i];
        CUdriverProcAddressQueryResult status = (CUdriverProcAddressQueryResult)9;
        void *function = &status, *old = &status;
        void *expected = question->export ? cuda_symbol(question->export) : NULL;

        fprintf(stderr, "%s at %d, flags %d\n", question->symbol, question->version, (int)question->flags);
        CHECK_EQUAL(CU(cuGetProcAddress_v2)(question->symbol, &function, question->version, question->flags, &status),
                    CUDA_SUCCESS);
        CHECK(function == expected);
        CHECK_EQUAL(status, question->status);
        CHECK_EQUAL(CU(cuGetProcAddress)(question->symbol, &old, question->version, question->flags),
                    expected ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
        CHECK(old == (expected ? expected : (void *)&status));
    }
}

#define ASK(...)                                                                                                       \
    ask((const struct question[]){__VA_ARGS__}, sizeof (const struct question[]){__VA_ARGS__} / sizeof(struct question))
#define FOUND CU_GET_PROC_ADDRESS_SUCCESS
#define UNKNOWN CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
#define TOO_OLD CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT

static void the_version_chooses_the_abi(void) {
    install_node("t4x1");
    ASK({"cuMemAlloc", 2000, 0, "cuMemAlloc", FOUND}, {"cuMemAlloc", 3010, 0, "cuMemAlloc", FOUND},
        {"cuMemAlloc", 3020, 0, "cuMemAlloc_v2", FOUND}, {"cuMemAlloc", 20000, 0, "cuMemAlloc_v2", FOUND},
        {"cuDeviceGetUuid", 11030, 0, "cuDeviceGetUuid", FOUND},
        {"cuDeviceGetUuid", 11040, 0, "cuDeviceGetUuid_v2", FOUND},
        {"cuGetProcAddress", 11030, 0, "cuGetProcAddress", FOUND},
        {"cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2", FOUND},
        {"cuCtxCreate", 11030, 0, "cuCtxCreate_v2", FOUND}, {"cuCtxCreate", 12000, 0, "cuCtxCreate_v3", FOUND},
        {"cuCtxCreate", 13000, 0, "cuCtxCreate_v4", FOUND});
}

static void flags_choose_the_default_stream(void) {
    install_node("t4x1");
    ASK({"cuLaunchKernel", 12000, 0, "cuLaunchKernel", FOUND}, {"cuLaunchKernel", 12000, 1, "cuLaunchKernel", FOUND},
        {"cuLaunchKernel", 12000, 2, "cuLaunchKernel_ptsz", FOUND},
        {"cuLaunchKernel", 12000, 3, "cuLaunchKernel_ptsz", FOUND},
        {"cuMemAllocAsync", 12000, 2, "cuMemAllocAsync_ptsz", FOUND},
        {"cuMemcpyHtoD", 12000, 2, "cuMemcpyHtoD_v2_ptds", FOUND}, {"cuMemcpyHtoD", 12000, 1, "cuMemcpyHtoD_v2", FOUND},
        {"cuMemAlloc", 12000, 2, "cuMemAlloc_v2", FOUND});
}

static void unknown_names_and_old_versions_are_told_apart(void) {
    install_node("t4x1");
    ASK({"cuNoSuchFunction", 12000, 0, NULL, UNKNOWN}, {"cuMemAlloc_v2", 12000, 0, NULL, UNKNOWN},
        {"cuLaunchKernel_ptsz", 12000, 0, NULL, UNKNOWN}, {"", 12000, 0, NULL, UNKNOWN},
        {"cuMemAlloc", 1999, 0, NULL, TOO_OLD}, {"cuMemAlloc", 0, 0, NULL, TOO_OLD},
        {"cuMemAllocAsync", 11010, 0, NULL, TOO_OLD}, {"cuGetProcAddress", 11020, 0, NULL, TOO_OLD},
        {"cuLaunchKernel", 6000, 2, NULL, TOO_OLD}, {"cuMemcpyHtoD", 6050, 2, NULL, TOO_OLD});
}

static void unknown_flags_are_invalid_and_the_status_is_optional(void) {
    void *function;

    install_node("t4x1");
    CHECK_EQUAL(CU(cuGetProcAddress_v2)("cuInit", &function, 12000, 4, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuGetProcAddress)("cuInit", &function, 12000, 4), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuGetProcAddress_v2)("cuNoSuchFunction", &function, 12000, 0, NULL), CUDA_SUCCESS);
    CHECK(function == NULL);
}

RUN(TEST(the_version_chooses_the_abi), TEST(flags_choose_the_default_stream),
    TEST(unknown_names_and_old_versions_are_told_apart), TEST(unknown_flags_are_invalid_and_the_status_is_optional))
