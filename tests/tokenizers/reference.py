"""Trains two vocabularies with Hugging Face's tokenizers, with GPT-2's rule and with Qwen's, and writes the files of each into a folder, and
texts with their tokens as NAME.tokens: reference.py DATA FOLDER."""

import gzip
import random
import re
import struct
import sys
from pathlib import Path

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

DATA, FOLDER = map(Path, sys.argv[1:])
ALPHABET = pre_tokenizers.ByteLevel.alphabet()  # a letter for each byte: itself, or one beyond the bytes
OTHERS = iter(sorted(set(ALPHABET) - set(map(chr, range(256)))))
LETTERS = [chr(byte) if chr(byte) in ALPHABET else next(OTHERS) for byte in range(256)]
QWEN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
SPELLINGS = ["e\u0301", "\u0323\u0307", "\u0307\u0323", "\u212b", "\u0344", "\u1100\u1161", "\u11a8", "\uac00", "\u0958", "\u09c7\u09be"]
FRAGMENTS = [each.encode() for each in SPELLINGS] + [b" ", b"  ", b"\n", b"\t", b"'s", b"'re", b"'LL", b" the", b" film", b"1999", b"...", b"<br />"]
LIMITS = [0x80, 0x800, 0x10000, 0x110000]  # characters of one, two, three and four bytes lie below
draw = random.Random(1)


def texts(name):
    """The files of a folder of data."""
    return [(gzip.open if path.suffix == ".gz" else open)(path, "rb").read() for path in sorted((DATA / "data" / name).iterdir())]


def random_bytes():
    """Fragments of words, and characters from everywhere, surrogates too; in half of the texts also bytes that are none."""
    kinds = [lambda: draw.choice(FRAGMENTS), lambda: chr(draw.randrange(draw.choice(LIMITS))).encode(errors="surrogatepass"),
             lambda: draw.randbytes(draw.randrange(4))][:draw.randint(2, 3)]
    return b"".join(draw.choice(kinds)() for _ in range(draw.randrange(40)))


def normal(tokenizer, text):
    """The text as it is cut; surrogates stand for bytes that are not UTF-8, which stay as they are."""
    if not tokenizer.normalizer:
        return text
    parts = re.split("([\udc80-\udcff]+)", text)
    return "".join(part if i % 2 else tokenizer.normalizer.normalize_str(part) for i, part in enumerate(parts))


def tokens_of(tokenizer, text):
    """Each byte that is not UTF-8 is cut as a character that is no letter, number or space, and merged as a byte."""
    if not re.search("[\udc80-\udcff]", text):
        return tokenizer.encode(text).ids
    text = normal(tokenizer, text)
    stand_in = re.sub("[\udc80-\udcff]", "\ufffd", text)
    pieces = [text[begin:end] for _, (begin, end) in tokenizer.pre_tokenizer.pre_tokenize_str(stand_in)]
    named = ["".join(LETTERS[byte] for byte in piece.encode(errors="surrogateescape")) for piece in pieces]
    return [token.id for piece in named for token in tokenizer.model.tokenize(piece)]


def write(folder, pre_tokenizer, normalizer):
    folder.mkdir()
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.train_from_iterator(
        (line for content in texts("imdb-subset") for line in content.decode().splitlines()),
        trainers.BpeTrainer(vocab_size=8000, min_frequency=2, special_tokens=["<|endoftext|>"], initial_alphabet=ALPHABET,
                            show_progress=False))
    tokenizer.model.save(str(folder))
    tokenizer.save(str(folder / "tokenizer.json"))
    for name, contents in kinds.items():
        with open(folder / f"{name}.tokens", "wb") as file:
            for content in contents:
                text = content.decode(errors="surrogateescape")
                tokens = tokens_of(tokenizer, text)
                for field in (content, normal(tokenizer, text).encode(errors="surrogateescape")):
                    file.write(struct.pack("=q", len(field)) + field)
                file.write(struct.pack(f"={len(tokens) + 1}q", len(tokens), *tokens))


kinds = {name: texts(name) for name in ("imdb-subset", "nietzsche", "ptb")} | {"random bytes": [random_bytes() for _ in range(10_000)]}
write(FOLDER / "GPT2Tokenizer", pre_tokenizers.ByteLevel(add_prefix_space=False), None)
write(FOLDER / "Qwen2Tokenizer",
      pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(QWEN), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]),
      normalizers.NFC())
