"""The rows of networks with convolutions, in TensorFlow: Keras models, channels last."""

import tensorflow as tf
from keras import applications, layers, losses, models, optimizers
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

from tensorflow_training import labels, training


def mnist_cnn():
    return models.Sequential([
        layers.Input((28, 28, 1)), layers.Conv2D(32, 3, activation="relu"), layers.Conv2D(64, 3, activation="relu"),
        layers.MaxPooling2D(), layers.Dropout(0.25), layers.Flatten(), layers.Dense(128, activation="relu"),
        layers.Dropout(0.5), layers.Dense(10)])


def vgg16():
    """Keras's convolutions; the dense layers with their dropout."""
    convolutions = applications.VGG16(include_top=False, weights=None, input_shape=(224, 224, 3))
    dense = [layer for _ in range(2) for layer in (layers.Dense(4096, activation="relu"), layers.Dropout(0.5))]
    return models.Sequential([convolutions, layers.Flatten(), *dense, layers.Dense(1000)])


def normalised(x, width, side, stride=1):
    x = layers.Conv2D(width, side, stride, padding="same", use_bias=False)(x)
    return layers.BatchNormalization(momentum=0.9, epsilon=1e-5)(x)


def resnet50():
    """As torchvision has it: the stride is in the 3 x 3 convolution. (Keras's own is the older form.)"""
    images = layers.Input((224, 224, 3))
    x = layers.MaxPooling2D(3, 2, padding="same")(layers.ReLU()(normalised(images, 64, 7, 2)))
    for width, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for i in range(count):
            stride = 2 if i == 0 and width > 64 else 1
            y = layers.ReLU()(normalised(x, width, 1))
            y = layers.ReLU()(normalised(y, width, 3, stride))
            y = normalised(y, 4 * width, 1)
            shortcut = normalised(x, 4 * width, 1, stride) if i == 0 else x
            x = layers.ReLU()(layers.Add()([y, shortcut]))
    return models.Model(images, layers.Dense(1000)(layers.GlobalAveragePooling2D()(x)))


def xception():
    return applications.Xception(weights=None, classifier_activation=None)


def classifier(make, make_optimiser, shape, classes):
    """A training step with random labels."""
    loss = losses.SparseCategoricalCrossentropy(from_logits=True)
    return lambda: training(make, make_optimiser, loss, tf.random.normal(shape), labels(shape[0], classes))


def inference(make, shape):
    """As one tf.function, plain, jit_compiled, and with the weights as constants, which folds the normalisations."""

    def modes():
        model, x = make(), tf.random.normal(shape)
        graph, xla = (tf.function(lambda x: model(x, training=False), jit_compile=jit) for jit in (False, True))
        frozen = convert_variables_to_constants_v2(graph.get_concrete_function(tf.TensorSpec(shape)))
        return {"graph": lambda: graph(x), "XLA": lambda: xla(x), "frozen graph": lambda: frozen(x)}

    return modes


MODELS = {"resnet50": (224, resnet50), "vgg16": (224, vgg16), "xception": (299, xception)}

ROWS = {
    "mnist_cnn": classifier(mnist_cnn, lambda: optimizers.Adadelta(1.0), (128, 28, 28, 1), 10),
} | {
    f"{name}_train": classifier(make, lambda: optimizers.SGD(0.01, momentum=0.9), (8, side, side, 3), 1000)
    for name, (side, make) in MODELS.items()
} | {f"{name}_infer": inference(make, (16, side, side, 3)) for name, (side, make) in MODELS.items()}
