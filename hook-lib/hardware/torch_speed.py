"""How fast PyTorch trains: torch_speed.py SECONDS. Prints lines: what, steps a second; with a tab between."""

import sys
import time

import torch

seconds = float(sys.argv[1])


def steps_a_second(step):
    """The first fifth is not counted: a core limit lets some time pass at once after idling."""
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    begin = time.monotonic()
    counted, done = None, 0
    while (now := time.monotonic()) < begin + seconds:
        if counted is None and now >= begin + seconds / 5:
            counted, done = now, 0
        step()
        torch.cuda.synchronize()
        done += 1
    return done / (time.monotonic() - (counted or begin))


def training(width, batch, kind):
    """Five layers of that width."""
    layers = [torch.nn.Linear(width, width), torch.nn.GELU()] * 5
    model = torch.nn.Sequential(*layers).cuda().to(kind)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    inputs = torch.randn(batch, width, device="cuda", dtype=kind)

    def step():
        optimizer.zero_grad()
        model(inputs).float().square().mean().backward()
        optimizer.step()

    return step


print(f"five layers of 128, batch of 64\t{steps_a_second(training(128, 64, torch.float32)):.3f}")
print(f"five layers of 8192, batch of 8192\t{steps_a_second(training(8192, 8192, torch.bfloat16)):.3f}")
