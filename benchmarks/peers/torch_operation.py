"""An operation in PyTorch, and those that both devices time."""

import torch


def operation(function, *inputs, compiled=True):
    """An operation without gradients, eager and through torch.compile."""

    def eager():
        with torch.inference_mode():
            return function(*inputs)

    if not compiled:
        return {"eager": eager}
    fast = torch.compile(function, dynamic=False)

    def through_compile():
        with torch.inference_mode():
            return fast(*inputs)

    return {"eager": eager, "compile": through_compile}


def matmul(n):
    return lambda: operation(torch.matmul, torch.randn(n, n), torch.randn(n, n), compiled=False)


def expr5(x, z, w):
    return torch.sigmoid(x * z + w) * torch.tanh(x - w)
