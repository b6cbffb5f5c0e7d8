"""The rows that train dense networks, in PyTorch, and what a training step is."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def training(make_model, make_optimisers, loss, x, y, bf16=False):
    """A training step: zero_grad, forward, loss, backward, optimiser step; bf16: in bfloat16 as autocast has it, with weights in float32."""

    def step_of(model, optimiser):
        def step():
            optimiser.zero_grad()
            with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
                y_hat = model(x)
            loss(y_hat.float(), y).backward()
            optimiser.step()
        return step

    modes = {}
    for model_name, model in make_model().items():
        for optimiser_name, make in make_optimisers.items():
            fresh = make_model()[model_name].train()
            modes[f"{model_name}, {optimiser_name}"] = step_of(fresh, make(fresh.parameters()))
    return modes


def labels(n, classes=10):
    return torch.randint(0, classes, (n,))


def mlp_small():
    def model():
        return {"eager": nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))}

    def sgd(**options):
        return lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, **options)

    return training(model, {"foreach": sgd(foreach=True), "loop": sgd(foreach=False), "fused": sgd(fused=True)},
                    F.cross_entropy, torch.randn(64, 784), labels(64))


def mnist_mlp():
    def model():
        return {"eager": nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Dropout(0.2), nn.Linear(512, 512), nn.ReLU(),
                                       nn.Dropout(0.2), nn.Linear(512, 10))}

    def rmsprop(**options):
        return lambda p: torch.optim.RMSprop(p, lr=1e-3, **options)

    return training(model, {"foreach": rmsprop(foreach=True), "loop": rmsprop(foreach=False)},
                    F.cross_entropy, torch.randn(128, 784), labels(128))


ROWS = {"mlp_small": mlp_small, "mnist_mlp": mnist_mlp}
