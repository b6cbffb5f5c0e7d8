"""A GPU's rows in PyTorch: `torch_cuda_rows.py THREADS`, then row names on stdin (timing.py). What the GPU does is timed by
its events, what the CPU does by its clock."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from timing import serve, wall_seconds
from torch_rows import expr5, matmul, operation

gpu = torch.device("cuda")


def event_seconds(step, count):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(count):
        step()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3


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
    return {"pinned": over(pinned, False), "bytes": over(sent_as_bytes, False), "bytes, compiled": over(sent_as_bytes, True)}


def normalised(channels, width, side, stride=1):
    return [nn.Conv2d(channels, width, side, stride, side // 2, bias=False), nn.BatchNorm2d(width)]


class Bottleneck(nn.Module):
    """ResNet-50's, the stride in the 3 x 3 convolution; written down, as torchvision need not be where the GPU is."""

    def __init__(self, channels, width, stride):
        super().__init__()
        self.body = nn.Sequential(*normalised(channels, width, 1), nn.ReLU(), *normalised(width, width, 3, stride), nn.ReLU(),
                                  *normalised(width, 4 * width, 1))
        self.shortcut = nn.Sequential(*(normalised(channels, 4 * width, 1, stride) if channels != 4 * width else []))

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x))


def resnet50():
    layers, channels = [*normalised(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for width, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for i in range(count):
            layers.append(Bottleneck(channels, width, 2 if i == 0 and width > 64 else 1))
            channels = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000))


def resnet50_training(batch, bf16):
    """Training steps, channels last; in bfloat16 as autocast has it, with weights in float32."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.benchmark = True
    net = resnet50().to(gpu, memory_format=torch.channels_last)
    sgd = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, fused=True)
    x = torch.randn(batch, 3, 224, 224, device=gpu).contiguous(memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (batch,), device=gpu)

    def step():
        sgd.zero_grad()
        with torch.autocast("cuda", torch.bfloat16, enabled=bf16):
            loss = F.cross_entropy(net(x), labels)
        loss.backward()
        sgd.step()

    return {"channels-last": step}


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
ROWS |= {f"resnet50_cuda_b{batch}_{kind}": lambda batch=batch, kind=kind: resnet50_training(batch, kind == "bf16")
         for batch in (64, 128, 256) for kind in ("tf32", "bf16")}

if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[1]))
    torch.manual_seed(1)
    serve(ROWS, lambda name: wall_seconds if "cpu" in name else event_seconds)
