"""What Hugging Face's tokenizers (pip) makes of texts, with a small vocabulary that it trains on the texts themselves."""

import json
import pathlib
import random
import tempfile

import tokenizers
from tokenizers import AddedToken, ByteLevelBPETokenizer, Regex, Tokenizer, pre_tokenizers

HERE = pathlib.Path(__file__).parent
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
TEXTS = [
    "", " ", "a", "It's the user's tensor, isn't it?  They've 12345 of them; we'll see...\n\n", "I'M, I'D, YOU'LL and ſ'ſ",
    "  two spaces,\ttabs\t\tand\r\nline ends \n \n  indented", "naïve café, Straße, Ελληνικά, русский, 日本語, ٣٤٥, ½ ²",
    "emoji 👍🏽 and ZWJ 👩‍👩‍👧; controls \x00\x01\x7f", "\u00a0no-break\u3000ideographic \u2028 separator\u0085",
    "for (int i = 0; i < n; ++i) sum += x[i];", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "<|endoftext|>", "one<|endoftext|> two",
    "a <mask> b", " <mask><m>  x hello<mask> worlds", "<m> \n y",
]
draw = random.Random(1)
TEXTS += ["".join(draw.choice(" \t\n\r'sdtlmreSTRE019aZ.,!\u00a0\u3000é字٣\u017f") for _ in range(40)) for _ in range(20)]
TEXTS += ["".join(chr(draw.choice([draw.randrange(0x80, 0xD800), draw.randrange(0xE000, 0x110000)])) for _ in range(12)) for _ in range(20)]

with tempfile.TemporaryDirectory() as folder:
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(TEXTS * 3, vocab_size=420, min_frequency=2, special_tokens=["<|endoftext|>"])
    trained.save_model(folder)
    trained.save(folder + "/tokenizer.json")
    files = {name: (pathlib.Path(folder) / name).read_text() for name in ("vocab.json", "merges.txt", "tokenizer.json")}


def variant(pre_tokenizer=None, added=()):
    other = Tokenizer.from_str(files["tokenizer.json"])
    if pre_tokenizer:
        other.pre_tokenizer = pre_tokenizer
    for token in added:
        (other.add_special_tokens if isinstance(token, AddedToken) else other.add_tokens)([token])
    return other


def split(pattern):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"),
                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


variants = {
    "gpt2": variant(), "llama3": variant(split(LLAMA3)), "qwen": variant(split(LLAMA3.replace("{1,3}", ""))),
    "added": variant(pre_tokenizers.ByteLevel(add_prefix_space=True),
                     [AddedToken("<mask>", lstrip=True), AddedToken("<m>", rstrip=True), "hello<", "world"]),
}
cases = [{"texts": TEXTS, "vocab": files["vocab.json"], "merges": files["merges.txt"]}]
cases += [{"name": name, "tokenizer": each.to_str(), "tokens": [each.encode(text, add_special_tokens=False).ids for text in TEXTS]}
          for name, each in variants.items()]
lines = ",\n".join("  " + json.dumps(case) for case in cases)
(HERE / "byte_pair_encoding.json").write_text(f'{{\n"tokenizers": "{tokenizers.__version__}",\n"cases": [\n{lines}\n]\n}}\n')
