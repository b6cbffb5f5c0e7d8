"""Networks on a GPU, in PyTorch: training steps on random samples that are there already, and a generated token."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from torch_cuda import at_first_call, captured, gpu
from torch_networks import MnistCnn, resnet20
from torch_text import NextWords
from torch_transformers import Block, Gpt2

compiles = True  # whether rows have a mode that torch.compile makes


def training(make, optimiser, batch, bf16=False):
    """A training step of the network that make() gives, with the cross-entropy of batch() = (samples, labels); in bfloat16 as autocast
    has it, with weights in float32. Floats may be rounded to TF32."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.benchmark = True
    net = make().to(gpu).train()
    optimiser = optimiser(net.parameters())
    x, y = batch()

    def step_of(forward):
        def step():
            optimiser.zero_grad()
            with torch.autocast("cuda", torch.bfloat16, enabled=bf16):
                loss = F.cross_entropy(forward(x), y)
            loss.backward()
            optimiser.step()
        return step

    return net, step_of


def plain(make, optimiser, batch, bf16=False):
    def step():
        net, step_of = training(make, optimiser, batch, bf16)
        return step_of(net)

    return at_first_call(step)


def as_graph(make, optimiser, batch, bf16=False):
    def step():
        net, step_of = training(make, optimiser, batch, bf16)
        return captured(step_of(net))

    return at_first_call(step)


def compiled(make, optimiser, batch, bf16=False):
    def step():
        net, step_of = training(make, optimiser, batch, bf16)
        return step_of(torch.compile(net, dynamic=False))

    return at_first_call(step)


def compiled_graph(make, optimiser, batch, bf16=False):
    def step():
        net, step_of = training(make, optimiser, batch, bf16)
        return captured(step_of(torch.compile(net, dynamic=False)))

    return at_first_call(step)


def trained(make, optimiser, batch, bf16=False):
    """(eager, captured): the rows of a network."""
    what = make, optimiser, batch, bf16

    def faster_ones():
        modes = {"CUDA graph": as_graph(*what)}
        return modes | {"torch.compile": compiled(*what), "torch.compile, CUDA graph": compiled_graph(*what)} if compiles else modes

    return lambda: {"eager": plain(*what)}, faster_ones


def images(make, optimiser, shape, classes, bf16=False):
    """(eager, captured): the rows of a network for images, channels last; eager and as a graph also in row-major order."""

    def in_order(order):
        def batch():
            return torch.randn(shape, device=gpu).contiguous(memory_format=order), torch.randint(0, classes, shape[:1], device=gpu)

        return (lambda: make().to(memory_format=order)), optimiser, batch, bf16

    rows = trained(*in_order(torch.channels_last))
    row_major = in_order(torch.contiguous_format)
    return (lambda: rows[0]() | {"eager, row-major": plain(*row_major)}, lambda: {"CUDA graph, row-major": as_graph(*row_major)} | rows[1]())


def normalised(channels, width, side, stride=1):
    return [nn.Conv2d(channels, width, side, stride, side // 2, bias=False), nn.BatchNorm2d(width)]


class Bottleneck(nn.Module):
    """ResNet-50's, the stride in the 3 x 3 convolution; written down, as torchvision need not be where the GPU is."""

    def __init__(self, channels, width, stride):
        super().__init__()
        self.body = nn.Sequential(*normalised(channels, width, 1), nn.ReLU(), *normalised(width, width, 3, stride), nn.ReLU(),
                                  *normalised(width, 4 * width, 1))
        self.shortcut = nn.Sequential(*(normalised(channels, 4 * width, 1, stride) if channels != 4 * width else []))

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x))


def resnet50():
    layers, channels = [*normalised(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for width, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for i in range(count):
            layers.append(Bottleneck(channels, width, 2 if i == 0 and width > 64 else 1))
            channels = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000))


class Vit(nn.Module):
    """ViT-B/16: patches of 16 x 16 and a class token, 12 blocks without a mask, the class token's numbers."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 768, 16, 16)
        self.token, self.places = nn.Parameter(torch.zeros(1, 1, 768)), nn.Parameter(torch.randn(1, 197, 768) * 0.02)
        self.blocks = nn.Sequential(*(Block(768, 12, causal=False) for _ in range(12)), nn.LayerNorm(768))
        self.head = nn.Linear(768, 1000)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.size(0), -1, -1), x), 1) + self.places
        return self.head(self.blocks(x)[:, 0])


class Gpt2Text(nn.Module):
    """GPT-2 small without dropout: the logits after each token of whole texts, computed with the words' weights."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(50257, 768), nn.Embedding(1024, 768)
        self.blocks = nn.Sequential(*(Block(768, 12, gelu="tanh") for _ in range(12)), nn.LayerNorm(768))
        for table in (self.words, self.places):
            nn.init.normal_(table.weight, std=0.02)

    def forward(self, text):
        x = self.words(text) + self.places.weight[:text.size(1)]
        return F.linear(self.blocks(x), self.words.weight).flatten(0, 1)


def tokens(count, *shape):
    return torch.randint(0, count, shape, device=gpu)


def sgd(**options):
    return lambda p: torch.optim.SGD(p, fused=True, **options)


def adamw(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4, weight_decay=1e-2, fused=True, capturable=True)


def adadelta(parameters):
    return torch.optim.Adadelta(parameters, lr=1, foreach=True, capturable=True)


def gpt2(bf16):
    return trained(Gpt2Text, adamw, lambda: (tokens(50257, 8, 512), tokens(50257, 8 * 512)), bf16)


def next_token(dtype):
    """(eager, captured): the most likely token after 256 in the cache."""

    def make():
        torch.backends.cuda.matmul.allow_tf32 = True
        net, token = Gpt2(257).to(gpu, dtype).eval(), tokens(50257, 1, 1)

        def step():
            with torch.no_grad():
                token.copy_(net(token, 256).argmax(-1, keepdim=True))
        return step

    return lambda: {"eager": at_first_call(make)}, lambda: {"CUDA graph": at_first_call(lambda: captured(make()))}


NETWORKS = {
    "mnist_cnn": images(MnistCnn, adadelta, (128, 1, 28, 28), 10),
    "resnet20": images(resnet20, sgd(lr=0.1, momentum=0.9, weight_decay=1e-4), (128, 3, 32, 32), 10),
    "ptb_lstm200": trained(lambda: NextWords(nn.LSTM), sgd(lr=0.1, momentum=0.9), lambda: (tokens(10000, 35, 32), tokens(10000, 35 * 32))),
    "gpt2_train_bf16": gpt2(True), "gpt2_train_tf32": gpt2(False),
    "gpt2_token_bf16": next_token(torch.bfloat16), "gpt2_token_f32": next_token(torch.float32),
}
ROWS = {name: eager for name, (eager, _) in NETWORKS.items()} | {f"{name}_captured": faster for name, (_, faster) in NETWORKS.items()}
ROWS |= {f"resnet50_cuda_b{batch}_{kind}": trained(
    lambda: resnet50().to(memory_format=torch.channels_last), sgd(lr=0.01, momentum=0.9),
    lambda batch=batch: (torch.randn(batch, 3, 224, 224, device=gpu).contiguous(memory_format=torch.channels_last), tokens(1000, batch)),
    kind == "bf16")[0] for batch in (64, 128, 256) for kind in ("tf32", "bf16")}
ROWS["vit_train_bf16"] = trained(Vit, sgd(lr=0.01, momentum=0.9), lambda: (torch.randn(64, 3, 224, 224, device=gpu), tokens(1000, 64)), True)[0]
