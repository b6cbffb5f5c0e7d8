#!/usr/bin/env python3
"""Records what PyTorch computes, as the tables beside this file that tern's tests are held against.

    python3 tests/recorded/record.py        # needs torch, torchvision and numpy; rewrites tests/recorded/*.json

table.py has the form of the files, conventions.py the largest of them.
"""

import math

import torch

from conventions import conventions
from division import division
from grid_sample import grid_sample
from indexing import indexing
from kinks import kinks
from layers import activation_modules, image_grids, transformer_layers
from linalg import linalg
from mixed_precision import mixed_precision
from numpy_files import numpy_files
from parametrizations import padding_modes, parametrizations
from singular import singular
from table import INF, NAN, plain, write
from training import averages, derivatives, groups, lbfgs, muon


# --- optimisers -------------------------------------------------------------------------------------------------------

SIZE = 5


def start():
    return [1 - 0.3 * i for i in range(SIZE)]


def gradient(step, x):
    return [math.sin(0.1 * step + i) * x[i] + math.cos(i) for i in range(SIZE)]


def optimisers():
    sets = [
        ("SGD", dict(lr=0.1)),
        ("SGD", dict(lr=0.1, momentum=0.9)),
        ("SGD", dict(lr=0.05, momentum=0.9, nesterov=True)),
        ("SGD", dict(lr=0.1, weight_decay=0.01)),
        ("SGD", dict(lr=0.1, momentum=0.8, dampening=0.3)),
        ("SGD", dict(lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.02)),
        ("SGD", dict(lr=0.05, momentum=0.9, maximize=True)),
        ("Adam", dict()),
        ("Adam", dict(lr=0.02, betas=(0.8, 0.95), eps=1e-6)),
        ("Adam", dict(lr=0.02, weight_decay=0.05)),
        ("Adam", dict(lr=0.02, amsgrad=True)),
        ("AdamW", dict()),
        ("AdamW", dict(lr=0.02, weight_decay=0.1)),
        ("AdamW", dict(lr=0.02, amsgrad=True)),
        ("RMSprop", dict()),
        ("RMSprop", dict(lr=0.02, alpha=0.9, eps=1e-6)),
        ("RMSprop", dict(lr=0.02, momentum=0.9)),
        ("RMSprop", dict(lr=0.02, centered=True)),
        ("RMSprop", dict(lr=0.02, momentum=0.5, centered=True, weight_decay=0.05)),
        ("Adagrad", dict()),
        ("Adagrad", dict(lr=0.1, lr_decay=0.01, weight_decay=0.05, initial_accumulator_value=0.3, eps=1e-6)),
        ("Adadelta", dict()),
        ("Adadelta", dict(lr=0.5, rho=0.8, eps=1e-4, weight_decay=0.05)),
        ("NAdam", dict()),
        ("NAdam", dict(lr=0.02, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.05, momentum_decay=0.01)),
        ("NAdam", dict(lr=0.02, weight_decay=0.05, decoupled_weight_decay=True)),
        ("RAdam", dict()),
        ("RAdam", dict(lr=0.02, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.05)),
        ("RAdam", dict(lr=0.02, weight_decay=0.05, decoupled_weight_decay=True)),
        ("Adamax", dict()),
        ("Adamax", dict(lr=0.02, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.05)),
        ("Rprop", dict()),
        ("Rprop", dict(lr=0.5, etas=(0.7, 1.5), step_sizes=(0.05, 0.6))),
        ("ASGD", dict()),
        ("ASGD", dict(lr=0.1, lambd=0.05, alpha=0.6, t0=20.0, weight_decay=0.05)),
    ]
    cases = []
    for name, options in sets:
        x = torch.tensor(start(), dtype=torch.float64, requires_grad=True)
        optimiser = getattr(torch.optim, name)([x], **options)
        after = {}
        for step in range(1, 101):
            x.grad = torch.tensor(gradient(step, x.tolist()), dtype=torch.float64)
            optimiser.step()
            if step in (1, 2, 10, 50, 100):
                after[str(step)] = x.tolist()
        cases.append({"optimiser": name, "options": options, "after": after})
    write("optimisers",
          "float64; x_i = 1 - 0.3 i, i = 0..4; before step s = 1, 2, ..: g_i = sin(0.1 s + i) x_i + cos(i); options "
          "not named have their defaults; after: the parameters after that many steps", cases)


# --- schedules --------------------------------------------------------------------------------------------------------

