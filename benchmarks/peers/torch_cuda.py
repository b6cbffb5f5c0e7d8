"""How PyTorch is timed on a GPU: eager, as torch.compile has it, and as a CUDA graph."""

import contextlib
import gc
import signal
import sys

import torch

from timing import nanoseconds, wall_seconds

gpu = torch.device("cuda")
REPETITIONS, MIN_SECONDS = 3, 0.1  # so long that a step's launches are ahead of the GPU
COMPILE_SECONDS = 60  # what a mode may take before it is timed


def event_seconds(step, count):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(count):
        step()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3


def at_first_call(make):
    """The step that make() gives, made when it is called for the first time."""
    made = []

    def step():
        if not made:
            made.append(make())
        made[0]()

    return step


def captured(step):
    """The step as a CUDA graph. What it allocates is allocated on a stream of its own before."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


@contextlib.contextmanager
def within(seconds):
    """Ends what is inside by a TimeoutError."""

    def end(*_):
        raise TimeoutError(f"not ready after {seconds} s")

    signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def first_step(step):
    with within(COMPILE_SECONDS):
        step()
    torch.cuda.synchronize()


def measure(name, modes):
    """{"ns", "mode", "memory"} of the fastest mode, the last being its peak in bytes; "modes" has the nanoseconds of each. What is on the GPU is
    timed by its events. A mode that fails is left out, if another one does not. Modes are used up, so that none holds memory while
    the next one is measured."""
    clock = wall_seconds if "cpu" in name else event_seconds
    answers, errors = [], []
    while modes:
        mode, step = next(iter(modes.items()))
        del modes[mode]
        try:
            first_step(step)
            torch.cuda.reset_peak_memory_stats()
            ns = nanoseconds(step, clock, REPETITIONS, MIN_SECONDS)
            answers.append({"ns": ns, "mode": mode, "memory": torch.cuda.max_memory_allocated()})
        except Exception as error:
            print(f"{name}, {mode}: {error}", file=sys.stderr)
            errors.append(error.with_traceback(None))  # whose frames hold the network
        del step
        torch._dynamo.reset()
        gc.collect()
        torch.cuda.empty_cache()
    if not answers:
        raise errors[0]
    return min(answers, key=lambda a: a["ns"]) | {"modes": {a["mode"]: a["ns"] for a in answers}}
