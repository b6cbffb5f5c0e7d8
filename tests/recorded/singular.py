"""What PyTorch answers where a formula has no value: at zeros, for ignored operands, and for queries that see no key."""

import torch
import torch.nn.functional as F

from table import INF, NAN, write


def singular():
    cases = []

    def record(name, function, *inputs):
        """Output and gradients for an incoming gradient of 1, 2, 3, ... ."""
        inputs = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in inputs]
        output = function(*inputs)
        incoming = torch.arange(1, output.numel() + 1, dtype=output.dtype).reshape(output.shape)
        gradients = torch.autograd.grad(output, inputs, incoming, materialize_grads=True)
        cases.append({"name": name, "inputs": inputs, "output": output, "gradients": gradients})

    record("atan2 at the origin", torch.atan2, [0.0, 0.0, -0.0, -0.0, 1e-200, 0.0, 1.0], [0.0, -0.0, 0.0, -0.0, 0.0, 1e-200, 0.0])
    bases = [0.0, 0.0, 0.0, 0.0, 0.0, -0.0, -0.0, -0.0, -0.0, 0.0, 0.0, -0.0, 0.0]
    exponents = [0.0, -0.0, 0.5, 1.0, 2.0, 0.0, 0.5, 1.0, 3.0, -1.0, -0.5, -1.0, INF]
    record("pow of zeros", torch.pow, bases, exponents)
    for exponent in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, -1.0, -0.5):
        record(f"pow of zeros with the number {exponent}", lambda x: torch.pow(x, exponent), [0.0, -0.0])
    for base in (0.0, -0.0):
        record(f"pow of the number {base}", lambda x: torch.pow(base, x), [0.0, -0.0, 0.5, 1.0, 2.0, -1.0, -0.5, INF, -INF, NAN])

    x, a, b = [[1.0, 2.0], [3.0, 4.0]], [[0.5, -1.0], [2.0, 0.25]], [[-2.0, 1.0], [0.5, 3.0]]
    bad = [[NAN, 1.0], [2.0, INF]]
    scaled = lambda beta, alpha: lambda x, a, b: torch.addmm(x, a, b, beta=beta, alpha=alpha)
    record("addmm, alpha 0, left not finite", scaled(1, 0), x, bad, b)
    record("addmm, alpha 0, right not finite", scaled(2, 0), x, a, bad)
    record("addmm, beta 0, addend not finite", scaled(0, 1), bad, a, b)
    record("addmm, alpha 0 and beta 0", scaled(0, 0), bad, bad, b)
    record("addmv, alpha 0", lambda x, a, b: torch.addmv(x, a, b, alpha=0), [1.0, 2.0], a, [NAN, 1.0])
    record("addbmm, alpha 0", lambda x, a, b: torch.addbmm(x, a, b, alpha=0), x, [a], [bad])

    query, key, value = [[0.1, 0.7], [0.3, -0.2], [1.0, 0.5]], [[0.5, 0.2], [-0.4, 0.6]], [[1.0, 2.0], [3.0, -1.0]]
    attend = lambda q, k, v, m: F.scaled_dot_product_attention(q[None, None], k[None, None], v[None, None], m)[0, 0]
    record("attention, a row of -inf", attend, query, key, value, [[0.5, -INF], [-INF, -INF], [0.25, -0.5]])
    record("attention, only -inf", attend, query, key, value, [[-INF, -INF]])

    contracted = lambda *dims: lambda a, b: torch.tensordot(a, b, dims=dims)
    three, one = [[[1.0, 2.0], [0.5, -1.0], [3.0, 0.25]]], [[[2.0], [-1.0]], [[0.5], [4.0]]]
    record("tensordot broadcasts the right", contracted([1], [2]), three, one)
    record("tensordot broadcasts the left", contracted([0], [1]), three, one)
    record("tensordot broadcasts both", contracted([0, 1, 2], [1, 2, 0]), three, one)
    write("singular", "float64; gradients: of all inputs, for an incoming gradient of 1, 2, 3, ... in row-major order", cases)
