"""A GPU's rows in PyTorch: `torch_cuda_rows.py [--no-compile] THREADS`, then row names on stdin (timing.py). With `--compile NAME...` it only
compiles what these rows compile, and keeps it on disk. What the GPU does is timed by its events, what the CPU does by its clock."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

import torch_cuda_networks
import torch_cuda_ops
from timing import serve
from torch_cuda import gpu, measure
from torch_operation import expr5, matmul, operation


def product(n, dtype=torch.float32, tf32=False):
    torch.backends.cuda.matmul.allow_tf32 = tf32
    return operation(torch.matmul, *(torch.randn(n, n, device=gpu, dtype=dtype) for _ in range(2)), compiled=False)


def waited(function, *inputs):
    """The host waits for each."""

    def step():
        with torch.inference_mode():
            function(*inputs)
        torch.cuda.synchronize()

    return {"eager": step}


def copies(n):
    """The four ways over the bus, of n bytes."""
    host = torch.zeros(n, dtype=torch.uint8)
    pinned, device = host.pin_memory(), host.to(gpu)

    def to_pinned():
        return torch.empty(n, dtype=torch.uint8, pin_memory=True).copy_(device, non_blocking=True)

    return {"to_device_pageable": waited(lambda: host.to(gpu)),
            "to_device_pinned": waited(lambda: pinned.to(gpu, non_blocking=True)),
            "to_host_pageable": waited(lambda: device.cpu()),
            "to_host_pinned": waited(to_pinned)}


def mlp_small(device):
    net = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10)).to(device)
    return net, torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, fused=True), 64


def mnist_mlp(device):
    net = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Dropout(0.2), nn.Linear(512, 512), nn.ReLU(), nn.Dropout(0.2),
                        nn.Linear(512, 10)).to(device)
    return net, torch.optim.RMSprop(net.parameters(), lr=1e-3), 128


def epoch(make, device):
    """Batches of a new order, made on the host: sent as floats from pinned memory, or as bytes that the GPU makes floats."""
    images, labels = torch.full((60000, 784), 128, dtype=torch.uint8), torch.zeros(60000, dtype=torch.int64)

    def floats(samples):
        return images[samples].float().div_(255), labels[samples]

    def pinned(samples):
        return tuple(x.pin_memory().to(device, non_blocking=True) for x in floats(samples))

    def sent_as_bytes(samples):
        x, y = (x[samples].pin_memory().to(device, non_blocking=True) for x in (images, labels))
        return x.float().div_(255), y

    def over(batch, compiled):
        net, optimiser, size = make(device)
        forward = torch.compile(net) if compiled else net

        def step():
            for samples in torch.randperm(60000).split(size):
                x, y = batch(samples)
                optimiser.zero_grad()
                F.cross_entropy(forward(x), y).backward()
                optimiser.step()
        return step

    if device.type == "cpu":
        return {"eager": over(floats, False)}
    modes = {"pinned": over(pinned, False), "bytes": over(sent_as_bytes, False)}
    return modes | {"bytes, compiled": over(sent_as_bytes, True)} if torch_cuda_networks.compiles else modes


def many():
    return torch.randn(1 << 25, device=gpu)


def one():
    return torch.ones(1, device=gpu)


KINDS = {"f32": {}, "tf32": {"tf32": True}, "bf16": {"dtype": torch.bfloat16}}
ROWS = {f"matmul{n}_{kind}": lambda n=n, kind=kind: product(n, **KINDS[kind]) for n in (1024, 4096, 8192) for kind in KINDS}
WAYS = ("to_device_pageable", "to_device_pinned", "to_host_pageable", "to_host_pinned")
ROWS |= {f"{way}/{1 << i}": lambda way=way, i=i: copies(1 << i)[way] for way in WAYS for i in range(10, 29, 3)}
ROWS |= {
    "matmul_cpu/200": matmul(200),
    "matmul_cuda/200": lambda: waited(torch.matmul, *(torch.randn(200, 200, device=gpu) for _ in range(2))),
    "matmul_cuda_copied/200": lambda: waited(lambda a, b: (a.to(gpu) @ b.to(gpu)).cpu(), torch.randn(200, 200),
                                             torch.randn(200, 200)),
    "expr5_32M": lambda: operation(expr5, many(), many(), many()),
    "add1_cuda": lambda: operation(torch.add, one(), one(), compiled=False),
    "add1_cuda_waited": lambda: waited(torch.add, one(), one()),
    "mlp_small_epoch_cpu": lambda: epoch(mlp_small, torch.device("cpu")),
    "mlp_small_epoch_cuda": lambda: epoch(mlp_small, gpu),
    "mnist_mlp_epoch_cpu": lambda: epoch(mnist_mlp, torch.device("cpu")),
    "mnist_mlp_epoch_cuda": lambda: epoch(mnist_mlp, gpu),
}
ROWS |= torch_cuda_ops.ROWS | torch_cuda_networks.ROWS


def compile_ahead(names):
    """Compiles what these rows have compiled, one after the other, into the cache on disk where their measurement finds it."""
    for name in names:
        step = ROWS[name]().get("torch.compile")
        if step:
            try:
                step()
            except Exception as error:
                print(f"{name}: {error}", file=sys.stderr)


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[-1]))
    torch.manual_seed(1)
    torch_cuda_networks.compiles = "--no-compile" not in sys.argv
    if "--compile" in sys.argv:
        compile_ahead(sys.argv[sys.argv.index("--compile") + 1:-1])
    else:
        serve(ROWS, measure)
