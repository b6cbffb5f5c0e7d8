"""The machine that a study runs on, as programs/machine.cpp and the system tell it."""

import datetime
import functools
import json
import os
import platform
import subprocess
from pathlib import Path

import sides

EMULATED = "Emulated GPU"  # the name that the emulated driver gives its card


def ask(*question):
    sides.build("machine")
    result = subprocess.run([sides.BUILD / "benchmarks" / "machine", *question], text=True, capture_output=True)
    if result.returncode:
        raise SystemExit(f"benchmarks/run study: {result.stderr.strip()}")
    return json.loads(result.stdout)


@functools.cache
def parts():
    return ask("parts") | {"cores": len(os.sched_getaffinity(0))}


@functools.cache
def limits(device):
    """{"float32", "bfloat16": operations a second, "memory": bytes a second}, the best that was measured."""
    return ask("limits", device)


def is_emulated():
    return parts()["gpu"] == EMULATED


def memory_bytes(device):
    """What is free for a program. Of a card, all of it."""
    if device == "cuda":
        return parts()["gpu_memory_bytes"]
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return 1024 * int(line.split()[1])


def system():
    for line in Path("/etc/os-release").read_text().splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.split("=", 1)[1].strip('"')
    return platform.system()


def describe():
    """One line: what a figure must name beside its command."""
    here = parts()
    gpu = f"{here['gpu']}, {here['gpu_memory_bytes'] / 2**30:.0f} GiB" if here["gpu"] else "no GPU"
    return (f"{here['processor']}, {here['cores']} cores, {here['memory_bytes'] / 2**30:.0f} GiB, {here['instruction_set']}; {gpu}; {system()}, "
            f"g++ {here['compiler'].split()[0]}; {datetime.date.today()}")


def notes(devices):
    """What a table of these devices must say besides."""
    if "cuda" not in devices:
        return ""
    if not parts()["gpu"]:
        return f"The GPU's columns are empty: {parts()['why_no_gpu']}.\n"
    return "The GPU is emulated: its times are a model's or the emulation's, and no card's.\n" if is_emulated() else ""
