"""PyTorch in a share: torch_check.py ALLOCATOR QUOTA. Prints rows: group, what, pass|FAIL, figures; with tabs between."""

import os
import sys

allocator, quota = sys.argv[1], int(sys.argv[2])
if allocator == "cudaMallocAsync":
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "backend:cudaMallocAsync"
elif allocator == "expandable_segments":
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
import torch  # noqa: E402


def row(what, good, figures):
    print(f"runtime\tPyTorch, {allocator}: {what}\t{'pass' if good else 'FAIL'}\t{figures}")


free, total = torch.cuda.mem_get_info()
row("the share is the card", total <= quota, f"{free >> 20} of {total >> 20} MiB free")
try:
    torch.empty(quota + (1 << 20), dtype=torch.uint8, device="cuda")
    row("out of memory beyond the quota", False, "granted")
except torch.cuda.OutOfMemoryError:
    row("out of memory beyond the quota", True, "torch.cuda.OutOfMemoryError")
kept = [torch.empty(64 << 20, dtype=torch.uint8, device="cuda") for _ in range((free * 3 // 4) >> 26)]
row("three quarters of the share afterwards", bool(kept), f"{len(kept)} of 64 MiB")
del kept
torch.cuda.empty_cache()
a = torch.randn(1024, 1024, device="cuda")
b = (a @ a.T).sum()
torch.cuda.synchronize()
row("a product of matrices", bool(torch.isfinite(b).item()), "1024 x 1024")
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 1)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
inputs, losses = torch.randn(512, 256, device="cuda"), []
targets = inputs.sum(dim=1, keepdim=True)
for _ in range(50):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
free, total = torch.cuda.mem_get_info()
held = torch.cuda.memory_reserved()
row("50 training steps", losses[-1] < losses[0] and held <= total - free, f"loss {losses[0]:.3f} to {losses[-1]:.3f}; {held >> 20} MiB reserved, {(total - free) >> 20} MiB charged")
try:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        c = a * 2
    graph.replay()
    torch.cuda.synchronize()
    row("a graph captured and replayed", bool(torch.equal(c, a * 2)), "")
except RuntimeError as error:
    row("a graph captured and replayed", False, str(error).splitlines()[0])
