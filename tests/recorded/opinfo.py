#!/usr/bin/env python3
"""Records the operator cases in tests/recorded/opinfo: PyTorch's own samples of every operator that tests/opinfo runs.

    python3 tests/recorded/opinfo.py        # needs torch, numpy, safetensors and expecttest

cases.jsonl holds one case a line, tensors.safetensors their tensors by name and the version of PyTorch. Results and
gradients are computed in float64 from float32 inputs and rounded to float32.

Keys of a case: `op`, `variant`, `id` (PyTorch's names), `args`, `kwargs` (the call), `outputs` (the names of the results),
`cotangents` (the gradient put in at each output, or null), `grads` (the gradient of each input that wants one; null
where no path leads to it). Instead of `outputs` and what follows, `error` says that the call must be refused. A value is {"tensor": name}, {"float": "inf"}, {"dtype": name}, {"slice": [from, to, step]},
{"ellipsis": true}, {"tuple": [...]}, a list, a number, a boolean, a string or null.
"""

import json
import math
import pathlib
import re

import numpy
import torch
from safetensors.numpy import save_file
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import UnaryUfuncInfo

HERE = pathlib.Path(__file__).parent
TABLES = HERE.parent / "opinfo"
SEED = 20      # of each operator, so that a new one leaves the others' cases as they are
SAMPLES = 2    # of an operator's variant: the largest of at most so many elements in all inputs, or else the smallest
MORE_SAMPLES = {"bincount": 8, "cdist": 8, "diff": 8, "isin": 8, "median": 8, "mode": 4, "nan_to_num": 4, "nanmedian": 4, "nanquantile": 20,
                "quantile": 20, "scatter_reduce": 4, "tensor_split": 8, "trapezoid": 8, "unique": 20, "unique_consecutive": 20}  # of those with many ways to be called
ELEMENTS = 30
RANDOM = {"nn.functional.dropout"}
REFUSED = 600  # the most elements of a call that must be refused
TYPES = {torch.float32, torch.int64, torch.int32, torch.uint8, torch.bool}
DIMENSIONS = 8


def offered():
    """The operators that a line of the tables in tests/opinfo names."""
    text = "".join(page.read_text() for page in sorted(TABLES.glob("*.hpp")))
    by_macro = set(re.findall(r"\b[A-Z]\w+\((\w+)[,)]", text))
    return set(re.findall(r'[{(]"([\w.]+)",', text)) | by_macro | {f"nn.functional.{name}" for name in by_macro}


class Recorder:
    def __init__(self):
        self.tensors, self.lines = {}, []

    def add(self, tensor):
        name = f"t{len(self.tensors)}"
        tensor = tensor.detach()
        self.tensors[name] = numpy.array((tensor.float() if tensor.is_floating_point() else tensor).numpy(), order="C")
        return name

    def written(self, value, names):
        """An argument as JSON; `names` gathers the tensors among them."""
        if isinstance(value, torch.Tensor):
            names[id(value)] = self.add(value)
            return {"tensor": names[id(value)]}
        if isinstance(value, torch.dtype):
            return {"dtype": str(value).removeprefix("torch.")}
        if isinstance(value, slice):
            return {"slice": [value.start, value.stop, value.step]}
        if value is ...:
            return {"ellipsis": True}
        if isinstance(value, (tuple, torch.Size)):
            return {"tuple": [self.written(v, names) for v in value]}
        if isinstance(value, list):
            return [self.written(v, names) for v in value]
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": str(value)}
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise TypeError(f"no form for {value!r}")

    def line(self, op, number, call, names):
        """What is asked for."""
        (args, kwargs), variant = call, op.variant_test_name
        return {"op": op.name, "variant": variant, "id": f"{op.name}{'.' if variant else ''}{variant}/{number}",
                "args": [self.written(a, names) for a in args], "kwargs": {k: self.written(v, names) for k, v in kwargs.items()}}

    def refusal(self, op, number, call):
        """Writes a call that must fail."""
        self.lines.append(json.dumps(self.line(op, number, call, {}) | {"error": True}, separators=(",", ":")))

    def case(self, op, number, call, leaves, rng):
        """Runs `call` (arguments, keywords) in double, and writes it with its results and gradients."""
        args, kwargs = call
        results = op.op(*args, **kwargs)
        if isinstance(results, bool):
            results = torch.tensor(results)
        results = [results] if isinstance(results, torch.Tensor) else list(results)
        if not all(isinstance(r, torch.Tensor) and not r.is_complex() for r in results):
            raise TypeError("results that are no real tensors")
        names = {}
        line = self.line(op, number, call, names) | {"outputs": [self.add(r) for r in results]}
        cotangents = [torch.randn(r.shape, generator=rng, dtype=torch.float64).float().double() if r.requires_grad else None
                      for r in results]
        if any(c is not None for c in cotangents):
            told = [(r, c) for r, c in zip(results, cotangents) if c is not None]
            grads = torch.autograd.grad([r for r, _ in told], leaves, [c for _, c in told], allow_unused=True)
            line["cotangents"] = [None if c is None else self.add(c) for c in cotangents]
            line["grads"] = {names[id(x)]: None if g is None else self.add(g) for x, g in zip(leaves, grads)}
        self.lines.append(json.dumps(line, separators=(",", ":")))


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    return [t for v in value for t in tensors_in(v)] if isinstance(value, (list, tuple, type({}.values()))) else []


