// Tensors in files of the safetensors format, which Python's library reads and writes too.
#pragma once
#include "../tensor/any_tensor.hpp"
#include "../tensor/map.hpp"
#include "file.hpp"
#include "safetensors_header.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

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

}  // namespace detail

/// Writes the tensors, which must be in host memory, and the metadata. The file appears complete or not at all. Error
/// if a name occurs twice or the file cannot be written.
TERN_API void save_safetensors(const std::string& path, const StateDict& tensors,
                               const SafetensorsMetadata& metadata = {}, CallSite here = {});

/// An open file, from which tensors are loaded one by one, whatever the others are:
///
///   const io::Safetensors file("net.safetensors");
///   for (const std::string& name : file.names()) std::cout << name << ' ' << file.dtype(name) << '\n';
///   const auto weight = file.load<float>("weight");
///
/// Errors name the file, the tensor and the fault; the constructor's if it is not a complete and valid safetensors
/// file.
class TERN_API Safetensors {
 public:
  explicit Safetensors(const std::string& path, CallSite here = {}) : Safetensors(CallScope(here), path) {}
  ~Safetensors() { mapping_->release(); }
  Safetensors(const Safetensors&) = delete;
  Safetensors& operator=(const Safetensors&) = delete;

  /// The tensors' names, in the header's order.
  std::vector<std::string> names() const;
  /// The element type in the file: PyTorch's name, such as uint16; of one that cannot be read the format's, such as
  /// F8_E4M3.
  std::string dtype(const std::string& name, CallSite here = {}) const;
  const tern::detail::Shape& shape(const std::string& name, CallSite here = {}) const {
    const CallScope scope(here);
    return entry(name).shape;
  }
  /// What describes the file besides its tensors.
  const SafetensorsMetadata& metadata() const { return header_.metadata; }

  /// A tensor. It shares a private mapping of the file: elements are read from the disk at first use, and writing to
  /// them does not change the file. Types that tern lacks are copied: I8, I16 and U16 become int32, U32 and U64 become
  /// int64.
  AnyTensor load(const std::string& name, CallSite here = {}) const {
    const CallScope scope(here);
    return load(entry(name));
  }
  /// The same as elements of type T, copied if the file has others, and rounded to nearest if T is a floating-point
  /// type. Error if T does not hold a number.
  template <Element T>
  Tensor<Cpu, T> load(const std::string& name, CallSite here = {}) const {
    const CallScope scope(here);
    return load(entry(name), dtype_of<T>).template as<Cpu, T>();
  }

 private:
  Safetensors(const CallScope&, const std::string& path);

  friend StateDict load_safetensors(const std::string& path, CallSite here);

  const SafetensorsEntry& entry(const std::string& name) const;
  AnyTensor load(const SafetensorsEntry& entry) const;
  AnyTensor load(const SafetensorsEntry& entry, DType to) const;

  std::string path_;
  detail::SharedMapping* mapping_;
  SafetensorsHeader header_;
  Index data_at_ = 0;
};

/// All tensors of a file by name, as Safetensors loads each.
TERN_API StateDict load_safetensors(const std::string& path, CallSite here = {});

/// A file's metadata, which describes it besides its tensors.
TERN_API SafetensorsMetadata safetensors_metadata(const std::string& path, CallSite here = {});

}}}  // namespace tern::io

#ifndef TERN_COMPILED
#include "safetensors.ipp"
#endif
