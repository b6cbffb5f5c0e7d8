"""What PyTorch answers where a formula alone does not say: ties, NaN, nothing, zero, infinity, ignored targets."""

import itertools

import torch
import torch.nn.functional as F

from table import INF, NAN, write


def conventions():
    d = torch.float64
    cases = []

    def record(name, function, *inputs, args=None):
        """Output of function and, where an input wants one, its gradient for an incoming gradient of 1, 2, 3, ...;
        args: what the formula held besides the tensors."""
        inputs = [torch.tensor(x, dtype=d, requires_grad=True) if isinstance(x, (list, float)) else x for x in inputs]
        output = function(*inputs)
        case = {"name": name, "inputs": inputs} | ({"args": args} if args else {}) | {"output": output}
        if output.requires_grad:
            incoming = torch.arange(1, output.numel() + 1, dtype=output.dtype).reshape(output.shape)
            wanted = [x for x in inputs if x.requires_grad]
            case["gradients"] = torch.autograd.grad(output, wanted, incoming, materialize_grads=True)
        cases.append(case)

    ints = lambda *v: torch.tensor(v)
    edge = [-INF, -1.0, -0.0, 0.0, 1.0, INF, NAN]
    for name, f in [("relu", torch.relu), ("leaky_relu", F.leaky_relu), ("elu", F.elu), ("selu", F.selu),
                    ("celu", F.celu), ("hardtanh", F.hardtanh), ("hardsigmoid", F.hardsigmoid),
                    ("hardswish", F.hardswish), ("relu6", F.relu6), ("softplus", F.softplus),
                    ("softsign", F.softsign), ("silu", F.silu), ("mish", F.mish), ("gelu", F.gelu),
                    ("sigmoid", torch.sigmoid), ("logsigmoid", F.logsigmoid), ("tanh", torch.tanh),
                    ("abs", torch.abs), ("sign", torch.sign), ("sqrt", torch.sqrt), ("rsqrt", torch.rsqrt),
                    ("log", torch.log), ("log1p", torch.log1p), ("reciprocal", torch.reciprocal),
                    ("square", torch.square), ("exp", torch.exp), ("floor", torch.floor)]:
        record(f"{name} at the edges", f, edge)
    record("relu6 at its corners", F.relu6, [0.0, 6.0])
    record("hardtanh at its corners", F.hardtanh, [-1.0, 1.0])
    record("hardsigmoid at its corners", F.hardsigmoid, [-3.0, 3.0])
    record("hardswish at its corners", F.hardswish, [-3.0, 3.0])
    record("softplus beyond its threshold", F.softplus, [20.0, 20.5, 100.0, -100.0])
    record("round half to even", torch.round, [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5])

    record("clamp at its bounds", lambda x: torch.clamp(x, -1, 1), [-2.0, -1.0, 0.0, 1.0, 2.0, NAN], args=[-1, 1])
    record("clamp with min above max", lambda x: torch.clamp(x, 2, 1), [0.0, 1.5, 3.0], args=[2, 1])
    grid = [[float(v) for v in column] for column in zip(*itertools.product(range(3), repeat=3))]
    record("clamp between tensors: ties, and min above max", torch.clamp, *grid)
    record("clamp_min: ties and nan", torch.clamp_min, [1.0, 2.0, NAN, 0.0, NAN], [1.0, 1.0, 0.0, NAN, NAN])
    record("clamp_max: ties and nan", torch.clamp_max, [1.0, 2.0, NAN, 0.0, NAN], [1.0, 1.0, 0.0, NAN, NAN])
    record("maximum: ties and nan", torch.maximum, [1.0, 2.0, NAN, 0.0, NAN], [1.0, 1.0, 0.0, NAN, NAN])
    record("minimum: ties and nan", torch.minimum, [1.0, 2.0, NAN, 0.0, NAN], [1.0, 1.0, 0.0, NAN, NAN])
    record("where hides nan", lambda x: torch.where(x > 0, x, torch.zeros((), dtype=d)), [NAN, -1.0, 2.0])
    record("where over sqrt", lambda x: torch.where(x > 0, torch.sqrt(x), x), [0.0, 4.0, -1.0])
    record("remainder", torch.remainder, [5.0, -5.0, 5.0, -5.0, 5.5], [3.0, 3.0, -3.0, -3.0, 1.5])
    record("fmod", torch.fmod, [5.0, -5.0, 5.0, -5.0, 5.5], [3.0, 3.0, -3.0, -3.0, 1.5])
    record("integer remainder", torch.remainder, ints(5, -5, 5, -5), ints(3, 3, -3, -3))
    record("integer floor_divide", torch.floor_divide, ints(5, -5, 5, -5), ints(3, 3, -3, -3))
    record("integer division is true division", torch.div, ints(1, -7, 0), ints(2, 2, 5))
    record("pow at 0", torch.pow, [0.0, 0.0, 0.0, 0.0, -2.0, -2.0], [0.0, 1.0, 2.0, 0.5, 2.0, 3.0])
    for exponent in (0, 1, 2, 3, 0.5, -1):
        record(f"pow with the number {exponent}", lambda x: torch.pow(x, exponent), [0.0, 2.0, -2.0], args=[exponent])
    record("atan2 at the axes", torch.atan2, [0.0, 1.0, -1.0, 0.0], [1.0, 0.0, 0.0, -1.0])

    ties = [[3.0, 1.0, 3.0], [2.0, 2.0, 2.0]]
    for name in ("amax", "amin"):
        record(f"{name}: ties", lambda x: getattr(torch, name)(x, 1), ties, args=[1])
        record(f"{name} of all: ties", lambda x: getattr(torch, name)(x), ties)
        record(f"{name}: nan", lambda x: getattr(torch, name)(x, 1), [[1.0, NAN, 3.0], [1.0, 2.0, 3.0]], args=[1])
    record("max over a dimension: ties", lambda x: torch.max(x, 1).values, ties, args=[1])
    record("max of all: ties", torch.max, ties)
    for name in ("argmax", "argmin"):
        record(f"{name}: ties", lambda x: getattr(torch, name)(x, 1), ties, args=[1])
        record(f"{name}: nan", lambda x: getattr(torch, name)(x), [1.0, NAN, 3.0, NAN])
        record(f"{name} of all", lambda x: getattr(torch, name)(x), [[1.0, 7.0], [7.0, 0.0]])
    for name in ("sum", "mean", "prod", "var", "std", "logsumexp", "norm", "any", "all"):
        f = {"logsumexp": lambda x: torch.logsumexp(x, 0)}.get(name, getattr(torch, name))
        record(f"{name} of nothing", f, torch.empty(0, dtype=d))
    for name in ("sum", "mean", "prod", "var", "logsumexp"):
        record(f"{name} over an empty dimension", lambda x: getattr(torch, name)(x, 1), torch.empty(2, 0, dtype=d),
               args=[1])
    record("sum of uint8 is int64", torch.sum, torch.tensor([200, 200], dtype=torch.uint8))
    record("sum of bool is int64", torch.sum, torch.tensor([True, True, False]))
    record("prod of int32 is int64", torch.prod, torch.tensor([70000, 70000], dtype=torch.int32))
    record("any of nan", torch.any, torch.tensor([0.0, NAN], dtype=d))
    record("prod with one zero", torch.prod, [2.0, 0.0, 3.0])
    record("prod with two zeros", torch.prod, [2.0, 0.0, 0.0, 3.0])
    record("prod of rows with zeros", lambda x: torch.prod(x, 1), [[1.0, 2.0, 3.0], [0.0, 2.0, 3.0], [0.0, 2.0, 0.0]],
           args=[1])
    record("var of one value", torch.var, [3.0])
    record("var of equal values", torch.var, [2.0, 2.0, 2.0])
    record("std of equal values", torch.std, [2.0, 2.0, 2.0])
    record("var, correction 0", lambda x: torch.var(x, correction=0), [1.0, 2.0, 4.0])
    for p in (2.0, 1.0, 0.0, INF, 3.0):
        record(f"norm of zeros, p = {p}", lambda x: torch.norm(x, p), [0.0, 0.0, 0.0], args=[p])
        record(f"norm, p = {p}", lambda x: torch.norm(x, p), [3.0, -4.0, 0.0, -4.0], args=[p])

    rows = [[-INF, 0.0, 1.0], [-INF, -INF, -INF], [INF, 0.0, 1.0], [1000.0, 0.0, -1000.0]]
    record("softmax with infinities", lambda x: torch.softmax(x, 1), rows, args=[1])
    record("log_softmax with infinities", lambda x: torch.log_softmax(x, 1), rows, args=[1])
    record("logsumexp with infinities", lambda x: torch.logsumexp(x, 1), rows, args=[1])

    logits = [[1.0, -2.0, 0.5], [0.1, 0.2, 0.3], [3.0, 0.0, -1.0], [-0.5, 2.0, 1.0]]
    target, ignoring = ints(0, 2, 1, 1), ints(0, -100, 1, -100)
    weight = torch.tensor([0.2, 1.0, 2.5], dtype=d)
    probabilities = torch.tensor([[1.0, 0.0, 0.0], [0.2, 0.3, 0.5], [0.0, 0.5, 0.5], [0.1, 0.1, 0.8]], dtype=d)
    for reduction in ("mean", "sum", "none"):
        for name, y, options in [
                ("", target, {}), ("ignoring -100", ignoring, {}), ("label_smoothing", target, {"label_smoothing": 0.1}),
                ("class weights", target, {"weight": weight}),
                ("class weights, label_smoothing, ignoring -100", ignoring, {"weight": weight, "label_smoothing": 0.1}),
                ("probabilities", probabilities, {}),
                ("probabilities, label_smoothing", probabilities, {"label_smoothing": 0.1}),
                ("probabilities, class weights", probabilities, {"weight": weight})]:
            record(f"cross_entropy: {name or 'plain'}, {reduction}",
                   lambda x, y: F.cross_entropy(x, y, reduction=reduction, **options), logits, y, args=options)
    record("cross_entropy: ignore_index 2", lambda x, y: F.cross_entropy(x, y, ignore_index=2), logits, target)
    record("cross_entropy: everything ignored", F.cross_entropy, logits, torch.full((4,), -100))
    record("cross_entropy: one sample", F.cross_entropy, logits[0], torch.tensor(2))
    images = torch.arange(24, dtype=d).reshape(2, 3, 2, 2).sin().requires_grad_()
    record("cross_entropy: [N, C, d1, d2]", F.cross_entropy, images, torch.arange(8).reshape(2, 2, 2) % 3)
    record("cross_entropy: -inf logit", F.cross_entropy, [[0.0, -INF, 1.0]], ints(0))
    record("nll_loss", F.nll_loss, logits, target)
    record("nll_loss: class weights", lambda x, y: F.nll_loss(x, y, weight), logits, target, args={"weight": weight})
    record("nll_loss: ignoring -100, sum", lambda x, y: F.nll_loss(x, y, reduction="sum"), logits, ignoring)
    # Lengths that differ, equal neighbours, labels that do not fit their steps, and a sample of nothing.
    steps, heard, said = torch.arange(7 * 6 * 5, dtype=d).mul(1.7).sin().reshape(7, 6, 5).log_softmax(2), ints(7, 6, 5, 4, 7, 0), ints(3, 2, 3, 3, 3, 0)
    labels = torch.tensor([[1, 2, 3], [2, 2, 1], [4, 4, 4], [1, 1, 1], [1, 3, 2], [2, 0, 4]])
    leaf = lambda x: x.clone().requires_grad_()
    for reduction in ("mean", "sum", "none"):
        record(f"ctc_loss, {reduction}", lambda x, y, a, b: F.ctc_loss(x, y, a, b, reduction=reduction),
               leaf(steps[:, :3]), labels[:3], heard[:3], said[:3])
        record(f"ctc_loss, zero_infinity, {reduction}", lambda x, y, a, b: F.ctc_loss(x, y, a, b, reduction=reduction, zero_infinity=True),
               leaf(steps), labels, heard, said)
    record("ctc_loss: infinity", lambda x, y, a, b: F.ctc_loss(x, y, a, b, reduction="none"), leaf(steps), labels, heard, said)
    record("ctc_loss: labels in a row", F.ctc_loss, leaf(steps[:, :3]), ints(1, 2, 3, 2, 2, 4, 4, 4), heard[:3], said[:3])
    record("ctc_loss: one sample", F.ctc_loss, leaf(steps[:, 1]), ints(2, 2), heard[1], said[1])
    record("ctc_loss: another blank", lambda x, y, a, b: F.ctc_loss(x, y, a, b, blank=4, reduction="sum"),
           leaf(steps[:, :2]), labels[:2], heard[:2], said[:2])

    a, b = [0.0, 1.0, 2.0, -3.0, 0.5], [0.0, 0.0, 0.0, 0.0, 0.0]
    for reduction in ("mean", "sum", "none"):
        for name, f in [("mse_loss", F.mse_loss), ("l1_loss", F.l1_loss), ("huber_loss", F.huber_loss),
                        ("smooth_l1_loss", F.smooth_l1_loss)]:
            record(f"{name}, {reduction}", lambda x, y: f(x, y, reduction=reduction), a, b)
    record("huber_loss, delta 2", lambda x, y: F.huber_loss(x, y, delta=2.0), a, b, args={"delta": 2.0})
    for name, f in [("mse_loss", F.mse_loss), ("l1_loss", F.l1_loss), ("huber_loss", F.huber_loss)]:
        nothing = lambda: torch.empty(0, dtype=d, requires_grad=True)
        record(f"{name} of nothing", f, nothing(), nothing())
    certain = torch.tensor([0.0, 0.0, 1.0, 1.0, 0.5], dtype=d)
    record("binary_cross_entropy at its limits", lambda x: F.binary_cross_entropy(x, certain, reduction="none"),
           [0.0, 1.0, 0.0, 1.0, 0.5], args={"target": certain})
    record("binary_cross_entropy_with_logits at its limits",
           lambda x: F.binary_cross_entropy_with_logits(x, certain, reduction="none"),
           [-1000.0, 1000.0, -1000.0, 1000.0, 0.0], args={"target": certain})
    pos = torch.tensor([1.0, 2.0, 3.0, 0.5, 4.0], dtype=d)
    record("binary_cross_entropy_with_logits, pos_weight and weight",
           lambda x: F.binary_cross_entropy_with_logits(x, certain, weight=pos, pos_weight=pos.flip(0)),
           [0.3, -0.7, 1.5, 0.0, 2.0], args={"target": certain, "weight": pos, "pos_weight": pos.flip(0)})

    table = [[0.5, 1.0], [2.0, -1.0], [3.0, 4.0], [-2.0, 0.25]]
    index = torch.tensor([[0, 2, 1], [1, 1, 3]])
    record("embedding", lambda w, i: F.embedding(i, w), table, index)
    record("embedding, padding_idx 1", lambda w, i: F.embedding(i, w, padding_idx=1), table, index, args=[1])
    record("embedding, padding_idx -1", lambda w, i: F.embedding(i, w, padding_idx=-1), table, index, args=[-1])
    bags, offsets = ints(0, 2, 1, 1, 3, 2), ints(0, 2, 2, 5)
    for mode in ("sum", "mean", "max"):
        record(f"embedding_bag, {mode}", lambda w, i: F.embedding_bag(i, w, mode=mode), table, index)
        record(f"embedding_bag with offsets, {mode}",
               lambda w, i, o: F.embedding_bag(i, w, o, mode=mode), table, bags, offsets)
        record(f"embedding_bag with offsets and padding_idx 1, {mode}",
               lambda w, i, o: F.embedding_bag(i, w, o, mode=mode, padding_idx=1), table, bags, offsets)
    sample = torch.tensor([[0.5, 2.0, -1.0], [1.0, 1.0, 3.0]], dtype=d)
    record("embedding_bag with per_sample_weights",
           lambda w, s, i: F.embedding_bag(i, w, mode="sum", per_sample_weights=s), table, sample.tolist(), index)

    record("layer_norm", lambda x, w, b: F.layer_norm(x, [3], w, b), [[1.0, 2.0, 4.0], [0.0, 0.0, 0.0]],
           [1.0, 0.5, 2.0], [0.0, 1.0, -1.0])
    record("sum-to-shape of a broadcast", torch.mul, [[1.0], [2.0]], [[3.0, 4.0, 5.0]])
    record("index_select: a row twice", lambda x, i: torch.index_select(x, 0, i), table, ints(1, 1, 3))
    record("gather", lambda x, i: torch.gather(x, 1, i), table, torch.tensor([[0, 0], [1, 0], [1, 1], [0, 1]]))
    record("masked_fill", lambda x, m: x.masked_fill(m, -INF), [1.0, 2.0, 3.0], torch.tensor([True, False, True]))
    record("matmul over no inner dimension", torch.matmul, torch.empty(2, 0, dtype=d, requires_grad=True),
           torch.empty(0, 3, dtype=d, requires_grad=True))
    write("conventions",
          "float64 unless said; gradients: of the inputs that want one (the float inputs that come as plain lists), for "
          "an incoming gradient of 1, 2, 3, ... in row-major order; args: numbers or tensors that the call holds besides",
          cases)
