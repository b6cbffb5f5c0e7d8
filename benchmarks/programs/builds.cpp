// The rows that show what a program's own options cost (benchmarks/builds): one line each, name and microseconds, the minimum of
// repeats. An argument selects rows whose name contains it.
#include <tern/models/models.hpp>
#include <tern/tern.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "../mnist_cnn.hpp"

using namespace tern;

static const char* wanted = "";

/// At least three calls and a fifth of a second.
template <class F>
void row(const char* name, const F& f) {
  if (!std::strstr(name, wanted)) return;
  f();
  double best = 1e9;
  const double begin = now();
  for (int n = 0; n < 3 || now() - begin < 0.2; ++n) {
    const double start = now();
    f();
    best = std::min(best, now() - start);
  }
  std::printf("%s %.2f\n", name, 1e6 * best);
}

template <class Net, class Optimiser>
void train(const char* name, Net& net, Optimiser& optimiser, const Tensor<Cpu>& x) {
  const auto labels = randint<Cpu>(0, 10, {x.size(0)});
  row(name, [&] {
    optimiser.zero_grad();
    cross_entropy(net(x), labels).backward();
    optimiser.step();
  });
}

int main(int argc, char** argv) {
  if (argc > 1) wanted = argv[1];
  const auto x = randn<Cpu>({1 << 20}), y = randn<Cpu>({1 << 20}), rows = randn<Cpu>({4096, 1000});
  row("add_1M", [&] { x + y; });
  row("gelu_1M", [&] { gelu(x); });
  row("softmax_4096x1000", [&] { softmax(rows, 1); });
  {
    nn::Linear<Cpu> layer(1024, 1024);
    layer.weight.set_grad(full_like(layer.weight, 1e-3));
    optim::SGD sgd(layer.parameters(), {.lr = 1e-6, .momentum = 0.9});
    row("sgd_step_1M", [&] { sgd.step(); });
  }
  {
    nn::Sequential net(nn::Linear<Cpu>(784, 128), nn::ReLU<Cpu>(), nn::Linear<Cpu>(128, 10));
    optim::SGD sgd(net.parameters(), {.lr = 0.1, .momentum = 0.9});
    train("mlp_small", net, sgd, randn<Cpu>({64, 784}));
  }
  {
    MnistCnn net;
    optim::Adadelta adadelta(net.parameters());
    train("mnist_cnn", net, adadelta, randn<Cpu>({128, 1, 28, 28}));
  }
  {
    auto net = models::resnet50<Cpu>({});
    net.eval();
    const InferenceMode inference;
    const auto images = randn<Cpu>({16, 3, 224, 224}).contiguous(channels_last);
    row("resnet50_infer", [&] { net(images); });
  }
}
