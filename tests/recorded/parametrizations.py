"""Layers with a parametrized weight, and convolutions whose border is not zeros."""

import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm, weight_norm

from layers import filled, x
from table import write

D = torch.float64


def parametrizations():
    cases = []
    layers = {
        "Linear(4, 3)": (lambda: nn.Linear(4, 3), x(2, 4)),
        "Conv2d(2, 3, (2, 3))": (lambda: nn.Conv2d(2, 3, (2, 3)), x(1, 2, 3, 4)),
        "ConvTranspose1d(2, 3, 2)": (lambda: nn.ConvTranspose1d(2, 3, 2), x(2, 2, 3)),
        "LayerNorm(4)": (lambda: nn.LayerNorm(4), x(2, 4)),
    }
    kinds = {"weight_norm": weight_norm, "weight_norm, dim 1": lambda m: weight_norm(m, dim=1),
             "weight_norm, whole": lambda m: weight_norm(m, dim=-1), "spectral_norm": spectral_norm,
             "spectral_norm, 3 iterations, dim 1": lambda m: spectral_norm(m, n_power_iterations=3, dim=1)}
    for kind, normalise in kinds.items():
        for layer, (make, given) in layers.items():
            if "dim 1" in kind and layer == "LayerNorm(4)":
                continue
            module = filled(normalise(make()))
            records = []
            for training in (True, True, False):
                module.train(training)
                output = module(given)
                incoming = torch.sin(torch.arange(output.numel(), dtype=D)).reshape(output.shape)
                names, parameters = zip(*module.named_parameters())
                gradients = torch.autograd.grad(output, [given, *parameters], incoming)
                records.append({"training": training, "output": output, "gradient": gradients[0],
                                "parameter_gradients": [{"name": n, "value": g} for n, g in zip(names, gradients[1:])],
                                "buffers": [{"name": n, "value": v.clone()} for n, v in module.named_buffers()]})
            shapes = [{"key": n, "shape": list(v.shape)} for n, v in module.state_dict().items()]
            cases.append({"name": f"{kind}: {layer}", "input": given, "state_dict": shapes, "calls": records})
    write("parametrizations",
          "float64; element i of the k-th entry of state_dict() is 0.4 sin(1.3 i + k); element i of the input is cos(0.7 i); three "
          "calls, two in training and one in evaluation, with the gradients for an incoming gradient of sin(i) and the buffers "
          "after each", cases)


def padding_modes():
    cases = []
    for mode in ("zeros", "reflect", "replicate", "circular"):
        for name, module, given in [
            ("Conv1d, padding 2", nn.Conv1d(2, 3, 3, padding=2, padding_mode=mode), x(2, 2, 5)),
            ("Conv2d, padding (1, 2), stride 2", nn.Conv2d(2, 2, 3, padding=(1, 2), stride=2, padding_mode=mode), x(1, 2, 4, 5)),
            ("Conv2d, same", nn.Conv2d(2, 2, (2, 3), padding="same", dilation=(1, 2), padding_mode=mode), x(1, 2, 4, 6)),
            ("Conv2d, valid", nn.Conv2d(2, 2, 2, padding="valid", padding_mode=mode), x(1, 2, 3, 3)),
            ("Conv2d, no batch", nn.Conv2d(2, 2, 3, padding=1, groups=2, padding_mode=mode), x(2, 3, 4)),
            ("Conv3d, padding 1", nn.Conv3d(1, 2, 2, padding=1, padding_mode=mode), x(1, 1, 2, 3, 2)),
        ]:
            filled(module)
            output = module(given)
            incoming = torch.sin(torch.arange(output.numel(), dtype=D)).reshape(output.shape)
            gradients = torch.autograd.grad(output, [given, module.weight, module.bias], incoming)
            cases.append({"name": f"{name}, {mode}", "input": given, "output": output, "gradients": gradients})
    write("padding_modes",
          "float64; element i of weight is 0.4 sin(1.3 i), of bias 0.4 sin(1.3 i + 1), of the input cos(0.7 i); gradients of input, "
          "weight and bias for an incoming gradient of sin(i)", cases)


if __name__ == "__main__":
    parametrizations()
    padding_modes()
