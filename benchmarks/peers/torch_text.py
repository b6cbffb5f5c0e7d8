"""The rows of networks for text, in PyTorch."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from torch_training import labels, training


def tokens(count, *shape):
    return torch.randint(0, count, shape)


def optimisers(kind, options, fused=True):
    """In all ways of going over the weights."""
    ways = {"foreach": {"foreach": True}, "loop": {"foreach": False}} | ({"fused": {"fused": True}} if fused else {})
    return {name: lambda p, way=way: kind(p, **options, **way) for name, way in ways.items()}


def judge(models, words, bf16=False):
    """Is each of 32 reviews positive?"""
    return training(models, optimisers(torch.optim.Adam, {"lr": 1e-3}), F.binary_cross_entropy_with_logits, words,
                    labels(32, 2).float(), bf16)


class FastText(nn.Module):
    """Embedding, mean over the tokens, one output; as an Embedding and a mean, or as an EmbeddingBag."""

    def __init__(self, bag):
        super().__init__()
        self.words = nn.EmbeddingBag(20000, 50, mode="mean") if bag else nn.Embedding(20000, 50)
        self.bag = bag
        self.out = nn.Linear(50, 1)

    def forward(self, reviews):
        words = self.words(reviews)
        return self.out(words if self.bag else words.mean(1)).squeeze(1)


def imdb_fasttext():
    return judge(lambda: {"embedding": FastText(False), "embedding_bag": FastText(True)}, tokens(20000, 32, 400))


def hidden(state):
    """h of an LSTM's h and c."""
    return state[0] if isinstance(state, tuple) else state


class Bidirectional(nn.Module):
    """Reviews [length, batch] are read in both directions."""

    def __init__(self, recurrent):
        super().__init__()
        self.words = nn.Embedding(20000, 128)
        self.recurrent = recurrent(128, 64, bidirectional=True)
        self.out = nn.Linear(128, 1)

    def forward(self, reviews):
        h = hidden(self.recurrent(self.words(reviews))[1])
        return self.out(F.dropout(torch.cat((h[0], h[1]), 1), 0.5)).squeeze(1)


def imdb(recurrent, bf16=False):
    return lambda: judge(lambda: {"eager": Bidirectional(recurrent)}, tokens(20000, 100, 32), bf16)


class NextCharacter(nn.Module):
    """The character after texts [length, batch, 57], whose characters are ones among zeros."""

    def __init__(self, recurrent):
        super().__init__()
        self.recurrent = recurrent(57, 128)
        self.out = nn.Linear(128, 57)

    def forward(self, texts):
        return self.out(hidden(self.recurrent(texts)[1])[0])


def nietzsche(recurrent):
    rmsprop = optimisers(torch.optim.RMSprop, {"lr": 0.01, "alpha": 0.9, "eps": 1e-7}, fused=False)
    return lambda: training(lambda: {"eager": NextCharacter(recurrent)}, rmsprop, F.cross_entropy,
                            F.one_hot(tokens(57, 40, 128), 57).float(), labels(128, 57))


class NextWords(nn.Module):
    """The word after each of texts [length, batch]."""

    def __init__(self, recurrent):
        super().__init__()
        self.words = nn.Embedding(10000, 200)
        self.recurrent = recurrent(200, 200, num_layers=2)
        self.out = nn.Linear(200, 10000)

    def forward(self, texts):
        return self.out(self.recurrent(self.words(texts))[0].flatten(0, 1))


def ptb(recurrent, bf16=False):
    return lambda: training(lambda: {"eager": NextWords(recurrent)}, optimisers(torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
                            F.cross_entropy, tokens(10000, 35, 32), labels(35 * 32, 10000), bf16)


ROWS = {"imdb_fasttext": imdb_fasttext,
        "imdb_bilstm": imdb(nn.LSTM), "imdb_bigru": imdb(nn.GRU),
        "imdb_bilstm_bf16": imdb(nn.LSTM, bf16=True), "ptb_lstm200_bf16": ptb(nn.LSTM, bf16=True),
        "nietzsche_lstm": nietzsche(nn.LSTM), "nietzsche_gru": nietzsche(nn.GRU),
        "ptb_lstm200": ptb(nn.LSTM), "ptb_gru200": ptb(nn.GRU)}
