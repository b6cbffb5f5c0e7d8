"""The pictures of the rows that read some: 2,000 JPEGs in ten folders, made once into the cache by Pillow, which PyTorch's environment has."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import peers

COUNT, CLASSES = 2000, 10

# Noise of all scales is about as much work to decode as a photograph of as many bytes.
CODE = """
import sys, pathlib
import numpy as np
from PIL import Image
folder, count, classes = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
width, height = 500, 375
for i in range(count):
    noise = np.random.default_rng(i)
    total = np.zeros((height, width, 3), np.float32)
    for side, weight in ((2, 70), (4, 50), (8, 35), (16, 25), (32, 18), (64, 13), (125, 9), (250, 6), (500, 4)):
        size = (max(2, side * height // width), side, 3)
        small = Image.fromarray(noise.integers(0, 256, size, np.uint8)).resize((width, height), Image.BICUBIC)
        total += (np.asarray(small, np.float32) - 127.5) * (weight / 100)
    target = folder / f"{i % classes:02}" / f"{i:04}.jpg"
    target.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.clip(total + 127.5, 0, 255).astype(np.uint8)).save(target, quality=90)
"""


def folder():
    """The folder of the pictures, made where it is missing."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tern"
    made, unfinished = cache / "pictures", cache / "pictures.part"
    if not made.exists():
        print(f"Making {COUNT} pictures in {made} ...", file=sys.stderr)
        shutil.rmtree(unfinished, ignore_errors=True)
        subprocess.run([peers.python("torch"), "-c", CODE, unfinished, str(COUNT), str(CLASSES)], check=True)
        unfinished.rename(made)
    return made
