// The functions of safetensors.hpp that are not templates.
#pragma once
#include "safetensors.hpp"

namespace tern::inline TERN_BUILD::io::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE AnyTensor tensor_in(SharedMapping& mapping, char* bytes, const SafetensorsEntry& entry) {
  tern::detail::TensorImpl* impl;
  if (reinterpret_cast<std::uintptr_t>(bytes) % std::uintptr_t(tern::detail::size_of(entry.dtype)) == 0) {
    mapping.retain();
    const tern::detail::Deleter release = [](void*, void* context) { static_cast<SharedMapping*>(context)->release(); };
    impl = tern::detail::new_external(entry.dtype, entry.shape, bytes, release, &mapping);
  } else {
    impl = tern::detail::new_impl(entry.dtype, entry.shape);
    std::memcpy(impl->data, bytes, std::size_t(entry.end - entry.begin));
  }
  return Tensor<Cpu>(impl);  // AnyTensor takes the type from the impl
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void check_booleans(const char* data, const SafetensorsHeader& header, const std::string& path) {
  for (const SafetensorsEntry& entry : header.tensors)
    for (Index i = entry.begin; entry.dtype == DType::bool_ && i < entry.end; ++i)
      if (data[i] & ~1)
        fail("safetensors", {"'", path, "': tensor '", entry.name, "' of BOOL holds the byte ",
                             int(static_cast<unsigned char>(data[i])), " at position ", i - entry.begin});
}

}  // namespace tern::io::detail

namespace tern::inline TERN_BUILD::io {

[[gnu::noinline, gnu::cold]] TERN_INLINE void save_safetensors(const std::string& path, const StateDict& tensors,
                                                               const SafetensorsMetadata& metadata) {
  std::vector<SafetensorsEntry> entries;
  StateDict copies;
  for (const NamedTensor& named : tensors) {
    const tern::detail::TensorImpl* impl = named.tensor.impl();
    if (!impl) fail("save_safetensors", {"tensor '", named.name, "' is undefined"});
    if (std::strcmp(named.tensor.device_name(), DeviceTraits<Cpu>::name) != 0)
      fail("save_safetensors", {"tensor '", named.name, "' is on ", named.tensor.device_name(), ", not in host memory"});
    if (!impl->contiguous) {
      tern::detail::TensorImpl* const copy = tern::detail::new_impl(impl->dtype, impl->shape_ref());
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
    file.write(entry->data, entry->shape.numel() * tern::detail::size_of(entry->dtype));
  file.commit();
}

[[gnu::noinline, gnu::cold]] TERN_INLINE StateDict load_safetensors(const std::string& path) {
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

[[gnu::noinline, gnu::cold]] TERN_INLINE SafetensorsMetadata safetensors_metadata(const std::string& path) {
  const MappedFile file(path);
  SafetensorsHeader header;
  parse_safetensors(file.data(), file.size(), path, header);
  return header.metadata;
}

}  // namespace tern::io
