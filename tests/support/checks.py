"""What the checks that are scripts share: compilers, running a command, and counting cases as tests/run reads them."""

import functools
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GXX = os.environ.get("CXX", "g++")
FLAGS = ["-std=c++20", f"-I{ROOT}/include"]
LINK = ["-ldnnl", "-lz", "-fopenmp"]


# More ranks than cores, which they give to each other, as root.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_mpi_yield_when_idle": "1"}


def mpi_flags(what):
    """What g++ needs for a program with Open MPI: what is compile or link."""
    return run(["mpicxx.openmpi", f"--showme:{what}"]).stdout.split()


def newest_clang():
    """The path of a clang++ of version 16 or newer, or None."""
    script = f'. "{ROOT}/cmake/packages.sh"; newest_clang'
    return run(["bash", "-c", script]).stdout.strip() or None


def run(command, env={}, **options):
    """Runs a command with its messages in English, and env beside the environment; stdout and stderr come back as one text."""
    return subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=os.environ | {"LC_ALL": "C"} | env, **options)


def problem_of(command, **options):
    """None if the command succeeds, else the start of what it printed."""
    done = run(command, **options)
    start = "\n".join(done.stdout.splitlines()[:30])
    return None if done.returncode == 0 else f"$ {' '.join(map(str, command))}\n{start}"


# For g++: the compiled library of the suites instead of the headers' code, in a third of the time, and the oneDNN that it calls.
IN_TREE = ROOT / "build/cmake/in_tree"
WITH_LIBRARY = ["-march=native", "-fopenmp", "-DTERN_COMPILED", "-DTERN_SAME_OPTIONS", f"@{IN_TREE}/onednn.options"]
LIBRARY = [*(IN_TREE / f"libtern_in_tree{part}.a" for part in ("_extras", "_linalg", "_cuda", "")), WITH_LIBRARY[-1]]


def build_target(*targets):
    """What is wrong with a target of CMake's build, or None. Its objects stay."""
    return problem_of(["cmake", "--preset", "release"], cwd=ROOT) or \
        problem_of(["cmake", "--build", "build", "--target", *targets], cwd=ROOT)


def build_library(*more):
    """What is wrong with LIBRARY, or with more targets, or None."""
    return build_target("tern_in_tree_extras", "tern_in_tree_linalg", "tern_in_tree_cuda", *more)


@functools.cache
def through_ccache():
    """What comes before a command that compiles one object, so that the next run finds it: ccache, where it is installed and works."""
    done = shutil.which("ccache") and run(["ccache", GXX, "-x", "c++", "-c", os.devnull, "-o", os.devnull])
    if not done or done.returncode:
        return []
    native = ROOT / "build/native.txt"  # ccache takes -march=native for the same option on every processor
    native.parent.mkdir(exist_ok=True)
    native.write_text(run([GXX, "-march=native", "-dM", "-E", "-x", "c++", os.devnull]).stdout)
    return ["env", f"CCACHE_BASEDIR={ROOT}", "CCACHE_ABSSTDERR=1", f"CCACHE_EXTRAFILES={native}", "ccache"]


def object_problem(source, output, *flags, compiler=GXX, **options):
    """What is wrong with an object that is compiled through ccache, or None."""
    return problem_of([*through_ccache(), compiler, *FLAGS, *flags, "-c", source, "-o", output], **options)


def program_problem(sources, output, *flags, linked=LINK, compiler=GXX):
    """What is wrong with a program, or None. Its sources are compiled one by one, because ccache knows objects alone, and linked."""
    objects = [f"{output}.{number}.o" for number in range(len(sources))]
    problems = [object_problem(source, each, *flags, compiler=compiler) for source, each in zip(sources, objects)]
    return next(filter(None, problems), None) or problem_of([compiler, *flags, *objects, *linked, "-o", output])


def in_parallel(function, items):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))


class Cases:
    """Counts cases; `finish` prints the counts as the last line and exits with 1 if one failed."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def record(self, name, problem):
        if problem:
            self.failed += 1
            print(f"FAILED {name}\n{problem.rstrip()}", flush=True)
        else:
            self.passed += 1
            print(f"ok {name}", flush=True)

    def add(self, name, done):
        """The cases of a program that counts its own; one that does not get as far as that is a failure."""
        counts = re.findall(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", done.stdout, re.MULTILINE)
        passed, failed, skipped = map(int, counts[-1] if counts else (0, 1, 0))
        self.passed, self.failed, self.skipped = self.passed + passed, self.failed + failed, self.skipped + skipped
        print(f"{done.stdout.rstrip() if failed else ''}\n{name}: {passed} passed, {failed} failed, {skipped} skipped".lstrip(), flush=True)

    def skip(self, name, reason):
        self.skipped += 1
        print(f"skipped {name}: {reason}", flush=True)

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)
        sys.exit(1 if self.failed else 0)