def schedules():
    from torch.optim import lr_scheduler
    sets = [
        ("StepLR", dict(step_size=30)),
        ("StepLR", dict(step_size=7, gamma=0.5)),
        ("CosineAnnealingLR", dict(T_max=100)),
        ("CosineAnnealingLR", dict(T_max=30, eta_min=0.01)),
        ("MultiStepLR", dict(milestones=[5, 30, 31])),
        ("MultiStepLR", dict(milestones=[0, 50], gamma=0.5)),
        ("ExponentialLR", dict(gamma=0.97)),
        ("LinearLR", dict()),
        ("LinearLR", dict(start_factor=0.1, end_factor=0.7, total_iters=40)),
        ("CosineAnnealingWarmRestarts", dict(T_0=30)),
        ("CosineAnnealingWarmRestarts", dict(T_0=7, T_mult=2, eta_min=0.01)),
        ("ConstantLR", dict()),
        ("ConstantLR", dict(factor=0.2, total_iters=40)),
        ("PolynomialLR", dict()),
        ("PolynomialLR", dict(total_iters=60, power=2.0)),
        ("CyclicLR", dict(base_lr=0.01, max_lr=0.3, step_size_up=20)),
        ("CyclicLR", dict(base_lr=0.01, max_lr=0.3, step_size_up=7, step_size_down=12, mode="triangular2", base_momentum=0.7)),
        ("CyclicLR", dict(base_lr=0.01, max_lr=0.3, step_size_up=9, mode="exp_range", gamma=0.98, cycle_momentum=False)),
        ("OneCycleLR", dict(max_lr=0.5, total_steps=100)),
        ("OneCycleLR", dict(max_lr=0.5, total_steps=100, anneal_strategy="linear", pct_start=0.4, div_factor=10.0,
                            final_div_factor=100.0)),
        ("OneCycleLR", dict(max_lr=0.5, total_steps=100, three_phase=True)),
        ("OneCycleLR", dict(max_lr=0.5, total_steps=100, cycle_momentum=False)),
        ("OneCycleLR", dict(max_lr=0.5, total_steps=100, base_momentum=0.7, max_momentum=0.9)),
    ]
    CYCLES = ("CyclicLR", "OneCycleLR")
    cases = []
    for name, options in sets:
        for optimiser_name in ("SGD", "Adam") if name in CYCLES else ("SGD",):
            x = torch.zeros(1, dtype=torch.float64, requires_grad=True)
            kwargs = dict(lr=0.2, momentum=0.9) if optimiser_name == "SGD" else dict(lr=0.2)
            optimiser = getattr(torch.optim, optimiser_name)([x], **kwargs)
            schedule = getattr(lr_scheduler, name)(optimiser, **options)
            rates, momenta = [], []
            for _ in range(100):
                group = optimiser.param_groups[0]
                rates.append(group["lr"])
                momenta.append(group["momentum"] if optimiser_name == "SGD" else group["betas"][0])
                optimiser.step()
                schedule.step()
            case = {"schedule": name, "options": options, "optimiser": optimiser_name, "rates": rates}
            cases.append(case | ({"momenta": momenta} if name in CYCLES else {}))
    # A rise, then a decay that counts from epoch 20; a function of the epoch; a loss that falls, stands still and rises.
    def sgd():
        return torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.2, momentum=0.9)

    def rates_of(optimiser, step):
        rates = []
        for k in range(100):
            rates.append(optimiser.param_groups[0]["lr"])
            optimiser.step()
            step(k)
        return rates

    optimiser = sgd()
    parts = [lr_scheduler.LinearLR(optimiser, start_factor=0.1, total_iters=5),
             lr_scheduler.ExponentialLR(optimiser, gamma=0.9)]
    sequence = lr_scheduler.SequentialLR(optimiser, parts, milestones=[20])
    cases.append({"schedule": "SequentialLR", "options": {}, "optimiser": "SGD",
                  "rates": rates_of(optimiser, lambda k: sequence.step())})
    optimiser = sgd()
    chain = lr_scheduler.ChainedScheduler([lr_scheduler.ConstantLR(optimiser, factor=0.1, total_iters=20),
                                           lr_scheduler.ExponentialLR(optimiser, gamma=0.95),
                                           lr_scheduler.StepLR(optimiser, step_size=30, gamma=0.5)])
    cases.append({"schedule": "ChainedScheduler", "options": {}, "optimiser": "SGD",
                  "rates": rates_of(optimiser, lambda k: chain.step())})
    optimiser = sgd()
    function = lr_scheduler.LambdaLR(optimiser, lambda epoch: 0.95 ** epoch)
    cases.append({"schedule": "LambdaLR", "options": {}, "optimiser": "SGD",
                  "rates": rates_of(optimiser, lambda k: function.step())})
    optimiser = sgd()
    product = lr_scheduler.MultiplicativeLR(optimiser, lambda epoch: 1 - 0.5 / (epoch + 1))
    cases.append({"schedule": "MultiplicativeLR", "options": {}, "optimiser": "SGD",
                  "rates": rates_of(optimiser, lambda k: product.step())})
    measures = [max(1 - 0.05 * k, 0.5) + (0.01 * (k - 60) if k > 60 else 0) for k in range(100)]
    for options in (dict(), dict(mode="max"), dict(factor=0.5, patience=3, cooldown=4, min_lr=0.03),
                    dict(threshold=0.2, threshold_mode="abs", patience=5, factor=0.9)):
        optimiser = sgd()
        plateau = lr_scheduler.ReduceLROnPlateau(optimiser, **options)
        cases.append({"schedule": "ReduceLROnPlateau", "options": options, "optimiser": "SGD", "measures": measures,
                      "rates": rates_of(optimiser, lambda k: plateau.step(measures[k]))})
    write("schedules",
          "base rate 0.2, SGD with momentum 0.9 or Adam with its defaults; rates[k] is the rate, momenta[k] the "
          "momentum (Adam: the first beta), that optimiser step k + 1 uses: after k steps of the schedule; SequentialLR: "
          "LinearLR(start_factor=0.1, total_iters=5), from epoch 20 on ExponentialLR(gamma=0.9); "
          "ChainedScheduler: ConstantLR(factor=0.1, total_iters=20), ExponentialLR(gamma=0.95), StepLR(step_size=30, gamma=0.5); "
          "LambdaLR: 0.95^epoch; MultiplicativeLR: 1 - 0.5 / (epoch + 1); "
          "ReduceLROnPlateau: step k gets measures[k]", cases)


