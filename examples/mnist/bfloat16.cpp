// The same networks with layers in bfloat16, which optimisers update through a copy of the weights in float.
#include "convolutional.hpp"
#include "mlp.hpp"

bool train_bfloat16(const train::Options& options) {
  return with_device(options.device, [&]<Device D>(D) {
    const bool dense = options.model == "mlp" || options.model == "mlp_small";
    return dense ? train_mlp<D, bfloat16>(options) : train_cnn<D, bfloat16>(options);
  });
}
