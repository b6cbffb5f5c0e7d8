#include "reader.hpp"

#include <tern/io/npy.hpp>

void read(const std::string& path) {
  try {
    tern::io::load_npy<std::uint8_t>(path);
  } catch (const tern::Error&) {}
  tern::io::load_npy(path);
}
