"""The rows: what each does in how many FLOPs and bytes, so what the machine allows it at least (its limit)."""

import dataclasses
import functools
import typing
from pathlib import Path

import pictures

# What a row can be run beside: other libraries, and cuBLASLt called directly.
PEERS = ("cublaslt", "torch", "tensorflow", "openvino", "onnxruntime", "webdataset", "lmdb")

NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


@dataclasses.dataclass
class Machine:
    """What benchmarks/limits.cpp measured, per second: FLOPs, bytes read from memory, bytes read and written."""

    peak_flops: float
    read_memory: float
    copy_memory: float
    copy_cache: float

    def copy(self, n):
        """Seconds to read and write n bytes in all, which lie in the last-level cache where half of it holds them."""
        return n / (self.copy_cache if n <= last_level_cache() / 2 else self.copy_memory)


@dataclasses.dataclass
class Gpu:
    """What a GPU does per second: bytes read and written by an elementwise copy within its memory; FLOPs of cuBLASLt's products."""

    copy: float
    tf32: float
    bf16: float


@functools.cache
def last_level_cache():
    sizes = Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")
    return max((int(s.read_text().strip().removesuffix("K")) << 10 for s in sizes), default=0)


@dataclasses.dataclass
class Row:
    name: str
    suite: str
    unit: str
    limit: typing.Callable[[Machine | Gpu], float] | None = None  # seconds
    peers: tuple[str, ...] = ("torch",)
    flops: float = 0  # for a rate in GFLOP/s
    bytes: float = 0  # for a rate in GB/s
    images: int = 0  # for a rate in images/s
    tokens: int = 0  # for a rate in tokens/s
    gpu: bool = False

    @property
    def program(self):
        """The suite's name, as its executable has it."""
        return f"gpu_{self.suite}" if self.gpu else self.suite

    def rate(self, nanoseconds):
        """(value, unit), or two Nones for a row that has no rate."""
        for amount, unit in ((self.flops, "GFLOP/s"), (self.bytes, "GB/s"), (self.images * 1e9, "images/s"),
                             (self.tokens * 1e9, "tokens/s")):
            if amount:
                return amount / nanoseconds, unit
        return None, None


def matmul(n):
    return lambda m: 2 * n**3 / m.peak_flops


def step(layers, batch, words_per_weight, embedding=0):
    """A training step of dense layers [inputs, ..., outputs]: three products a layer, two in the first, whose input needs no
    gradient; the optimiser reads and writes words_per_weight floats a weight, an embedding's weights among them."""
    pairs = list(zip(layers, layers[1:]))
    weights = [a * b for a, b in pairs]
    flops = 2 * batch * (3 * sum(weights) - (0 if embedding else weights[0]))
    numbers = sum(weights) + sum(layers[1:]) + embedding
    return lambda m: flops / m.peak_flops + m.copy(4 * words_per_weight * numbers)


SGD_MOMENTUM, RMSPROP, ADAM = 5, 5, 7  # gradient read; weight and each state read and written

IMAGE = 4096 * 4096 * 4


def images(name, shape, forward, backward, places=0):
    """A layer of activations [N, C, H, W]: how often their bytes are read and written forward, and by the gradients; places: that
    part more forward where the gradients need to know what was chosen."""
    n = 4
    for size in shape:
        n *= size
    return (Row(name, "images", "us", lambda m: m.copy(forward * n)),
            Row(f"{name}_step", "images", "us", lambda m: m.copy((forward + places + backward) * n)))


# GFLOP of a step, or of 16 images classified, as the library counts them: padding left out.
NETWORKS = {
    "mnist_cnn": 9.16, "mnist_pytorch": 0.166, "cifar_vgg": 189.7, "resnet20": 28.5,
    "alexnet_train": 30.5, "googlenet_train": 67.0, "resnet50_train": 187.7, "vgg16_train": 717.2, "inception_v3_train": 262.2,
    "xception_train": 400.6,
    "alexnet_infer": 21.1, "googlenet_infer": 45.9, "resnet50_infer": 126.3, "vgg16_infer": 479.0, "inception_v3_infer": 175.0,
    "xception_infer": 267.3,
}

# Weights of GPT-2 small: of its blocks; and with those of all words and the keys and values of 256 tokens, what a token reads.
GPT2_BLOCKS = 12 * 12 * 768**2
GPT2_READ = GPT2_BLOCKS + 50257 * 768 + 12 * 2 * 256 * 768

