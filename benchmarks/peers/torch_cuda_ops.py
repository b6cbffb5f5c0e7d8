"""Ops on a GPU, and an op with its gradients, in PyTorch."""

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from torch_cuda import gpu


def plain(function, *inputs):
    def step():
        with torch.inference_mode():
            function(*inputs)
    return step


def with_gradient(function, *inputs):
    for x in inputs:
        x.requires_grad_()
    with torch.no_grad():
        gradient = torch.ones_like(function(*inputs))

    def step():
        for x in inputs:
            x.grad = None
        function(*inputs).backward(gradient)

    return step


def eager(way, function, *shapes):
    """Random inputs of these shapes. Products of floats may use TF32."""

    def row():
        torch.backends.cuda.matmul.allow_tf32 = True
        return {"eager": way(function, *(torch.randn(shape, device=gpu) for shape in shapes))}

    return row


def attention(way, dtype):
    """With the kernel that PyTorch chooses, and with cuDNN's, which takes 16 bits."""

    def row():
        torch.backends.cuda.matmul.allow_tf32 = True
        heads = [torch.randn(4, 16, 2048, 64, device=gpu, dtype=dtype) for _ in range(3)]

        def causal(q, k, v):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)

        def cudnn(q, k, v):
            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                return causal(q, k, v)

        modes = {"eager": way(causal, *heads)}
        if dtype == torch.bfloat16:
            try:
                modes["eager, cuDNN's kernel"] = way(cudnn, *heads)
            except RuntimeError:
                pass  # this cuDNN has none
        return modes

    return row


def masked():
    x, mask = torch.randn(1 << 24, device=gpu), torch.randn(1 << 24, device=gpu) > 0
    return {"eager": plain(lambda: x[mask])}


def cross_entropy():
    labels = torch.randint(0, 50257, (8192,), device=gpu)
    return {"eager": with_gradient(lambda x: F.cross_entropy(x, labels), torch.randn(8192, 50257, device=gpu))}


def embedding():
    words = torch.randint(0, 50257, (16384,), device=gpu)
    return {"eager": with_gradient(lambda table: F.embedding(words, table), torch.randn(50257, 768, device=gpu))}


MANY, ROW_SHAPE = (1 << 24,), (8192, 4096)
ROWS = {
    "attention_bf16": attention(plain, torch.bfloat16),
    "attention_bf16_grad": attention(with_gradient, torch.bfloat16),
    "attention_f32": attention(plain, torch.float32),
    "cumsum_16M": eager(plain, lambda x: x.cumsum(0), MANY),
    "topk_4096x4096": eager(plain, lambda x: x.topk(10), (4096, 4096)),
    "mask_16M": masked,
    "sort_16M": eager(plain, torch.sort, MANY),
    "randn_16M": eager(plain, lambda: torch.randn(MANY, device=gpu)),
    "sum_dim0": eager(plain, lambda x: x.sum(0), ROW_SHAPE),
    "sum_all": eager(plain, torch.sum, ROW_SHAPE),
    "softmax": eager(plain, lambda x: x.softmax(1), ROW_SHAPE),
    "transpose": eager(plain, lambda x: x.t().contiguous(), ROW_SHAPE),
    "layernorm_grad": eager(with_gradient, lambda x, w, b: F.layer_norm(x, (4096,), w, b), ROW_SHAPE, 4096, 4096),
    "gelu_grad": eager(with_gradient, F.gelu, ROW_SHAPE),
    "cross_entropy_grad": cross_entropy,
    "embedding_grad": embedding,
}
