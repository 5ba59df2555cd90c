/*
 * Copies and fills. Bounds are checked over the whole allocation; bytes are kept for its first 64 MiB (managed memory: for
 * all of it), so that a test may fill a simulated card without filling the machine.
 */
#include <string.h>

#include "driver.h"

static CUresult reach(CUdeviceptr address, uint64_t bytes, unsigned char **content, uint64_t *kept)
{
    struct CUctx_st *context;
    CUresult result = driver_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    result = block_content(address, bytes, content, kept);
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr destination, const void *source, size_t bytes)
{
    unsigned char *content;
    uint64_t kept;
    CUresult result = reach(destination, bytes, &content, &kept);

    if (result != CUDA_SUCCESS)
        return result;
    if (!source)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(content, source, kept);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr destination, const void *source, size_t bytes)
{
    return cuMemcpyHtoD_v2(destination, source, bytes);
}

CUresult cuMemcpyHtoD(CUdeviceptr_v1 destination, const void *source, unsigned int bytes)
{
    return cuMemcpyHtoD_v2(destination, source, bytes);
}

CUresult cuMemcpyDtoH_v2(void *destination, CUdeviceptr source, size_t bytes)
{
    unsigned char *content;
    uint64_t kept;
    CUresult result = reach(source, bytes, &content, &kept);

    if (result != CUDA_SUCCESS)
        return result;
    if (!destination)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(destination, content, kept);
    memset((char *)destination + kept, 0, bytes - kept);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH_v2_ptds(void *destination, CUdeviceptr source, size_t bytes)
{
    return cuMemcpyDtoH_v2(destination, source, bytes);
}

CUresult cuMemcpyDtoH(void *destination, CUdeviceptr_v1 source, unsigned int bytes)
{
    return cuMemcpyDtoH_v2(destination, source, bytes);
}

CUresult cuMemsetD8_v2(CUdeviceptr destination, unsigned char value, size_t count)
{
    unsigned char *content;
    uint64_t kept;
    CUresult result = reach(destination, count, &content, &kept);

    if (result == CUDA_SUCCESS)
        memset(content, value, kept);
    return result;
}

CUresult cuMemsetD8_v2_ptds(CUdeviceptr destination, unsigned char value, size_t count)
{
    return cuMemsetD8_v2(destination, value, count);
}

CUresult cuMemsetD8(CUdeviceptr_v1 destination, unsigned char value, unsigned int count)
{
    return cuMemsetD8_v2(destination, value, count);
}
