// Networks with convolutions: training steps and inference on random channels-last images in memory.
#include <tern/models/models.hpp>
#include <tern/tern.hpp>

#include "mnist_cnn.hpp"
#include "steps.hpp"

namespace {

using namespace tern;

Tensor<Cpu> images(Index batch, Index channels, Index side) {
  return randn<Cpu>({batch, channels, side, side}).contiguous(channels_last);
}

/// The floating-point operations of one iteration.
void count_flop(benchmark::State& state, double before) {
  state.counters["FLOP"] = benchmark::Counter(detail::device_events.flops - before, benchmark::Counter::kAvgIterations);
}

/// Steps with the cross-entropy of random labels.
template <class Net, class Optimiser>
void classify(benchmark::State& state, Net& net, Optimiser& optimiser, const Tensor<Cpu>& x, Index classes) {
  const auto labels = randint<Cpu>(0, classes, {x.size(0)});
  const double before = detail::device_events.flops;
  run_training(state, net, optimiser, x, [&](const auto& scores) { return cross_entropy(scores, labels); });
  count_flop(state, before);
}

void mnist_cnn(benchmark::State& state) {
  MnistCnn<Cpu> net;
  optim::Adadelta adadelta(net.parameters(), {.lr = 1});
  classify(state, net, adadelta, images(128, 1, 28), 10);
}
BENCHMARK(mnist_cnn)->UseRealTime();

struct MnistPytorch : nn::Module<Cpu> {
  nn::Conv2d<Cpu> conv1{1, 10, 5}, conv2{10, 20, 5};
  nn::Linear<Cpu> fc1{320, 50}, fc2{50, 10};
  TERN_FIELDS(MnistPytorch, conv1, conv2, fc1, fc2)
  Tensor<Cpu> forward(const Tensor<Cpu>& x) {
    const auto y = relu(max_pool2d(dropout2d(conv2(relu(max_pool2d(conv1(x), 2))), 0.5), 2));
    return fc2(dropout(relu(fc1(y.flatten(1))), 0.5));
  }
};

void mnist_pytorch(benchmark::State& state) {
  MnistPytorch net;
  optim::SGD sgd(net.parameters(), {.lr = 0.01, .momentum = 0.5});
  classify(state, net, sgd, images(64, 1, 28), 10);
}
BENCHMARK(mnist_pytorch)->UseRealTime();

struct CifarVgg : nn::Module<Cpu> {
  std::vector<nn::Conv2d<Cpu>> convs;
  std::vector<nn::BatchNorm2d<Cpu>> norms;
  nn::Linear<Cpu> dense{512, 512}, out{512, 10};
  nn::BatchNorm1d<Cpu> norm{512};
  TERN_FIELDS(CifarVgg, convs, norms, dense, out, norm)

  explicit CifarVgg(std::initializer_list<Index> widths) {
    Index in = 3;
    for (const Index width : widths) {
      convs.emplace_back(in, width, 3, nn::ConvLayerOptions{.padding = 1});
      norms.emplace_back(width);
      in = width;
    }
  }
  Tensor<Cpu> forward(const Tensor<Cpu>& images) {
    Tensor<Cpu> x = images;
    for (std::size_t i = 0; i < convs.size(); ++i) {
      x = norms[i](relu(convs[i](x)));
      const bool ends_group = i == 1 || i == 3 || i == 6 || i == 9 || i == 12;
      x = ends_group ? max_pool2d(x, 2) : dropout(x, i == 0 ? 0.3 : 0.4);
    }
    return out(dropout(norm(relu(dense(dropout(x.flatten(1), 0.5)))), 0.5));
  }
};

void cifar_vgg(benchmark::State& state) {
  CifarVgg net({64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512, 512});
  optim::SGD sgd(net.parameters(), {.lr = 0.01, .momentum = 0.9, .weight_decay = 5e-4});
  classify(state, net, sgd, images(128, 3, 32), 10);
}
BENCHMARK(cifar_vgg)->UseRealTime();

void resnet20(benchmark::State& state) {
  auto net = models::resnet20<Cpu>();
  optim::SGD sgd(net.parameters(), {.lr = 0.1, .momentum = 0.9, .weight_decay = 1e-4});
  classify(state, net, sgd, images(128, 3, 32), 10);
}
BENCHMARK(resnet20)->UseRealTime();

/// A training step of a model of 1,000 classes with 8 images.
template <class Make>
void add_training(const std::string& name, Index side, const Make& make) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    auto net = make();
    optim::SGD sgd(net.parameters(), {.lr = 0.01, .momentum = 0.9});
    classify(state, net, sgd, images(8, 3, side), 1000);
  })->UseRealTime();
}

/// Inference with 16 images of elements T.
template <class T, class Make>
void add_inference(const std::string& name, Index side, const Make& make) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    auto net = nn::fuse_for_inference(make()).to(dtype<T>);
    const InferenceMode inference;
    const auto x = images(16, 3, side).to(dtype<T>);
    const double before = detail::device_events.flops;
    run_steps(state, [&] { benchmark::DoNotOptimize(net(x).impl()); });
    count_flop(state, before);
  })->UseRealTime();
}

/// A model's training step, and inference.
template <class Make>
void add_model(const std::string& name, Index side, const Make& make) {
  add_training(name + "_train", side, make);
  add_inference<float>(name + "_infer", side, make);
}

/// The same in bfloat16: training in mixed precision, inference with weights in 16 bits.
template <class Make>
void add_model_bf16(const std::string& name, Index side, const Make& make) {
  add_training(name + "_train_bf16", side, [=] { return nn::mixed<bfloat16>(make()); });
  add_inference<bfloat16>(name + "_infer_bf16", side, make);
}

[[maybe_unused]] const bool added = [] {
  add_model("alexnet", 224, [] { return models::alexnet<Cpu>(); });
  add_model("googlenet", 224, [] { return models::googlenet<Cpu>(); });
  add_model("resnet50", 224, [] { return models::resnet50<Cpu>(); });
  add_model("vgg16", 224, [] { return models::vgg16<Cpu>(); });
  add_model("inception_v3", 299, [] { return models::inception_v3<Cpu>(); });
  add_model("xception", 299, [] { return models::xception<Cpu>(); });
  add_model_bf16("alexnet", 224, [] { return models::alexnet<Cpu>(); });
  add_model_bf16("resnet50", 224, [] { return models::resnet50<Cpu>(); });
  add_model_bf16("vgg16", 224, [] { return models::vgg16<Cpu>(); });
  return true;
}();

}  // namespace
