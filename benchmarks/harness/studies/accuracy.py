"""Time, cost and energy to a target of accuracy, by seed."""

import os
import statistics
from pathlib import Path

import charts
import machine
import report
import trainers
from energy import Meter
from trainers import Failed

WHAT = "time, cost and energy to a target of accuracy, by seed"

# title: the trainer's words, its data set, and the target.
TRAININGS = {
    "MNIST MLP": (["mnist", "--model", "mlp", "--epochs", "20"], "mnist", 0.98),
    "MNIST CNN": (["mnist", "--model", "cnn", "--epochs", "12"], "mnist", 0.99),
    "pictures": (["images", "--model", "resnet18", "--size", "64", "--epochs", "60", "--batch-size", "16", "--warmup", "2"], "imagefolder", 1.0),
    "CIFAR ResNet-20": (["cifar", "--model", "resnet20", "--epochs", "30"], "cifar10", 0.72),
}


SMALL = {"pictures": ["--size", "32"]}  # what an emulated card trains, and how


def add_options(parser):
    parser.add_argument("--data", metavar="FOLDER", default=os.environ.get("TERN_DATA"), help="has mnist, cifar10 and imagefolder in it (TERN_DATA)")
    parser.add_argument("--seeds", type=int, default=3, help="how many (3)")
    parser.add_argument("--price", metavar="FILE", help="a JSON list of tariffs, or dollars an hour")


def problem(options):
    return f"--seeds wants a number from 1 on, not {options.seeds}" if options.seeds < 1 else None


def train(options, title, device, seed, seconds):
    words, data, target = TRAININGS[title]
    if device == "cuda" and machine.is_emulated():
        words = [*words, *SMALL[title]]
    meter = Meter()
    try:
        answer = trainers.train("native", [*words, "--device", device, "--target", target, "--seed", seed, *trainers.data(options.data, data)],
                                machine.parts()["cores"], seconds)
    except Failed as error:
        return {"why": str(error)}
    joules = meter.joules()
    reached = answer.get("seconds_to_target")
    curve, elapsed = [], 0
    for epoch in answer["epochs"]:
        elapsed += epoch["seconds"]
        curve.append([elapsed, epoch["test_accuracy"]])
    if not curve:
        return {"why": f"{title}: no epoch in the time there was (--budget)"}
    return {"data": answer["data"], "epochs": len(curve), "seconds": reached, "joules": joules, "curve": curve}


def measure(options, measurements):
    """{(title, device, seed): answer}; all trainings with the first seed before any with the second."""
    answers, cells = {}, [(title, device, seed) for seed in range(1, options.seeds + 1) for device in options.devices for title in TRAININGS
                          if title in SMALL or not (device == "cuda" and machine.is_emulated())]
    for title, device, seed in cells:
        if device == "cuda" and not machine.parts()["gpu"]:
            continue
        name = f"{title}, {device}, seed {seed}"
        if measurements.left() < 5 and name not in measurements.answers:
            answers[title, device, seed] = {"why": f"{name}: no time (--budget)"}
            continue
        answers[title, device, seed] = measurements.measure(name, lambda: train(options, title, device, seed, measurements.left()))
    return answers


def run(options, measurements):
    trainers.build("native", *sorted({words[0] for words, _, _ in TRAININGS.values()}))
    answers = measure(options, measurements)
    lines = []
    for (title, device, seed), a in answers.items():
        if "why" not in a:
            reached = a["seconds"] is not None
            costs = [f"${t.dollars(a['seconds']):.2g}" if reached and t.prices(device) else None for t in options.price]
            lines.append([title, device, seed, Path(a["data"]).name, f"{100 * TRAININGS[title][2]:g}%", a["epochs"], f"{a['seconds']:.2f} s" if reached else "not reached",
                          f"{100 * a['curve'][-1][1]:.2f}%", *costs, f"{a['joules']:,.0f} J" if a["joules"] is not None else None])
    lines.sort(key=lambda line: (list(TRAININGS).index(line[0]), line[1], line[2]))
    head = ["training", "device", "seed", "data", "target", "epochs", "time", "accuracy", *(t.name for t in options.price), "energy"]
    text = report.markdown(head, lines) + "\n"
    summary = []
    for title in TRAININGS:
        for device in options.devices:
            times = [a["seconds"] for (t, d, _), a in answers.items() if (t, d) == (title, device) and a.get("seconds") is not None]
            if times:
                summary.append([title, device, len(times), f"{statistics.mean(times):.2f} s", f"{min(times):.2f} s", f"{max(times):.2f} s"])
    text += report.markdown(["training", "device", "seeds that reached it", "mean time", "least", "most"], summary) + "\n"
    if all(a.get("joules") is None for a in answers.values()):
        text += "This machine tells nothing of the energy that it uses.\n\n"
    text += "".join(f"Not measured: {a['why']}\n\n" for a in answers.values() if "why" in a)
    rows = [{"training": title, "device": device, "seed": seed, "target": TRAININGS[title][2], **a,
             "dollars": {t.name: t.dollars(a["seconds"]) for t in options.price if a.get("seconds") is not None and t.prices(device)}}
            for (title, device, seed), a in answers.items()]
    panels = []
    for title in TRAININGS:
        series = {f"{device}, seed {seed}": a["curve"] for (t, device, seed), a in answers.items() if t == title and "curve" in a}
        if series:
            ends = [min(c[0][0] for c in series.values()), max(c[-1][0] for c in series.values())]
            goal = [(x, TRAININGS[title][2]) for x in ends]
            panels.append(charts.Curves(f"{title}: accuracy on test data", charts.Axis("seconds of training", log=True), charts.Axis("accuracy", from_zero=False),
                                        series | {"target": goal}, dict.fromkeys(series, "line") | {"target": "limit"}, height=150))
    return text, rows, panels