# --- clip_grad_norm_ --------------------------------------------------------------------------------------------------

def clipping():
    a, b = [[3.0, -4.0], [0.5, 1.0]], [12.0, -0.25, 2.0]
    cases = []
    for max_norm, norm_type, scale in [(1.0, 2.0, 1), (5.0, 2.0, 1), (100.0, 2.0, 1), (1.0, INF, 1), (1.0, 1.0, 1),
                                       (2.0, 3.0, 1), (1.0, 2.0, 0), (1.0, 2.0, NAN), (1.0, 2.0, INF)]:
        parameters = []
        for values in (a, b):
            parameter = torch.zeros_like(torch.tensor(values, dtype=torch.float64), requires_grad=True)
            parameter.grad = torch.tensor(values, dtype=torch.float64)
            parameters.append(parameter)
        if math.isfinite(scale):
            for parameter in parameters:
                parameter.grad *= scale
        else:
            parameters[0].grad[0, 0] = scale
        before = [p.grad.clone() for p in parameters]
        norm = torch.nn.utils.clip_grad_norm_(parameters, max_norm, norm_type)
        cases.append({"max_norm": max_norm, "norm_type": norm_type, "before": before, "norm": norm.item(),
                      "after": [p.grad for p in parameters]})
    write("clip_grad_norm", "gradients of two parameters before and after clip_grad_norm_, and what it returned", cases)


# --- printing ---------------------------------------------------------------------------------------------------------

