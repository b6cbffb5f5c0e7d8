// Trains a network on the handwritten digits of MNIST. ./examples/run mnist --help lists the options.
#include <tern/cuda.hpp>
#include <tern/nn/convolution.hpp>
#include <tern/nn/dropout.hpp>
#include <tern/nn/linear.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/adadelta.hpp>
#include <tern/optim/rmsprop.hpp>
#include <tern/optim/sgd.hpp>
#include "support/digits.hpp"
#include "support/trainer.hpp"

using namespace tern;

/// Dense layers with relu, dropout after each but the last.
template <Device D, class T = float>
struct Mlp : nn::Module<D, T> {
  std::vector<nn::Linear<D, T>> layers;
  nn::Dropout<D, T> dropout;
  TERN_FIELDS(Mlp, layers, dropout)

  Mlp(const std::vector<Index>& sizes, double dropped) : dropout(dropped) {
    for (std::size_t i = 1; i < sizes.size(); ++i) layers.emplace_back(sizes[i - 1], sizes[i]);
  }
  Tensor<D, T> forward(const Tensor<D, T>& images) {
    auto x = images.flatten(1);
    for (std::size_t i = 0; i + 1 < layers.size(); ++i) x = dropout(relu(layers[i](x)));
    return layers.back()(x);
  }
};

/// Two convolutions, one pooling, two dense layers.
template <Device D, class T = float>
struct Cnn : nn::Module<D, T> {
  nn::Conv2d<D, T> conv1{1, 32, 3}, conv2{32, 64, 3};
  nn::Linear<D, T> dense{64 * 12 * 12, 128}, out{128, 10};
  TERN_FIELDS(Cnn, conv1, conv2, dense, out)

  Tensor<D, T> forward(const Tensor<D, T>& images) {
    const auto x = dropout(max_pool2d(relu(conv2(relu(conv1(images)))), 2), 0.25, this->training);
    return out(dropout(relu(dense(x.flatten(1))), 0.5, this->training));
  }
};

/// PyTorch's example for these digits, after LeNet: two convolutions with pooling, two dense layers.
template <Device D, class T = float>
struct LeNet : nn::Module<D, T> {
  nn::Conv2d<D, T> conv1{1, 10, 5}, conv2{10, 20, 5};
  nn::Linear<D, T> fc1{320, 50}, fc2{50, 10};
  TERN_FIELDS(LeNet, conv1, conv2, fc1, fc2)

  Tensor<D, T> forward(const Tensor<D, T>& images) {
    auto x = relu(max_pool2d(conv1(images), 2));
    x = relu(max_pool2d(dropout2d(conv2(x), 0.5, this->training), 2));
    return fc2(dropout(relu(fc1(x.flatten(1))), 0.5, this->training));
  }
};

/// Trains a network on each rank's part of the digits, and returns the program's exit status.
template <Device D, class T>
int train_network(train::AnyNetwork<D, T> own, optim::Optimizer& optimizer, const support::Options& options,
                  const support::Ranks& ranks) {
  distributed::DistributedDataParallel net(std::move(own), ranks.world());
  const auto mnist = data::mnist_source({.folder = options.data});
  support::warn_of_generated(mnist);
  support::introduce(options, DeviceTraits<D>::name);
  auto batches = data::loader<D>(mnist.train, support::loader_options(options),
                                 support::training_part(mnist.train.size(), net.replicas()));
  const auto test_accuracy = [&] {
    const auto part = support::test_part(mnist.test.size(), net.replicas());
    return train::accuracy_of(net, data::loader<D>(mnist.test, {.batch_size = 1000}, part));
  };
  optim::CosineAnnealingLR schedule(optimizer, {.T_max = options.epochs});
  support::OptionsReport files(options, mnist.source);
  const auto report = train::fit(net, optimizer, batches, options,
                                 {.evaluate = test_accuracy, .schedule = &schedule, .callbacks = {&files}});
  support::draw_mistakes<D>(net, mnist.test, options.show);
  support::warn_of_generated(mnist);
  return report.exit_status();
}

/// The model that the options name, with its optimiser, in their precision.
template <Device D>
int run(const support::Options& options, const support::Ranks& ranks) {
  manual_seed(std::uint64_t(options.seed));
  const auto train_with = [&](auto net, const auto& make_optimizer) {
    return support::with_precision(options.precision, std::move(net), [&](auto own) {
      auto optimizer = make_optimizer(own.parameters());
      return train_network<D>(std::move(own), optimizer, options, ranks);
    });
  };
  const auto rmsprop = [&](const auto& weights) { return optim::RMSprop(weights, {.lr = options.lr_or(1e-3)}); };
  const auto adadelta = [&](const auto& weights) { return optim::Adadelta(weights, {.lr = options.lr_or(1)}); };
  const auto sgd = [&](double lr, double momentum) {
    return [=](const auto& weights) { return optim::SGD(weights, {.lr = lr, .momentum = momentum}); };
  };
  if (options.model == "mlp") return train_with(Mlp<D>({784, 512, 512, 10}, 0.2), rmsprop);
  if (options.model == "mlp_small") return train_with(Mlp<D>({784, 128, 10}, 0), sgd(options.lr_or(0.1), 0.9));
  if (options.model == "cnn") return train_with(Cnn<D>(), adadelta);
  return train_with(LeNet<D>(), sgd(options.lr_or(0.01), 0.5));
}

int main(int argc, char** argv) try {
  const support::Ranks ranks(argc, argv);
  support::Options options;
  options.model = "mlp";
  support::parse_options(argc, argv, options);
  if (options.help)
    return support::print_help(
        "usage: mnist [options], models: mlp (784-512-512-10), mlp_small (784-128-10), cnn (two convolutions,\n"
        "pooling, two dense layers), lenet (two convolutions with pooling each, two dense layers)\n");
  support::check_choice("--model", options.model, {"mlp", "mlp_small", "cnn", "lenet"});
  ranks.prepare(options);
  return with_device(options.device, [&]<Device D>(D) { return run<D>(options, ranks); });
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
