"""Trains a vocabulary with Hugging Face's tokenizers and writes its files, and texts with their tokens as NAME.tokens:
reference.py DATA FOLDER."""

import gzip
import random
import re
import struct
import sys
from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

DATA, FOLDER = map(Path, sys.argv[1:])
ALPHABET = pre_tokenizers.ByteLevel.alphabet()  # a letter for each byte: itself, or one beyond the bytes
OTHERS = iter(sorted(set(ALPHABET) - set(map(chr, range(256)))))
LETTERS = [chr(byte) if chr(byte) in ALPHABET else next(OTHERS) for byte in range(256)]
FRAGMENTS = [b" ", b"  ", b"\n", b"\t", b"'s", b"'re", b"'LL", b" the", b" film", b"1999", b"...", b"<br />"]
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


def tokens_of(content):
    """A str holds no bytes that are not UTF-8. Each of them is cut as a character that is no letter, number or space, and merged as a byte."""
    text = content.decode(errors="surrogateescape")
    stand_in = re.sub("[\udc80-\udcff]", "\ufffd", text)
    if stand_in == text:
        return tokenizer.encode(text).ids
    pieces = [text[begin:end] for _, (begin, end) in tokenizer.pre_tokenizer.pre_tokenize_str(stand_in)]
    named = ["".join(LETTERS[byte] for byte in piece.encode(errors="surrogateescape")) for piece in pieces]
    return [token.id for piece in named for token in tokenizer.model.tokenize(piece)]


tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.train_from_iterator(
    (line for content in texts("imdb-subset") for line in content.decode().splitlines()),
    trainers.BpeTrainer(vocab_size=8000, min_frequency=2, special_tokens=["<|endoftext|>"], initial_alphabet=ALPHABET, show_progress=False))
tokenizer.model.save(str(FOLDER))
tokenizer.save(str(FOLDER / "tokenizer.json"))
kinds = {name: texts(name) for name in ("imdb-subset", "nietzsche", "ptb")} | {"random bytes": [random_bytes() for _ in range(10_000)]}
for name, contents in kinds.items():
    with open(FOLDER / f"{name}.tokens", "wb") as file:
        for content in contents:
            tokens = tokens_of(content)
            file.write(struct.pack("=q", len(content)) + content + struct.pack(f"={len(tokens) + 1}q", len(tokens), *tokens))