BOTH = ("torch", "tensorflow")
IN_TENSORFLOW = ("mnist_cnn", "vgg16", "resnet50", "xception")


def recurrent(kind, gates, peers):
    """Training steps of recurrent networks, and their tokens."""

    def row(name, tokens, weights, words_per_weight, embedding=0, inputs=0, peers=("torch",)):
        """weights: by which each token is multiplied; of them `inputs` multiply what needs no gradient."""
        flops = 2 * tokens * (3 * weights - inputs)
        return Row(name, "text", "ms", lambda m: flops / m.peak_flops + m.copy(4 * words_per_weight * (weights + embedding)),
                   peers, tokens=tokens)

    return (row(f"imdb_bi{kind}", 32 * 100, gates * 2 * 64 * (128 + 64), ADAM, embedding=20000 * 128, peers=peers),
            row(f"nietzsche_{kind}", 128 * 40, gates * 128 * (57 + 128), RMSPROP, inputs=gates * 128 * 57, peers=peers),
            row(f"ptb_{kind}200", 32 * 35, gates * 2 * 200 * (200 + 200) + 200 * 10000, SGD_MOMENTUM, embedding=10000 * 200))


def peers_of(network):
    """Who has it: torchvision has no Xception; the engines only run networks, as torchvision exports them."""
    model = network.removesuffix("_train").removesuffix("_infer")
    return (("torch",) * (model != "xception") + ("tensorflow",) * (model in IN_TENSORFLOW)
            + ("openvino", "onnxruntime") * (network.endswith("_infer") and model != "xception"))


