#!/usr/bin/env python3
"""Saves weights from torchvision, drawn from a seed, and checks that examples/classify finds the same five classes.

    ~/.cache/tern/peers/torch/bin/python benchmarks/peers/torchvision_weights.py CLASSIFY PICTURE...     # needs torchvision

CLASSIFY is the built example. Pictures are brought to size beforehand: torchvision rounds resized ones to 8 bits, tern does
not. Normalisations get statistics other than 0 and 1; GoogLeNet and Inception-v3 keep their auxiliary heads in the file and
transform their input, as with the weights that torchvision publishes.
"""

import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import torchvision
from PIL import Image
from torchvision import transforms

MODELS = {"alexnet": {}, "vgg16": {}, "resnet18": {}, "resnet50": {}, "mobilenet_v2": {},
          "googlenet": {"transform_input": True, "init_weights": True},
          "inception_v3": {"transform_input": True, "init_weights": True}}


def resized(name, picture, folder):
    """The path of a PNG of the picture, as large as the model's transforms make it."""
    path = Path(folder) / f"{name}_{Path(picture).stem}.png"
    transforms.Resize(342 if name == "inception_v3" else 256)(Image.open(picture).convert("RGB")).save(path)
    return path


def seen(name, picture):
    """The picture as torchvision's models are to see it."""
    see = transforms.Compose([transforms.CenterCrop(299 if name == "inception_v3" else 224), transforms.ToTensor(),
                              transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
    return see(Image.open(picture))[None]


@torch.no_grad()
def drawn(name, options, pictures):
    """The model, its statistics those of the pictures; the scores of the first are spread over 2, so that shares differ."""
    torch.manual_seed(1)
    model = getattr(torchvision.models, name)(weights=None, **options)
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = None
    batch = torch.cat([seen(name, picture) for picture in pictures])
    model(batch)
    model.eval()
    last = [module for module in model.modules() if isinstance(module, torch.nn.Linear)][-1]
    factor = 2 / model(batch)[0].std()
    last.weight *= factor
    last.bias *= factor
    return model


def save_safetensors(path, tensors):
    """Plain tensors, in safetensors' format: an 8-byte length, a JSON header, the bytes."""
    header, parts, at = {}, [], 0
    types = {torch.float32: "F32", torch.int64: "I64"}
    for name, tensor in tensors.items():
        part = tensor.contiguous().numpy().tobytes()
        header[name] = {"dtype": types[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + len(part)]}
        parts.append(part)
        at += len(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


@torch.no_grad()
def five(model, name, picture):
    """Classes and shares in percent, by torchvision itself."""
    share, which = model(seen(name, picture)).softmax(1)[0].topk(5)
    return [f"{100 * s:5.1f}%  class {c}" for s, c in zip(share.tolist(), which.tolist())]


def main():
    classify, *originals = sys.argv[1:]
    same = other = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, options in MODELS.items():
            pictures = [resized(name, picture, folder) for picture in originals]
            model = drawn(name, options, pictures)
            weights = Path(folder) / f"{name}.safetensors"
            save_safetensors(weights, model.state_dict())
            for picture in pictures:
                command = [classify, picture, "--weights", weights, "--model", name, "--device", "cpu"]
                found = subprocess.run(command, text=True, capture_output=True)
                expected = five(model, name, picture)
                if found.stdout.splitlines() == expected:
                    same += 1
                else:
                    other += 1
                    print(f"{name}, {picture}: {found.stderr}", *found.stdout.splitlines(), "torchvision:", *expected, sep="\n")
            weights.unlink()
            print(f"{name}: {same} the same, {other} not, so far", flush=True)
    sys.exit(other > 0)


main()
