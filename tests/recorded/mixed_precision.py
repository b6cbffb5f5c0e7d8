"""Losses of trainings in mixed precision: PyTorch's autocast, in float16 with GradScaler."""

import zlib

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from table import write


def formula(name, shape):
    """Numbers in [-1, 1) that depend on the name and the position alone."""
    x = (np.arange(np.prod(shape, dtype=int), dtype=np.uint32) * np.uint32(2654435761)
         + np.uint32(zlib.crc32(name.encode()) * 40503 % 2**32))
    for _ in range(2):
        x = (x ^ (x >> np.uint32(16))) * np.uint32(0x45D9F3B)
    x ^= x >> np.uint32(16)
    return torch.from_numpy((x >> np.uint32(9)).astype(np.float64) / 2**22 - 1).reshape(shape)


def fill(net):
    for name, value in net.state_dict().items():
        if not value.is_floating_point():
            continue
        u = formula(name, tuple(value.shape))
        if value.ndim >= 2:
            u *= (6 / (value.numel() // value.shape[0])) ** 0.5
        elif name.endswith("running_var"):
            u = 1 + 0.5 * u.abs()
        else:
            u = (1.0 if name.endswith("weight") else 0.0) + 0.1 * u
        value.copy_(u)


def mlp():
    return nn.Sequential(nn.Linear(196, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 10, 5), nn.Conv2d(10, 20, 5)
        self.fc1, self.fc2 = nn.Linear(320, 50), nn.Linear(50, 10)

    def forward(self, x):
        x = functional.relu(functional.max_pool2d(self.conv1(x), 2))
        x = functional.relu(functional.max_pool2d(self.conv2(x), 2))
        return self.fc2(functional.relu(self.fc1(x.flatten(1))))


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = nn.Sequential()
        if stride != 1:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x)))))
        return functional.relu(y + self.downsample(x))


class ResNet20(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16)
        self.layer1 = nn.Sequential(*(Block(16, 16, 1) for _ in range(3)))
        self.layer2 = nn.Sequential(Block(16, 32, 2), Block(32, 32, 1), Block(32, 32, 1))
        self.layer3 = nn.Sequential(Block(32, 64, 2), Block(64, 64, 1), Block(64, 64, 1))
        self.fc = nn.Linear(64, 10)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(functional.relu(self.bn1(self.conv1(x))))))
        return self.fc(functional.adaptive_avg_pool2d(x, 1).flatten(1))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(20, 32)
        self.place = nn.Embedding(12, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(32, 20)

    def forward(self, words):
        return self.out(self.encoder(self.table(words) + self.place(torch.arange(12)))).flatten(0, 1)


NETS = {  # the network, a batch's inputs, the optimiser
    "mlp": (mlp, (16, 196), dict(lr=0.02)),
    "lenet": (LeNet, (8, 1, 28, 28), dict(lr=0.002)),
    "resnet20": (ResNet20, (8, 3, 16, 16), dict(lr=0.0005)),
    "transformer": (Transformer, None, dict(lr=0.01)),
}


def batch(name, shape, step):
    """One of four."""
    which = step % 4
    if name == "transformer":
        words = ((formula(f"words{which}", (8, 12)) + 1) * 10).long()
        return words, (words.flatten() * 3 + 1) % 20
    return formula(f"images{which}", shape).float(), (torch.arange(shape[0]) * 7 + which) % 10


def losses(name, dtype):
    make, shape, options = NETS[name]
    net = make()
    fill(net)
    optimiser = torch.optim.SGD(net.parameters(), **options)
    scaler = torch.amp.GradScaler("cpu", enabled=dtype == torch.float16, growth_interval=30)
    row = {"net": name, "dtype": str(dtype).removeprefix("torch."), "losses": [], "scales": []}
    for step in range(100):
        x, y = batch(name, shape, step)
        with torch.autocast("cpu", dtype=dtype, enabled=dtype != torch.float32):
            scores = net(x)
        loss = functional.cross_entropy(scores.float(), y)
        optimiser.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimiser)
        scaler.update()
        row["losses"].append(round(loss.item(), 5))
        if scaler.is_enabled():
            row["scales"].append(scaler.get_scale())
    return row


def mixed_precision(names=tuple(NETS)):
    cases = [losses(name, dtype) for name in names for dtype in (torch.float32, torch.bfloat16, torch.float16)]
    write("mixed_precision",
          "100 steps of SGD on batches 0, 1, 2, 3, 0, ... with autocast on the CPU, and with GradScaler(growth_interval=30) in "
          "float16; losses: cross entropy of the scores as floats before each step; scales: after each. u(name, shape) is the "
          "formula of tests/models/reference.hpp: a parameter of two or more dimensions is sqrt(6 / elements of a row) u, a "
          "weight of one 1 + 0.1 u, a bias and a running mean 0.1 u, a running variance 1 + 0.5 |u|; images of batch b are "
          "u(imagesb), labels (7 i + b) mod 10; words of batch b are floor(10 (u(wordsb) + 1)), labels (3 word + 1) mod 20",
          cases)


if __name__ == "__main__":
    mixed_precision()
