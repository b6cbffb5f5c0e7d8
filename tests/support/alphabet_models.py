"""Folders as Hugging Face has them, of language models whose next token is the next byte: after "abc" comes "defg"."""

import json
import struct

WIDTH = 256  # a dimension for each byte


def matrix(rows, columns, ones):
    """Rows of float32, 1 at the pairs (row, column) and 0 elsewhere."""
    values = bytearray(4 * rows * columns)
    for row, column in ones:
        struct.pack_into("<f", values, 4 * (row * columns + column), 1)
    return [rows, columns], bytes(values)


def vector(size, value):
    return [size], struct.pack("<f", value) * size


ONE_HOT = [(byte, byte) for byte in range(WIDTH)]
NEXT = [(byte, byte + 1) for byte in range(WIDTH - 1)]
ZERO = matrix(WIDTH, WIDTH, [])


def write_tensors(path, tensors):
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def vocabulary():
    """Bytes by the characters that byte-level vocabularies write them with."""
    printed = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printed]
    return {chr(byte) if byte in printed else chr(256 + others.index(byte)): byte for byte in range(256)}


def make_gpt2(folder):
    """The multilayer perceptron of the one block adds the next byte."""
    folder.mkdir()
    config = {"model_type": "gpt2", "activation_function": "gelu_new", "vocab_size": WIDTH, "n_positions": 64, "n_embd": WIDTH,
              "n_layer": 1, "n_head": 2, "eos_token_id": WIDTH - 1}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "vocab.json").write_text(json.dumps(vocabulary()))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    block = {"attn.c_attn.weight": matrix(WIDTH, 3 * WIDTH, []), "attn.c_attn.bias": vector(3 * WIDTH, 0),
             "attn.c_proj.weight": ZERO, "attn.c_proj.bias": vector(WIDTH, 0),
             "mlp.c_fc.weight": matrix(WIDTH, 4 * WIDTH, ONE_HOT), "mlp.c_fc.bias": vector(4 * WIDTH, 0),
             "mlp.c_proj.weight": matrix(4 * WIDTH, WIDTH, NEXT), "mlp.c_proj.bias": vector(WIDTH, 0)}
    norms = {name: (vector(WIDTH, 1), vector(WIDTH, 0)) for name in ("h.0.ln_1", "h.0.ln_2", "ln_f")}
    tensors = {"wte.weight": matrix(WIDTH, WIDTH, ONE_HOT), "wpe.weight": matrix(64, WIDTH, [])}
    tensors |= {f"h.0.{name}": tensor for name, tensor in block.items()}
    tensors |= {f"{name}.{part}": tensor for name, pair in norms.items() for part, tensor in zip(("weight", "bias"), pair)}
    write_tensors(folder / "model.safetensors", {f"transformer.{name}": tensor for name, tensor in tensors.items()})


def make_llama(folder, model_type="llama", biases={}):
    """The head scores the byte after the one that it gets. In two files, with an index."""
    folder.mkdir()
    config = {"model_type": model_type, "vocab_size": WIDTH, "hidden_size": WIDTH, "intermediate_size": WIDTH, "num_hidden_layers": 1,
              "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 64, "eos_token_id": [ord("h"), 0]}
    tokenizer = {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
                 "model": {"type": "BPE", "vocab": vocabulary(), "merges": []}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    half = matrix(WIDTH // 2, WIDTH, [])
    layer = {"self_attn.q_proj": ZERO, "self_attn.k_proj": half, "self_attn.v_proj": half, "self_attn.o_proj": ZERO, "mlp.gate_proj": ZERO,
             "mlp.up_proj": ZERO, "mlp.down_proj": ZERO, "input_layernorm": vector(WIDTH, 1), "post_attention_layernorm": vector(WIDTH, 1)}
    rest = {"model.embed_tokens": matrix(WIDTH, WIDTH, ONE_HOT), "model.norm": vector(WIDTH, 1),
            "lm_head": matrix(WIDTH, WIDTH, [(after, byte) for byte, after in NEXT])}
    parts = {f"{name}.weight": tensor for name, tensor in layer.items()} | {f"{name}.bias": tensor for name, tensor in biases.items()}
    shards = {"model-00001-of-00002.safetensors": {f"model.layers.0.{name}": tensor for name, tensor in parts.items()},
              "model-00002-of-00002.safetensors": {f"{name}.weight": tensor for name, tensor in rest.items()}}
    for name, tensors in shards.items():
        write_tensors(folder / name, tensors)
    index = {"metadata": {}, "weight_map": {tensor: name for name, tensors in shards.items() for tensor in tensors}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def make_qwen(folder):
    """Llama's network with biases, which are 0, and a tokeniser in two files."""
    half = vector(WIDTH // 2, 0)
    make_llama(folder, "qwen2", {"self_attn.q_proj": vector(WIDTH, 0), "self_attn.k_proj": half, "self_attn.v_proj": half})
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.json").write_text(json.dumps(vocabulary()))
    (folder / "merges.txt").write_text("#version: 0.2\n")
