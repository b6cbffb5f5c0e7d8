#include "reader.hpp"

#include <tern/io/npz.hpp>

/// Each array by itself, then all of them.
void read(const std::string& path) {
  const tern::io::Npz file(path);
  for (const std::string& name : file.names()) {
    try {
      file.dtype(name);
      file.shape(name);
      file.load<tern::half>(name);
    } catch (const tern::Error&) {}
  }
  tern::io::load_npz(path);
}
