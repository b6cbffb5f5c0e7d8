"""The studies: `benchmarks/run study NAME`. Each is a module of studies/, whose run() measures and gives a table, rows and a chart."""

import argparse
import os
import signal
import sys

import charts
import machine
import report
import tariffs
from measurements import Measurements
from studies import accuracy, networks, placement, shapes, threads
from trainers import Failed

STUDIES = {"threads": threads, "networks": networks, "shapes": shapes, "placement": placement, "accuracy": accuracy}
DEVICES = {"cpu": ["cpu"], "cuda": ["cuda"], "all": ["cpu", "cuda"]}

USAGE = "benchmarks/run study NAME [--budget MINUTES] [--device cpu|cuda|all] [--json FILE] [--table FILE] [--svg FILE] [its own options]\n\nNAME is one of:\n"


def usage():
    return USAGE + "".join(f"  {name:<10} {study.WHAT}\n" for name, study in STUDIES.items()) + "NAME --help lists the options of one.\n"


def arguments(words):
    if not words or words[0] not in STUDIES:
        asked = words[:1] in (["--help"], ["-h"])
        print(usage(), end="", file=sys.stdout if asked else sys.stderr)
        raise SystemExit(0 if asked else f"benchmarks/run study: {f'no study {words[0]!r}' if words else 'no NAME'}")
    study = STUDIES[words[0]]
    parser = argparse.ArgumentParser(prog=f"benchmarks/run study {words[0]}", description=study.WHAT)
    parser.add_argument("--budget", type=float, default=15, metavar="MINUTES", help="for all measurements; building is not counted (15)")
    parser.add_argument("--device", choices=DEVICES, default="all")
    for name, what in (("json", "all that was measured"), ("table", "Markdown"), ("svg", "a chart")):
        parser.add_argument(f"--{name}", metavar="FILE", help=what)
    study.add_options(parser)
    options = parser.parse_args(words[1:])
    if problem := study.problem(options):
        parser.error(problem)
    if not 0.1 <= options.budget <= 10_080:
        parser.error(f"--budget wants 0.1 to 10080 minutes, not {options.budget:g}")
    if "price" in options:
        try:
            options.price = tariffs.load(options.price)
        except tariffs.Refused as error:
            parser.error(f"--price: {error}")
    for file in filter(None, (options.json, options.table, options.svg)):
        if not os.access(os.path.dirname(os.path.abspath(file)), os.W_OK):
            parser.error(f"{file} cannot be written")
    options.devices = DEVICES[options.device]
    return words[0], study, options


def main():
    name, study, options = arguments(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if options.devices == ["cuda"] and not machine.parts()["gpu"]:
        raise SystemExit(f"benchmarks/run study: no GPU: {machine.parts()['why_no_gpu']}")
    print(f"study {name}: builds what it measures first, in minutes where nothing is built yet, then measures for {options.budget:g} minutes", file=sys.stderr)
    here = machine.describe()
    asked = {key: str(value) for key, value in vars(options).items() if key not in ("json", "table", "svg", "budget", "price")}
    measurements = Measurements(name, [asked, machine.parts()], options.budget)
    try:
        table, rows, panels = study.run(options, measurements)
    except (Failed, RuntimeError) as error:
        raise SystemExit(f"benchmarks/run study {name}: {error}") from None
    measurements.complete()
    text = f"{here}\n\n{table}{machine.notes(options.devices)}"
    print(text, end="")
    for path, content in ((options.json, lambda: report.as_json({"study": name, "machine": here, "rows": rows})), (options.table, lambda: text),
                          (options.svg, lambda: charts.svg(*panels))):
        if path:
            report.write(path, content())


if __name__ == "__main__":
    main()
