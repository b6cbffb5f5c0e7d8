// The training of a network for the digits of MNIST, compiled once for a device and an element type; the networks with
// convolutions; those in 16 bits.
#include <tern/cuda.hpp>
#include <tern/data/loader.hpp>
#include <tern/data/mnist_source.hpp>
#include <tern/nn/convolution.hpp>
#include <tern/nn/pooling.hpp>
#include <tern/optim/adadelta.hpp>
#include <tern/train/with_precision.hpp>

#include "trainer.hpp"

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

template <Device D, class T>
int train_network(train::AnyNetwork<D, T> own, optim::Optimizer& optimizer, const train::Options& options,
                  const distributed::Communicator& world) {
  train::check_precision(options.precision, DeviceTraits<D>::name);
  distributed::DistributedDataParallel net(std::move(own), world);
  const auto mnist = data::mnist_source({.folder = options.data});
  const auto warn_of_generated = [&] {
    if (mnist.source == "generated")
      std::printf("NOT MNIST: %s; these are digits drawn by this program.\n", mnist.reason.c_str());
  };
  warn_of_generated();
  std::printf("%s: %s, %d threads, %s\n", options.model.c_str(), DeviceTraits<D>::name, get_num_threads(),
              build_info().instruction_set);
  std::fputs(train::precision_note(options.precision, DeviceTraits<D>::name).c_str(), stdout);
  auto batches = data::loader<D>(
      mnist.train,
      {.batch_size = options.batch_size, .workers = int(options.workers), .seed = std::uint64_t(options.seed)},
      training_part(mnist.train.size(), net.replicas()));
  optim::CosineAnnealingLR schedule(optimizer, {.T_max = options.epochs});
  const auto evaluate = [&] {
    return train::accuracy_of(
        net, data::loader<D>(mnist.test, {.batch_size = 1000}, test_part(mnist.test.size(), net.replicas())));
  };
  const auto report =
      train::fit(net, optimizer, batches, options, {.data = mnist.source, .evaluate = evaluate, .schedule = &schedule});
  if (options.show > 0) show_mistakes<D>(net, mnist.test, options.show);
  warn_of_generated();
  return report.exit_status();
}

template int train_network(train::AnyNetwork<Cpu, float>, optim::Optimizer&, const train::Options&,
                           const distributed::Communicator&);
template int train_network(train::AnyNetwork<Cpu, bfloat16>, optim::Optimizer&, const train::Options&,
                           const distributed::Communicator&);
#ifndef TERN_CPU_ONLY
template int train_network(train::AnyNetwork<Cuda, float>, optim::Optimizer&, const train::Options&,
                           const distributed::Communicator&);
template int train_network(train::AnyNetwork<Cuda, bfloat16>, optim::Optimizer&, const train::Options&,
                           const distributed::Communicator&);
#endif

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

template <Device D>
int train_convolutional(const train::Options& options, const distributed::Communicator& world) {
  manual_seed(std::uint64_t(options.seed));
  const auto rate = [&](double usual) { return options.lr > 0 ? options.lr : usual; };
  if (options.model == "cnn")
    return train::with_precision(options.precision, Cnn<D>(), [&](auto net) {
      optim::Adadelta optimizer(net.parameters(), {.lr = rate(1)});
      return train_network(std::move(net), optimizer, options, world);
    });
  return train::with_precision(options.precision, LeNet<D>(), [&](auto net) {
    optim::SGD optimizer(net.parameters(), {.lr = rate(0.01), .momentum = 0.5});
    return train_network(std::move(net), optimizer, options, world);
  });
}

int train_other(const train::Options& options, const distributed::Communicator& world) {
  return with_device(options.device, [&]<Device D>(D) {
    if (options.model == "cnn" || options.model == "lenet") return train_convolutional<D>(options, world);
    return train_mlp<D>(options, world, [&](auto net, const auto& f) {
      return train::with_precision(options.precision, std::move(net), f);
    });
  });
}
