"""What torchvision's GoogLeNet and Inception-v3 compute with their auxiliary heads, where weights and images come from the formula of
TERN_TEST_DATA/models (formula_tensor in tests/models/reference.hpp). Needs torchvision."""

import zlib

import numpy
import torch
from torchvision.models import googlenet, inception_v3

from table import write

D = torch.float64


def formula(name, shape):
    """The elements that the formula gives a tensor of a state dict."""
    count = int(numpy.prod(shape))
    x = (numpy.arange(count, dtype=numpy.uint64) * 2654435761 + zlib.crc32(name.encode()) * 40503) & 0xFFFFFFFF
    for _ in range(2):
        x = ((x ^ (x >> numpy.uint64(16))) * numpy.uint64(0x45D9F3B)) & numpy.uint64(0xFFFFFFFF)
    x = x ^ (x >> numpy.uint64(16))
    u = torch.tensor((x >> numpy.uint64(9)).astype(numpy.float64) / 2**22 - 1).reshape(shape)
    if name == "input":
        return u
    if len(shape) >= 2:
        return u * (6 / (count / shape[0])) ** 0.5
    if name.endswith("running_var"):
        return 1 + 0.5 * u.abs()
    return 0.1 * u + (1 if name.endswith("weight") else 0)


def case(name, net, size, heads, weight, trunk):
    net = net.to(D).train()
    net.load_state_dict({key: formula(key, tuple(value.shape)) for key, value in net.state_dict().items()
                         if not key.endswith("num_batches_tracked")}, strict=False)
    shape = (4, 3, size, size)
    labels = torch.tensor([1, 7, 4, 0])
    out = net(formula("input", shape))
    aux = [getattr(out, head) for head in heads]
    loss = torch.nn.functional.cross_entropy(out.logits, labels)
    for scores in aux:
        loss = loss + weight * torch.nn.functional.cross_entropy(scores, labels)
    loss.backward()
    is_aux = lambda key: key.lower().startswith("aux")
    return {"model": name, "input": list(shape),
            "tensors": [[key, list(value.shape)] for key, value in net.state_dict().items() if is_aux(key)],
            "logits_norm": out.logits.norm().item(), "aux_logits": [scores.flatten().tolist() for scores in aux], "loss": loss.item(),
            "grad_norms": {key: p.grad.norm().item() for key, p in net.named_parameters() if is_aux(key) or key in trunk}}


if __name__ == "__main__":
    plain = dict(num_classes=10, aux_logits=True, init_weights=False)
    write("aux_heads",
          "float64, training mode, all rates of dropout 0; weights, buffers and images by the formula; labels 1, 7, 4, 0; loss: the cross "
          "entropy of the logits, and 0.3 (GoogLeNet) or 0.4 (Inception-v3) times that of each head; tensors: the heads' in the state dict",
          [case("googlenet", googlenet(dropout=0, dropout_aux=0, **plain), 64, ["aux_logits1", "aux_logits2"], 0.3,
                ["conv1.conv.weight", "inception4b.branch1.conv.weight", "inception4e.branch1.conv.weight", "fc.weight"]),
           case("inception_v3", inception_v3(dropout=0, **plain), 299, ["aux_logits"], 0.4,
                ["Mixed_6e.branch_pool.conv.weight", "Mixed_7a.branch3x3_1.conv.weight", "fc.weight"])])
