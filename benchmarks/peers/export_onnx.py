"""Exports an inference row's network as ONNX, for engines that do nothing but run one: `export_onnx.py ROW FILE`."""

import os
import sys

import torch

from torch_networks import MODELS, published

if __name__ == "__main__":
    row, path = sys.argv[1:]
    name = row.removesuffix("_infer")
    side, options = MODELS[name]
    whole = f"{path}.part"
    torch.onnx.export(published(name, **options)().eval(), (torch.randn(16, 3, side, side),), whole, input_names=["images"],
                      external_data=False)
    os.replace(whole, path)
