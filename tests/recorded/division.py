"""Quotients and remainders of zeros, infinities and NaN, with every pair of signs."""

import itertools

import torch

from table import INF, NAN, write


def division():
    edge = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 7.0, -7.0, INF, -INF, NAN]
    a, b = torch.tensor(list(itertools.product(edge, edge)), dtype=torch.float64).unbind(1)
    cases = [{"name": f.__name__, "a": a, "b": b, "output": f(a, b)}
             for f in (torch.fmod, torch.remainder, torch.floor_divide)]
    write("division", "output is the function of a and b, element by element", cases)
