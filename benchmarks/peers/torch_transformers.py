"""The rows of networks with attention, in PyTorch."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from torch_training import labels, training


class Block(nn.Module):
    """GPT's: attention to earlier places, then two dense layers, each of normalised numbers and added to them."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.dense = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        heads = [part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, 2)]
        x = x + self.out(F.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.dense(self.norm2(x))


class GptNano(nn.Module):
    def __init__(self):
        super().__init__()
        self.characters, self.places = nn.Embedding(57, 128), nn.Embedding(64, 128)
        self.blocks = nn.Sequential(*(Block(128, 4) for _ in range(4)), nn.LayerNorm(128), nn.Linear(128, 57, bias=False))

    def forward(self, text):
        return self.blocks(self.characters(text) + self.places(torch.arange(64))).flatten(0, 1)


def gpt_nano(bf16):
    def adamw(**options):
        return lambda p: torch.optim.AdamW(p, lr=3e-4, **options)

    return training(lambda: {"eager": GptNano()}, {"foreach": adamw(foreach=True), "fused": adamw(fused=True)}, F.cross_entropy,
                    torch.randint(0, 57, (12, 64)), labels(12 * 64, 57), bf16)


ROWS = {"gpt_nano": lambda: gpt_nano(False), "gpt_nano_bf16": lambda: gpt_nano(True)}
