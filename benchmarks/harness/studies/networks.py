"""Networks for pictures: images a second, memory, latency and cost, by batch, work and precision, each measured by a process of examples/image_models."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import charts
import machine
import report
import sides

WHAT = "images a second, memory, latency and cost of six networks for pictures, by batch, work and precision"

NETWORKS = {"alexnet": "AlexNet", "googlenet": "GoogLeNet", "resnet50": "ResNet-50", "vgg16": "VGG-16", "inception_v3": "Inception-v3", "xception": "Xception"}
WORKS = {"train": "training", "infer": "inference"}
PRECISIONS = ("f32", "bf16")
GROWTH = 4  # of the batch from one measurement to the next
STEPS = 3  # that a measurement makes at least


def add_options(parser):
    parser.add_argument("--networks", type=lambda names: names.split(","), default=list(NETWORKS), help=f"of {', '.join(NETWORKS)} (all)")
    parser.add_argument("--precisions", type=lambda names: names.split(","), default=list(PRECISIONS), help="of f32, bf16 (both)")
    parser.add_argument("--price", metavar="FILE", help="a JSON list of tariffs, or dollars an hour")


def problem(options):
    for what, given, known in (("network", options.networks, NETWORKS), ("precision", options.precisions, PRECISIONS)):
        if unknown := [name for name in given if name not in known]:
            return f"no {what} '{unknown[0]}'; there are {', '.join(known)}"
    return None


def measure_one(network, work, precision, device, batch, seconds):
    """The row that image_models writes, with the process's largest resident set; {"why": …} where it ends with an error."""
    with tempfile.TemporaryDirectory() as name:
        rows = Path(name) / "rows.json"
        command = [sides.BUILD / "examples" / "image_models", "--model", network, "--work", work, "--precision", precision, "--device", device,
                   "--batch-size", batch, "--seconds", f"{seconds:.2f}", "--json", rows]
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=errors,
                                       env=sides.environ(machine.parts()["cores"]))
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                errors.seek(0)
                return {"why": errors.read().strip() or f"ended by signal {-process.returncode}"}
        return json.loads(rows.read_text())[0] | {"resident_bytes": 1024 * usage.ru_maxrss}


def expected(row, batch):
    """(seconds of a step, bytes) of a larger batch than the row's, as this one lets expect."""
    factor = batch / row["batch"]
    return factor * row["batch"] / row["images_per_second"], factor * row["peak_bytes"]


def measure(options, measurements):
    """The rows, and a sentence for each kind of measurement that ended before memory was full."""
    kinds = [(network, work, precision, device) for device in options.devices if device == "cpu" or machine.parts()["gpu"]
             for network in options.networks for work in WORKS for precision in options.precisions]
    emulated = machine.is_emulated() and options.devices == ["cuda"]
    if emulated:
        kinds = [kind for kind in kinds if kind[0] == "alexnet"]
    rows, ended, batch, unfinished = [], {}, 1, list(kinds)
    last = {}
    while unfinished:
        for i, kind in enumerate(list(unfinished)):
            name = f"{', '.join(kind)}, batch {batch}"
            seconds = min(3.0, measurements.left() / max(1, len(unfinished) - i) / 2)
            if kind in last:
                step, count = expected(last[kind], batch)
                if count > 0.9 * machine.memory_bytes(kind[3]):
                    unfinished.remove(kind)
                    continue
                if (STEPS + 1) * step > measurements.left() / max(1, len(unfinished) - i) and name not in measurements.answers:
                    ended[kind] = "time"
                    unfinished.remove(kind)
                    continue
            if measurements.left() <= 0 and name not in measurements.answers:
                ended[kind] = "time"
                unfinished.remove(kind)
                continue
            answer = measurements.measure(name, lambda: measure_one(*kind, batch, max(0.2, seconds)))
            if "why" in answer:
                ended[kind] = answer["why"]
                unfinished.remove(kind)
                continue
            last[kind] = answer
            rows.append(answer)
            if emulated:
                unfinished.remove(kind)
        batch *= GROWTH
    return rows, ended


def megabytes(count):
    return f"{count / 1e6:,.0f} MB"


def table(rows, ended, prices):
    text = ""
    for device in dict.fromkeys(row["device"] for row in rows):
        for work, title in WORKS.items():
            own = [row for row in rows if row["device"] == device and row["work"] == work]
            tariffs = [tariff for tariff in prices if tariff.prices(device)]
            head = ["network", "precision", "batch", "images/s", "of peak", "tensors", "resident", *(f"images a dollar, {t.name}" for t in tariffs)]
            lines = [[NETWORKS[r["model"]], r["type"], r["batch"], f"{r['images_per_second']:.1f}", f"{100 * r['peak_share']:.0f}%", megabytes(r["peak_bytes"]),
                      megabytes(r["resident_bytes"]), *(f"{r['images_per_second'] / t.dollars(1):,.0f}" for t in tariffs)]
                     for r in sorted(own, key=lambda r: (list(NETWORKS).index(r["model"]), r["type"] != "f32", r["batch"]))]
            text += f"{device}, {title}:\n\n{report.markdown(head, lines)}\n"
        single = [r for r in rows if r["device"] == device and r["work"] == "infer" and r["batch"] == 1]
        if single:
            lines = [[NETWORKS[r["model"]], r["type"], *(f"{1e3 * r[f'p{p}_seconds']:.1f} ms" for p in (50, 90, 99)), r["steps"]] for r in single]
            text += f"{device}, latency of one picture:\n\n{report.markdown(['network', 'precision', '50%', '90%', '99%', 'of so many'], lines)}\n"
    late = sorted({", ".join(kind) for kind, why in ended.items() if why == "time"})
    if late:
        text += f"For larger batches there was no time (--budget): {'; '.join(late)}.\n\n"
    return text + "".join(f"{', '.join(kind)}: {why}\n\n" for kind, why in ended.items() if why != "time")


def run(options, measurements):
    sides.build("image_models", "machine")
    rows, ended = measure(options, measurements)
    panels = []
    for device in dict.fromkeys(row["device"] for row in rows):
        for precision in options.precisions:
            for work, title in WORKS.items():
                series = {NETWORKS[n]: [(r["batch"], r["images_per_second"]) for r in rows if (r["model"], r["work"], r["type"], r["device"]) == (n, work, precision, device)]
                          for n in options.networks}
                if any(series.values()):
                    panels.append(charts.Curves(f"{'GPU' if device == 'cuda' else 'CPU'}, {precision}, {title}", charts.Axis("batch", log=True),
                                                charts.Axis("images a second", log=True), series, dict.fromkeys(series, "line")))
    for row in rows:
        row["images_per_dollar"] = {t.name: row["images_per_second"] / t.dollars(1) for t in options.price if t.prices(row["device"])}
    return table(rows, ended, options.price), rows, panels
