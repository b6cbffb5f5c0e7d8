"""The rows in PyTorch: `torch_rows.py THREADS`, then row names on stdin (timing.py). Every mode that PyTorch offers for
the same work is timed and the fastest counts: eager, torch.compile, fused optimisers."""

import sys

import torch
import torch.nn.functional as F

import torch_networks
import torch_pictures
import torch_text
import torch_training
import torch_transformers
from timing import fastest, peak, print_peak, serve
from torch_operation import expr5, matmul, operation


def images(function, *shapes):
    """A layer of activations: (forward, forward and gradients)."""

    def inputs():
        return [torch.ones(shape) if len(shape) == 1 else torch.randn(shape).to(memory_format=torch.channels_last)
                for shape in shapes]

    def step_of(f, leaves, gradient):
        def step():
            for leaf in leaves:
                leaf.grad = None
            f(*leaves).backward(gradient)
        return step

    def step():
        leaves = [x.requires_grad_() for x in inputs()]
        gradient = torch.randn_like(function(*leaves).detach())
        return {"eager": step_of(function, leaves, gradient),
                "compile": step_of(torch.compile(function, dynamic=False), leaves, gradient)}

    return lambda: operation(function, *inputs()), step


def batchnorm(x, w, b):
    return F.batch_norm(x, None, None, w, b, True)


IMAGES = {
    "batchnorm_relu": images(lambda x, w, b: F.relu(batchnorm(x, w, b)), (128, 16, 32, 32), (16,), (16,)),
    "batchnorm_add_relu": images(lambda x, r, w, b: F.relu(batchnorm(x, w, b) + r), (128, 16, 32, 32), (128, 16, 32, 32),
                                 (16,), (16,)),
    "maxpool2": images(lambda x: F.max_pool2d(x, 2), (64, 64, 32, 32)),
    "maxpool3s2": images(lambda x: F.max_pool2d(x, 3, 2, 1), (16, 64, 112, 112)),
    "avgpool_global": images(lambda x: F.adaptive_avg_pool2d(x, 1), (64, 512, 7, 7)),
}


LINALG = {
    "inv": lambda a, b, definite: torch.linalg.inv(a),
    "solve": lambda a, b, definite: torch.linalg.solve(a, b),
    "cholesky": lambda a, b, definite: torch.linalg.cholesky(definite),
    "det": lambda a, b, definite: torch.linalg.det(a),
    "qr": lambda a, b, definite: torch.linalg.qr(a),
    "eigh": lambda a, b, definite: torch.linalg.eigh(definite),
    "svd": lambda a, b, definite: torch.linalg.svd(a, full_matrices=False),
}


def linalg(op, n, dtype):
    def row():
        a, b = (torch.randn(n, n, dtype=dtype) for _ in range(2))
        return operation(LINALG[op], a, b, a @ a.mT + torch.eye(n, dtype=dtype), compiled=False)
    return row


def lstm_cell(compiled):
    """Forward and backward of an LSTM's new state."""
    gates = [torch.randn(1 << 16, requires_grad=True) for _ in range(4)]
    g = torch.ones(1 << 16)

    def cell(f, c, i, g):
        return torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)

    def step(function):
        for gate in gates:
            gate.grad = None
        function(*gates).backward(g)

    eager = {"eager": lambda: step(cell)}
    if not compiled:
        return eager
    fused = torch.compile(cell)
    return eager | {"compile": lambda: step(fused)}


def indices(high, *shape):
    return torch.randint(0, high, shape)


def attention():
    """Forward and backward."""
    q, k, v = (torch.randn(8, 8, 512, 64, requires_grad=True) for _ in range(3))
    g = torch.ones(8, 8, 512, 64)

    def step():
        q.grad = k.grad = v.grad = None
        F.scaled_dot_product_attention(q, k, v).backward(g)

    return {"eager": step}


def attention_bf16():
    """Causal, without gradients."""
    q, k, v = (torch.randn(4, 12, 512, 64).bfloat16() for _ in range(3))

    def step():
        with torch.inference_mode():
            F.scaled_dot_product_attention(q, k, v, is_causal=True)

    return {"eager": step}


