"""Cases of indexing.json: random indices of every kind into tensors of 0, 1, 2, ..."""

import random

import torch

from table import write


def entry(kind, size, rng, advanced_shape):
    """One index entry as JSON, and as PyTorch takes it; None where this kind cannot stand for a dimension of such a size."""
    if kind == "position":
        if not size:
            return None
        at = rng.randrange(-size, size)
        return {"position": at}, at
    if kind == "slice":
        bounds = [rng.choice([None, *range(-size - 1, size + 2)]) for _ in range(2)] + [rng.choice([1, 1, 2, 3])]
        return {"slice": bounds}, slice(*bounds)
    if kind == "none":
        return {"none": True}, None
    if kind == "ellipsis":
        return {"ellipsis": True}, ...
    if kind == "bool":
        value = rng.random() < 0.7
        return {"bool": value}, value
    if kind == "positions":
        if not size:
            return None
        shape = advanced_shape if rng.random() < 0.7 else [rng.choice([1, n]) for n in advanced_shape][rng.randrange(2):]
        at = torch.tensor([rng.randrange(-size, size) for _ in range(torch.Size(shape).numel())]).reshape(shape)
        return {"positions": at}, at
    raise ValueError(kind)


def mask(sizes, rng, wanted):
    """A mask with `wanted` true elements, so that it broadcasts with positions of that length."""
    flat = [True] * wanted + [False] * (torch.Size(sizes).numel() - wanted)
    rng.shuffle(flat)
    return torch.tensor(flat, dtype=torch.bool).reshape(sizes)


def draw(rng):
    shape = [rng.choice([1, 2, 3, 3, 4]) for _ in range(rng.randrange(1, 5))]
    if rng.random() < 0.05:
        shape[rng.randrange(len(shape))] = 0
    length = rng.choice([1, 2, 3])
    advanced_shape = rng.choice([[length], [length], [2, length], []])
    entries, torch_index, dim, ellipsis = [], [], 0, False
    while dim < len(shape) and rng.random() < 0.9:
        kind = rng.choice(["position", "slice", "slice", "none", "ellipsis", "positions", "positions", "positions", "mask", "bool"])
        if kind == "ellipsis":
            if ellipsis:
                continue
            ellipsis = True
        if kind == "mask":
            dims = rng.randrange(1, len(shape) - dim + 1)
            sizes = shape[dim:dim + dims]
            if len(advanced_shape) != 1 or ellipsis or torch.Size(sizes).numel() < length:
                continue
            value = mask(sizes, rng, length)
            made = {"mask": value}, value
        else:
            # Behind an Ellipsis the dimension that an entry stands for is not known here: only what fits any.
            made = entry(kind, min(shape) if ellipsis else shape[dim], rng, advanced_shape)
            dims = kind in ("position", "slice", "positions")
        if not made:
            continue
        entries.append(made[0])
        torch_index.append(made[1])
        dim += dims
    return shape, entries, tuple(torch_index)


def indexing():
    rng = random.Random(1)
    cases = []
    while len(cases) < 200:
        shape, entries, index = draw(rng)
        x = torch.arange(torch.Size(shape).numel(), dtype=torch.float64).reshape(shape)
        try:
            y = x[index]
        except (IndexError, RuntimeError):
            continue
        if y.dim() > 7 or y.numel() > 200:
            continue
        put = x.clone()
        put[index] = -1
        times = torch.zeros_like(x).requires_grad_()   # how often each element is named
        times[index].sum().backward()
        added = x + 10 * times.grad
        cases.append({"shape": shape, "index": entries, "result": y, "put": put.flatten().tolist(), "added": added.flatten().tolist()})
    write("indexing", "x counts from 0 in shape; result is x[index], put x after x[index] = -1, added x with 10 added "
          "to an element each time that the index names it", cases)
