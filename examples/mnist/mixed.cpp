// The same networks with float parameters and layers that compute in bfloat16 or half.
#include <tern/nn/mixed.hpp>

#include "convolutional.hpp"
#include "mlp.hpp"

template <Device D, class T>
int train_in(const train::Options& options, const distributed::Communicator& world) {
  const auto in_16_bits = [](const auto& net) { return nn::mixed<T>(net); };
  const bool dense = options.model == "mlp" || options.model == "mlp_small";
  return dense ? train_mlp<D>(options, world, in_16_bits) : train_cnn<D>(options, world, in_16_bits);
}

int train_mixed(const train::Options& options, const distributed::Communicator& world) {
  return with_device(options.device, [&]<Device D>(D) {
    return options.precision == "f16" ? train_in<D, half>(options, world) : train_in<D, bfloat16>(options, world);
  });
}
