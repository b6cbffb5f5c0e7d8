#include "reader.hpp"

#include <tern/data/cifar.hpp>

void read(const std::string& path) {
  for (const bool skip_bad : {false, true}) {
    try {
      tern::data::detail::read_cifar({path}, path, {"Cifar10", 1, 0, 10, skip_bad});
    } catch (const tern::Error&) {}
  }
}
