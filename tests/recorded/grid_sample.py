"""grid_sample with every mode, padding and meaning of the corners, and its gradients."""

import torch
import torch.nn.functional as F

from table import write


def grid_sample():
    d = torch.float64
    x = torch.sin(torch.arange(24, dtype=d)).reshape(1, 2, 3, 4)
    wide = torch.sin(torch.arange(1, 13, dtype=d)) * 1.9
    corners = torch.tensor([-1, -1, 1, 1, 0, -1, 1 / 3, 0], dtype=d)  # pixel centres, if corners are aligned
    grid = torch.cat([wide, corners]).reshape(1, 2, 5, 2)
    cases = [{"x": x, "grid": grid}]
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            for align in (False, True):
                a, b = x.clone().requires_grad_(), grid.clone().requires_grad_()
                y = F.grid_sample(a, b, mode, padding, align)
                incoming = torch.arange(1, y.numel() + 1, dtype=d).reshape(y.shape)
                cases.append({"mode": mode, "padding_mode": padding, "align_corners": align, "output": y,
                              "gradients": torch.autograd.grad(y, [a, b], incoming)})
    write("grid_sample", "float64; the first case has the images and the positions of all; gradients are those of x and "
          "grid for an incoming gradient of 1, 2, 3, ...", cases)
