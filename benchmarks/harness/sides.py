"""The sides of a comparison. Each is asked for a row and answers {row: nanoseconds or MB}, as often as it is asked."""

import functools
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import peers

ROOT = Path(__file__).parent.parent.parent
BUILD = ROOT / "build"
REPETITIONS, MIN_SECONDS = 8, 0.02  # the rule that peers/timing.py has as well
GPU_REPETITIONS = 3  # no other program is there to disturb them


def environ(threads):
    return os.environ | {"OMP_NUM_THREADS": str(threads)}


def build(*targets, folder=BUILD, options=()):
    """Builds targets in Release, as many compilers at once as there are cores, and says how far that is on stderr."""
    if subprocess.run([ROOT / "cmake/build", folder, *targets, "--", *options], stdout=sys.stderr).returncode:
        raise SystemExit(f"benchmarks/run: {' '.join(targets)} does not build")


built = None  # a folder with executables that are run as they are; None: they are built


@functools.cache
def suite(name):
    """The executable of a Google Benchmark suite, built."""
    if built:
        return built / f"bench_{name}"
    build(f"bench_{name}")
    return BUILD / "benchmarks" / f"bench_{name}"


def google_benchmark(executable, row, threads, repetitions=REPETITIONS):
    """The repetitions of the benchmarks that are called row."""
    command = [executable, f"--benchmark_filter=^{row}(/iterations:[0-9]+)?(/real_time)?$", "--benchmark_format=json",
               f"--benchmark_repetitions={repetitions}", f"--benchmark_min_time={MIN_SECONDS}"]
    result = subprocess.run(command, text=True, capture_output=True, env=environ(threads))
    if result.returncode or not result.stdout.lstrip().startswith("{"):
        raise RuntimeError(f"{executable.name}: no row {row}\n{result.stderr}")
    runs = [b for b in json.loads(result.stdout)["benchmarks"] if b["run_type"] == "iteration"]
    if any(b.get("error_occurred") for b in runs):
        raise RuntimeError(f"{row}: {runs[0]['error_message']}")
    return runs


class Tern:
    """tern's Google Benchmark suites; a repetition is the mean over at least MIN_SECONDS, the minimum counts. Rows of networks have the peak
    of the process's memory less what it has at its start, in bytes, rows of a GPU the peak of the GPU's."""

    def __init__(self, threads, name_of=lambda name: name):
        self.threads, self.name_of = threads, name_of
        self.modes = {}

    def measure(self, row):
        unit = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
        runs = google_benchmark(suite(row.program), self.name_of(row.name), self.threads, GPU_REPETITIONS if row.gpu else REPETITIONS)
        time = {row.name: min(b["real_time"] * unit[b["time_unit"]] for b in runs)}
        return time | ({f"{row.name}_memory": min(b["memory"] for b in runs)} if "memory" in runs[0] else {})


def cublaslt(threads):
    """cuBLASLt's own products, in the suite of tern's."""
    return Tern(threads, lambda name: name.replace("matmul", "cublaslt"))


class Server:
    """A peer's process that reads row names and answers each with its time (peers/timing.py). prepare(row) comes first."""

    def __init__(self, command, threads, prepare=lambda row: None):
        self.start = lambda: subprocess.Popen([*command, str(threads)], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                              stderr=subprocess.DEVNULL, env=environ(threads))
        self.process = self.start()
        self.modes, self.prepare = {}, prepare

    def measure(self, row):
        self.prepare(row)
        if self.process.poll() is not None:  # one row's fault is not the next one's
            self.process = self.start()
        print(row.name, file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline() or '{"error": "the peer ended"}')
        if "error" in answer:
            raise RuntimeError(f"{row.name}: {answer['error']}")
        times = self.modes.setdefault(row.name, {})
        for mode, ns in answer.get("modes", {answer["mode"]: answer["ns"]}).items():
            times[mode] = min(ns, times.get(mode, ns))
        return {row.name: answer["ns"]} | ({f"{row.name}_memory": answer["memory"]} if "memory" in answer else {})


def cost(command, threads=1, clock="wall"):
    """Nanoseconds, of wall or processor time, and MB of peak memory of a command that must succeed."""
    start = time.monotonic()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, env=environ(threads))
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"failed: {' '.join(map(str, command))}")
    seconds = time.monotonic() - start if clock == "wall" else usage.ru_utime + usage.ru_stime
    return seconds * 1e9, usage.ru_maxrss / 1024


class Programs:
    """The rows of whole programs: compiling the trainer (one thread's work: processor time, which other work on the machine
    disturbs least) and starting a program; each gives a time and a memory."""

    STARTS = 20  # so cheap that one more repetition costs nothing

    def __init__(self, threads, compilers, hello):
        self.threads, self.compilers, self.hello = threads, compilers, hello

    def measure(self, row):
        name = row.name.removesuffix("_memory")
        if name == "start_hello":
            costs = [cost([self.hello()], self.threads) for _ in range(self.STARTS)]
        else:
            costs = [cost([*self.compilers[name](), "-c", "-o", os.devnull], clock="processor")]
        return {name: min(c[0] for c in costs), f"{name}_memory": min(c[1] for c in costs)}


def compile_tern(source, *flags):
    return [os.environ.get("CXX", "g++"), "-std=c++20", "-O2", *flags, "-I", ROOT / "include", "-I", ROOT / "examples",
            "-isystem", "/usr/include/eigen3", ROOT / source]


@functools.cache
def tern_hello():
    program = BUILD / "hello"
    BUILD.mkdir(exist_ok=True)
    subprocess.run([*compile_tern("benchmarks/programs/hello.cpp", "-fopenmp"), "-o", program, "-ldnnl", "-lz"],
                   check=True)
    return program


def tern_programs(threads):
    return Programs(threads, {"compile_mnist": lambda: compile_tern("benchmarks/programs/mnist.cpp", "-fopenmp"),
                              "compile_yardstick": lambda: compile_tern("benchmarks/programs/yardstick.cpp")}, tern_hello)


def torch_programs(threads):
    return Programs(threads, {"compile_mnist": lambda: peers.compile_libtorch("torch_mnist.cpp")},
                    functools.cache(lambda: peers.build_libtorch("torch_hello")))
