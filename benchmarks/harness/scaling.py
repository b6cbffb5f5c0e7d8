"""What several ranks give: `benchmarks/run scaling`. Measures steps on one rank, steps and all-reduces on as many as there are cores, and
predicts up to 64 ranks from a step's computing and the time of the wire."""

import argparse
import functools
import json
import math
import os
import subprocess

import peers
import report
import sides

MODELS = {"mnist_mlp": 128, "mnist_cnn": 64, "resnet20": 32, "resnet50": 8}  # and the samples of a rank's batch
RANKS = (2, 4, 8, 16, 32, 64)
ROUNDS = 3  # all measurements of a network in turn, so that other work on the machine meets all of them; the fastest one counts
SIZES = (1_000, 16_000, 250_000, 1_000_000, 8_000_000, 100_000_000)  # bytes of all-reduces
USAGE = f"""benchmarks/run scaling [--models NAME,…] [--seconds S] [--peer torch] [--json FILE] [--table FILE]

Trains networks on random data by 1, 2, 4 … ranks of one thread each, up to this machine's cores, and by one process of as many threads; and
times all_reduce and the mean of gradients. From the step of one rank and the time of the wire it predicts images a second for 2 to 64 ranks that are connected as these
are. --models (the first three) of {", ".join(MODELS)}; --seconds (5) for each measurement; --peer torch measures PyTorch's
DistributedDataParallel with Gloo beside (not of resnet50); --table writes Markdown."""


def arguments():
    parser = argparse.ArgumentParser(prog="benchmarks/run scaling", usage=USAGE)
    parser.add_argument("--models", type=lambda names: names.split(","), default=["mnist_mlp", "mnist_cnn", "resnet20"])
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--peer", choices=["torch"])
    for name in ("--json", "--table"):
        parser.add_argument(name, metavar="FILE")
    options = parser.parse_args()
    if unknown := set(options.models) - set(MODELS):
        parser.error(f"no model {', '.join(sorted(unknown))}; there are {', '.join(MODELS)}")
    if not 0.1 <= options.seconds <= 600:
        parser.error(f"--seconds wants 0.1 to 600, not {options.seconds:g}")
    return options


@functools.cache
def mpirun():
    """The program of the MPI that the build has found."""
    sides.build("scaling")
    for line in (sides.BUILD / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("MPIEXEC_EXECUTABLE:FILEPATH="):
            return line.split("=", 1)[1]


def environ(threads):
    """Open MPI may run as root, as in a container. A rank of one thread has a core of its own."""
    return sides.environ(threads) | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                                     "OMPI_MCA_hwloc_base_binding_policy": "core" if threads == 1 else "none"}


def run(ranks, *words, threads=1):
    """What the first of so many ranks prints."""
    command = [mpirun(), "-n", str(ranks), sides.BUILD / "benchmarks" / "scaling", *map(str, words)]
    result = subprocess.run(command, text=True, capture_output=True, env=environ(threads))
    if result.returncode:
        raise SystemExit(f"benchmarks/run scaling: {result.stderr.strip() or result.stdout.strip()}")
    return json.loads(result.stdout)


def torch(ranks, *words):
    """What PyTorch with Gloo takes for the same."""
    command = [peers.python("torch"), peers.SOURCES / "torch_parallel.py", str(ranks), *map(str, words)]
    return json.loads(subprocess.run(command, text=True, capture_output=True, check=True, env=sides.environ(1)).stdout.splitlines()[-1])


class Wire:
    """The time of an all-reduce as latency + bytes / rate, fitted to measurements on so many ranks by least squares of relative errors."""

    def __init__(self, points, ranks):
        self.ranks = ranks
        # Minimises Σ ((a + b x - t) / t)²: two linear equations in a and b.
        weights = [(1 / t**2, x, t) for x, t, *_ in points]
        sum_of = lambda f: sum(w * f(x, t) for w, x, t in weights)
        n, x1, x2 = sum_of(lambda x, t: 1), sum_of(lambda x, t: x), sum_of(lambda x, t: x * x)
        t1, xt = sum_of(lambda x, t: t), sum_of(lambda x, t: x * t)
        self.per_byte = (n * xt - x1 * t1) / (n * x2 - x1 * x1)
        self.latency = max(0, (t1 - self.per_byte * x1) / n)

    def seconds(self, ranks, collectives, count):
        """Of collectives of so many bytes together: rounds grow with log2 of the ranks, what each rank sends with (ranks - 1) / ranks."""
        rounds = math.log2(ranks) / math.log2(self.ranks)
        sent = (ranks - 1) / ranks * self.ranks / (self.ranks - 1)
        return collectives * self.latency * rounds + count * self.per_byte * sent


