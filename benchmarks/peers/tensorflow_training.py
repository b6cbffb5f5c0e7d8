"""The rows that train dense networks, in TensorFlow, and what a training step is."""

import tensorflow as tf
from keras import layers, losses, models, optimizers


def training(make_model, make_optimiser, loss, x, y):
    """A training step: forward, loss, gradients, optimiser step, as one tf.function, plain and jit_compiled."""

    def step_of(jit):
        model, optimiser = make_model(), make_optimiser()
        optimiser.build(model.trainable_variables)

        @tf.function(jit_compile=jit)
        def step(x, y):
            with tf.GradientTape() as tape:
                value = loss(y, model(x, training=True))
            gradients = tape.gradient(value, model.trainable_variables)
            optimiser.apply_gradients(zip(gradients, model.trainable_variables))
            return value

        return lambda: step(x, y)

    return {"graph": step_of(False), "XLA": step_of(True)}


def labels(n, classes=10):
    return tf.random.uniform((n,), 0, classes, tf.int32)


def mlp_small():
    return training(
        lambda: models.Sequential([layers.Input((784,)), layers.Dense(128, activation="relu"), layers.Dense(10)]),
        lambda: optimizers.SGD(0.1, momentum=0.9), losses.SparseCategoricalCrossentropy(from_logits=True),
        tf.random.normal((64, 784)), labels(64))


def mnist_mlp():
    return training(
        lambda: models.Sequential([layers.Input((784,)), layers.Dense(512, activation="relu"), layers.Dropout(0.2),
                                   layers.Dense(512, activation="relu"), layers.Dropout(0.2), layers.Dense(10)]),
        lambda: optimizers.RMSprop(1e-3), losses.SparseCategoricalCrossentropy(from_logits=True),
        tf.random.normal((128, 784)), labels(128))


ROWS = {"mlp_small": mlp_small, "mnist_mlp": mnist_mlp}
