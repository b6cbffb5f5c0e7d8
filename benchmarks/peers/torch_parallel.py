"""PyTorch's DistributedDataParallel with Gloo on this machine, each rank with one thread: what ./benchmarks/run scaling asks for.

torch_parallel.py RANKS step MODEL BATCH SECONDS   seconds of a training step, in the fastest mode
torch_parallel.py RANKS wire SECONDS BYTES...      [[bytes, seconds], ...] of an all_reduce
"""

import json
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing
import torch.nn as nn
import torch.nn.functional as F

import torch_networks

ROUNDS, PROBES = 5, 3
MODES = {"default": {}, "bucket views": {"gradient_as_bucket_view": True}, "static graph": {"gradient_as_bucket_view": True, "static_graph": True}}


def mnist_mlp():
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Dropout(0.2), nn.Linear(512, 512), nn.ReLU(), nn.Dropout(0.2), nn.Linear(512, 10))


MODELS = {"mnist_mlp": (mnist_mlp, (784,)), "mnist_cnn": (torch_networks.MnistCnn, (1, 28, 28)), "resnet20": (torch_networks.resnet20, (3, 32, 32))}


def fastest(seconds, f):
    """The seconds of a call, in the fastest of some rounds, as scaling.cpp takes them."""
    f()
    begin = time.perf_counter()
    for _ in range(PROBES):
        f()
    calls = torch.tensor(max(1, int(seconds / ROUNDS * PROBES / (time.perf_counter() - begin))))
    dist.broadcast(calls, 0)
    best = float("inf")
    for _ in range(ROUNDS):
        dist.barrier()
        begin = time.perf_counter()
        for _ in range(int(calls)):
            f()
        best = min(best, (time.perf_counter() - begin) / int(calls))
    return best


def step(model, batch, seconds):
    make, sample = MODELS[model]
    x, y = torch.randn(int(batch), *sample), torch.randint(0, 10, (int(batch),))

    def measured(options, order):
        net = nn.parallel.DistributedDataParallel(make().train().to(memory_format=order), **options)
        images = x.contiguous(memory_format=order)
        optimiser = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)

        def one():
            optimiser.zero_grad()
            F.cross_entropy(net(images), y).backward()
            optimiser.step()
        return fastest(float(seconds), one)

    orders = {"": torch.contiguous_format} | ({", channels-last": torch.channels_last} if x.dim() == 4 else {})
    modes = {name + last: measured(options, order) for name, options in MODES.items() for last, order in orders.items()}
    mode = min(modes, key=modes.get)
    return {"seconds": modes[mode], "mode": mode}


def wire(seconds, *sizes):
    points = []
    for size in map(int, sizes):
        x = torch.ones(size // 4)
        points.append([size, fastest(float(seconds), lambda: dist.all_reduce(x))])
    return points


def rank_of(rank, ranks, what, words):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    answer = {"step": step, "wire": wire}[what](*words)
    if rank == 0:
        print(json.dumps(answer), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    ranks, what, *words = sys.argv[1:]
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29517"}
    torch.multiprocessing.spawn(rank_of, (int(ranks), what, words), nprocs=int(ranks))
