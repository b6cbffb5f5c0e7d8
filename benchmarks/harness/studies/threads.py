"""Threads, builds and devices: six trainings on real data, an epoch each."""

import os

import charts
import machine
import report
import trainers
from trainers import BUILDS, Failed

WHAT = "the time and cost of an epoch of six trainings, by threads, build and device"

# title: the trainer's words and its data set.
TRAININGS = {
    "MNIST MLP": (["mnist", "--model", "mlp"], "mnist"),
    "MNIST CNN": (["mnist", "--model", "cnn"], "mnist"),
    "CIFAR VGG": (["cifar", "--model", "vgg", "--batch-size", "128"], "cifar10"),
    "IMDb fastText": (["imdb", "--model", "fasttext"], "imdb"),
    "IMDb LSTM": (["imdb", "--model", "bilstm"], "imdb"),
    "Nietzsche LSTM": (["characters", "--model", "lstm"], "nietzsche"),
}
SHORTEST = 2  # seconds of a training


def add_options(parser):
    parser.add_argument("--data", metavar="FOLDER", default=os.environ.get("TERN_DATA"), help="has mnist, cifar10, imdb and nietzsche in it (TERN_DATA)")
    parser.add_argument("--price", metavar="FILE", help="a JSON list of tariffs, or dollars an hour")
    parser.add_argument("--builds", type=lambda names: names.split(","), default=list(BUILDS), help=f"of {', '.join(BUILDS)} (all)")


def problem(options):
    unknown = [build for build in options.builds if build not in BUILDS]
    return f"no build '{unknown[0]}'; there are {', '.join(BUILDS)}" if unknown else None


def thread_counts(cores):
    counts = [1]
    while 2 * counts[-1] < cores:
        counts.append(2 * counts[-1])
    return counts + [cores] * (cores > 1)


def columns(options):
    """(device, build, threads) of each, the one that all others are compared with first."""
    cores = machine.parts()["cores"]
    gpu = [("cuda", "native", cores)] if "cuda" in options.devices else []
    return [*gpu, *(("cpu", build, n) for n in thread_counts(cores) for build in options.builds if "cpu" in options.devices)]


def title(column):
    device, build, threads = column
    return "GPU" if device == "cuda" else f"{build}, {threads} thread{'s' * (threads > 1)}"


def measure(options, measurements, cells):
    """{(training, column): {"seconds", "samples", "whole"} of an epoch, or {"why": …}}."""
    answers = {}
    for i, (training, column) in enumerate(cells):
        words, data = TRAININGS[training]
        device, build, threads = column
        if device == "cuda" and not machine.parts()["gpu"]:
            answers[training, column] = {"why": "no GPU"}
            continue

        def train():
            seconds = max(SHORTEST, measurements.left() / (len(cells) - i))
            try:
                small = ["--batch-size", "8"] if device == "cuda" and machine.is_emulated() else []
                answer = trainers.train(build, [*words, *small, "--device", device, "--epochs", "1", *trainers.data(options.data, data)], threads, seconds)
            except Failed as error:
                return {"why": str(error)}
            whole, samples = trainers.epoch_seconds(answer)
            return {"seconds": whole, "samples": samples, "whole": bool(answer["epochs"]), "data": answer["data"]}

        answers[training, column] = measurements.measure(f"{training}, {title(column)}", train)
    return answers


def table(all_columns, answers, prices):
    def rows(cell):
        return [[training, *(cell(answers[training, column], column, answers[training, first]) for column in all_columns)] for training in TRAININGS]

    def seconds(answer, column, _):
        return f"{answer['seconds']:.2f} s{'' if answer['whole'] else ' *'}" if "seconds" in answer else None

    def ratio(answer, column, base):
        return f"{answer['seconds'] / base['seconds']:.2f}" if "seconds" in answer and "seconds" in base else None

    first = next((c for c in all_columns if any("seconds" in answers[t, c] for t in TRAININGS)), all_columns[0])
    head = ["", *map(title, all_columns)]
    text = f"Seconds for an epoch:\n\n{report.markdown(head, rows(seconds))}\n"
    if any(not answer.get("whole", True) for answer in answers.values()):
        text += "\\* From the part of an epoch for which there was time.\n\n"
    text += f"Time relative to {title(first)}:\n\n{report.markdown(head, rows(ratio))}\n"
    base_tariff = next((tariff for tariff in prices if tariff.prices(first[0])), None)
    for tariff in prices:
        def cost(answer, column, base):
            if "seconds" not in answer or not tariff.prices(column[0]):
                return None
            compared = f", {tariff.dollars(answer['seconds']) / base_tariff.dollars(base['seconds']):.2f}" if base_tariff and "seconds" in base else ""
            return f"${tariff.dollars(answer['seconds']):.2g}{compared}"

        if any(tariff.prices(device) and "seconds" in answer for (_, (device, _, _)), answer in answers.items()):
            relative = f", and relative to {title(first)} on {base_tariff.name}" if base_tariff else ""
            text += f"Cost of an epoch on {tariff}{relative}:\n\n{report.markdown(head, rows(cost))}\n"
    missing = {answer["why"] for answer in answers.values() if "why" in answer} - {"no GPU"}
    return text + "".join(f"Not measured: {why}\n\n" for why in sorted(missing)), first


def run(options, measurements):
    programs = sorted({words[0] for words, _ in TRAININGS.values()})
    for build in dict.fromkeys(build for _, build, _ in columns(options)):
        trainers.build(build, *programs)
    all_columns = columns(options)
    answers = measure(options, measurements, [(training, column) for column in all_columns for training in TRAININGS])
    text, first = table(all_columns, answers, options.price)
    rows = [{"training": training, "device": device, "build": build, "threads": n, **answer,
             "dollars": {t.name: t.dollars(answer["seconds"]) for t in options.price if "seconds" in answer and t.prices(device)}}
            for (training, (device, build, n)), answer in answers.items()]
    bars = {training: {title(column): answers[training, column]["seconds"] / answers[training, first]["seconds"]
                       if "seconds" in answers[training, column] and "seconds" in answers[training, first] else None for column in all_columns}
            for training in TRAININGS}
    return text, rows, [charts.Bars(f"Time of an epoch, relative to {title(first)}", "times", bars, line=1)]
