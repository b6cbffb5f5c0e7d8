"""The trainers of examples/, as the studies run them: in three builds, for an epoch or as long as there is time."""

import json
import os
import re
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

import sides

# How a program can be built, and the target of tern's that it links.
BUILDS = {"baseline": "tern::tern", "native": "tern::native", "compiled": "tern::compiled"}


def folder(build):
    return sides.BUILD if build == "native" else sides.BUILD / "studies" / build


def build(kind, *names):
    """Builds trainers in Release: for any processor of this kind, for this one, or with the compiled library."""
    sides.build(*names, folder=folder(kind), options=[f"-DTERN_EXAMPLES_LINK={BUILDS[kind]}", "-DTERN_BUILD_TESTS=OFF"] if kind != "native" else [])


def data(root, name):
    """The options that name a data set in a folder of several, where NAME may be NAME-subset; none if it is not there."""
    found = [path for path in (Path(root or "/nowhere") / name, Path(root or "/nowhere") / f"{name}-subset") if path.exists()]
    return ["--data", str(found[0])] if found else []


class Failed(RuntimeError):
    """A trainer that ended with an error; says which one."""


def train(kind, words, threads, seconds):
    """The report of a trainer as JSON (support::report_json). SIGTERM ends it after so many seconds of training; "cut" has what it did until then."""
    with tempfile.TemporaryDirectory() as name:
        report = Path(name) / "report.json"
        command = [folder(kind) / "examples" / words[0], *words[1:], "--threads", threads, "--json", report, "--save", Path(name) / "net"]
        process = subprocess.Popen([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=sides.environ(threads))
        timer, printed = None, ""
        for line in process.stdout:
            printed += line
            if timer is None and re.search(r"\d threads", line):  # the data are there
                timer = threading.Timer(seconds, process.send_signal, [signal.SIGTERM])
                timer.start()
        errors = process.stderr.read()
        status = process.wait()
        if timer:
            timer.cancel()
        if not report.exists() or (status and "interrupted" not in printed):
            raise Failed(f"{' '.join(words)}: {errors.strip() or f'ended with {status}'}")
        return json.loads(report.read_text())


def epoch_seconds(answer):
    """(seconds of an epoch, samples of an epoch): the fastest whole one's, or what the part that was done makes of it."""
    if answer["epochs"]:
        best = min(answer["epochs"], key=lambda epoch: epoch["seconds"])
        return best["seconds"], best["samples"]
    cut = answer["cut"]
    return cut["seconds"] / cut["part"], cut["samples"] / cut["part"]