ROWS = [
    *(Row(name, "dispatch", "ns") for name in ("add1", "add1_grad", "mul_backward1", "mlp_tiny")),
    *(Row(f"matmul{n}", "matmul", "us", matmul(n)) for n in (128, 200, 512, 1024, 2048)),
    Row("gelu_tanh_1M", "elementwise", "us", lambda m: m.copy(2 * 4 << 20)),
    Row("exp_1M_f64", "elementwise", "us", lambda m: m.copy(2 * 8 << 20)),
    Row("pow_1M", "elementwise", "us", lambda m: m.copy(3 * 4 << 20)),
    Row("randn_1M", "elementwise", "us"),
    Row("expr5_4M", "elementwise", "us", lambda m: m.copy(4 * 4 << 22)),
    *(Row(name, "elementwise", "us", lambda m: m.copy(14 * 4 << 16)) for name in ("lstm_cell_step", "lstm_cell_step_plain")),
    Row("softmax_4096x1000", "reductions", "us", lambda m: m.copy(2 * 4 * 4096 * 1000)),
    Row("layernorm_4096x1024", "reductions", "us", lambda m: m.copy(2 * 4 * 4096 * 1024)),
    *(Row(name, "reductions", "us", lambda m: IMAGE / m.read_memory) for name in ("sum_all", "sum_dim0", "sum_dim1")),
    # Statistics, then the result; sums of gradients, then the input's; a residual and the mask of its relu besides.
    *images("batchnorm_relu", (128, 16, 32, 32), 3, 5),
    *images("batchnorm_add_relu", (128, 16, 32, 32), 4, 7),
    *images("maxpool2", (64, 64, 32, 32), 1 + 1 / 4, 1 + 2 / 4, places=1 / 4),
    *images("maxpool3s2", (16, 64, 112, 112), 1 + 1 / 4, 1 + 2 / 4, places=1 / 4),
    *images("avgpool_global", (64, 512, 7, 7), 1, 1),
    Row("transpose_copy", "memory", "us", lambda m: m.copy(2 * IMAGE)),
    Row("cat_channels", "memory", "us", lambda m: m.copy(2 * 4 * 4 * 64 * 64 * 28 * 28)),
    *(Row(name, "indexing", "us") for name in ("sort_1M", "median_1M", "unique_1M", "unique_1M_i64", "topk_4096x1000")),
    Row("cumsum_16M", "indexing", "us", lambda m: m.copy(2 * 4 << 24)),
    Row("gather_4M", "indexing", "us", lambda m: m.copy(16 << 22)),
    Row("scatter_add_4M", "indexing", "us", lambda m: m.copy(20 << 22)),
    Row("index_select_4M", "indexing", "us", lambda m: m.copy(2 * 4 << 22)),
    Row("einsum_bij_bjk", "attention", "us", lambda m: 64 * 2 * 128**3 / m.peak_flops),
    # Two products of 512 x 512 x 64 for each head forward; backward the scores again, and four.
    Row("attention_8x8x512x64", "attention", "us", lambda m: 7 * 64 * 2 * 512 * 512 * 64 / m.peak_flops),
    Row("attention_bf16", "attention", "us"),
    *(Row(f"{op}{n}{suffix}", "linalg", "us") for op in ("inv", "solve", "cholesky", "det", "qr", "eigh", "svd")
      for n in (64, 256, 512) for suffix in ("", "_f64")),
    Row("mlp_small", "training", "us", step([784, 128, 10], 64, SGD_MOMENTUM), BOTH),
    Row("mnist_mlp", "training", "us", step([784, 512, 512, 10], 128, RMSPROP), BOTH),
    Row("imdb_fasttext", "text", "us", step([50, 1], 32, ADAM, embedding=20000 * 50), BOTH, tokens=32 * 400),
    *recurrent("lstm", 4, BOTH),
    *recurrent("gru", 3, ("torch",)),
    Row("imdb_bilstm_bf16", "text", "ms", tokens=32 * 100),
    Row("ptb_lstm200_bf16", "text", "ms", tokens=32 * 35),
    *(Row(name, "networks", "ms", lambda m, flops=flops: flops * 1e9 / m.peak_flops, peers_of(name))
      for name, flops in NETWORKS.items()),
    *(Row(f"{name}_{pass_}_bf16", "networks", "ms") for name in ("alexnet", "resnet50", "vgg16") for pass_ in ("train", "infer")),
    # 6 for each weight of a product and each of 768 characters; three times a head's two products of 64 x 64 x 32.
    Row("gpt_nano", "transformers", "ms", lambda m: (6 * 768 * (4 * 12 * 128**2 + 128 * 57) + 4 * 3 * 2 * 48 * 2 * 64**2 * 32) / m.peak_flops),
    Row("gpt_nano_bf16", "transformers", "ms"),
    # 2 for each weight of the blocks and of each of 256 tokens; in each of 144 heads two products of 256 x 256 x 64, half of them
    # of tokens to come. For one token all weights are read, and what is cached.
    Row("gpt2_prompt", "transformers", "ms", lambda m: (2 * 256 * GPT2_BLOCKS + 144 * 2 * 256**2 * 64) / m.peak_flops, tokens=256),
    Row("gpt2_prompt_bf16", "transformers", "ms", tokens=256),
    Row("gpt2_token", "transformers", "ms", lambda m: 4 * GPT2_READ / m.read_memory, tokens=1),
    Row("gpt2_token_bf16", "transformers", "ms", lambda m: 2 * GPT2_READ / m.read_memory, tokens=1),
    # GFLOP of 4 images and of 8; each has 35.1 forward.
    Row("vit_b_16_train", "transformers", "ms", lambda m: 3 * 4 * 35.1e9 / m.peak_flops, images=4),
    Row("vit_b_16_infer", "transformers", "ms", lambda m: 8 * 35.1e9 / m.peak_flops, images=8),
    Row("vit_b_16_train_bf16", "transformers", "ms", images=4),
    Row("vit_b_16_infer_bf16", "transformers", "ms", images=8),
    Row("decode_crop_2k", "decoding", "ms", peers=BOTH, images=pictures.COUNT),
    # RecordIO's own reader is retired with MXNet; read_plain is what the other reads are compared to.
    *(Row(f"read_{name}", "records", "ms", peers=beside, images=pictures.COUNT)
      for name, beside in (("tfrecord", ("tensorflow",)), ("recordio", ()), ("tar", ("webdataset",)), ("lmdb", ("lmdb",)), ("plain", ()))),
    *(Row(name, "records", "ms", peers=("webdataset",), images=pictures.COUNT) for name in ("pack_tar", "pack_tar_in_memory")),
    Row("compile_mnist", "programs", "s"),
    Row("compile_mnist_memory", "programs", "MB"),
    Row("compile_yardstick", "programs", "s", peers=()),
    Row("start_hello", "programs", "ms"),
    Row("start_hello_memory", "programs", "MB"),
]

EXPR5_BYTES = 4 * 4 << 25
COPIES = ("to_device_pageable", "to_device_pinned", "to_host_pageable", "to_host_pinned")


def moves(name, numbers):
    """An op that has to read and write so many floats."""
    return Row(name, "ops", "us", lambda gpu: 4 * numbers / gpu.copy, bytes=4 * numbers, gpu=True)


def products(name, suite, kind, flops, unit="ms", **rate):
    """A row whose work are products of that kind, tf32 or bf16."""
    return Row(name, suite, unit, lambda gpu: flops / getattr(gpu, kind), gpu=True, **rate)