def printing():
    f, d = torch.float32, torch.float64
    sets = {
        "0-d float": torch.tensor(3.5), "0-d int": torch.tensor(-7), "0-d bool": torch.tensor(True),
        "0-d whole float": torch.tensor(2.0), "0-d nan": torch.tensor(NAN), "0-d scientific": torch.tensor(1.5e-7),
        "0-d double": torch.tensor(0.1, dtype=d),
        "1-d float": torch.tensor([1.0, 2.5, -3.25]), "1-d whole floats": torch.tensor([1.0, 2.0, 3.0]),
        "1-d int": torch.tensor([1, -20, 300]), "1-d bool": torch.tensor([True, False]),
        "1-d int32": torch.tensor([1, 2], dtype=torch.int32), "1-d uint8": torch.tensor([0, 255], dtype=torch.uint8),
        "1-d double": torch.tensor([1 / 3, -2 / 3], dtype=d), "1-d half": torch.tensor([0.1, 65504], dtype=torch.half),
        "1-d bfloat16": torch.tensor([0.1, 3.0], dtype=torch.bfloat16),
        "empty": torch.empty(0), "empty int": torch.empty(0, dtype=torch.int64), "empty 2-d": torch.empty(0, 3),
        "empty 3-d": torch.empty(2, 0, 3),
        "2-d float": torch.tensor([[1.0, -2.0], [3.5, 4.25]]), "2-d int": torch.tensor([[1, 2], [-30, 4]]),
        "2-d bool": torch.tensor([[True, False], [False, False]]),
        "2-d with one column": torch.tensor([[1.5], [22.25]]),
        "3-d int": torch.arange(12).reshape(2, 2, 3), "3-d float": (torch.arange(8, dtype=f) / 4).reshape(2, 2, 2),
        "4-d int": torch.arange(8).reshape(2, 2, 1, 2),
        "nan and inf": torch.tensor([NAN, INF, -INF, 1.0]), "nan only": torch.tensor([NAN, NAN]),
        "nan and fraction": torch.tensor([NAN, 0.5]), "inf and large": torch.tensor([INF, 123456.5]),
        "ratio above 1000": torch.tensor([0.001, 2.0]), "large": torch.tensor([1e8, 2e8]),
        "above 1e8": torch.tensor([1.5e9, 1.0]), "small": torch.tensor([1e-5, 2e-5]),
        "wide range": torch.tensor([1e-10, 1e10, -1.0]), "whole wide range": torch.tensor([1.0, 100000.0]),
        "whole above 1e8": torch.tensor([3e9, 1.0]), "rounding": torch.tensor([0.99995, 9.99999]),
        "zero": torch.zeros(3), "negative zero": torch.tensor([-0.0, 1.5]), "negative": torch.tensor([-1.0, -22.125]),
        "line wrap int": torch.arange(40), "line wrap float": torch.arange(20, dtype=f) * 1.5,
        "line wrap 2-d": (torch.arange(50, dtype=f) / 8).reshape(2, 25),
        "line wrap bool": torch.arange(16) % 3 == 0,
        "1000 elements": torch.arange(1000), "summarised 1-d": torch.arange(1001),
        "summarised 1-d float": torch.arange(1200, dtype=f) / 2,
        "summarised 2-d": torch.arange(2500).reshape(50, 50),
        "summarised columns only": torch.arange(2000).reshape(2, 1000),
        "summarised rows only": torch.arange(2000).reshape(1000, 2),
        "summarised 3-d": (torch.arange(1440, dtype=f) / 16).reshape(10, 12, 12),
        "summarised 4-d": torch.arange(1296).reshape(1, 8, 9, 18),
    }
    cases = []
    for name, x in sets.items():
        case = {"name": name} | plain(x)
        if x.numel() >= 40 and x.numel() > 0:
            flat = x.flatten().to(d)
            step = (flat[1] - flat[0]).item()
            assert x.dtype != torch.bool and torch.equal(flat, torch.arange(x.numel(), dtype=d) * step)
            case["data"] = {"arange": step}
        cases.append(case | {"text": repr(x)})
    write("printing", 'text is repr(x); data {"arange": s} stands for 0, s, 2 s, ...', cases)


# --- modules ----------------------------------------------------------------------------------------------------------

