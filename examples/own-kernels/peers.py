"""Times of PyTorch for what src/main.rs runs: the same sizes, and the median of 21 calls, each waited for.

Sums of prefixes are CUB's there, the matrix product is cuBLAS's in f32.
"""

import statistics
import time

import torch

N, SIDE = 1 << 24, 4096


def measure(name, call):
    times = []
    for _ in range(22):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    print(f"{name:>10}  {statistics.median(times[1:]) * 1e6:10.1f} µs")


torch.backends.cuda.matmul.allow_tf32 = False
x, y = (torch.rand(N, device="cuda") * 2 - 1 for _ in range(2))
numbers = torch.randint(0, 256, (N,), device="cuda", dtype=torch.int32)
sums = torch.empty_like(numbers)
a, b = (torch.rand(SIDE, SIDE, device="cuda") * 2 - 1 for _ in range(2))
inner = b[1:-1, 1:-1]


def stencil():
    torch.add(a[:-2, 1:-1], a[2:, 1:-1], out=inner)
    inner.add_(a[1:-1, :-2]).add_(a[1:-1, 2:]).mul_(0.25)


measure("saxpy", lambda: torch.add(y, x, alpha=3.0, out=y))
measure("histogram", lambda: torch.bincount(numbers, minlength=256))
measure("scan", lambda: torch.cumsum(numbers, 0, dtype=torch.int32, out=sums))
measure("stencil", stencil)
measure("transpose", lambda: b.copy_(a.t()))
measure("matmul", lambda: torch.mm(a, a, out=b))
measure("softmax", lambda: torch.softmax(a, 1, out=b))
