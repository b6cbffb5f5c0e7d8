"""The rows of networks with convolutions, in PyTorch: eager, in row-major and in channels-last order."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.fx.experimental.optimization import fuse

from torch_training import labels, training


class MnistCnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 32, 3), nn.Conv2d(32, 64, 3)
        self.dense, self.out = nn.Linear(64 * 12 * 12, 128), nn.Linear(128, 10)

    def forward(self, x):
        x = F.dropout(F.max_pool2d(F.relu(self.conv2(F.relu(self.conv1(x)))), 2), 0.25)
        return self.out(F.dropout(F.relu(self.dense(x.flatten(1))), 0.5))


class MnistPytorch(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 10, 5), nn.Conv2d(10, 20, 5)
        self.fc1, self.fc2 = nn.Linear(320, 50), nn.Linear(50, 10)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(F.dropout2d(self.conv2(x), 0.5), 2))
        return self.fc2(F.dropout(F.relu(self.fc1(x.flatten(1))), 0.5))


def cifar_vgg():
    layers, channels = [], 3
    for width, count, rate in ((64, 2, 0.3), (128, 2, 0.4), (256, 3, 0.4), (512, 3, 0.4), (512, 3, 0.4)):
        for i in range(count):
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU(), nn.BatchNorm2d(width)]
            layers.append(nn.Dropout(rate) if i + 1 < count else nn.MaxPool2d(2))
            channels = width
    return nn.Sequential(*layers, nn.Flatten(), nn.Dropout(0.5), nn.Linear(512, 512), nn.ReLU(), nn.BatchNorm1d(512),
                         nn.Dropout(0.5), nn.Linear(512, 10))


class Block(nn.Module):
    """ResNet's, of two convolutions of 3 x 3."""

    def __init__(self, channels, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(width), nn.BatchNorm2d(width)
        self.shortcut = nn.Identity()
        if stride != 1 or channels != width:
            self.shortcut = nn.Sequential(nn.Conv2d(channels, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))) + self.shortcut(x))


def resnet20():
    layers, channels = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()], 16
    for width in (16, 32, 64):
        for i in range(3):
            layers.append(Block(channels, width, 2 if i == 0 and width > 16 else 1))
            channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def both_orders(step_of, make, x):
    """{mode: step} of a network in both orders of memory."""
    steps = {}
    for name, order in (("row-major", torch.contiguous_format), ("channels-last", torch.channels_last)):
        steps |= step_of(name, lambda: make().to(memory_format=order), x.contiguous(memory_format=order))
    return steps


def classifier(make, optimiser, options, shape, classes, bf16=False):
    """A training step with random labels."""

    def step_of(name, model, x):
        optimisers = {kind: lambda p, o=o: optimiser(p, **options, **o)
                      for kind, o in (("foreach", {"foreach": True}), ("loop", {"foreach": False}))}
        return training(lambda: {name: model()}, optimisers, F.cross_entropy, x, labels(shape[0], classes), bf16)

    return lambda: both_orders(step_of, make, torch.randn(shape))


def inference(make, shape, dtype=torch.float):
    """Without gradients; also with every normalisation folded into the convolution before it."""

    def step_of(name, model, x):
        def running(net):
            def run():
                with torch.inference_mode():
                    net(x)

            return run

        net = model().eval()
        folded, x = fuse(net).to(dtype), x.to(dtype)
        return {name: running(net.to(dtype)), f"{name}, folded": running(folded)}

    return lambda: both_orders(step_of, make, torch.randn(shape))


def published(name, **options):
    """A model of torchvision's with random weights."""

    def make():
        import torchvision

        return getattr(torchvision.models, name)(weights=None, **options)

    return make


SGD = torch.optim.SGD
MODELS = {
    "alexnet": (224, {}),
    "googlenet": (224, {"aux_logits": False, "init_weights": False}),
    "resnet50": (224, {}),
    "vgg16": (224, {}),
    "inception_v3": (299, {"aux_logits": False, "init_weights": False}),
}

ROWS = {
    "mnist_cnn": classifier(MnistCnn, torch.optim.Adadelta, {"lr": 1}, (128, 1, 28, 28), 10),
    "mnist_pytorch": classifier(MnistPytorch, SGD, {"lr": 0.01, "momentum": 0.5}, (64, 1, 28, 28), 10),
    "cifar_vgg": classifier(cifar_vgg, SGD, {"lr": 0.01, "momentum": 0.9, "weight_decay": 5e-4}, (128, 3, 32, 32), 10),
    "resnet20": classifier(resnet20, SGD, {"lr": 0.1, "momentum": 0.9, "weight_decay": 1e-4}, (128, 3, 32, 32), 10),
} | {
    f"{name}_train": classifier(published(name, **options), SGD, {"lr": 0.01, "momentum": 0.9}, (8, 3, side, side), 1000)
    for name, (side, options) in MODELS.items()
} | {
    f"{name}_train_bf16": classifier(published(name), SGD, {"lr": 0.01, "momentum": 0.9}, (8, 3, 224, 224), 1000, bf16=True)
    for name in ("alexnet", "resnet50", "vgg16")
} | {
    f"{name}_infer_bf16": inference(published(name), (16, 3, 224, 224), torch.bfloat16) for name in ("alexnet", "resnet50", "vgg16")
} | {f"{name}_infer": inference(published(name, **options), (16, 3, side, side)) for name, (side, options) in MODELS.items()}
