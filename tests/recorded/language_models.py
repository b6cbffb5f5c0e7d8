"""What Hugging Face's transformers (pip) computes with small networks of the kinds that models::load_config reads. Each weight comes from a
formula that tests/models/reference.hpp has too; prompts are longer than original_max_position_embeddings and sliding_window."""

import json
import pathlib
import zlib

import numpy
import torch
import transformers

HERE = pathlib.Path(__file__).parent
LENGTH, NEW = 48, 12
SIZES = {"vocab_size": 64, "hidden_size": 32, "intermediate_size": 40, "num_hidden_layers": 3, "num_attention_heads": 4,
         "num_key_value_heads": 2, "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "rope_theta": 500.0, "eos_token_id": None}
KINDS = {
    "llama": {"model_type": "llama"},
    "llama 3.1": {"model_type": "llama", "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                                          "original_max_position_embeddings": 32}},
    "llama, linear": {"model_type": "llama", "rope_scaling": {"type": "linear", "factor": 4.0}},
    "llama, biases": {"model_type": "llama", "attention_bias": True, "mlp_bias": True, "head_dim": 12, "tie_word_embeddings": True},
    "mistral": {"model_type": "mistral", "sliding_window": 10, "head_dim": 16},
    "mistral, no window": {"model_type": "mistral", "sliding_window": None},
    "qwen2": {"model_type": "qwen2", "tie_word_embeddings": True, "use_sliding_window": False, "sliding_window": 10, "max_window_layers": 1},
    "qwen2, window": {"model_type": "qwen2", "use_sliding_window": True, "sliding_window": 10, "max_window_layers": 1},
    "qwen2, yarn": {"model_type": "qwen2", "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}},
    "qwen3": {"model_type": "qwen3", "head_dim": 16},
    "qwen3, yarn": {"model_type": "qwen3", "head_dim": 16, "attention_bias": True, "rope_parameters": {
        "rope_type": "yarn", "rope_theta": 1000.0, "factor": 2.0, "original_max_position_embeddings": 32, "attention_factor": 1.3,
        "beta_fast": 4.0, "beta_slow": 0.5}},
}


def number(name, count):
    """formula_number of reference.hpp for k < count."""
    x = numpy.arange(count, dtype=numpy.uint32) * numpy.uint32(2654435761) + numpy.uint32(name * 40503 & 0xFFFFFFFF)
    for _ in range(2):
        x = (x ^ (x >> 16)) * numpy.uint32(0x45D9F3B)
    x ^= x >> 16
    return (x >> 9) / 2.0**22 - 1


def weight(name, shape):
    """formula_tensor of reference.hpp."""
    count = int(numpy.prod(shape))
    scale, offset = 0.1, 0.0
    if len(shape) >= 2:
        scale = (6 / (count / shape[0])) ** 0.5 * (0.02 if "emb" in name else 1)
    elif name.endswith("weight"):
        offset = 1.0
    return torch.tensor(offset + scale * number(zlib.crc32(name.encode()), count)).reshape(shape)


tokens = [(7 * i * i + 3 * i + 5) % SIZES["vocab_size"] for i in range(LENGTH)]
cases = [{"tokens": tokens}]
for name, kind in KINDS.items():
    config = SIZES | kind
    options = dict(config)
    made = transformers.AutoConfig.for_model(options.pop("model_type"), **options, attn_implementation="eager")
    net = transformers.AutoModelForCausalLM.from_config(made).eval().double()
    state = {key: weight(key, tuple(value.shape)) for key, value in net.state_dict().items() if key != "lm_head.weight" or not made.tie_word_embeddings}
    net.load_state_dict(state, strict=False)
    net.tie_weights()
    with torch.no_grad():
        logits = net(torch.tensor([tokens])).logits[0]
        text = tokens[:]
        for _ in range(NEW):
            text.append(int(net(torch.tensor([text])).logits[0, -1].argmax()))
    rounded = [[round(float(x), 6) for x in logits[i]] for i in (0, 11, LENGTH - 1)]
    cases.append({"name": name, "config": config, "parameters": sorted(state), "logits": rounded, "norm": float(logits.norm()), "after": text[LENGTH:]})
    top = logits[-1].topk(2).values
    print(f"{name}: norm {float(logits.norm()):.4f}, logits' deviation {float(logits.std()):.3f}, last two likeliest {top.tolist()}")
lines = ",\n".join("  " + json.dumps(case) for case in cases)
(HERE / "language_models.json").write_text(f'{{\n"transformers": "{transformers.__version__}",\n"cases": [\n{lines}\n]\n}}\n')
