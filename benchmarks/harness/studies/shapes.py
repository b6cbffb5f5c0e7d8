"""From which size does a kind of network belong on another device, or in 16 bits? Training steps of generated networks (generated.py)."""

import json
import random
import statistics
import subprocess

import charts
import machine
import report
import sides
from studies import generated

WHAT = "generated networks of three families: rates, rooflines, the ratio of two devices, and how far predictions are off"

TYPES = {"float32": 4, "bfloat16": 2}
FAMILIES = ("fully connected", "residual", "recurrent")
SECONDS, LONGEST = 0.15, 4  # of a measurement at least; of a network's step at most, as its operations at a third of the limit let expect


def add_options(parser):
    parser.add_argument("--types", type=lambda names: names.split(","), default=list(TYPES), help="of float32, bfloat16 (both)")


def problem(options):
    unknown = [kind for kind in options.types if kind not in TYPES]
    return f"no type '{unknown[0]}'; there are {', '.join(TYPES)}" if unknown else None


class Program:
    """programs/shapes.cpp on a device, which answers one network after the other."""

    def __init__(self, device):
        self.device, self.process = device, None

    def measure(self, kind, network):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen([sides.BUILD / "benchmarks" / "shapes", self.device], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.PIPE, env=sides.environ(machine.parts()["cores"]))
        print(f"{kind} {SECONDS} {network.words()}", file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{network.words()} in {kind} on {self.device}: {self.process.stderr.read().strip() or 'the program ended'}")
        return json.loads(line)


def possible(network, kind, device):
    """Whether a network fits into memory, and its step into the time."""
    flops, _ = network.cost(TYPES[kind])
    return network.memory() < 0.5 * machine.memory_bytes(device) and 3 * flops / machine.limits(device)[kind] < LONGEST


def measure(options, measurements, devices):
    """A row for each network, type and device, in an order that meets all sizes soon; and how many there could be."""
    networks = generated.small_grid() if devices == ["cuda"] and machine.is_emulated() else generated.grid()
    random.Random(1).shuffle(networks)
    programs = {device: Program(device) for device in devices}
    wanted = [(network, kind, device) for network in networks for kind in options.types for device in devices if possible(network, kind, device)]
    rows = []
    for network, kind, device in wanted:
        name = f"{network.words()}, {kind}, {device}"
        if measurements.left() <= 0 and name not in measurements.answers:
            continue
        answer = measurements.measure(name, lambda: programs[device].measure(kind, network))
        flops, count = network.cost(TYPES[kind])
        if abs(answer["flops"] - flops) > 1e-6 * flops:
            raise RuntimeError(f"{name}: counted {flops:.0f} operations, the program {answer['flops']:.0f}")
        rows.append({"network": network, "family": network.family, "type": kind, "device": device, "flops": flops, "bytes": count,
                     "intensity": flops / count, "rate": flops / answer["seconds"], **answer})
    return rows, len(wanted)


def off(predicted, seconds):
    """By which factor a prediction is off, from 1 on."""
    return max(predicted / seconds, seconds / predicted)


def roofline(device, kind, rows):
    limits = machine.limits(device)
    peak, memory = limits[kind], limits["memory"]
    intensities = [row["intensity"] for row in rows]
    low, high = min(intensities) / 2, max(max(intensities), 2 * peak / memory)
    roof = [(low, low * memory), (peak / memory, peak), (high, peak)]
    series = {family: [(r["intensity"], r["rate"]) for r in rows if r["family"] == family] for family in FAMILIES}
    title = f"{'GPU' if device == 'cuda' else 'CPU'}, {kind}: the rate of a training step"
    return charts.Curves(title, charts.Axis("operations per byte", log=True), charts.Axis("operations a second", log=True),
                         series | {"limit of arithmetic and memory": roof}, {"limit of arithmetic and memory": "limit"})


def pairs(rows, other):
    """(row, its counterpart) where both were measured; other(row) is the key of the counterpart."""
    by_key = {(row["network"], row["type"], row["device"]): row for row in rows}
    found = [(row, by_key.get((row["network"], *other(row)))) for row in rows]
    return [(a, b) for a, b in found if a is not b and b is not None]


def ratios(rows):
    """(title, [(row, ratio of its time to the counterpart's)]): CPU to GPU in each type, float32 to bfloat16 on each device."""
    for kind in dict.fromkeys(row["type"] for row in rows):
        found = pairs([r for r in rows if r["type"] == kind], lambda r: (kind, "cuda"))
        if found:
            yield f"{kind}: the CPU's time, in times of the GPU's", [(a, a["seconds"] / b["seconds"]) for a, b in found]
    for device in dict.fromkeys(row["device"] for row in rows):
        found = pairs([r for r in rows if r["device"] == device], lambda r: ("bfloat16", device))
        if found:
            name = "GPU" if device == "cuda" else "CPU"
            yield f"{name}: the time in float32, in times of bfloat16's", [(a, a["seconds"] / b["seconds"]) for a, b in found]


def crossing(found):
    """The operations from which on at least nine of ten larger networks are faster in the second way; None: from none."""
    points = sorted((row["flops"], ratio) for row, ratio in found)
    for i, (flops, ratio) in enumerate(points):
        rest = [r for _, r in points[i:]]
        if ratio > 1 and sum(r > 1 for r in rest) >= 0.9 * len(rest):
            return flops
    return None


def run(options, measurements):
    sides.build("shapes", "machine")
    devices = [d for d in options.devices if d == "cpu" or machine.parts()["gpu"]]
    rows, possible_count = measure(options, measurements, devices)
    if not rows:
        raise RuntimeError("there was time for no network")
    text = f"{len(rows)} of {possible_count} training steps measured (--budget).\n\n"
    lines = []
    for device in devices:
        for kind in options.types:
            limits = machine.limits(device)
            for family in FAMILIES:
                own = [r for r in rows if (r["device"], r["type"], r["family"]) == (device, kind, family)]
                if own:
                    shares = [r["rate"] / limits[kind] for r in own]
                    fewest = [r["network"].fewest() / r["seconds"] / limits[kind] for r in own]
                    guesses = [off(r[f"predicted_{device}"], r["seconds"]) for r in own if r.get(f"predicted_{device}")]  # null: beyond the curves
                    lines.append([device, kind, family, len(own), f"{min(r['flops'] for r in own):.2g} to {max(r['flops'] for r in own):.2g}",
                                  f"{100 * statistics.median(shares):.0f}%", f"{100 * max(shares):.0f}%", f"{100 * max(fewest):.0f}%",
                                  f"{statistics.median(guesses):.2f}, {max(guesses):.1f}" if guesses else None])
    text += report.markdown(["device", "type", "family", "networks", "operations", "of the limit: median", "most", "most, by Winograd's count", "prediction off by: median, most"], lines) + "\n"
    for device in devices:
        limits = machine.limits(device)
        text += f"Limits of {device}: " + ", ".join(f"{kind} {limits[kind] / 1e9:,.0f} GFLOP/s" for kind in options.types) + f", memory {limits['memory'] / 1e9:,.0f} GB/s.\n\n"
    lines = []
    panels = [roofline(device, kind, [r for r in rows if (r["device"], r["type"]) == (device, kind)]) for device in devices for kind in options.types
              if any((r["device"], r["type"]) == (device, kind) for r in rows)]
    for title, found in ratios(rows):
        series = {family: [(row["flops"], ratio) for row, ratio in found if row["family"] == family] for family in FAMILIES}
        ends = [min(row["flops"] for row, _ in found), max(row["flops"] for row, _ in found)]
        panels.append(charts.Curves(title, charts.Axis("operations of a step", log=True), charts.Axis("times", log=True), series | {"equal": [(x, 1) for x in ends]}, {"equal": "limit"}))
        for family in FAMILIES:
            own = [(row, ratio) for row, ratio in found if row["family"] == family]
            if own:
                from_on = crossing(own)
                lines.append([title, family, f"{statistics.median(r for _, r in own):.2f}", f"{max(r for _, r in own):.2f}", f"{from_on:.1g}" if from_on else "none"])
    if lines:
        text += report.markdown(["ratio", "family", "median", "largest", "above 1 from so many operations on"], lines) + "\n"
    plain = [{**row, "network": row["network"].words()} for row in rows]
    return text, plain, panels
