"""Runs rows of the benchmarks, tern's and where asked for a peer's in turn, and prints what each took beside the limit."""

import argparse
import atexit
import functools
import os
import subprocess
import sys
from pathlib import Path

import peers
import pictures
import report
import sides
from rows import GPU_ROWS, NANOSECONDS, PEERS, ROWS, Gpu, Machine

# Each side measures that often, in turn; the minimum counts. Compiling against LibTorch takes half a minute, and a network's
# mode up to twenty seconds; on a GPU each program starts for a second, no other is there to disturb it, and it may be there for minutes.
ROUNDS, FEW_ROUNDS, GPU_ROUNDS = 5, 2, 1
RARELY = ("programs", "networks", "decoding")

USAGE = """%(prog)s [NAME...] [--peer PEER] [--threads N] [--json FILE] [--table FILE]
       %(prog)s --gpu [NAME...] [--built FOLDER] [--no-compile] [--threads N] [--json FILE] [--table FILE]

NAME is a row or a suite; NAME@PEER is the row against that peer: torch, tensorflow, openvino, onnxruntime, webdataset or lmdb. Without names: every row, or with --peer every row that
the peer has. The time is the minimum over repetitions; ratio is tern's time over the peer's. --table writes Markdown. Both files
have each row from when it is measured.
Google Benchmark's own options, --benchmark_filter and the like, are handed on to the suites that NAME names, and nothing else is done.
--gpu has rows of its own, beside cuBLASLt called directly and, where python3 has one that sees the GPU, PyTorch. --built has executables,
bench_gpu_NAME, that are run as they are; --no-compile leaves out what torch.compile makes."""


def arguments():
    parser = argparse.ArgumentParser(prog="benchmarks/run", usage=USAGE, add_help=True)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--peer", choices=PEERS)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--table", metavar="FILE")
    parser.add_argument("--gpu", metavar="GPU", help="its name, which benchmarks/run fills in")
    parser.add_argument("--built", metavar="FOLDER", type=Path)
    parser.add_argument("--no-compile", action="store_true")
    options, options.flags = parser.parse_known_args()
    if unknown := [flag for flag in options.flags if not flag.startswith("--benchmark_")]:
        parser.error(f"no option {unknown[0]}")
    if options.threads < 1:
        parser.error("--threads wants a number above 0")
    if (options.built or options.no_compile) and not options.gpu:
        parser.error("--built and --no-compile want --gpu")
    if options.built and not options.built.is_dir():
        parser.error(f"{options.built} is no folder")
    return parser, options


def run_suites(parser, options):
    """Runs the named suites with Google Benchmark's own options, and returns the first status that is not 0."""
    suites = {path.stem for path in (sides.ROOT / "benchmarks" / ("gpu" if options.gpu else "")).glob("*.cpp")}
    if unknown := [name for name in options.names if name not in suites]:
        parser.error(f"no suite {unknown[0]}: {', '.join(sorted(suites))}")
    if not options.names:
        parser.error(f"{options.flags[0]} wants a suite: {', '.join(sorted(suites))}")
    statuses = [subprocess.run([sides.suite(f"gpu_{name}" if options.gpu else name), *options.flags], env=sides.environ(options.threads)).returncode for name in options.names]
    return next(filter(None, statuses), 0)


def selection(parser, options):
    """(row, peer or None) for everything that was asked for, once, in the table's order."""
    rows = GPU_ROWS if options.gpu else ROWS
    always = ["cublaslt"] + ["torch"] * bool(peers.gpu_python()) if options.gpu else []
    wanted = set()
    for name in options.names or sorted({row.suite for row in rows}):
        base, _, peer = name.partition("@")
        peer = peer or options.peer
        if peer not in (None, *PEERS):
            parser.error(f"no peer {peer}: {', '.join(PEERS)}")
        found = [row for row in rows
                 if base in (row.name, row.suite, row.name.removesuffix("_memory"), row.name.partition("/")[0])]
        if not found:
            parser.error(f"no row or suite {base}")
        for row in found:
            beside = [p for p in ([peer] if peer else always) if p in row.peers]
            if beside or peer is None or options.names:
                wanted |= {(row.name, p) for p in beside or [None]}
    return [(row, peer) for row in rows for peer in (None, *PEERS) if (row.name, peer) in wanted]


