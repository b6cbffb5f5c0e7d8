// The same networks with all elements in bfloat16, which optimisers update through a copy of the weights in float.
#include "convolutional.hpp"
#include "mlp.hpp"

int train_bfloat16(const train::Options& options, const distributed::Communicator& world) {
  return with_device(options.device, [&]<Device D>(D) {
    const auto in_bfloat16 = [](const auto& net) { return net.to(bf16); };
    const bool dense = options.model == "mlp" || options.model == "mlp_small";
    return dense ? train_mlp<D>(options, world, in_bfloat16) : train_cnn<D>(options, world, in_bfloat16);
  });
}
