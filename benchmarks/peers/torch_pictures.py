"""Batches of pictures by torchvision: its ImageFolder, which decodes with Pillow, and PyTorch's loader with two worker processes. The processes stay
from epoch to epoch."""

import os

import torch
import torchvision
from torchvision import transforms


def decode_crop_2k():
    transform = transforms.Compose([transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
                                    transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
    pictures = torchvision.datasets.ImageFolder(os.environ["TERN_PICTURES"], transform)

    def epoch_of(prefetch):
        batches = torch.utils.data.DataLoader(pictures, batch_size=32, shuffle=True, num_workers=2, persistent_workers=True, prefetch_factor=prefetch)

        def epoch():
            for _ in batches:
                pass

        return epoch

    return {"Pillow": epoch_of(2), "Pillow, 4 batches ahead": epoch_of(4)}


ROWS = {"decode_crop_2k": decode_crop_2k}
