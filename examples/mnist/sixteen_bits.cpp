// The same networks in 16 bits: with float parameters and layers that compute in bfloat16 or half, or with all elements in bfloat16, which
// optimisers update through a copy of the weights in float.
#include <tern/nn/mixed.hpp>

#include "convolutional.hpp"
#include "mlp.hpp"

template <Device D, class Precision>
int train_in(const train::Options& options, const distributed::Communicator& world, const Precision& in_precision) {
  const bool dense = options.model == "mlp" || options.model == "mlp_small";
  return dense ? train_mlp<D>(options, world, in_precision) : train_cnn<D>(options, world, in_precision);
}

int train_in_16_bits(const train::Options& options, const distributed::Communicator& world) {
  return with_device(options.device, [&]<Device D>(D) {
    train::check_precision(options.precision, DeviceTraits<D>::name);
    if constexpr (std::is_same_v<D, Cuda>)  // the CPU has no instructions for half
      if (options.precision == "f16") return train_in<D>(options, world, [](const auto& net) { return nn::mixed<half>(net); });
    if (options.precision == "bf16") return train_in<D>(options, world, [](const auto& net) { return nn::mixed<bfloat16>(net); });
    return train_in<D>(options, world, [](const auto& net) { return net.to(bf16); });
  });
}
