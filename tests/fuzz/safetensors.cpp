#include "reader.hpp"

#include <tern/io/safetensors.hpp>

/// Each tensor by itself, then all of them.
void read(const std::string& path) {
  const tern::io::Safetensors file(path);
  for (const std::string& name : file.names()) {
    try {
      file.dtype(name);
      file.shape(name);
      file.load<bool>(name);
    } catch (const tern::Error&) {}
  }
  for (const tern::NamedTensor& entry : tern::io::load_safetensors(path)) static_cast<void>(entry.tensor.detach());
}