def both(name, suite, kind, flops, **rate):
    """A training step, plain and captured."""
    return (products(name, suite, kind, flops, **rate), products(f"{name}_captured", suite, kind, flops, **rate))


# The products of a pair of [4, 16, 2048, 64], half of whose scores are hidden: two forward; backward the scores again, and four.
PAIR = 64 * 2 * 2048**2 * 64 / 2
MANY, IN_ROWS, SCORES = 1 << 24, 8192 * 4096, 8192 * 50257
# A step with 4,096 tokens: 6 for each weight of a product and each token; three times a head's two products of 512 x 512 x 64, half hidden.
GPT2_STEP = 6 * 4096 * (GPT2_BLOCKS + 50257 * 768) + 3 * 8 * 144 * 2 * 512**2 * 64
PTB_STEP = 6 * 35 * 32 * (4 * 2 * 200 * 400 + 200 * 10000)


def next_token(kind, size):
    """A generated token reads all weights, and what is cached."""
    return (Row(f"gpt2_token_{kind}{end}", "transformers", "ms", lambda gpu: size * GPT2_READ / gpu.copy, bytes=size * GPT2_READ, gpu=True)
            for end in ("", "_captured"))


# In the order of their weight, for a card that is there for minutes.
GPU_ROWS = [
    products("attention_bf16", "ops", "bf16", 2 * PAIR, "us"),
    products("attention_bf16_grad", "ops", "bf16", 7 * PAIR, "us"),
    products("attention_f32", "ops", "tf32", 2 * PAIR, "us"),
    # Backward reads the input and the result's gradient, and writes the input's.
    *(moves(name, numbers) for name, numbers in (
        ("cumsum_16M", 2 * MANY), ("topk_4096x4096", MANY), ("mask_16M", MANY * (1 + 1 / 4 + 1 / 2)), ("sort_16M", MANY * (1 + 1 + 2)),
        ("randn_16M", MANY), ("sum_dim0", IN_ROWS), ("sum_all", IN_ROWS), ("softmax", 2 * IN_ROWS), ("transpose", 2 * IN_ROWS),
        ("layernorm_grad", 5 * IN_ROWS), ("gelu_grad", 5 * IN_ROWS), ("cross_entropy_grad", 3 * SCORES),
        ("embedding_grad", 768 * (4 * 16384 + 50257)))),
    *both("gpt2_train_bf16", "transformers", "bf16", GPT2_STEP, tokens=8 * 512),
    *both("gpt2_train_tf32", "transformers", "tf32", GPT2_STEP, tokens=8 * 512),
    products("vit_train_bf16", "transformers", "bf16", 3 * 64 * 35.1e9, images=64),
    *next_token("bf16", 2),
    *next_token("f32", 4),
    *both("resnet20", "networks", "tf32", NETWORKS["resnet20"] * 1e9, images=128),
    *both("mnist_cnn", "networks", "tf32", NETWORKS["mnist_cnn"] * 1e9, images=128),
    *(products(f"resnet50_cuda_b{batch}_{kind}", "networks", kind, batch / 8 * NETWORKS["resnet50_train"] * 1e9, images=batch)
      for batch, kind in ((256, "bf16"), (64, "tf32"), (64, "bf16"), (128, "bf16"), (128, "tf32"), (256, "tf32"))),
    *both("ptb_lstm200", "text", "tf32", PTB_STEP, tokens=35 * 32),
    *(Row(f"{net}_epoch_{device}", "epochs", "ms", gpu=True) for device in ("cuda", "cpu") for net in ("mlp_small", "mnist_mlp")),
    *(Row(f"{way}/200", "transfer", "us", flops=2 * 200**3, gpu=True) for way in ("matmul_cpu", "matmul_cuda", "matmul_cuda_copied")),
    *(Row(f"matmul{n}_{kind}", "device", "us", peers=("cublaslt", "torch"), flops=2 * n**3, gpu=True)
      for kind in ("f32", "tf32", "bf16") for n in (1024, 4096, 8192)),
    Row("expr5_32M", "device", "us", lambda gpu: EXPR5_BYTES / gpu.copy, bytes=EXPR5_BYTES, gpu=True),
    Row("add1_cuda", "device", "us", gpu=True),
    Row("add1_cuda_waited", "device", "us", gpu=True),
    *(Row(f"{way}/{1 << i}", "transfer", "us", bytes=1 << i, gpu=True) for way in COPIES for i in range(10, 29, 3)),
]
