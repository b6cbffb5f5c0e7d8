// Networks with convolutions on a GPU: training steps on random channels-last images that are there already, plain and
// captured. cuDNN's algorithms are searched for in the steps before the timed ones. A float network's products and
// convolutions are rounded to TF32.
#include <tern/models/resnet.hpp>

#include "../mnist_cnn.hpp"
#include "on_gpu.hpp"

namespace {

using namespace tern;

/// Of `batch` images of so many channels and that side.
template <class Net, class Optimiser>
void classify(benchmark::State& state, bool captured, Net& net, Optimiser&& optimiser, const detail::Shape& images,
              Index classes) {
  const auto x = randn<Cuda>(images).contiguous(channels_last);
  const auto labels = randint<Cuda>(0, classes, {images[0]});
  run_training(state, captured, net, optimiser, x, [&](const auto& scores) { return cross_entropy(scores, labels); });
}

void mnist_cnn(benchmark::State& state, bool captured) {
  MnistCnn<Cuda> net;
  classify(state, captured, net, optim::Adadelta(net.parameters(), {.lr = 1}), {128, 1, 28, 28}, 10);
}

void resnet20(benchmark::State& state, bool captured) {
  auto net = models::resnet20<Cuda>();
  classify(state, captured, net, optim::SGD(net.parameters(), {.lr = 0.1, .momentum = 0.9, .weight_decay = 1e-4}),
           {128, 3, 32, 32}, 10);
}

template <class Net>
void resnet50(benchmark::State& state, Index batch, Net net) {
  classify(state, false, net, optim::SGD(net.parameters(), {.lr = 0.01, .momentum = 0.9}), {batch, 3, 224, 224}, 1000);
}

[[maybe_unused]] const bool added = [] {
  for (const bool captured : {false, true}) {
    const std::string end = captured ? "_captured" : "";
    add_row("mnist_cnn" + end, 50, [=](auto& state) { mnist_cnn(state, captured); });
    add_row("resnet20" + end, 20, [=](auto& state) { resnet20(state, captured); });
  }
  for (const Index batch : {64, 128, 256}) {
    const std::string name = detail::text({"resnet50_cuda_b", batch});
    add_row(name + "_tf32", 5, [=](auto& state) { resnet50(state, batch, models::resnet50<Cuda>()); });
    add_row(name + "_bf16", 5,
            [=](auto& state) { resnet50(state, batch, nn::mixed<bfloat16>(models::resnet50<Cuda>())); });
  }
  return true;
}();

}  // namespace
