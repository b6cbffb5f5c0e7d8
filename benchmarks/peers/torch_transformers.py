"""The rows of networks with attention, in PyTorch."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from torch_networks import SGD, classifier, published
from torch_training import labels, training


class Block(nn.Module):
    """GPT's: attention to earlier places, or to all, then two dense layers, each of normalised numbers and added to them."""

    def __init__(self, width, heads, causal=True, gelu="none"):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.dense = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(gelu), nn.Linear(4 * width, width))

    def forward(self, x):
        heads = [part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, 2)]
        x = x + self.out(F.scaled_dot_product_attention(*heads, is_causal=self.causal).transpose(1, 2).flatten(2))
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


class Gpt2Block(Block):
    """Keys and values are kept in memory that is allocated once; those given are its next."""

    def __init__(self, capacity):
        super().__init__(768, 12, gelu="tanh")
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, 12, capacity, 64))

    def forward(self, x, cached):
        query, key, value = (part.unflatten(2, (12, 64)).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, 2))
        end = cached + x.size(1)
        self.keys[:, :, cached:end], self.values[:, :, cached:end] = key, value
        seen = F.scaled_dot_product_attention(query, self.keys[:, :, :end], self.values[:, :, :end], is_causal=cached == 0)
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        return x + self.dense(self.norm2(x))


class Gpt2(nn.Module):
    """GPT-2 small: the logits after tokens that follow so many in the cache."""

    def __init__(self, capacity):
        super().__init__()
        self.words, self.places = nn.Embedding(50257, 768), nn.Embedding(1024, 768)
        self.blocks = nn.ModuleList(Gpt2Block(capacity) for _ in range(12))
        self.norm = nn.LayerNorm(768)

    def forward(self, tokens, cached):
        x = self.words(tokens) + self.places.weight[cached:cached + tokens.size(1)]
        for block in self.blocks:
            x = block(x, cached)
        return F.linear(self.norm(x)[:, -1], self.words.weight)


def inference(model, *inputs):
    """Without gradients: eager, and compiled with the weights as constants."""
    model.eval()
    compiled = torch.compile(model, dynamic=False, options={"freezing": True})

    def running(net):
        def run():
            with torch.no_grad():
                net(*inputs)
        return run

    return {"eager": running(model), "compile, frozen": running(compiled)}


def gpt2(cached, count, dtype=torch.float):
    return lambda: inference(Gpt2(cached + count).to(dtype), torch.randint(0, 50257, (1, count)), cached)


VIT = published("vit_b_16")
ROWS = {
    "gpt_nano": lambda: gpt_nano(False), "gpt_nano_bf16": lambda: gpt_nano(True),
    "gpt2_prompt": gpt2(0, 256), "gpt2_prompt_bf16": gpt2(0, 256, torch.bfloat16),
    "gpt2_token": gpt2(256, 1), "gpt2_token_bf16": gpt2(256, 1, torch.bfloat16),
    "vit_b_16_train": classifier(VIT, SGD, {"lr": 0.01, "momentum": 0.9}, (4, 3, 224, 224), 1000),
    "vit_b_16_train_bf16": classifier(VIT, SGD, {"lr": 0.01, "momentum": 0.9}, (4, 3, 224, 224), 1000, bf16=True),
    "vit_b_16_infer_bf16": lambda: inference(VIT().bfloat16(), torch.randn(8, 3, 224, 224).bfloat16()),
    "vit_b_16_infer": lambda: inference(VIT(), torch.randn(8, 3, 224, 224)),
}