@functools.cache
def tern_side(suite, threads):
    return sides.tern_programs(threads) if suite == "programs" else sides.Tern(threads)


@functools.cache
def peer_side(peer, suite, gpu, threads):
    if suite == "programs":
        return sides.torch_programs(threads)
    if suite == "dispatch":
        return sides.Server([peers.build_libtorch("torch_dispatch")], threads)
    if peer == "cublaslt":
        return sides.cublaslt(threads)
    return gpu_server(threads) if gpu else python_server(peer, threads)


@functools.cache
def python_server(peer, threads):
    start = [peers.python(peer), "-B"]
    if peer in peers.ENGINES:
        return sides.Server([*start, peers.SOURCES / "engine_rows.py", peer, peers.onnx_folder()], threads, peers.export_onnx)
    return sides.Server([*start, peers.SOURCES / f"{peer}_rows.py"], threads)


GPU_PEER = ["-B", peers.SOURCES / "torch_cuda_rows.py"]
compile_flags = []  # --no-compile


@functools.cache
def gpu_server(threads):
    if not peers.gpu_python():
        raise SystemExit("benchmarks/run: python3 has no PyTorch that sees a GPU")
    return sides.Server([peers.gpu_python(), *GPU_PEER, *compile_flags], threads)


def compile_ahead(chosen, threads):
    """Has PyTorch compile what the rows compile, beside the measurements of the first ones. What is ended by this program's end."""
    names = [row.name for row, peer in chosen if peer == "torch" and row.name.endswith("_captured")]
    if not names or compile_flags:
        return
    compiling = subprocess.Popen(["nice", peers.gpu_python(), *GPU_PEER, "--compile", *names, str(threads)], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
    atexit.register(compiling.terminate)


def best_rate(executable, name, threads):
    return max(run.get("items_per_second") or run["bytes_per_second"]
               for run in sides.google_benchmark(executable, name, threads))


def machine(threads):
    """The limits of this machine: the best of each microbenchmark's repetitions."""
    executable = sides.suite("limits")
    names = ("peak_flops", "read_memory", "copy_memory", "copy_cache")
    limits = Machine(**{name: best_rate(executable, name, threads) for name in names})
    print(f"{threads} thread{'s' * (threads > 1)}; peak {limits.peak_flops / 1e9:.0f} GFLOP/s, "
          f"reads {limits.read_memory / 1e9:.0f}, copies {limits.copy_memory / 1e9:.0f}, "
          f"in cache {limits.copy_cache / 1e9:.0f} GB/s\n")
    return limits


def gpu(name, threads):
    """The limits of the GPU; products of 8192 x 8192 are planned before, into the same memory."""
    executable = sides.suite("gpu_device")
    limits = Gpu(**{key: best_rate(executable, row, threads) for key, row in (("copy", "copy_elements"), ("tf32", "cublaslt8192_tf32"), ("bf16", "cublaslt8192_bf16"))})
    print(f"{name}, {threads} threads of the host; copies on the device {limits.copy / 1e9:.0f} GB/s, products {limits.tf32 / 1e12:.0f} TFLOP/s in TF32, "
          f"{limits.bf16 / 1e12:.0f} in bfloat16\n")
    return limits


def compare(row, peer, threads):
    """Each side's best answers to the row, rounds of tern and the peer in turn; and why there is none of the peer, or an empty text."""
    try:
        return measure(row, peer, threads), ""
    except peers.Missing as error:
        return measure(row, None, threads), f"not measured: {error}"


def measure(row, peer, threads):
    """A peer that fails has no answers, and says why on stderr."""
    pair = [tern_side(row.suite, threads)] + ([peer_side(peer, row.suite, row.gpu, threads)] if peer else [])
    best = [{}, {}]
    for _ in range(GPU_ROUNDS if row.gpu else FEW_ROUNDS if row.suite in RARELY else ROUNDS):
        for side, mine in zip(pair, best):
            try:
                answers = side.measure(row)
            except (RuntimeError, BrokenPipeError) as error:
                if side is pair[0]:
                    raise
                print(f"{row.name}, {peer}: {error}", file=sys.stderr)
                return [best[0], {}]
            for name, value in answers.items():
                mine[name] = min(value, mine.get(name, float("inf")))
    return best


def result_of(row, peer, best, missing, limits, threads):
    """The row as report.py and readers of the JSON have it."""
    scale = NANOSECONDS.get(row.unit, 1)
    tern, other = (side[row.name] / scale if row.name in side else None for side in best)
    rate, rate_unit = row.rate(tern * scale)
    side = peer_side(peer, row.suite, row.gpu, threads) if peer and not missing and row.suite != "programs" else None
    memory = [side.get(f"{row.name}_memory", 0) / 2**20 or None if row.suite != "programs" else None for side in best]
    return {"name": row.name + (f"@{peer}" if peer not in (None, "torch") else ""), "threads": threads,
            "tern": tern, "peer": other, "unit": row.unit, "ratio": tern / other if other else None,
            "limit": row.limit(limits) * 1e9 / scale if row.limit else None,
            "rate": rate, "rate_unit": rate_unit,
            "memory": memory[0], "peer_memory": memory[1], "missing": missing,
            "modes": {mode: ns / scale for mode, ns in side.modes.get(row.name, {}).items()} if side else {}}


def main():
    parser, options = arguments()
    if options.flags:
        return run_suites(parser, options)
    chosen = selection(parser, options)
    sides.built = options.built
    compile_flags.extend(["--no-compile"] * options.no_compile)
    versions = {}
    for peer in sorted({peer for _, peer in chosen if peer} - {"cublaslt"}):
        try:
            versions[peer] = peers.version(peer, peers.gpu_python() if options.gpu else None)
        except peers.Missing as error:
            print(error, file=sys.stderr)
        print(f"{peer} {versions.get(peer, 'cannot be installed')}", end=", ")
    suites = {row.program for row, _ in chosen} - {"programs"} | {"gpu_device" if options.gpu else "limits"}
    failed = 0
    if of_pictures := suites & {"records", "decoding"}:
        try:
            os.environ["TERN_PICTURES"] = str(pictures.folder())
        except peers.Missing as error:
            print(f"{', '.join(sorted(of_pictures))}: PyTorch's environment makes the pictures, and {error}", file=sys.stderr)
            failed = sum(row.suite in of_pictures for row, _ in chosen)
            chosen, suites = [(row, peer) for row, peer in chosen if row.suite not in of_pictures], suites - of_pictures
    if not options.built:
        sides.build(*(f"bench_{suite}" for suite in sorted(suites)))
    limits = gpu(options.gpu, options.threads) if options.gpu else machine(options.threads)
    compile_ahead(chosen, options.threads)
    print(report.HEADER)

    measured, results = {}, []
    for row, peer in chosen:
        key = (row.name.removesuffix("_memory"), peer)
        try:
            if key not in measured:
                measured[key] = compare(row, peer, options.threads)
        except RuntimeError as error:
            print(f"{row.name}: {error}", file=sys.stderr)
            failed += 1
            continue
        failed += peer is not None and not measured[key][0][1] and not measured[key][1]
        result = result_of(row, peer, *measured[key], limits, options.threads)
        results.append(result | {"peer_version": versions.get(peer), "gpu": options.gpu})
        print(report.line(result), flush=True)
        if options.json:
            report.write(options.json, report.as_json(results))
        if options.table:
            report.write(options.table, report.as_table(results))

    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
