"""Runs rows of the benchmarks, tern's and where asked for a peer's in turn, and prints what each took beside the limit."""

import argparse
import functools
import json
import os
import sys

import peers
import sides
from rows import NANOSECONDS, ROWS, Machine

# Each side measures that often, in turn; the minimum counts. Compiling against LibTorch takes half a minute.
ROUNDS, PROGRAM_ROUNDS = 5, 2

USAGE = """%(prog)s [NAME...] [--peer torch|tensorflow] [--threads N] [--json FILE] [--gpu]

NAME is a row or a suite; NAME@PEER is the row against that peer. Without names: every row, or with --peer every row that
the peer has. The time is the minimum over repetitions; ratio is tern's time over the peer's."""


def arguments():
    parser = argparse.ArgumentParser(prog="benchmarks/run", usage=USAGE, add_help=True)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--peer", choices=sorted(peers.PACKAGES))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    if options.threads < 1:
        parser.error("--threads wants a number above 0")
    return parser, options


def selection(parser, options):
    """(row, peer or None) for everything that was asked for, once, in the table's order."""
    wanted = set()
    for name in options.names or sorted({row.suite for row in ROWS}):
        base, _, peer = name.partition("@")
        peer = peer or options.peer
        if peer not in (None, *peers.PACKAGES):
            parser.error(f"no peer {peer}: {', '.join(peers.PACKAGES)}")
        found = [row for row in ROWS if base in (row.name, row.suite, row.name.removesuffix("_memory"))]
        if not found:
            parser.error(f"no row or suite {base}")
        for row in found:
            if peer in row.peers or peer is None or options.names:
                wanted.add((row.name, peer if peer in row.peers else None))
    return [(row, peer) for row in ROWS for peer in (None, *peers.PACKAGES) if (row.name, peer) in wanted]


@functools.cache
def tern_side(suite, threads):
    return sides.tern_programs(threads) if suite == "programs" else sides.Tern(threads)


@functools.cache
def peer_side(peer, suite, threads):
    if suite == "programs":
        return sides.torch_programs(threads)
    if suite == "dispatch":
        return sides.Server([peers.build_libtorch("torch_dispatch")], threads)
    return python_server(peer, threads)


@functools.cache
def python_server(peer, threads):
    return sides.Server([peers.python(peer), "-B", peers.SOURCES / f"{peer}_rows.py"], threads)


def machine(threads):
    """The limits of this machine: the best of each microbenchmark's repetitions."""
    executable = sides.suite("limits")
    best = {}
    for name in ("peak_flops", "read_memory", "copy_memory", "copy_cache"):
        runs = sides.google_benchmark(executable, name, threads)
        best[name] = max(run.get("items_per_second") or run["bytes_per_second"] for run in runs)
    return Machine(**best)


def compare(row, peer, threads):
    """Each side's best answers to the row: rounds of tern and the peer in turn."""
    pair = [tern_side(row.suite, threads)] + ([peer_side(peer, row.suite, threads)] if peer else [])
    best = [{}, {}]
    for _ in range(PROGRAM_ROUNDS if row.suite == "programs" else ROUNDS):
        for side, mine in zip(pair, best):
            for name, value in side.measure(row).items():
                mine[name] = min(value, mine.get(name, float("inf")))
    return best


def main():
    parser, options = arguments()
    chosen = selection(parser, options)
    limits = machine(options.threads)
    for peer in sorted({peer for _, peer in chosen if peer}):
        print(f"{peer} {peers.version(peer)}", end=", ")
    print(f"{options.threads} thread{'s' * (options.threads > 1)}; peak {limits.peak_flops / 1e9:.0f} GFLOP/s, "
          f"reads {limits.read_memory / 1e9:.0f}, copies {limits.copy_memory / 1e9:.0f}, "
          f"in cache {limits.copy_cache / 1e9:.0f} GB/s\n")
    print(f"{'row':<26} {'tern':>12} {'peer':>12}      {'ratio':>6} {'limit':>12}")

    measured, results, failed = {}, [], 0
    for row, peer in chosen:
        key = (row.name.removesuffix("_memory"), peer)
        try:
            if key not in measured:
                measured[key] = compare(row, peer, options.threads)
        except RuntimeError as error:
            print(f"{row.name}: {error}", file=sys.stderr)
            failed += 1
            continue
        scale = NANOSECONDS.get(row.unit, 1)
        tern, other = (best[row.name] / scale if row.name in best else None for best in measured[key])
        limit = row.limit(limits) * 1e9 / scale if row.limit else None
        result = {"name": row.name + (f"@{peer}" if peer not in (None, "torch") else ""), "threads": options.threads,
                  "tern": tern, "peer": other, "unit": row.unit, "ratio": tern / other if other else None, "limit": limit}
        results.append(result)
        show = lambda value, digits=4: "" if value is None else f"{value:.{digits}g}"
        mode = peer_side(peer, row.suite, options.threads).modes.get(row.name, "") if peer and row.suite != "programs" else ""
        print(f"{result['name']:<26} {show(tern):>12} {show(other):>12} {row.unit:>3}  {show(result['ratio'], 3):>6} "
              f"{show(limit):>12}  {mode}", flush=True)

    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)
            file.write("\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
