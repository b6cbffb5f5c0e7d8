// Tensors in files of the safetensors format, which Python's library reads and writes too.
#pragma once
#include "../tensor/any_tensor.hpp"
#include "../tensor/map.hpp"
#include "file.hpp"
#include "safetensors_header.hpp"

namespace tern::inline TERN_BUILD::io {

namespace detail {

/// A mapping that lives until its last owner is gone.
class SharedMapping {
 public:
  explicit SharedMapping(const std::string& path) : file_(path) {}
  const MappedFile& file() const { return file_; }
  void retain() { owners_.increase(); }
  void release() {
    if (owners_.decrease()) delete this;
  }

 private:
  MappedFile file_;
  tern::detail::RefCount owners_;
};

/// A file's bytes as a tensor: in place, or copied if the address is not aligned for the element type.
TERN_API AnyTensor tensor_in(SharedMapping& mapping, char* bytes, const SafetensorsEntry& entry);

/// Error if a bool is any byte but 0 or 1.
TERN_API void check_booleans(const char* data, const SafetensorsHeader& header, const std::string& path);

}  // namespace detail

/// Writes the tensors, which must be in host memory, and the metadata. The file appears complete or not at all. Error
/// if a name occurs twice or the file cannot be written.
TERN_API void save_safetensors(const std::string& path, const StateDict& tensors, const SafetensorsMetadata& metadata = {});

/// The tensors of a file by name. They share one private mapping of the file: elements are read from the disk at first
/// use, and writing to them does not change the file. Error that names the file and the fault if it is not a complete
/// and valid safetensors file.
TERN_API StateDict load_safetensors(const std::string& path);

/// A file's metadata, which describes it besides its tensors.
TERN_API SafetensorsMetadata safetensors_metadata(const std::string& path);

}  // namespace tern::io

#ifndef TERN_COMPILED
#include "safetensors.ipp"
#endif
