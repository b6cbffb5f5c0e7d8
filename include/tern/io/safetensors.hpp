// Tensors in files of the safetensors format, which Python reads and writes as well.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
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
[[gnu::noinline, gnu::cold]] inline void check_booleans(const char* data, const SafetensorsHeader& header,
                                                        const std::string& path) {
  for (const SafetensorsEntry& entry : header.tensors)
    for (Index i = entry.begin; entry.dtype == DType::boolean && i < entry.end; ++i)
      if (data[i] & ~1)
        fail("safetensors", {"'", path, "': tensor '", entry.name, "' of BOOL holds the byte ",
                             int(static_cast<unsigned char>(data[i])), " at position ", i - entry.begin});
}

}  // namespace detail

/// Writes the tensors, which must be in host memory, and the metadata. The file appears whole or not at all. Error where
/// names occur twice or the file cannot be written.
[[gnu::noinline, gnu::cold]] inline void save_safetensors(const std::string& path, const StateDict& tensors,
                                                          const SafetensorsMetadata& metadata = {}) {
  std::vector<SafetensorsEntry> entries;
  StateDict copies;
  for (const NamedTensor& named : tensors) {
    const TensorImpl* impl = named.tensor.impl();
    if (!impl) fail("save_safetensors", {"tensor '", named.name, "' is undefined"});
    if (std::strcmp(named.tensor.device_name(), DeviceTraits<Cpu>::name) != 0)
      fail("save_safetensors", {"tensor '", named.name, "' is on ", named.tensor.device_name(), ", not in host memory"});
    if (!impl->contiguous) {
      TensorImpl* const copy = tern::detail::new_impl(impl->dtype, impl->shape_ref());
      tern::detail::append(copies, {}, Tensor<Cpu>(copy));
      backend::run<Cpu>(backend::Copy{*copy, *impl});
      impl = copy;
    }
    entries.push_back({named.name, impl->dtype, impl->shape(), impl->data, 0, 0});
  }
  const SafetensorsLayout layout = layout_safetensors(entries, metadata, path);
  AtomicFile file(path);
  file.write(layout.head.data(), Index(layout.head.size()));
  for (const SafetensorsEntry* entry : layout.order)
    file.write(entry->data, entry->shape.numel() * size_of(entry->dtype));
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
  detail::check_booleans(data, header, path);
  StateDict tensors;
  for (const SafetensorsEntry& entry : header.tensors)
    tensors.push_back({entry.name, detail::tensor_in(owner.mapping, data + entry.begin, entry)});
  return tensors;
}

/// The metadata of a file: what it says of itself beside its tensors.
[[gnu::noinline, gnu::cold]] inline SafetensorsMetadata safetensors_metadata(const std::string& path) {
  const MappedFile file(path);
  SafetensorsHeader header;
  parse_safetensors(file.data(), file.size(), path, header);
  return header.metadata;
}

}  // namespace tern::io