def modules():
    from torch import nn
    torch.manual_seed(0)

    def law(module, name, value):
        """How a parameter is drawn, checked on the drawn values."""
        if bool((value == value.flatten()[0]).all()):
            return {"law": "constant", "value": value.flatten()[0].item()}
        if isinstance(module, nn.Linear):
            bound = 1 / math.sqrt(module.in_features)
            assert value.abs().max() <= bound
            assert value.numel() < 100 or abs(value.std().item() * math.sqrt(3) / bound - 1) < 0.1
            return {"law": "uniform", "low": -bound, "high": bound}
        if isinstance(module, nn.modules.conv._ConvNd):
            bound = 1 / math.sqrt(nn.init._calculate_fan_in_and_fan_out(module.weight)[0])
            assert value.abs().max() <= bound
            assert value.numel() < 100 or abs(value.std().item() * math.sqrt(3) / bound - 1) < 0.1
            return {"law": "uniform", "low": -bound, "high": bound}
        assert isinstance(module, (nn.Embedding, nn.EmbeddingBag)) and name == "weight"
        assert abs(value.std().item() - 1) < 0.1
        return {"law": "normal", "mean": 0.0, "std": 1.0}

    nets = {
        "Linear(784, 128)": nn.Linear(784, 128), "Linear(30, 4, bias=False)": nn.Linear(30, 4, bias=False),
        "Embedding(50, 20)": nn.Embedding(50, 20), "EmbeddingBag(50, 20)": nn.EmbeddingBag(50, 20),
        "LayerNorm([6])": nn.LayerNorm([6]), "LayerNorm([2, 3])": nn.LayerNorm([2, 3]),
        "LayerNorm([6], elementwise_affine=False)": nn.LayerNorm([6], elementwise_affine=False),
        "Dropout(0.5)": nn.Dropout(0.5),
        "Conv1d(4, 6, 5, groups=2)": nn.Conv1d(4, 6, 5, groups=2),
        "Conv2d(3, 8, (3, 5))": nn.Conv2d(3, 8, (3, 5)),
        "Conv2d(8, 8, 3, groups=8, bias=False)": nn.Conv2d(8, 8, 3, groups=8, bias=False),
        "Conv3d(2, 4, 3)": nn.Conv3d(2, 4, 3),
        "ConvTranspose1d(4, 6, 5, groups=2)": nn.ConvTranspose1d(4, 6, 5, groups=2),
        "ConvTranspose2d(3, 8, (3, 5))": nn.ConvTranspose2d(3, 8, (3, 5)),
        "ConvTranspose3d(2, 4, 3, bias=False)": nn.ConvTranspose3d(2, 4, 3, bias=False),
        "Sequential(Linear(4, 8), ReLU(), Dropout(0.2), Linear(8, 2))":
            nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 2)),
        "Sequential(Embedding(10, 4), Sequential(Linear(4, 4), LayerNorm([4])))":
            nn.Sequential(nn.Embedding(10, 4), nn.Sequential(nn.Linear(4, 4), nn.LayerNorm([4]))),
    }
    cases = []
    for name, net in nets.items():
        entries = []
        for key, value in net.state_dict().items():
            path, _, leaf = key.rpartition(".")
            entries.append({"key": key, "shape": list(value.shape)} | law(net.get_submodule(path), leaf, value))
        cases.append({"module": name, "state_dict": entries})
    padded = nn.Embedding(5, 3, padding_idx=2).weight
    assert bool((padded[2] == 0).all()) and bool((padded[1] != 0).all())
    cases.append({"module": "Embedding(5, 3, padding_idx=2)", "zero_row": 2})
    write("modules", "state_dict in PyTorch's order: key, shape and the law each is drawn from", cases)


