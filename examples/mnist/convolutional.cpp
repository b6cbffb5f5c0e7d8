#include "convolutional.hpp"

bool train_convolutional(const train::Options& options) {
  return with_device(options.device, [&]<Device D>(D) { return train_cnn<D>(options, in_float); });
}
