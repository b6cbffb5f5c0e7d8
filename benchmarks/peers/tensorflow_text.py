"""The rows of networks for text, in TensorFlow."""

import tensorflow as tf
from keras import layers, losses, models, optimizers

from tensorflow_training import labels, training


def tokens(count, *shape):
    return tf.random.uniform(shape, 0, count, tf.int32)


def judge(words, reader):
    """Is each of 32 reviews positive? reader() makes layers from the words to the output."""
    return training(lambda: models.Sequential([layers.Input(words.shape[1:], dtype="int32"), *reader(), layers.Dense(1)]),
                    lambda: optimizers.Adam(1e-3), losses.BinaryCrossentropy(from_logits=True), words,
                    tf.cast(tokens(2, 32, 1), tf.float32))


def imdb_fasttext():
    return judge(tokens(20000, 32, 400), lambda: [layers.Embedding(20000, 50), layers.GlobalAveragePooling1D()])


def imdb_bilstm():
    return judge(tokens(20000, 32, 100),
                 lambda: [layers.Embedding(20000, 128), layers.Bidirectional(layers.LSTM(64)), layers.Dropout(0.5)])


def nietzsche_lstm():
    return training(lambda: models.Sequential([layers.Input((40, 57)), layers.LSTM(128), layers.Dense(57)]),
                    lambda: optimizers.RMSprop(0.01), losses.SparseCategoricalCrossentropy(from_logits=True),
                    tf.one_hot(tokens(57, 128, 40), 57), labels(128, 57))


ROWS = {"imdb_fasttext": imdb_fasttext, "imdb_bilstm": imdb_bilstm, "nietzsche_lstm": nietzsche_lstm}
