"""What Hugging Face's tokenizers (pip) makes of texts, with a small vocabulary that it trains on the texts themselves."""

import json
import pathlib
import random
import tempfile

import tokenizers
from tokenizers import (AddedToken, ByteLevelBPETokenizer, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors,
                        trainers)

HERE = pathlib.Path(__file__).parent
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
TEXTS = [
    "", " ", "a", "It's the user's tensor, isn't it?  They've 12345 of them; we'll see...\n\n", "I'M, I'D, YOU'LL and ſ'ſ",
    "  two spaces,\ttabs\t\tand\r\nline ends \n \n  indented", "naïve café, Straße, Ελληνικά, русский, 日本語, ٣٤٥, ½ ²",
    "emoji 👍🏽 and ZWJ 👩‍👩‍👧; controls \x00\x01\x7f", "\u00a0no-break\u3000ideographic \u2028 separator\u0085",
    "for (int i = 0; i < n; ++i) sum += x[i];", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "<|endoftext|>", "one<|endoftext|> two",
    "a <mask> b", " <mask><m>  x hello<mask> worlds", "<m> \n y",
    "cafe\u0301 café, A\u030a \u212b \u00c5, q\u0323\u0307 q\u0307\u0323", "\u1112\u1161\u11ab\u1100\u1173\u11af 한글, \u0915\u093c \u0958",
    "12345 12345, 2345 345", " one</s> two<s>hello \u2581 hello",
    "<|im_start|>user\nvie\u0323\u0302t vi\u1ec7t<|im_end|>\n", "\u0301<|im_end|>\u0301",
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


def variant(pre_tokenizer=None, added=(), normalizer=None, post_processor=None):
    other = Tokenizer.from_str(files["tokenizer.json"])
    if pre_tokenizer:
        other.pre_tokenizer = pre_tokenizer
    if normalizer:
        other.normalizer = normalizer
    if post_processor:
        other.post_processor = post_processor
    for token in added:
        (other.add_special_tokens if isinstance(token, AddedToken) else other.add_tokens)([token])
    return other


def split(pattern):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"),
                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def of_characters(pre_tokenizer, normalizer, strips, added=()):
    """As the tokenisers that come from SentencePiece: rare characters are tokens of bytes."""
    trained = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    trained.pre_tokenizer = pre_tokenizers.Metaspace(split=True)
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    trained.train_from_iterator(TEXTS * 3, trainers.BpeTrainer(
        vocab_size=420, min_frequency=2, limit_alphabet=60, special_tokens=["<unk>", "<s>", "</s>"] + bytes_, show_progress=False))
    content = json.loads(trained.to_str())
    content["added_tokens"] = content["added_tokens"][:3]
    other = Tokenizer.from_str(json.dumps(content))
    other.pre_tokenizer, other.normalizer = pre_tokenizer, normalizer
    spaces = [decoders.Strip(" ", 1, 0)] if strips else []
    other.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), *spaces])
    other.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    other.add_tokens(list(added))
    return other


WRITTEN = normalizers.Replace(" ", "\u2581")
QWEN = split(LLAMA3.replace("{1,3}", ""))
ENDS = processors.TemplateProcessing(single="<|endoftext|> $A <|endoftext|> <|endoftext|>", special_tokens=[("<|endoftext|>", 0)])
CHAT = [AddedToken("<|im_start|>", special=True), AddedToken("<|im_end|>", special=True)]
variants = {
    "gpt2": variant(),
    "llama3": variant(split(LLAMA3), post_processor=processors.Sequence([processors.ByteLevel(trim_offsets=False), ENDS])),
    "qwen": variant(QWEN, normalizer=normalizers.NFC()),
    "qwen, chat": variant(QWEN, CHAT + ["vie\u0302\u0323t"], normalizers.Sequence([normalizers.NFC()])),
    "added": variant(pre_tokenizers.ByteLevel(add_prefix_space=True),
                     [AddedToken("<mask>", lstrip=True), AddedToken("<m>", rstrip=True), "hello<", "world"],
                     post_processor=processors.RobertaProcessing(("<m>", 421), ("<mask>", 420))),
    "llama2": of_characters(None, normalizers.Sequence([normalizers.Prepend("\u2581"), WRITTEN]), True, ["hello"]),
    "mistral": of_characters(pre_tokenizers.Metaspace(prepend_scheme="first", split=False), None, True),
    "gemma": of_characters(pre_tokenizers.Split(" ", "merged_with_previous"), WRITTEN, False, ["\n\n"]),
}


def tokens_of(tokenizer, add_special_tokens):
    return [tokenizer.encode(text, add_special_tokens=add_special_tokens).ids for text in TEXTS]


cases = [{"texts": TEXTS, "vocab": files["vocab.json"], "merges": files["merges.txt"]}]
for name, each in variants.items():
    tokens = tokens_of(each, False)
    cases.append({"name": name, "tokenizer": each.to_str(), "tokens": tokens, "whole": tokens_of(each, True)[2],
                  "decoded": [each.decode(ids, skip_special_tokens=False) for ids in tokens]})
lines = ",\n".join("  " + json.dumps(case) for case in cases)
(HERE / "byte_pair_encoding.json").write_text(f'{{\n"tokenizers": "{tokenizers.__version__}",\n"cases": [\n{lines}\n]\n}}\n')
