"""Gradients where a function has none: at kinks, jumps, ties and zeros."""

import torch
import torch.nn.functional as F

from table import INF, NAN, write


def kinks():
    cases = []

    def record(name, function, *inputs):
        """Output and gradients for an incoming gradient of 1, 2, 3, ... ."""
        inputs = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in inputs]
        output = function(*inputs)
        incoming = torch.arange(1, output.numel() + 1, dtype=output.dtype).reshape(output.shape)
        gradients = torch.autograd.grad(output, inputs, incoming, materialize_grads=True)
        cases.append({"name": name, "inputs": inputs, "output": output, "gradients": gradients})

    record("threshold", lambda x: F.threshold(x, 1, 5), [0.0, 1.0, 2.0, NAN])
    record("hardtanh", lambda x: F.hardtanh(x, -2, 1), [-3.0, -2.0, 0.0, 1.0, 2.0])
    record("leaky_relu, slope 2", lambda x: F.leaky_relu(x, 2), [-1.0, 0.0, 1.0])
    record("elu, alpha 2", lambda x: F.elu(x, 2), [-1.0, 0.0, 1.0])
    record("celu, alpha 2", lambda x: F.celu(x, 2), [-1.0, 0.0, 1.0])
    record("prelu", F.prelu, [-1.0, -0.0, 0.0, 1.0], [0.25])
    for width in (0.5, 0.0):
        record(f"hardshrink, {width}", lambda x: F.hardshrink(x, width), [-1.0, -0.5, 0.0, 0.5, 1.0, NAN])
        record(f"softshrink, {width}", lambda x: F.softshrink(x, width), [-1.0, -0.5, 0.0, 0.5, 1.0, NAN])
    record("softplus", lambda x: F.softplus(x, 2, 3), [1.0, 1.5, 2.0])
    record("logit, eps", lambda x: torch.logit(x, 0.25), [0.0, 0.25, 0.5, 0.75, 1.0])
    for name in ("floor", "ceil", "round", "trunc", "frac"):
        record(name, getattr(torch, name), [-1.0, -0.5, 0.0, 0.5, 1.0])
    for name, x in [("asin", [-1.0, 1.0]), ("acos", [-1.0, 1.0]), ("acosh", [1.0]), ("atanh", [-1.0, 1.0]),
                    ("erfinv", [-1.0, 1.0])]:
        record(name, getattr(torch, name), x)

    record("clamp, one bound", lambda x: torch.clamp(x, min=1), [0.0, 1.0, 2.0, NAN])
    record("clamp_min", lambda x: torch.clamp_min(x, 1), [0.0, 1.0, 2.0, NAN])
    record("clamp_max", lambda x: torch.clamp_max(x, 1), [0.0, 1.0, 2.0, NAN])
    record("clamp, equal bounds", lambda x: torch.clamp(x, 1, 1), [0.0, 1.0, 2.0])
    same = [-INF, 0.0, INF, 1.0]
    for name in ("maximum", "minimum", "clamp_min", "clamp_max", "logaddexp"):
        record(f"{name} of equals", getattr(torch, name), same, same)
    record("xlogy", torch.xlogy, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, NAN], [0.0, 1.0, -1.0, NAN, INF, 0.0, INF, 0.0])
    record("hypot", torch.hypot, [0.0, -0.0, 0.0, INF, 3.0], [0.0, 0.0, 2.0, 1.0, -4.0])

    ties = [[3.0, 1.0, 3.0], [2.0, 2.0, 2.0], [INF, INF, 0.0], [-INF, -INF, -INF]]
    for name in ("amax", "amin"):
        record(name, lambda x: getattr(torch, name)(x, 1), ties)
        record(f"{name}, two dimensions", lambda x: getattr(torch, name)(x, (0, 1)), ties)
    for name in ("max", "min", "median"):
        record(name, getattr(torch, name), [2.0, 3.0, 1.0, 3.0, 1.0, 2.0, 2.0])
        record(f"{name}, a dimension", lambda x: getattr(torch, name)(x, 1).values, [[3.0, 1.0, 3.0], [2.0, 1.0, 1.0]])
    record("aminmax", lambda x: torch.add(*torch.aminmax(x, dim=1)), ties[:2])
    record("aminmax of all", lambda x: torch.add(*torch.aminmax(x)), ties[:2])
    record("kthvalue", lambda x: torch.kthvalue(x, 2, 1).values, [[3.0, 1.0, 2.0], [2.0, 1.0, 3.0]])
    record("sort", lambda x: torch.sort(x, dim=1, stable=True).values, ties)
    record("sort, descending", lambda x: torch.sort(x, dim=1, descending=True, stable=True).values, ties)
    for p in (1.0, 2.0, 3.0, 1.5, 0.5, INF, -INF):
        record(f"norm of rows, p = {p}", lambda x: torch.norm(x, p, 1), [[0.0, 0.0], [3.0, 0.0], [-2.0, 2.0]])
    for order in ("fro", 1, INF, -1, -INF):
        record(f"matrix_norm, {order}", lambda x: torch.linalg.matrix_norm(x, order), [[0.0, 2.0], [-2.0, 0.0]])
    record("matrix_norm of zeros", torch.linalg.matrix_norm, [[0.0, 0.0], [0.0, 0.0]])
    for p in (1.0, 2.0, INF):
        record(f"pairwise_distance, p = {p}", lambda x, y: F.pairwise_distance(x, y, p, eps=0), [[1.0, 2.0], [0.0, 3.0]],
               [[1.0, 2.0], [0.0, 1.0]])
    record("cosine_similarity", F.cosine_similarity, [[0.0, 0.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]])
    record("normalize", F.normalize, [[0.0, 0.0], [3.0, 4.0]])
    rows = [[2.0, 0.0, 3.0, 4.0], [0.0, 2.0, 0.0, 3.0], [1.0, 2.0, 3.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    record("prod", lambda x: torch.prod(x, 1), rows)
    record("cumprod", lambda x: torch.cumprod(x, 1), rows)
    record("var", lambda x: torch.var(x, 1), [[2.0, 2.0], [1.0, 2.0]])
    record("std", lambda x: torch.std(x, 1), [[2.0, 2.0], [1.0, 2.0]])

    two, none = [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0], [0.0] * 7
    record("l1_loss", lambda x, y: F.l1_loss(x, y, reduction="none"), two, none)
    record("huber_loss", lambda x, y: F.huber_loss(x, y, reduction="none", delta=0.5), two, none)
    record("smooth_l1_loss", lambda x, y: F.smooth_l1_loss(x, y, reduction="none", beta=0.5), two, none)
    record("smooth_l1_loss, beta 0", lambda x, y: F.smooth_l1_loss(x, y, reduction="none", beta=0.0), two, none)
    record("soft_margin_loss", lambda x: F.soft_margin_loss(x, torch.ones_like(x), reduction="none"), [-1.0, 0.0, 1.0])
    sign = torch.tensor([1, 1, 1, -1, -1, -1], dtype=torch.float64)
    record("margin_ranking_loss", lambda x, y: F.margin_ranking_loss(x, y, sign, 0.5, reduction="none"),
           [0.0, 0.5, 1.0, 0.0, -0.5, -1.0], [0.0] * 6)
    record("hinge_embedding_loss", lambda x: F.hinge_embedding_loss(x, sign, 0.5, reduction="none"), [0.0, 0.5, 1.0, 0.0, 0.5, 1.0])
    record("triplet_margin_loss",
           lambda a, p, n: F.triplet_margin_loss(a, p, n, 0.5, eps=0, reduction="none"),
           [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [[0.5, 0.0], [1.5, 0.0], [0.0, 2.0]])
    record("triplet_margin_loss, swap",
           lambda a, p, n: F.triplet_margin_loss(a, p, n, 4, eps=0, swap=True, reduction="none"), [[0.0, 1.0]], [[0.0, -1.0]], [[2.0, 0.0]])
    record("kl_div", lambda x: F.kl_div(x, torch.tensor([0.0, 0.5], dtype=torch.float64), reduction="none"), [-1.0, -2.0])
    record("poisson_nll_loss", lambda x, y: F.poisson_nll_loss(x, y, full=True, reduction="none"), [1.0, 1.0], [1.0, 2.0])
    record("binary_cross_entropy_with_logits", lambda x, y: F.binary_cross_entropy_with_logits(x, y, reduction="none"), [0.0, 0.0], [0.0, 1.0])

    image = [[[1.0, 3.0, 3.0, 2.0, 2.0, 2.0, NAN, 0.0, NAN, -INF, -INF, -INF]]]
    record("max_pool1d", lambda x: F.max_pool1d(x, 3), image)
    record("adaptive_max_pool1d", lambda x: F.adaptive_max_pool1d(x, 4), image)
    record("lp_pool1d", lambda x: F.lp_pool1d(x, 2, 2), [[[0.0, 0.0, 3.0, 4.0, -1.0, 0.0]]])
    write("kinks", "float64; gradients: of all inputs, for an incoming gradient of 1, 2, 3, ... in row-major order", cases)