def attention():
    from torch import nn
    d = torch.float64

    def filled(module):
        module = module.to(d)
        for k, parameter in enumerate(module.state_dict().values()):
            index = torch.arange(parameter.numel(), dtype=d)
            parameter.copy_((0.4 * torch.sin(1.3 * index + k)).reshape(parameter.shape))
        return module

    def x(*shape, shift=0.0):
        index = torch.arange(math.prod(shape), dtype=d)
        return torch.cos(0.7 * index + shift).reshape(shape).requires_grad_()

    hidden = torch.triu(torch.ones(3, 3, dtype=torch.bool), 1)
    added = x(3, 5, shift=2.0).detach()
    cases = []

    def record(name, module, inputs, call):
        output = call(*inputs)
        incoming = torch.sin(torch.arange(output.numel(), dtype=d)).reshape(output.shape)
        wanted = [*inputs, *module.parameters()]
        gradients = torch.autograd.grad(output, wanted, incoming)
        cases.append({"name": name, "inputs": inputs, "output": output, "gradients": gradients[:len(inputs)],
                      "parameter_gradient_norms": [g.norm().item() for g in gradients[len(inputs):]]})

    qkv = [x(3, 2, 4), x(5, 2, 4, shift=1.0), x(5, 2, 4, shift=3.0)]
    mha = filled(nn.MultiheadAttention(4, 2))
    record("attention", mha, qkv, lambda q, k, v: mha(q, k, v)[0])
    record("attention, added mask", mha, qkv, lambda q, k, v: mha(q, k, v, attn_mask=added)[0])
    record("self-attention, boolean mask", mha, [x(3, 2, 4)], lambda q: mha(q, q, q, attn_mask=hidden)[0])
    record("self-attention, no batch", mha, [x(3, 4)], lambda q: mha(q, q, q)[0])
    both = lambda results: torch.cat([y.flatten() for y in results])
    padding = torch.tensor([[False, False, False, True, True], [False, True, False, False, False]])
    record("attention, weights", mha, qkv, lambda q, k, v: both(mha(q, k, v)))
    record("attention, weights, masks", mha, qkv, lambda q, k, v: both(
        mha(q, k, v, key_padding_mask=padding, attn_mask=added, average_attn_weights=False)))
    record("self-attention, weights, no batch", mha, [x(3, 4)], lambda q: both(mha(q, q, q, attn_mask=hidden)))
    first = filled(nn.MultiheadAttention(4, 1, batch_first=True, bias=False))
    record("self-attention, batch first, no bias", first, [x(2, 3, 4)], lambda q: first(q, q, q)[0])
    for name, options in [("encoder layer", {}), ("encoder layer, norm first", {"norm_first": True}),
                          ("encoder layer, gelu", {"activation": "gelu"}),
                          ("encoder layer, no bias", {"bias": False})]:
        layer = filled(nn.TransformerEncoderLayer(4, 2, dim_feedforward=6, dropout=0.0, batch_first=True, **options))
        record(name, layer, [x(2, 3, 4)], lambda v: layer(v))
    causal = filled(nn.TransformerEncoderLayer(4, 2, dim_feedforward=6, dropout=0.0))
    record("encoder layer, boolean mask", causal, [x(3, 2, 4)], lambda v: causal(v, src_mask=hidden))
    write("attention",
          "float64; element i of the k-th entry of state_dict() is 0.4 sin(1.3 i + k); gradients: of the inputs, for an "
          "incoming gradient of sin(i); parameter_gradient_norms in the order of parameters(); masks: boolean, true above "
          "the diagonal, or added, cos(0.7 i + 2), [3, 5]; weights: the output's elements, then the weights'; embedding 4, heads 2 (batch first: 1), 6 hidden", cases)


def transformer_training():
    """A small transformer learns to sort digits."""
    from torch import nn

    class Sorter(nn.Module):
        def __init__(self):
            super().__init__()
            self.digit, self.place = nn.Embedding(10, 16), nn.Embedding(6, 16)
            self.layer = nn.TransformerEncoderLayer(16, 4, dim_feedforward=32, dropout=0.0, batch_first=True)
            self.out = nn.Linear(16, 10)

        def forward(self, digits):
            return self.out(self.layer(self.digit(digits) + self.place.weight))

    digits = torch.tensor([[(b * b + 3 * t * b + t * t + 7 * t) % 10 for t in range(6)] for b in range(16)])
    target = digits.sort(1).values
    net = Sorter().double()
    with torch.no_grad():
        for k, (name, value) in enumerate(net.state_dict().items()):
            if value.dim() == 2:
                index = torch.arange(value.numel(), dtype=torch.float64)
                value.copy_((0.25 * torch.sin(1.3 * index + k)).reshape(value.shape))
            else:
                value.fill_(1.0 if "norm" in name and name.endswith("weight") else 0.0)
    adam = torch.optim.Adam(net.parameters(), lr=1e-2)
    losses = []
    for _ in range(100):
        loss = nn.functional.cross_entropy(net(digits).flatten(0, 1), target.flatten())
        losses.append(loss.item())
        adam.zero_grad()
        loss.backward()
        adam.step()
    write("transformer_training",
          "float64; digits [16, 6]: (b b + 3 t b + t t + 7 t) mod 10, to be sorted; the network: embeddings of digits [10, 16] "
          "and places [6, 16] added, an encoder layer (16, 4 heads, 32 hidden, no dropout, batch first), a linear layer to 10 "
          "scores; element i of the k-th entry of state_dict(), where that is a matrix, is 0.25 sin(1.3 i + k), biases are 0, "
          "the norms' weights 1; losses: cross entropy before each of 100 steps of Adam(lr=1e-2)", [{"losses": losses}])


if __name__ == "__main__":
    optimisers()
    groups()
    muon()
    lbfgs()
    averages()
    derivatives()
    schedules()
    clipping()
    printing()
    indexing()
    conventions()
    division()
    singular()
    kinks()
    grid_sample()
    modules()
    attention()
    transformer_training()
    transformer_layers()
    activation_modules()
    image_grids()
    parametrizations()
    padding_modes()
    numpy_files()
    linalg()
    mixed_precision()
