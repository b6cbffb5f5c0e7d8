#include "reader.hpp"

#include "training.hpp"

void read(const std::string& path) {
  static Training training;
  tern::train::load_checkpoint(path, training.net, training.adam, training.schedule, training.plateau,
                               training.batches);
}
