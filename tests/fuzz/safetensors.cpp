#include "reader.hpp"

#include <tern/io/safetensors.hpp>

void read(const std::string& path) {
  tern::io::safetensors_metadata(path);
  for (const tern::NamedTensor& entry : tern::io::load_safetensors(path)) static_cast<void>(entry.tensor.detach());
}
