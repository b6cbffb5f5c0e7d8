"""What input costs: `benchmarks/run input`. Pictures in a folder and in shards of each format, read and trained on, with 0 to 4 workers."""

import argparse
import functools
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import peers
import pictures
import report
import sides
import input_report

FORMATS = ("tfrecord", "recordio", "lmdb", "tar")
INPUTS = ("folder", *FORMATS)
CACHES = ("warm", "dropped")
WORKERS = range(5)
WORKS = ("read", "train")
ROUNDS = 3  # all measurements in turn, so that other work on the machine hardly meets the same one twice; the fastest one counts
SHORTEST = 0.3  # seconds of a measurement

LARGE_BYTES, NEEDED_BYTES = 4_000_000_000, 6_000_000_000

USAGE = """benchmarks/run input [--budget MINUTES] [--pictures N] [--json FILE] [--table FILE] [--svg FILE]

Measures batches of 32 crops of 224 x 224, decoded from a folder of pictures and from shards of each format, alone and with a network
trained on them; and how much memory that takes, of a data set of 4 GB too. --budget (15) is for all measurements; --pictures (2000): each reads
at most so many. --table writes Markdown."""


def arguments():
    parser = argparse.ArgumentParser(prog="benchmarks/run input", usage=USAGE)
    parser.add_argument("--budget", type=float, default=15)
    parser.add_argument("--pictures", type=int, default=pictures.COUNT)
    for name in ("--json", "--table", "--svg"):
        parser.add_argument(name, metavar="FILE")
    options = parser.parse_args()
    if not 5 <= options.budget <= 1440:
        parser.error(f"--budget wants 5 to 1440 minutes, not {options.budget:g}")
    if not 32 <= options.pictures <= pictures.COUNT:
        parser.error(f"--pictures wants 32 to {pictures.COUNT}, not {options.pictures}")
    return options


@functools.cache
def program():
    sides.build("input_study")
    return sides.BUILD / "benchmarks" / "input_study"


def run(*words):
    """What the program says of a measurement: images, seconds, waited, peak_bytes."""
    result = subprocess.run([program(), *map(str, words)], text=True, capture_output=True)
    if result.returncode:
        raise SystemExit(f"benchmarks/run input: {result.stderr.strip()}")
    return json.loads(result.stdout) if result.stdout else None


def measure_all(sets, end, most):
    """{(work, input, cache, workers): the fastest answer}, and the network's alone. Each measurement gets the same part of what is left."""
    kinds = [("network",), *itertools.product(WORKS, INPUTS, CACHES, WORKERS)]
    best, count, beside = {}, ROUNDS * len(kinds), 0  # beside: seconds for starting, opening and ending
    for number in range(count):
        kind = kinds[number % len(kinds)]
        start = time.monotonic()
        seconds = f"{max(SHORTEST, (end - start) / (count - number) - beside / max(1, number)):.2f}"
        answer = run("network", seconds) if kind == ("network",) else run(kind[0], sets[kind[1]], *kind[2:], seconds, most)
        beside += time.monotonic() - start - answer["seconds"]
        best[kind] = max(best.get(kind, answer), answer, key=input_report.rate)
        print(f"\r{number + 1} of {count} measurements", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return best, best.pop(("network",))


def measure_large(folder, cache):
    """The memory of a training on 4 GB of pictures, all of which are read before."""
    shards = Path(cache) / "large"
    run("repeat", folder, shards, LARGE_BYTES)
    answer = run("all", shards, "dropped", 2, 10, pictures.COUNT)
    shutil.rmtree(shards)
    return answer


def main():
    options = arguments()
    try:
        folder = pictures.folder()
    except peers.Missing as error:
        raise SystemExit(f"benchmarks/run input: PyTorch's environment makes the pictures, and {error}") from None
    free = shutil.disk_usage(folder.parent).free
    if free < NEEDED_BYTES:
        raise SystemExit(f"benchmarks/run input: {folder.parent} has {free / 1e9:.1f} GB free; the data set of 4 GB wants {NEEDED_BYTES / 1e9:.0f}")
    program()
    end = time.monotonic() + 60 * options.budget
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the folder is removed then, too
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="study-") as cache:
        print("Packing ...", file=sys.stderr)
        sets = {"folder": folder} | {name: Path(cache) / name for name in FORMATS}
        for name in FORMATS:
            run("pack", name, folder, sets[name])
        large = measure_large(folder, cache)
        rows, network = measure_all(sets, end, options.pictures)
    study = input_report.Study(rows, network, large, len(os.sched_getaffinity(0)))
    print(study.table())
    for path, text in ((options.json, study.json), (options.table, study.table), (options.svg, study.svg)):
        if path:
            report.write(path, text())


if __name__ == "__main__":
    main()
