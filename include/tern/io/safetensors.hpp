// Tensors in files of the safetensors format, which Python reads and writes as well.
#pragma once
#include "../tensor/any_tensor.hpp"
#include "../tensor/map.hpp"
#include "file.hpp"
#include "safetensors_header.hpp"

namespace tern::inline TERN_BUILD::io {

namespace detail {

/// A mapping that lives as long as one of its owners.
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

/// Bytes of a file as a tensor: in place, or a copy where their address does not suit the element type.
TERN_API AnyTensor tensor_in(SharedMapping& mapping, char* bytes, const SafetensorsEntry& entry);

/// Any byte but 0 and 1 would be no value of bool at all.
TERN_API void check_booleans(const char* data, const SafetensorsHeader& header, const std::string& path);

}  // namespace detail

/// Writes the tensors, which must be in host memory, and the metadata. The file appears whole or not at all. Error where
/// names occur twice or the file cannot be written.
TERN_API void save_safetensors(const std::string& path, const StateDict& tensors, const SafetensorsMetadata& metadata = {});

/// The tensors of a file by their names. They share one private mapping of the file: their elements are read from the
/// disk when they are first used, and writing to them does not change the file. Error, naming the file and what is
/// wrong, where it is not a whole and valid safetensors file.
TERN_API StateDict load_safetensors(const std::string& path);

/// The metadata of a file: what it says of itself beside its tensors.
TERN_API SafetensorsMetadata safetensors_metadata(const std::string& path);

}  // namespace tern::io

#ifndef TERN_COMPILED
#include "safetensors.ipp"
#endif
