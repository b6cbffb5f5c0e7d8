"""What belongs on which device: products of matrices three ways beside numpy's, and ten epochs of PyTorch's MNIST example."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import charts
import machine
import peers
import report
import sides
import trainers

WHAT = "matrix products on the CPU, on the GPU and with copies, beside numpy's; ten epochs of a small network on each device"

WAYS = {"cpu": "CPU", "cuda": "GPU", "copied": "GPU with copies"}
PUBLISHED = {"cpu": 153, "cuda": 83}  # seconds of these ten epochs


def add_options(parser):
    parser.add_argument("--data", metavar="FOLDER", default=os.environ.get("TERN_DATA"), help="has mnist in it (TERN_DATA)")
    parser.add_argument("--epochs", type=int, default=10, help="(10)")


def problem(options):
    return f"--epochs wants a number from 1 on, not {options.epochs}" if options.epochs < 1 else None


def products(device):
    """[{"n", "cpu", "cuda", "copied"}]: seconds; None for what was not measured."""
    with tempfile.TemporaryDirectory() as name:
        rows = Path(name) / "rows.json"
        command = [sides.BUILD / "examples" / "matmul_three_ways", "--json", rows, "--largest", "256" if device == "cuda" and machine.is_emulated() else "8192"]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, env=sides.environ(machine.parts()["cores"]))
        return json.loads(rows.read_text())


def numpy_products(sizes):
    """{n: seconds} of numpy's product, or {"why": …} where it cannot be installed."""
    if why := peers.problem("numpy"):
        return {"why": why}
    command = [peers.python("numpy"), "-B", peers.SOURCES / "numpy_matmul.py", *map(str, sizes)]
    result = subprocess.run(command, text=True, capture_output=True, check=True,
                            env=sides.environ(machine.parts()["cores"]) | {"OPENBLAS_NUM_THREADS": str(machine.parts()["cores"])})
    return json.loads(result.stdout)


def shown(seconds):
    if seconds is None:
        return None
    return f"{1e6 * seconds:,.1f} µs" if seconds < 1e-3 else f"{1e3 * seconds:,.2f} ms" if seconds < 1 else f"{seconds:.2f} s"


def run(options, measurements):
    sides.build("matmul_three_ways", "machine")
    trainers.build("native", "mnist")
    rows = measurements.measure("products", lambda: products(options.device))
    numpy = measurements.measure("numpy's products", lambda: numpy_products([row["n"] for row in rows]))
    for row in rows:
        row["numpy"] = numpy.get(str(row["n"]))
    rate = lambda row: f"{2 * row['n']**3 / row['cpu'] / 1e9:,.0f}" if row["cpu"] else None
    lines = [[row["n"], *(shown(row[way]) for way in WAYS), shown(row["numpy"]), f"{row['cpu'] / row['numpy']:.2f}" if row["cpu"] and row["numpy"] else None, rate(row)]
             for row in rows]
    text = "Product of two *n* x *n* matrices of floats:\n\n"
    text += report.markdown(["n", *WAYS.values(), "numpy", "CPU, in times of numpy's", "GFLOP/s of the CPU"], lines) + "\n"
    if "why" in numpy:
        text += f"numpy's column is empty: {numpy['why']}.\n\n"

    trainings = []
    for device in options.devices:
        if device == "cpu" or machine.parts()["gpu"]:
            words = ["mnist", "--model", "lenet", "--batch-size", 64, "--device", device, "--epochs", options.epochs, *trainers.data(options.data, "mnist")]
            answer = measurements.measure(f"mnist on {device}", lambda: trainers.train("native", words, machine.parts()["cores"], max(60, measurements.left())))
            trainings.append({"device": device, "epochs": len(answer["epochs"]), "seconds": answer["seconds"], "test_accuracy": answer["test_accuracy"], "data": answer["data"]})
    lines = [[t["device"], t["epochs"], *([f"{t['seconds']:.1f} s", f"{100 * t['test_accuracy']:.2f}%"] if t["epochs"] else ["", "not one epoch"]), t["data"],
              f"{PUBLISHED[t['device']]} s"] for t in trainings]
    text += "PyTorch's MNIST example (`mnist --model lenet`, batch 64):\n\n"
    text += report.markdown(["device", "epochs", "time", "test accuracy", "data", "published, ten epochs"], lines) + "\n"
    series = {title: [(row["n"], row[way]) for row in rows if row[way]] for way, title in [*WAYS.items(), ("numpy", "numpy")]}
    panel = charts.Curves("Seconds of a product of two n x n matrices", charts.Axis("n", log=True), charts.Axis("seconds", log=True), series,
                          dict.fromkeys(series, "line"), height=330)
    return text, rows + trainings, [panel]
