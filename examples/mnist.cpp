// Trains a network on the handwritten digits of MNIST. ./examples/run mnist --help lists the options.
#include "mnist/trainer.hpp"

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

template <Device D>
bool run(const train::Options& options) {
  manual_seed(std::uint64_t(options.seed));
  if (options.model == "mlp") {
    Mlp<D> net({784, 512, 512, 10}, 0.2);
    optim::RMSprop optimizer(net.parameters(), {.lr = options.lr > 0 ? options.lr : 1e-3});
    return train_network<D>(net, optimizer, options);
  }
  Mlp<D> net({784, 128, 10}, 0);
  optim::SGD optimizer(net.parameters(), {.lr = options.lr > 0 ? options.lr : 0.1, .momentum = 0.9});
  return train_network<D>(net, optimizer, options);
}

int main(int argc, char** argv) try {
  const auto options = train::parse_options(argc, argv, {.model = "mlp"});
  if (options.help) {
    std::printf(
        "usage: mnist [options], models: mlp (784-512-512-10), mlp_small (784-128-10),\n"
        "cnn (two convolutions, pooling, two dense layers), lenet (two convolutions with pooling each, two dense layers)\n%s",
        train::options_help);
    return 0;
  }
  train::check_choice("--model", options.model, {"mlp", "mlp_small", "cnn", "lenet"});
  train::check_choice("--precision", options.precision, {"f32"});
  if (options.threads) set_num_threads(int(options.threads));
  if (options.model == "cnn" || options.model == "lenet") return train_convolutional(options) ? 0 : 1;
  return with_device(options.device, [&]<Device D>(D) { return run<D>(options); }) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
