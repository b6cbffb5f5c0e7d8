"""The form of the recorded tables: {"pytorch": version, "about": how to read it, "cases": [...]}.

A tensor is {"dtype", "shape", "data"}, data flat in row-major order, with enough digits to read the same double back;
"nan", "inf" and "-inf" are strings, because JSON has no such numbers.
"""

import json
import math
import pathlib

import torch

HERE = pathlib.Path(__file__).parent
INF, NAN = math.inf, math.nan


def plain(value):
    """A number, list or tensor as JSON can hold it."""
    if isinstance(value, torch.Tensor):
        return {"dtype": str(value.dtype).removeprefix("torch."), "shape": list(value.shape),
                "data": plain(value.detach().flatten().tolist())}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def write(name, about, cases):
    """One line a case, so that a change of version shows as a readable diff."""
    lines = ",\n".join("  " + json.dumps(plain(case)) for case in cases)
    text = (f'{{\n"pytorch": "{torch.__version__.split("+")[0]}",\n"about": {json.dumps(about)},\n'
            f'"cases": [\n{lines}\n]\n}}\n')
    (HERE / f"{name}.json").write_text(text)
    print(f"{name}.json: {len(cases)} cases, {len(text)} bytes")
