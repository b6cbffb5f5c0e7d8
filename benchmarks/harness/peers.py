"""The peers: a virtual environment each, made once from pip, outside the tree; programs against LibTorch's wheel."""

import functools
import os
import subprocess
import sys
from pathlib import Path

PACKAGES = {
    "torch": ["torch==2.15.*", "torchvision==0.29.*", "numpy", "onnxscript==0.7.*"],
    "tensorflow": ["tensorflow-cpu==2.21.*"],
    "openvino": ["openvino==2026.4.*"],
    "onnxruntime": ["onnxruntime==1.31.*"],
    "webdataset": ["webdataset==1.0.*", "numpy"],
    "numpy": ["numpy==2.*"],
    "lmdb": ["lmdb==1.8.*", "numpy"],
}
ENGINES = ("openvino", "onnxruntime")  # for inference alone; they read what PyTorch exports
SOURCES = Path(__file__).parent.parent / "peers"


class Missing(RuntimeError):
    """A peer that cannot be installed: what is measured goes on without it."""


@functools.cache
def problem(peer):
    """Why the peer cannot be installed, asked of pip once; None where it is there."""
    try:
        install(peer)
    except (Missing, OSError) as error:
        return str(error)


def environment(peer):
    """The folder of the peer's virtual environment. Missing if it cannot be installed."""
    if why := problem(peer):
        raise Missing(why)
    return folder_of(peer)


def folder_of(peer):
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "tern" / "peers" / peer


def install(peer):
    folder = folder_of(peer)
    packages = " ".join(PACKAGES[peer])
    complete = folder / "complete"
    if not complete.exists() or complete.read_text() != packages:
        print(f"Installing {packages} in {folder} ...", file=sys.stderr)
        for command in ([sys.executable, "-m", "venv", folder], [folder / "bin" / "pip", "install", "--quiet", *PACKAGES[peer]]):
            if subprocess.run(command, stdout=sys.stderr).returncode:  # what it prints is not the benchmark's output
                raise Missing(f"{peer} could not be installed; see that this works: {' '.join(map(str, command))}")
        complete.write_text(packages)


def python(peer):
    return environment(peer) / "bin" / "python"


@functools.cache
def gpu_python():
    """The python3 on the path, if its PyTorch sees a GPU; else None."""
    code = "import sys, torch; sys.exit(not torch.cuda.is_available())"
    seen = subprocess.run(["python3", "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return None if seen.returncode else "python3"


def version(peer, interpreter=None):
    code = f"import {peer} as p, re; print(re.match('[0-9.]+', p.__version__)[0])"
    environ = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
    return subprocess.run([interpreter or python(peer), "-c", code], check=True, text=True, capture_output=True,
                          env=environ).stdout.strip()


def onnx_folder():
    return environment("torch") / "onnx"


def export_onnx(row):
    """Has PyTorch export the network of an inference row, once."""
    path = onnx_folder() / f"{row.name}.onnx"
    if not path.exists():
        onnx_folder().mkdir(exist_ok=True)
        subprocess.run([python("torch"), SOURCES / "export_onnx.py", row.name, path], check=True, stdout=subprocess.DEVNULL)


def libtorch():
    """The wheel's folder with LibTorch's headers and libraries."""
    return next(environment("torch").glob("lib/python3*/site-packages/torch"))


def compile_libtorch(source):
    """The command, less its output, that compiles a program of peers/ against LibTorch."""
    include = libtorch() / "include"
    return [os.environ.get("CXX", "g++"), "-std=c++20", "-O2", "-isystem", include, "-isystem",
            include / "torch/csrc/api/include", SOURCES / source]


def build_libtorch(name):
    """Builds a program of peers/, unless it is newer than its source, and returns its path."""
    program = environment("torch") / "bin" / name
    source = SOURCES / f"{name}.cpp"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        libraries = libtorch() / "lib"
        subprocess.run([*compile_libtorch(source.name), "-o", program, "-L", libraries, "-ltorch_cpu", "-lc10",
                        f"-Wl,-rpath,{libraries}"], check=True)
    return program
