// Trains a network on the handwritten digits of MNIST. ./examples/run mnist --help lists the options.
// It includes what it uses: <tern/tern.hpp>, which has all layers, compiles longer.
#include <tern/data/loader.hpp>
#include <tern/data/mnist_source.hpp>
#include <tern/nn/convolution.hpp>
#include <tern/nn/dropout.hpp>
#include <tern/nn/linear.hpp>
#include <tern/nn/pooling.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/adadelta.hpp>
#include <tern/optim/rmsprop.hpp>
#include <tern/optim/sgd.hpp>
#include <tern/train/train.hpp>

#include "ranks.hpp"

using namespace tern;

/// Dense layers with relu, dropout after each but the last.
template <Device D, class T = float>
struct Mlp : nn::Module<D, T> {
  std::vector<nn::Linear<D, T>> layers;
  nn::Dropout<D, T> dropout;

  Mlp(std::initializer_list<Index> sizes, double dropped) : dropout(dropped) {
    for (const Index* size = sizes.begin(); size + 1 != sizes.end(); ++size) layers.emplace_back(size[0], size[1]);
  }
  TERN_FIELDS(Mlp, layers, dropout)

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
    const bool training = this->is_training();
    const auto x = dropout(max_pool2d(relu(conv2(relu(conv1(images)))), 2), 0.25, training);
    return out(dropout(relu(dense(x.flatten(1))), 0.5, training));
  }
};

/// PyTorch's example for these digits, after LeNet: two convolutions with pooling, two dense layers.
template <Device D, class T = float>
struct LeNet : nn::Module<D, T> {
  nn::Conv2d<D, T> conv1{1, 10, 5}, conv2{10, 20, 5};
  nn::Linear<D, T> fc1{320, 50}, fc2{50, 10};
  TERN_FIELDS(LeNet, conv1, conv2, fc1, fc2)

  Tensor<D, T> forward(const Tensor<D, T>& images) {
    const bool training = this->is_training();
    auto x = relu(max_pool2d(conv1(images), 2));
    x = relu(max_pool2d(dropout2d(conv2(x), 0.5, training), 2));
    return fc2(dropout(relu(fc1(x.flatten(1))), 0.5, training));
  }
};

/// Draws the first images that the network gets wrong.
template <Device D, class Net>
void show_mistakes(Net& net, const data::Mnist& set, Index count) {
  const InferenceMode inference;
  net.eval();
  for (Index i = 0; i < set.size() && count > 0; ++i) {
    const auto [x, y] = set.batch({&i, 1});
    const Index guess = train::scores_of(net, x.to(D{})).argmax(1).item(), truth = y.item();
    if (guess == truth) continue;
    --count;
    std::printf("a %lld, taken for a %lld\n", (long long)truth, (long long)guess);
    const float* pixel = x.data();
    for (int row = 0; row < 14; ++row, pixel += 28) {  // two rows of pixels each
      for (int column = 0; column < 28; ++column, ++pixel) {
        const float ink = pixel[0] + pixel[28];
        std::putchar(" .:*#"[std::min(int(ink * 2.5f), 4)]);
      }
      std::putchar('\n');
    }
  }
}

/// Trains a network, and returns the program's exit status.
template <Device D, class T>
int train_network(train::AnyNetwork<D, T> own, optim::Optimizer& optimizer, const train::Options& options, const distributed::Communicator& world) {
  distributed::DistributedDataParallel net(std::move(own), world);
  const auto mnist = data::mnist_source({.folder = options.data});
  const auto warn_of_generated = [&] {
    if (mnist.source == "generated")
      std::printf("NOT MNIST: %s; these are digits drawn by this program.\n", mnist.reason.c_str());
  };
  warn_of_generated();
  std::printf("%s: %s, %d threads, %s\n", options.model.c_str(), DeviceTraits<D>::name, num_threads(),
              build_info().instruction_set);
  std::fputs(train::precision_note(options.precision, DeviceTraits<D>::name).c_str(), stdout);
  auto batches = data::loader<D>(mnist.train, {.batch_size = options.batch_size, .workers = int(options.workers),
                                               .seed = std::uint64_t(options.seed)}, training_part(mnist.train.size(), net.replicas()));
  optim::CosineAnnealingLR schedule(optimizer, {.T_max = options.epochs});
  const auto evaluate = [&] { return train::accuracy_of(net, data::loader<D>(mnist.test, {.batch_size = 1000}, test_part(mnist.test.size(), net.replicas()))); };
  const auto report = train::fit(net, optimizer, batches, options, {.data = mnist.source, .evaluate = evaluate, .schedule = &schedule});
  if (options.show > 0) show_mistakes<D>(net, mnist.test, options.show);
  warn_of_generated();
  return report.exit_status();
}

template <Device D>
int run(const train::Options& options, const distributed::Communicator& world) {
  manual_seed(std::uint64_t(options.seed));
  const auto rate = [&](double usual) { return options.lr > 0 ? options.lr : usual; };
  // Trains what --precision makes of a float network, by the rule that optimizer(network) returns.
  const auto train_it = [&](auto net, const auto& optimizer) {
    return train::with_precision(options.precision, std::move(net), [&]<class T>(train::AnyNetwork<D, T> own) {
      auto rule = optimizer(own);
      return train_network(std::move(own), rule, options, world);
    });
  };
  const auto sgd = [&](double lr, double momentum) {
    return [=, &rate](const auto& net) { return optim::SGD(net.parameters(), {.lr = rate(lr), .momentum = momentum}); };
  };
  if (options.model == "cnn") return train_it(Cnn<D>(), [&](const auto& net) { return optim::Adadelta(net.parameters(), {.lr = rate(1)}); });
  if (options.model == "lenet") return train_it(LeNet<D>(), sgd(0.01, 0.5));
  if (options.model == "mlp_small") return train_it(Mlp<D>({784, 128, 10}, 0), sgd(0.1, 0.9));
  return train_it(Mlp<D>({784, 512, 512, 10}, 0.2), [&](const auto& net) { return optim::RMSprop(net.parameters(), {.lr = rate(1e-3)}); });
}

int main(int argc, char** argv) try {
  const Ranks ranks(argc, argv);
  auto options = train::parse_options(argc, argv, {.model = "mlp"});
  if (options.help) {
    std::printf(
        "usage: mnist [options], models: mlp (784-512-512-10), mlp_small (784-128-10),\n"
        "cnn (two convolutions, pooling, two dense layers), lenet (two convolutions with pooling each, two dense layers)\n%s",
        train::options_help);
    return 0;
  }
  train::check_choice("--model", options.model, {"mlp", "mlp_small", "cnn", "lenet"});
  if (options.skip_bad) throw std::runtime_error("mnist: no --skip-bad, as no part of a damaged file can be told to be good");
  ranks.prepare(options);
  return with_device(options.device, [&]<Device D>(D) { return run<D>(options, ranks.world()); });
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
