#include "convolutional.hpp"

int train_convolutional(const train::Options& options, const distributed::Communicator& world) {
  return with_device(options.device, [&]<Device D>(D) { return train_cnn<D>(options, world, in_float); });
}
