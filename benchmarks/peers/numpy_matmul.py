"""numpy's product of two square matrices of floats of each size given: {size: seconds} as JSON, by the rule of examples/matmul_three_ways.cpp."""

import json
import sys
import time

import numpy


def seconds_each(n):
    a, b = (numpy.random.default_rng(i).standard_normal((n, n), numpy.float32) for i in range(2))

    def measure(times):
        start = time.perf_counter()
        for _ in range(times):
            a @ b
        return (time.perf_counter() - start) / times

    measure(1)
    end = time.perf_counter() + 0.3
    least = measure(1)
    while time.perf_counter() < end:
        least = min(least, measure(1 + int(0.002 / least)))
    return least


print(json.dumps({n: seconds_each(int(n)) for n in sys.argv[1:]}))
