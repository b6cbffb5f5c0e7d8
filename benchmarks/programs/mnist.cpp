// compile_mnist: a trainer of one network, as a user writes it without a command line of options; peers/torch_mnist.cpp
// is the same in PyTorch. mnist cpu|cuda|auto FOLDER
#include <tern/data/loader.hpp>
#include <tern/data/mnist_source.hpp>
#include <tern/nn/dropout.hpp>
#include <tern/nn/linear.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/rmsprop.hpp>
#include <tern/tensor/with_device.hpp>
#include <tern/train/train.hpp>
#include <cstdio>
using namespace tern;
template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> first{784, 512}, second{512, 512}, out{512, 10};
  nn::Dropout<D, T> dropout{0.2};
  TERN_FIELDS(Net, first, second, out, dropout)
  Tensor<D, T> forward(const Tensor<D, T>& images) {
    return out(dropout(relu(second(dropout(relu(first(images.flatten(1))))))));
  }
};
int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: mnist cpu|cuda|auto FOLDER");
  return with_device(argv[1], [&]<Device D>(D) {
    manual_seed(1);
    Net<D> net;
    optim::RMSprop optimizer(net.parameters(), {.lr = 1e-3});
    const auto mnist = data::mnist_source({.folder = argv[2]});
    auto batches = data::loader<D>(mnist.train, {.batch_size = 128, .shuffle = true});
    auto tests = data::loader<D>(mnist.test, {.batch_size = 1000});
    const auto evaluate = [&] { return train::accuracy_of(net, tests); };
    return train::fit(net, optimizer, batches, {.epochs = 10, .save = "mnist.safetensors"}, {.evaluate = evaluate})
        .exit_status();
  });
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
