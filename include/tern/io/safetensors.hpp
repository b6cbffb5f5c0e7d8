// Tensors in files of the safetensors format, which Python reads and writes as well.
#pragma once
#include "../tensor/any_tensor.hpp"
#include "../tensor/map.hpp"
#include "file.hpp"
#include "safetensors_header.hpp"

namespace tern::io {

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
[[gnu::noinline, gnu::cold]] inline AnyTensor tensor_in(SharedMapping& mapping, char* bytes,
                                                        const SafetensorsEntry& entry) {
  TensorImpl* impl;
  if (reinterpret_cast<std::uintptr_t>(bytes) % std::uintptr_t(size_of(entry.dtype)) == 0) {
    mapping.retain();
    const Deleter release = [](void*, void* context) { static_cast<SharedMapping*>(context)->release(); };
    impl = tern::detail::new_external(entry.dtype, entry.shape, bytes, release, &mapping);
  } else {
    impl = tern::detail::new_impl(entry.dtype, entry.shape);
    std::memcpy(impl->data, bytes, std::size_t(entry.end - entry.begin));
  }
  return Tensor<Cpu>(impl);  // whatever the type: AnyTensor takes it from the impl
}

/// Any byte but 0 and 1 would be no value of bool at all.
[[gnu::noinline, gnu::cold]] inline void check_booleans(const std::string& path, const std::string& name,
                                                        const char* bytes, Index n) {
  for (Index i = 0; i < n; ++i)
    if (bytes[i] & ~1)
      fail("safetensors", {"'", path, "': tensor '", name, "' of BOOL holds the byte ",
                           int(static_cast<unsigned char>(bytes[i])), " at position ", i});
}

}  // namespace detail

/// Writes the tensors, which must be in host memory, and the metadata. The file appears whole or not at all. Error
/// where names occur twice or the file cannot be written.
[[gnu::noinline, gnu::cold]] inline void save_safetensors(const std::string& path, const StateDict& tensors,
                                                          const std::map<std::string, std::string>& metadata = {}) {
  std::vector<SafetensorsItem> items;
  std::vector<AnyTensor> copies;
  for (const NamedTensor& entry : tensors) {
    if (!entry.tensor.defined()) fail("save_safetensors", {"tensor '", entry.name, "' is undefined"});
    if (std::string(entry.tensor.device_name()) != DeviceTraits<Cpu>::name)
      fail("save_safetensors",
           {"tensor '", entry.name, "' is on ", entry.tensor.device_name(), ", not in host memory"});
    const TensorImpl* impl = entry.tensor.impl();
    if (!impl->contiguous) {
      copies.push_back(Tensor<Cpu>(tern::detail::new_impl(impl->dtype, impl->shape_ref())));
      backend::copy(Cpu{}, *copies.back().impl(), *impl);
      impl = copies.back().impl();
    }
    items.push_back({entry.name, impl->dtype, impl->shape(), impl->data});
  }
  const std::string head = layout_safetensors(items, metadata, path);
  AtomicFile file(path);
  file.write(head.data(), Index(head.size()));
  for (const SafetensorsItem& item : items) file.write(item.data, item.shape.numel() * size_of(item.dtype));
  file.commit();
}

/// The tensors of a file by their names. They share one private mapping of the file: their elements are read from the
/// disk when they are first used, and writing to them does not change the file. Error, naming the file and what is
/// wrong, where it is not a whole and valid safetensors file.
[[gnu::noinline, gnu::cold]] inline StateDict load_safetensors(const std::string& path) {
  struct Owner {
    detail::SharedMapping& mapping;
    ~Owner() { mapping.release(); }
  } const owner{*new detail::SharedMapping(path)};
  const MappedFile& file = owner.mapping.file();
  SafetensorsHeader header;
  char* const data = file.data() + parse_safetensors(file.data(), file.size(), path, header);
  StateDict tensors;
  for (const auto& [name, entry] : header.tensors) {
    char* const bytes = data + entry.begin;
    if (entry.dtype == DType::boolean) detail::check_booleans(path, name, bytes, entry.end - entry.begin);
    tensors.push_back({name, detail::tensor_in(owner.mapping, bytes, entry)});
  }
  return tensors;
}

/// The metadata of a file: what it says of itself beside its tensors.
[[gnu::noinline, gnu::cold]] inline std::map<std::string, std::string> safetensors_metadata(const std::string& path) {
  const MappedFile file(path);
  SafetensorsHeader header;
  parse_safetensors(file.data(), file.size(), path, header);
  return header.metadata;
}

}  // namespace tern::io