ROWS = {f"matmul{n}": matmul(n) for n in (128, 200, 512, 1024, 2048)} | {
    "matmul1024_bf16": lambda: operation(torch.matmul, torch.randn(1024, 1024).bfloat16(),
                                         torch.randn(1024, 1024).bfloat16(), compiled=False),
    "gelu_tanh_1M": lambda: operation(lambda x: F.gelu(x, approximate="tanh"), torch.randn(1 << 20)),
    "exp_1M_f64": lambda: operation(torch.exp, torch.randn(1 << 20, dtype=torch.double)),
    "pow_1M": lambda: operation(torch.pow, torch.empty(1 << 20).uniform_(0.1, 4), torch.randn(1 << 20)),
    "randn_1M": lambda: operation(lambda: torch.randn(1 << 20), compiled=False),
    "expr5_4M": lambda: operation(expr5, *(torch.randn(1 << 22) for _ in range(3))),
    "lstm_cell_step": lambda: lstm_cell(compiled=True),
    "lstm_cell_step_plain": lambda: lstm_cell(compiled=False),
    "softmax_4096x1000": lambda: operation(lambda x: torch.softmax(x, 1), torch.randn(4096, 1000)),
    "layernorm_4096x1024": lambda: operation(lambda x, w, b: F.layer_norm(x, (1024,), w, b), torch.randn(4096, 1024),
                                             torch.ones(1024), torch.zeros(1024)),
    "sum_all": lambda: operation(lambda x: x.sum(), torch.randn(4096, 4096)),
    "sum_dim0": lambda: operation(lambda x: x.sum(0), torch.randn(4096, 4096)),
    "sum_dim1": lambda: operation(lambda x: x.sum(1), torch.randn(4096, 4096)),
    "transpose_copy": lambda: operation(lambda x: x.t().contiguous(), torch.randn(4096, 4096)),
    "cat_channels": lambda: operation(lambda *x: torch.cat(x, 1), *(torch.randn(64, 64, 28, 28) for _ in range(4))),
    "sort_1M": lambda: operation(lambda x: x.sort(), torch.randn(1 << 20), compiled=False),
    "median_1M": lambda: operation(lambda x: x.median(), torch.randn(1 << 20), compiled=False),
    "unique_1M": lambda: operation(lambda x: x.unique(), torch.randn(1 << 20), compiled=False),
    "unique_1M_i64": lambda: operation(lambda x: x.unique(), indices(1000, 1 << 20), compiled=False),
    "topk_4096x1000": lambda: operation(lambda x: x.topk(10), torch.randn(4096, 1000), compiled=False),
    "cumsum_16M": lambda: operation(lambda x: x.cumsum(0), torch.randn(1 << 24), compiled=False),
    "gather_4M": lambda: operation(lambda x, i: x.gather(1, i), torch.randn(4096, 1024), indices(1024, 4096, 1024)),
    "scatter_add_4M": lambda: operation(lambda x, i, s: x.scatter_add(1, i, s), torch.randn(4096, 1024),
                                        indices(1024, 4096, 1024), torch.randn(4096, 1024)),
    "index_select_4M": lambda: operation(lambda x, i: x.index_select(0, i), torch.randn(65536, 64),
                                         indices(65536, 65536)),
    "einsum_bij_bjk": lambda: operation(lambda a, b: torch.einsum("bij,bjk->bik", a, b), torch.randn(64, 128, 128),
                                        torch.randn(64, 128, 128), compiled=False),
    "attention_8x8x512x64": attention, "attention_bf16": attention_bf16,
} | {f"{op}{n}{suffix}": linalg(op, n, dtype) for op in LINALG for n in (64, 256, 512)
     for suffix, dtype in (("", torch.float), ("_f64", torch.double))
} | {name + suffix: row[i] for name, row in IMAGES.items() for i, suffix in enumerate(("", "_step"))}
NETWORKS = torch_training.ROWS | torch_text.ROWS | torch_networks.ROWS | torch_transformers.ROWS
ROWS |= NETWORKS | torch_pictures.ROWS


def measure(name, modes):
    """The fastest mode's time; of networks its peak of memory as well, in bytes."""
    answer = fastest(name, modes)
    return answer | ({"memory": peak(name, answer["mode"])} if name in NETWORKS else {})


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[1]))
    torch.manual_seed(1)
    if sys.argv[2:3] == ["--peak"]:
        print_peak(ROWS, *sys.argv[3:])
    else:
        serve(ROWS, measure)
