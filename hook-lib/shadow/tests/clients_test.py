#!/usr/bin/env python3
"""Programs that nobody here wrote, on the simulated driver behind the shadows: NVIDIA's cuda-bindings, cuda-core, nvidia-ml-py and numba-cuda;
tinygrad; nvtop and nvitop.

clients_test.py CASE, with SIMULATED_DRIVER, SIMULATED_LIBRARIES, SHADOWS (a folder; PARTITA_TEST_SHADOWS, where it is set, counts in its place),
PROBE, CLIENTS, NUMBA and TOOLS (the folders of fetch.sh)."""

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time

MIB, GIB = 1 << 20, 1 << 30


def stage(folder):
    """A node with two cards, and a container with a share of 1 GiB of the first; the folder of its libraries."""
    subprocess.run([os.environ["SIMULATED_DRIVER"], "install", "--root", folder, "--node", "clients", "--gpus", "h200x2",
                    "--libraries", os.environ["SIMULATED_LIBRARIES"]], check=True)
    with open(f"{folder}/etc/partita-simulator/node.conf") as conf:
        uuid = next(line.split()[1] for line in conf if line.split()[:1] == ["uuid"])
    libraries = f"{folder}/box/lib"
    os.makedirs(f"{libraries}/partita")
    shadows = os.environ.get("PARTITA_TEST_SHADOWS", os.environ["SHADOWS"])
    for name in ("libcuda", "libnvidia-ml"):
        shutil.copy(f"{shadows}/{name}-shadow.so", f"{libraries}/{name}.so.1")
        shutil.copy(f"{folder}/usr/lib/x86_64-linux-gnu/{name}.so.1", f"{libraries}/partita/{name}-real.so.1")
    for kind in ("etc", "run"):
        os.makedirs(f"{folder}/box/{kind}/partita/shares/share")
    with open(f"{folder}/box/etc/partita/shares/share/quota", "w") as quota:
        quota.write(f"partita-quota 1\ngeneration 1\nclaim default/clients\nclaim-uid 1\ngpu {uuid}\nmemory {GIB}\n"
                    "context 0\ncores 0\ncore-limit none\npriority 1\nend\n")
    with open(f"{folder}/box/run/partita/shares/share/usage", "wb") as region:
        region.truncate(528384)
    return libraries


def call(answer):
    """What a call of cuda.bindings gave besides its status, which must be success."""
    assert answer[0] == 0, answer[0]
    return answer[1] if len(answer) == 2 else answer[1:]


def primary_context(driver):
    call(driver.cuInit(0))
    device = call(driver.cuDeviceGet(0))
    call(driver.cuCtxSetCurrent(call(driver.cuDevicePrimaryCtxRetain(device))))
    return device


def cuda_bindings_see_the_quota_are_refused_beyond_it_and_go_on():
    from cuda.bindings import driver
    device = primary_context(driver)
    assert call(driver.cuDeviceTotalMem(device)) == GIB
    assert call(driver.cuMemGetInfo()) == (GIB, GIB)
    assert driver.cuMemAlloc(GIB + 1)[0] == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY
    pointer = call(driver.cuMemAlloc(768 * MIB))
    assert call(driver.cuMemGetInfo()) == (256 * MIB, GIB)
    assert driver.cuMemAlloc(512 * MIB)[0] == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY
    call(driver.cuMemFree(pointer))
    call(driver.cuMemFree(call(driver.cuMemAlloc(GIB))))


def cuda_bindings_allocate_in_streams_pitched_and_managed():
    from cuda.bindings import driver
    primary_context(driver)
    pointer = call(driver.cuMemAllocAsync(768 * MIB, 0))
    assert driver.cuMemAllocAsync(512 * MIB, 0)[0] == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY
    call(driver.cuMemFreeAsync(pointer, 0))
    call(driver.cuStreamSynchronize(0))
    pitched, pitch = call(driver.cuMemAllocPitch(1000, 1024, 4))
    assert pitch >= 1000 and call(driver.cuMemGetInfo())[0] <= GIB - pitch * 1024
    assert driver.cuMemAllocManaged(GIB, driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL)[0] == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY
    call(driver.cuMemFree(pitched))
    assert call(driver.cuMemGetInfo())[0] == GIB


def cuda_core_raises_out_of_memory_and_recovers():
    from cuda.core import Device
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    try:
        device.allocate(2 * GIB, stream=stream)
    except Exception as error:  # of a private class
        assert "CUDA_ERROR_OUT_OF_MEMORY" in str(error), error
    else:
        raise AssertionError("2 GiB of a share of 1 GiB")
    buffer = device.allocate(512 * MIB, stream=stream)
    assert buffer.size == 512 * MIB
    buffer.close(stream)
    stream.sync()
    device.allocate(GIB, stream=stream).close(stream)


def nvidia_ml_py_shows_the_share_and_this_process():
    import pynvml
    from cuda.bindings import driver
    primary_context(driver)
    pointer = call(driver.cuMemAlloc(256 * MIB))
    pynvml.nvmlInit()
    share, whole = (pynvml.nvmlDeviceGetHandleByIndex(index) for index in (0, 1))
    memory = pynvml.nvmlDeviceGetMemoryInfo(share)
    assert (memory.total, memory.used, memory.free) == (GIB, 256 * MIB, 768 * MIB), memory
    memory = pynvml.nvmlDeviceGetMemoryInfo(share, version=pynvml.nvmlMemory_v2)
    assert (memory.total, memory.used, memory.reserved) == (GIB, 256 * MIB, 0), memory
    assert pynvml.nvmlDeviceGetMemoryInfo(whole).total > 100 * GIB
    processes = pynvml.nvmlDeviceGetComputeRunningProcesses(share)
    assert [(p.pid, p.usedGpuMemory) for p in processes] == [(os.getpid(), 256 * MIB)], processes
    assert pynvml.nvmlDeviceGetGraphicsRunningProcesses(share) == []
    call(driver.cuMemFree(pointer))
    pynvml.nvmlShutdown()