def widened(value):
    """The call's floating-point tensors in double, as contiguous leaves of their own."""
    if isinstance(value, torch.Tensor):
        copy = value.detach().clone(memory_format=torch.contiguous_format)
        return copy.double().requires_grad_(value.requires_grad) if value.is_floating_point() else copy
    if isinstance(value, dict):
        return {k: widened(v) for k, v in value.items()}
    return type(value)(widened(v) for v in value) if type(value) in (list, tuple) else value


def corner(op, sample):
    """Of a function of single elements, a few of the sample's hundreds."""
    if isinstance(op, UnaryUfuncInfo) and sample.input.dim() == 2:
        sample.input = sample.input.detach()[:3, :5].requires_grad_(sample.input.requires_grad)
    return sample


def chosen(sizes, count):
    """The places of the samples to record, given how many elements each has."""
    order = sorted((size, i) for i, size in enumerate(sizes) if size)
    few = [i for size, i in order if size <= ELEMENTS][-count:]
    return sorted(few or [i for size, i in order if size <= 20 * ELEMENTS][:1])


def refusals(op):
    """The small calls that PyTorch says must fail, with their places among all of them."""
    for i, error in enumerate(op.error_inputs("cpu") if op.error_inputs_func else []):
        sample = error.sample_input
        call = [sample.input, *sample.args], sample.kwargs
        tensors = tensors_in([*call])
        if "out" in sample.kwargs:  # which the library has nowhere
            continue
        if sum(t.numel() for t in tensors) <= REFUSED and all(t.dtype in TYPES and t.dim() <= DIMENSIONS for t in tensors):
            yield i, call


def main():
    recorder, known = Recorder(), offered() - RANDOM
    for op in op_db:
        dtype = next((t for t in (torch.float32, torch.int64) if t in op.supported_dtypes("cpu")), None)
        if op.name not in known or dtype is None:
            continue
        torch.manual_seed(SEED)
        rng = torch.Generator().manual_seed(SEED)
        gradients = op.supports_autograd and dtype.is_floating_point
        samples = [corner(op, s) for s in op.sample_inputs("cpu", dtype, requires_grad=gradients)]
        sizes = [sum(t.numel() for t in tensors_in([s.input, *s.args, s.kwargs])) for s in samples]
        for i in chosen(sizes, MORE_SAMPLES.get(op.name, SAMPLES)):
            sample = samples[i]
            args, kwargs = widened([sample.input, *sample.args]), widened(sample.kwargs)
            leaves = [t for t in tensors_in([*args, kwargs]) if t.requires_grad]
            try:
                recorder.case(op, i, (args, kwargs), leaves, rng)
            except (TypeError, RuntimeError) as error:
                print(f"left out: {op.name} {op.variant_test_name}: {error}")
        for i, call in refusals(op):
            try:
                recorder.refusal(op, f"error{i}", call)
            except (TypeError, NotImplementedError) as error:
                print(f"left out: {op.name} {op.variant_test_name} error{i}: {error}")
    folder = HERE / "opinfo"
    folder.mkdir(exist_ok=True)
    (folder / "cases.jsonl").write_text("\n".join(recorder.lines) + "\n")
    tensors = folder / "tensors.safetensors"
    save_file(recorder.tensors, tensors, metadata={"pytorch": torch.__version__.split("+")[0], "seed": str(SEED)})
    tensors.chmod(0o644)
    sampled = {json.loads(line)["op"] for line in recorder.lines}
    print(f"{len(recorder.lines)} cases of {len(sampled)} operators, {len(recorder.tensors)} tensors")
    print("no samples:", *sorted(known & {op.name for op in op_db} - sampled))


if __name__ == "__main__":
    main()
