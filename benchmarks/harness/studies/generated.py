"""Generated networks, after ParaDnn (Wang, Wei, Brooks: "Benchmarking TPU, GPU, and CPU platforms for deep learning", 2019): what a training step of
each computes and moves. Counted are the products: two operations for each pair of numbers that a product multiplies, zeros of padding left out; and the
bytes of each product's two operands and its result, once each, and of the optimiser's reading gradients and parameters and writing parameters. What
stands between products (activations, normalisation, gates) is left out."""

import dataclasses
import itertools


def product(m, n, k, size):
    """(operations, bytes) of a product [m, k] times [k, n] with elements of so many bytes."""
    return 2 * m * n * k, size * (m * k + k * n + m * n)


WINOGRAD = 4  # 3 x 3 convolutions of stride 1 by Winograd's algorithm, on tiles of 4 x 4, multiply so many times less


def total(counts):
    return tuple(map(sum, zip(*counts)))


def update(parameters):
    """SGD: operations are left out; parameters stay in float."""
    return 0, 3 * 4 * parameters


@dataclasses.dataclass(frozen=True)
class FullyConnected:
    """Layers of width x width with bias, relu between them."""

    layers: int
    width: int
    batch: int
    family = "fully connected"

    def words(self):
        return f"fully_connected {self.layers} {self.width} {self.batch}"

    def cost(self, size):
        each = product(self.batch, self.width, self.width, size)  # forward, the weights' gradient and, except in the first layer, the input's
        return total([each] * (3 * self.layers - 1) + [update(self.layers * self.width * (self.width + 1))])

    def fewest(self):
        return self.cost(4)[0]

    def memory(self):
        return 4 * (4 * self.layers * self.batch * self.width + 3 * self.layers * self.width**2)


def convolution(batch, side, inputs, outputs, kernel, stride, size):
    """(operations, bytes) of a convolution of side x side pictures, padded to keep their size where the stride is 1."""
    after = side // stride
    # Pairs, along one dimension, of a place of the result and a tap inside the picture: all but those in the padding at its ends.
    inside = after if kernel == 1 else 3 * after - (2 if stride == 1 else 1)
    return 2 * batch * inputs * outputs * inside**2, size * (batch * inputs * side**2 + inputs * outputs * kernel**2 + batch * outputs * after**2)


@dataclasses.dataclass(frozen=True)
class Residual:
    """The residual network for CIFAR's pictures of 32 x 32: three stages of so many blocks, with filters, twice and four times as many channels."""

    blocks: int
    filters: int
    batch: int
    family = "residual"

    def words(self):
        return f"residual {self.blocks} {self.filters} {self.batch}"

    def convolutions(self):
        """(side, inputs, outputs, kernel, stride) of each."""
        yield 32, 3, self.filters, 3, 1
        inputs, side = self.filters, 32
        for stage, block in itertools.product(range(3), range(self.blocks)):
            width, stride = self.filters * 2**stage, 2 if stage and not block else 1
            yield side, inputs, width, 3, stride
            yield side // stride, width, width, 3, 1
            if stride == 2:
                yield side, inputs, width, 1, 2
            inputs, side = width, side // stride

    def parameters(self):
        of_convolutions = sum(inputs * outputs * kernel**2 + 2 * outputs for _, inputs, outputs, kernel, _ in self.convolutions())  # with normalisation
        return of_convolutions + 10 * (4 * self.filters + 1)

    def cost(self, size):
        convolutions = [convolution(self.batch, *shape, size) for shape in self.convolutions()]
        dense = product(self.batch, 10, 4 * self.filters, size)
        return total([convolutions[0]] * 2 + convolutions[1:] * 3 + [dense] * 3 + [update(self.parameters())])

    def fewest(self):
        """The operations, where Winograd's algorithm computes all convolutions that it can."""
        saved = sum((3 if i else 2) * convolution(self.batch, *shape, 4)[0] * (1 - 1 / WINOGRAD)
                    for i, shape in enumerate(self.convolutions()) if shape[3:] == (3, 1))
        return self.cost(4)[0] - saved

    def memory(self):
        return 4 * 6 * sum(self.batch * outputs * (side // stride) ** 2 for side, _, outputs, _, stride in self.convolutions()) + 12 * self.parameters()


@dataclasses.dataclass(frozen=True)
class Recurrent:
    """Recurrent layers as wide as their input, over sequences of one length."""

    cell: str
    layers: int
    width: int
    length: int
    batch: int
    family = "recurrent"

    def words(self):
        return f"{self.cell} {self.layers} {self.width} {self.length} {self.batch}"

    def cost(self, size):
        gates = {"rnn": 1, "gru": 3, "lstm": 4}[self.cell] * self.width
        at_once = product(self.length * self.batch, gates, self.width, size)  # of all elements; of a weight's gradient as well
        each = product(self.batch, gates, self.width, size)  # of one element, whose states the next one needs
        forward = [at_once] + [each] * self.length
        backward = [at_once] * 2 + [each] * self.length + [at_once]  # the weights of input and states; the states; the input
        layers = (forward + backward) * self.layers
        return total(layers[:-1] + [update(self.layers * gates * (2 * self.width + 2))])  # the first layer's input needs no gradient

    def fewest(self):
        return self.cost(4)[0]

    def memory(self):
        gates = {"rnn": 1, "gru": 3, "lstm": 4}[self.cell] * self.width
        return 4 * self.layers * (4 * self.length * self.batch * gates + 6 * gates * self.width)


def grid():
    """All networks that a study may measure."""
    return [*itertools.starmap(FullyConnected, itertools.product((4, 8, 16, 32), (32, 128, 512, 2048, 4096), (32, 128, 512, 4096))),
            *itertools.starmap(Residual, itertools.product((1, 3, 5), (8, 16, 32, 64), (8, 32, 128))),
            *itertools.starmap(Recurrent, itertools.product(("rnn", "gru", "lstm"), (1, 2, 4), (32, 128, 512, 1024), (10, 50), (8, 64)))]


def small_grid():
    """What an emulated card computes in seconds."""
    return [FullyConnected(4, 32, 32), FullyConnected(8, 128, 32), Residual(1, 8, 8), Recurrent("rnn", 1, 32, 10, 8), Recurrent("gru", 1, 32, 10, 8), Recurrent("lstm", 1, 32, 10, 8)]