def tinygrad_computes_and_its_tensors_stay_within_the_share():
    from tinygrad import Device, Tensor
    assert Device.DEFAULT == "CUDA", Device.DEFAULT
    tensor = Tensor.ones(1024, 1024).contiguous().realize()
    (tensor + 1).sum().realize()  # kernels of its own, as PTX
    try:
        (Tensor.empty(1 << 29).contiguous() + 1).realize()
    except MemoryError as error:
        assert "2.00 GB" in str(error), error
    else:
        raise AssertionError("2 GiB of a share of 1 GiB")
    Tensor.ones(64 << 20).contiguous().realize()


def numba_compiles_and_launches_kernels_and_is_refused_beyond_the_share():
    import numpy
    from numba import cuda
    context = cuda.current_context()
    assert tuple(context.get_memory_info()) == (GIB, GIB)

    @cuda.jit
    def twice(values):
        at = cuda.grid(1)
        if at < values.size:
            values[at] *= 2

    values = cuda.to_device(numpy.arange(1 << 20, dtype=numpy.uint8))
    twice[1024, 1024](values)
    cuda.synchronize()
    assert context.get_memory_info().free == GIB - MIB
    try:
        cuda.device_array(2 * GIB, dtype=numpy.uint8)
    except Exception as error:  # of a private class
        assert "CUDA_ERROR_OUT_OF_MEMORY" in str(error), error
    else:
        raise AssertionError("2 GiB of a share of 1 GiB")
    assert values.copy_to_host().size == 1 << 20


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=60, text=True).stdout


def nvitop_shows_the_share_and_its_own_processes_only():
    container = os.environ["LD_LIBRARY_PATH"]
    own = holding("256Mi", container)
    other = holding("3Gi", container.replace("/box/lib", "/usr/lib/x86_64-linux-gnu"))
    try:
        shown = output_of(os.environ["CLIENTS"] + "/bin/nvitop", "--once", "--no-unicode")
        assert re.search(r"256\.0MiB / 1024MiB", shown), shown
        assert re.search(rf"\b{own.pid}\b.* 256\.0MiB", shown), shown
        assert not re.search(rf"\b{other.pid}\b", shown), shown
    finally:
        end(own, other)


def end(*probes):
    for probe in probes:
        probe.kill()
        probe.wait()


def holding(size, libraries):
    """A probe that holds so much; when it does."""
    probe = subprocess.Popen([os.environ["PROBE"], "hold", size], env=dict(os.environ, LD_LIBRARY_PATH=libraries), stdout=subprocess.PIPE)
    assert probe.stdout.readline().startswith(b"holding"), "the probe did not get its memory"
    return probe


def screen_of(command, wanted):
    """What a program drew on a terminal until all of that was to be seen, without the terminal's own words; a minute at most."""
    process, terminal = pty.fork()
    if process == 0:
        os.execve(command[0], command, dict(os.environ, TERM="xterm"))
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
    drawn, seen, end = b"", "", time.monotonic() + 60
    while time.monotonic() < end and not all(re.search(each, seen) for each in wanted):
        if select.select([terminal], [], [], 1)[0]:
            drawn += os.read(terminal, 65536)
            seen = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[()][B0]", "", drawn.decode(errors="replace"))
    os.write(terminal, b"q")
    while select.select([terminal], [], [], 10)[0]:
        try:
            if not os.read(terminal, 65536):
                break
        except OSError:  # it has ended
            break
    os.waitpid(process, 0)
    return seen


def nvtop_shows_the_share_and_its_own_processes_only():
    container = os.environ["LD_LIBRARY_PATH"]
    own = holding("256Mi", container)
    other = holding("3Gi", container.replace("/box/lib", "/usr/lib/x86_64-linux-gnu"))
    try:
        wanted = [r"0\.250Gi/1\.000Gi", rf"\b{own.pid}\b.* 256MiB +25%"]
        seen = screen_of([os.environ["TOOLS"] + "/nvtop/nvtop", "--no-color"], wanted)
        for each in wanted:
            assert re.search(each, seen), (each, seen)
        assert not re.search(rf"\b{other.pid}\b", seen), seen
    finally:
        end(own, other)


def main():
    case = sys.argv[1]
    if os.environ.get("LD_LIBRARY_PATH", "").endswith("/box/lib"):
        globals()[case]()
        return
    what = next((what for program, what in (("nvtop_", "TOOLS"), ("numba_", "NUMBA")) if case.startswith(program)), "CLIENTS")
    python = sys.executable if what == "TOOLS" else os.environ[what] + "/bin/python"
    for needed in (python, os.environ["TOOLS"] + "/nvtop/nvtop" if what == "TOOLS" else python):
        if not os.path.exists(needed):
            print(f"{needed} is not here: sh hook-lib/build.sh fetch {what.lower()}", file=sys.stderr)
            sys.exit(1 if os.environ.get("PARTITA_REQUIRE_OUTSIDE") and what != "NUMBA" else 77)
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, HOME=folder, LD_LIBRARY_PATH=stage(folder), CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING="1",
                           DEV="CUDA:PTX", CACHELEVEL="0", NUMBA_CACHE_DIR=folder)
        sys.exit(subprocess.run([python, "-B", __file__, case], env=environment).returncode)


main()
