// Trains a network on the handwritten digits of MNIST. ./examples/run mnist --help lists the options.
#include "mnist/trainer.hpp"

int main(int argc, char** argv) try {
  const Ranks ranks(argc, argv);
  auto options = train::parse_options(argc, argv, {.model = "mlp"});
  if (options.help) {
    std::printf(
        "usage: mnist [options], models: mlp (784-512-512-10), mlp_small (784-128-10),\n"
        "cnn (two convolutions, pooling, two dense layers), lenet (two convolutions with pooling each, two dense "
        "layers)\n%s",
        train::options_help);
    return 0;
  }
  train::check_choice("--model", options.model, {"mlp", "mlp_small", "cnn", "lenet"});
  train::check_choice("--precision", options.precision, {"f32", "bf16", "f16", "bf16-weights"});
  if (options.skip_bad)
    throw std::runtime_error("mnist: no --skip-bad, as no part of a damaged file can be told to be good");
  ranks.prepare(options);
  if (options.precision != "f32" || !options.model.starts_with("mlp")) return train_other(options, ranks.world());
  return with_device(options.device, [&]<Device D>(D) {
    return train_mlp<D>(options, ranks.world(),
                        [](auto net, const auto& f) { return f(train::AnyNetwork<D>(std::move(net))); });
  });
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
