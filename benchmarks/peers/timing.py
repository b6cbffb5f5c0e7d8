"""How a Python peer is timed, and how it talks to benchmarks/run: the rule is Google Benchmark's on tern's side."""

import functools
import gc
import json
import re
import subprocess
import sys
import time
from pathlib import Path

REPETITIONS = 8
MIN_SECONDS = 0.02  # of one repetition: short, so that other work on the machine spares some of them


def wall_seconds(step, count):
    start = time.perf_counter()
    for _ in range(count):
        step()
    return time.perf_counter() - start


def nanoseconds(step, seconds_of=wall_seconds, repetitions=REPETITIONS, min_seconds=MIN_SECONDS):
    """Nanoseconds of one step(): the minimum over repetitions of the mean over at least min_seconds."""
    step()
    count, best = 1, float("inf")
    for _ in range(repetitions):
        while True:
            seconds = seconds_of(step, count)
            if seconds >= min_seconds:
                break
            count = max(count + 1, int(count * min(10, 1.2 * min_seconds / max(seconds, 1e-9))))
        best = min(best, seconds / count)
    return best * 1e9


def fastest(name, modes):
    """What a row is answered: the time of its fastest mode."""
    return min(({"ns": nanoseconds(step), "mode": mode} for mode, step in modes.items()), key=lambda a: a["ns"])


def resident(row="VmRSS"):
    """Bytes of the process that are in memory; VmHWM: the most that were."""
    return 1024 * int(re.search(rf"^{row}:\s+(\d+)", Path("/proc/self/status").read_text(), re.MULTILINE)[1])


def print_peak(rows, name, mode):
    """The most bytes that three steps have in memory, less what the process has before it makes the network."""
    start = resident()
    modes = rows[name]()
    step = modes.pop(mode)
    modes.clear()
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # VmHWM begins anew, without the networks of other modes
    for _ in range(3):
        step()
    print(resident("VmHWM") - start)


@functools.cache
def peak(name, mode):
    """What print_peak prints in a process of its own, started with the program's own arguments."""
    command = [sys.executable, "-B", sys.argv[0], *sys.argv[1:], "--peak", name, mode]
    return int(subprocess.run(command, check=True, text=True, capture_output=True).stdout)


def serve(rows, measure=fastest):
    """Answers each row name on stdin with a line, measure(name, modes). rows[name]() gives the modes: {"eager": step, ...}, each doing
    the same work; they are made once for a row that is asked for several times in turn."""
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever the framework prints must not reach the answers
    current, modes = None, {}
    for line in sys.stdin:
        name = line.strip()
        try:
            if name != current:
                modes = {}
                gc.collect()
                current, modes = name, rows[name]()
            answer = measure(name, modes)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)
