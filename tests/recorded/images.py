"""What torchvision and Pillow make of images. Needs torchvision; the photographs are those of TERN_TEST_DATA."""

import hashlib
import os
import pathlib

import torch
import torchvision.transforms.v2.functional as F
from PIL import Image

from table import write


def image_transforms():
    generator = torch.Generator().manual_seed(1)
    cases = []

    def add(name, function, shape, *args):
        image = torch.rand(shape, generator=generator)
        cases.append({"name": name, "image": image, "args": list(args), "output": function(image, *args)})

    for shape, size in [((1, 8, 8), (4, 4)), ((3, 7, 5), (3, 4)), ((1, 5, 6), (11, 9)), ((1, 6, 9), (6, 2)),
                        ((1, 3, 4), (5, 4)), ((2, 13, 11), (5, 5)), ((1, 4, 4), (1, 1))]:
        add("resize", lambda x, *s: F.resize(x, s, antialias=True), shape, *size)
    for shape, size in [((1, 6, 9), 3), ((1, 9, 6), 4), ((1, 5, 7), 8), ((1, 4, 4), 2)]:
        add("resize_shorter", lambda x, s: F.resize(x, s, antialias=True), shape, size)
    for shape, size in [((1, 6, 9), (4, 4)), ((1, 7, 8), (4, 3)), ((1, 3, 5), (6, 4)), ((1, 5, 5), (5, 5))]:
        add("center_crop", lambda x, *s: F.center_crop(x, s), shape, *size)
    for factor in (0, 0.5, 1.7):
        add("brightness", F.adjust_brightness, (3, 3, 7), factor)
        add("contrast", F.adjust_contrast, (3, 3, 7), factor)
        add("contrast", F.adjust_contrast, (1, 3, 7), factor)
        add("saturation", F.adjust_saturation, (3, 3, 7), factor)
    for part in (-0.5, -0.2, 0.1, 0.45):
        add("hue", F.adjust_hue, (3, 3, 7), part)
    write("image_transforms", "torchvision.transforms.v2.functional on float images [C, H, W]; resize with antialias",
          cases)


def photographs():
    folder = pathlib.Path(os.environ["TERN_TEST_DATA"]) / "data/imagefolder"
    cases = []
    for path in sorted(folder.glob("*/*.jpg")):
        image = Image.open(path).convert("RGB")
        cropped = F.center_crop(F.resize(image, 64), 48)
        points = [(y, x) for y in (0, 17, 30, 47) for x in (0, 11, 47)]
        cases.append({"name": f"{path.parent.name}/{path.name}", "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
                      "size": list(image.size), "decoded": hashlib.sha256(image.tobytes()).hexdigest(),
                      "points": [[y, x, *cropped.getpixel((x, y))] for y, x in points]})
    write("photographs", "Pillow: the checksum of the pixels [H, W, 3]; points y, x, red, green, blue of the 48 x 48 in the "
          "middle after resizing to a shorter side of 64", cases)


if __name__ == "__main__":
    image_transforms()
    photographs()