def table(wire, points, gloo, rows):
    """Times of the wire; then images a second, measured and predicted."""
    milliseconds = lambda seconds: f"{1e3 * seconds:.3g} ms"
    head = [f"{wire.ranks} ranks", "memcpy on each", "all_reduce", "ratio", "mean of gradients", "ratio"] + ["Gloo", "all_reduce, of it"] * bool(gloo)
    lines = [[f"{count / 1e6:g} MB", milliseconds(copy_s), milliseconds(sum_s), f"{sum_s / copy_s:.2f}", milliseconds(mean_s), f"{mean_s / copy_s:.2f}",
              *([milliseconds(gloo[i][1]), f"{sum_s / gloo[i][1]:.2f}"] if gloo else [])] for i, (count, sum_s, mean_s, copy_s) in enumerate(points)]
    text = report.markdown(head, lines) + f"\nFitted: {1e6 * wire.latency:.0f} µs and {1e-9 / wire.per_byte:.2f} GB/s. Images a second:\n\n"

    measured = sorted({ranks for row in rows for ranks in row["measured"]})
    many = measured[-1]
    head = ["network", "batch of a rank", "exchanged", *(f"{ranks} rank{'s' * (ranks > 1)}" for ranks in measured), "ratio", f"{many} threads", "hidden",
            *(["PyTorch", "time, of PyTorch's"] if gloo else []), *(f"{ranks} ranks, predicted" for ranks in RANKS)]
    lines = []
    for row in rows:
        images = row["measured"]
        peer = row.get("torch")
        lines.append([row["model"], row["batch"], f"{row['bytes'] / 1e6:.2f} MB", *(f"{images[ranks]:,.0f}" for ranks in measured),
                      f"{images[many] / images[1]:.2f}", f"{row['threads']:,.0f}", f"{100 * row['hidden']:.0f}%",
                      *([f"{peer:,.0f}", f"{peer / images[many]:.2f}"] if peer else ["", ""] if gloo else []),
                      *(f"{row['predicted'][ranks]:,.0f}" for ranks in RANKS)])
    return text + report.markdown(head, lines)


def main():
    options = arguments()
    cores = len(os.sched_getaffinity(0))
    here = [ranks for ranks in RANKS if ranks <= cores]
    if not here:
        raise SystemExit("benchmarks/run scaling: this machine has one core, and ranks want one each")
    most = here[-1]
    points = run(most, "wire", options.seconds, *SIZES)
    missing = peers.problem("torch") if options.peer else None
    gloo = torch(most, "wire", options.seconds, *SIZES) if options.peer and not missing else None
    wire = Wire(points, most)
    rows = []
    for model in options.models:
        batch = MODELS[model]
        kinds = {ranks: lambda ranks=ranks: run(ranks, "step", model, batch, options.seconds / ROUNDS) for ranks in (1, *here)}
        kinds["threads"] = lambda: run(1, "step", model, most * batch, options.seconds / ROUNDS, threads=most)
        if gloo and model != "resnet50":
            kinds["torch"] = lambda: torch(most, "step", model, batch, options.seconds / ROUNDS)
        rounds = [{kind: measure() for kind, measure in kinds.items()} for _ in range(ROUNDS)]
        steps = {kind: min((each[kind] for each in rounds), key=lambda answer: answer["seconds"]) for kind in kinds}
        many = steps[most]
        # Ranks of one machine exchange on the cores that compute: so the times add up.
        step = lambda ranks: steps[1]["seconds"] + wire.seconds(ranks, many["collectives"], many["bytes"])
        rows.append({"model": model, "batch": batch, "bytes": many["bytes"], "hidden": many["hidden"],
                     "measured": {ranks: ranks * batch / steps[ranks]["seconds"] for ranks in (1, *here)},
                     "threads": most * batch / steps["threads"]["seconds"],
                     "predicted": {ranks: ranks * batch / step(ranks) for ranks in RANKS}})
        if "torch" in steps:
            rows[-1]["torch"] = most * batch / steps["torch"]["seconds"]
    text = table(wire, points, gloo, rows) + (f"\nPyTorch was not measured: {missing}\n" if missing else "")
    print(text)
    results = {"latency_s": wire.latency, "seconds_per_byte": wire.per_byte, "ranks": most, "all_reduce": points, "gloo": gloo, "rows": rows}
    for path, content in ((options.json, report.as_json(results)), (options.table, text)):
        if path:
            report.write(path, content)


if __name__ == "__main__":
    main()
