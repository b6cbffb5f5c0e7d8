"""Layers of transformers with all their masks, activation modules with options, and grids of images."""

import math
import pathlib
import tempfile

import torch
from torch import nn

from table import write

D = torch.float64


def filled(module):
    module = module.to(D)
    with torch.no_grad():
        for k, parameter in enumerate(module.state_dict().values()):
            index = torch.arange(parameter.numel(), dtype=D)
            parameter.copy_((0.4 * torch.sin(1.3 * index + k)).reshape(parameter.shape))
    return module


def x(*shape, shift=0.0):
    index = torch.arange(math.prod(shape), dtype=D)
    return torch.cos(0.7 * index + shift).reshape(shape).requires_grad_()


def case(name, module, inputs, call):
    output = call(*inputs)
    incoming = torch.sin(torch.arange(output.numel(), dtype=D)).reshape(output.shape)
    gradients = torch.autograd.grad(output, [*inputs, *module.parameters()], incoming)
    return {"name": name, "inputs": inputs, "output": output, "gradients": gradients[:len(inputs)],
            "parameter_gradient_norms": [g.norm().item() for g in gradients[len(inputs):]]}


def transformer_layers():
    causal = torch.triu(torch.ones(3, 3, dtype=torch.bool), 1)
    added = x(3, 4, shift=2.0).detach()
    tgt_padding = torch.tensor([[False, False, True], [False, False, False]])
    memory_padding = torch.tensor([[False, True, False, False], [False, False, True, True]])
    added_padding = torch.where(memory_padding, -math.inf, 0.0).to(D)
    tgt, memory = x(2, 3, 4), x(2, 4, 4, shift=1.0)
    options = dict(dim_feedforward=6, dropout=0.0, batch_first=True)
    cases = []
    for name, more in [("", {}), (", norm first", {"norm_first": True}), (", gelu", {"activation": "gelu"}),
                       (", no bias", {"bias": False})]:
        layer = filled(nn.TransformerDecoderLayer(4, 2, **options, **more))
        cases.append(case("decoder layer" + name, layer, [tgt, memory], layer))
    layer = filled(nn.TransformerDecoderLayer(4, 2, **options))
    cases.append(case("decoder layer, masks", layer, [tgt, memory],
                      lambda t, m: layer(t, m, tgt_mask=causal, memory_mask=added)))
    cases.append(case("decoder layer, padding", layer, [tgt, memory],
                      lambda t, m: layer(t, m, tgt_mask=causal, tgt_key_padding_mask=tgt_padding,
                                         memory_key_padding_mask=memory_padding)))
    cases.append(case("decoder layer, added mask and padding", layer, [tgt, memory],
                      lambda t, m: layer(t, m, memory_mask=added, memory_key_padding_mask=added_padding)))
    rows_first = filled(nn.TransformerDecoderLayer(4, 2, dim_feedforward=6, dropout=0.0))
    cases.append(case("decoder layer, length first", rows_first, [x(3, 2, 4), x(4, 2, 4, shift=1.0)], rows_first))
    cases.append(case("decoder layer, no batch", rows_first, [x(3, 4), x(4, 4, shift=1.0)],
                      lambda t, m: rows_first(t, m, memory_key_padding_mask=memory_padding[0])))
    decoder = filled(nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, **options), 2, nn.LayerNorm(4)))
    cases.append(case("decoder", decoder, [tgt, memory], lambda t, m: decoder(t, m, tgt_mask=causal)))
    encoder = filled(nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, **options), 2))
    cases.append(case("encoder", encoder, [memory],
                      lambda m: encoder(m, src_key_padding_mask=memory_padding)))
    transformer = filled(nn.Transformer(4, 2, num_encoder_layers=1, num_decoder_layers=2, **options))
    cases.append(case("transformer", transformer, [memory, tgt],
                      lambda s, t: transformer(s, t, tgt_mask=causal, src_key_padding_mask=memory_padding,
                                               memory_key_padding_mask=memory_padding)))
    write("transformer_layers",
          "float64; element i of the k-th entry of state_dict() is 0.4 sin(1.3 i + k); gradients: of the inputs, for an "
          "incoming gradient of sin(i); parameter_gradient_norms in the order of parameters(); embedding 4, 2 heads, 6 "
          "hidden; masks: of tgt, true above the diagonal; of memory, added, cos(0.7 i + 2), [3, 4]; padding of tgt: the last "
          "key of batch 0; of memory: key 1 of batch 0, keys 2 and 3 of batch 1; decoder and encoder: two layers, the "
          "decoder with a norm; transformer: src and tgt, one layer and two", cases)


def activation_modules():
    modules = [nn.LeakyReLU(0.2), nn.ELU(0.5), nn.CELU(0.5), nn.GELU("none"), nn.GELU("tanh"), nn.Softplus(2.0, 3.0),
               nn.Hardtanh(-0.5, 2.0), nn.Threshold(0.1, 20.0), nn.Hardshrink(0.7), nn.Softshrink(0.7), nn.Softmin(0),
               nn.Softmax(0), nn.LogSoftmax(1), nn.PReLU(2, 0.5), nn.GLU(0), nn.Hardsigmoid(), nn.LogSigmoid(), nn.Softsign(),
               nn.Tanhshrink(), nn.Identity()]
    cases = []
    for module in modules:
        module = module.to(D)
        v = (3 * torch.sin(1.7 * torch.arange(8, dtype=D))).reshape(4, 2).requires_grad_()
        y = module(v)
        incoming = torch.cos(torch.arange(y.numel(), dtype=D)).reshape(y.shape)
        cases.append({"module": str(module), "output": y, "gradient": torch.autograd.grad(y, v, incoming)[0]})
    write("activation_modules", "float64; x [4, 2], x_i = 3 sin(1.7 i); gradient: of x, for an incoming gradient of cos(i)",
          cases)


def image_grids():
    import numpy
    from PIL import Image
    from torchvision.utils import save_image

    def images(*shape):
        index = torch.arange(math.prod(shape), dtype=torch.float32)
        return (0.5 + 0.7 * torch.sin(0.37 * index)).reshape(shape)

    sets = [((5, 3, 4, 6), dict(nrow=3)), ((5, 3, 4, 6), dict(nrow=8, padding=1, pad_value=0.5)), ((3, 4, 2), {}), ((4, 2), {}),
            ((3, 1, 2, 3), dict(nrow=2, padding=0)), ((2, 4, 2, 3), {}), ((3, 3, 2, 3), dict(normalize=True)),
            ((3, 3, 2, 3), dict(normalize=True, scale_each=True)),
            ((3, 3, 2, 3), dict(normalize=True, value_range=(0.25, 0.75)))]
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "grid.png"
        for shape, options in sets:
            save_image(images(*shape), path, **options)
            pixels = numpy.array(Image.open(path))
            cases.append({"shape": shape, "options": options, "size": pixels.shape, "pixels": pixels.flatten().tolist()})
    write("image_grids", "float32; images[i] = 0.5 + 0.7 sin(0.37 i) in row-major order; size: [height, width, channels] of the "
          "file's bytes, pixels, that torchvision's save_image wrote and PIL read", cases)
