// The functions of safetensors.hpp that are not templates.
#pragma once
#include "safetensors.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

TERN_COLD void save_safetensors(const std::string& path, const StateDict& tensors, const SafetensorsMetadata& metadata,
                                CallSite here) {
  const CallScope scope(here);
  std::vector<SafetensorsEntry> entries;
  StateDict copies;
  for (const NamedTensor& named : tensors) {
    const tern::detail::TensorImpl* impl = named.tensor.impl();
    if (!impl) Error::fail("save_safetensors", {"tensor '", named.name, "' is undefined"});
    if (named.name == "__metadata__")
      Error::fail("save_safetensors", {"the format reserves the name '__metadata__' for the metadata"});
    if (std::strcmp(named.tensor.device_name(), DeviceTraits<Cpu>::name) != 0)
      Error::fail("save_safetensors",
                  {"tensor '", named.name, "' is on ", named.tensor.device_name(), ", not in host memory"});
    if (!impl->contiguous) {
      tern::detail::TensorImpl* const copy = tern::detail::new_impl(impl->dtype, impl->shape_ref());
      tern::detail::append(copies, {}, Tensor<Cpu>(copy));
      tern::detail::backend::run<Cpu>(tern::detail::backend::Copy{*copy, *impl});
      impl = copy;
    }
    entries.push_back({named.name, StoredType(int(impl->dtype)), impl->shape(), impl->data, 0, 0});
  }
  const SafetensorsLayout layout = layout_safetensors(entries, metadata, path);
  AtomicFile file(path);
  file.write(layout.head.data(), Index(layout.head.size()));
  for (const SafetensorsEntry* entry : layout.order)
    file.write(entry->data, entry->shape.numel() * detail::info_of(entry->type).bytes);
  file.commit();
}

TERN_COLD Safetensors::Safetensors(const CallScope&, const std::string& path)
    : path_(path), mapping_(new detail::SharedMapping(path)) {
  const MappedFile& file = mapping_->file();
  try {
    data_at_ = parse_safetensors(file.data(), file.size(), path, header_);
  } catch (...) {
    mapping_->release();
    throw;
  }
}

TERN_COLD std::vector<std::string> Safetensors::names() const {
  std::vector<std::string> names;
  for (const SafetensorsEntry& entry : header_.tensors) names.push_back(entry.name);
  return names;
}

TERN_COLD std::string Safetensors::dtype(const std::string& name, CallSite here) const {
  const CallScope scope(here);
  const SafetensorsEntry& of = entry(name);
  return of.type == StoredType::other ? of.type_name : detail::info_of(of.type).name;
}

TERN_COLD const SafetensorsEntry& Safetensors::entry(const std::string& name) const {
  for (const SafetensorsEntry& entry : header_.tensors)
    if (entry.name == name) return entry;
  Error::fail("safetensors", {"'", path_, "': has no tensor '", name, "'"});
}

TERN_COLD AnyTensor Safetensors::load(const SafetensorsEntry& entry) const {
  if (entry.type == StoredType::other)
    Error::fail("safetensors",
                {"'", path_, "': tensor '", entry.name, "' has a type that is not supported: ", entry.type_name});
  return load(entry, detail::info_of(entry.type).becomes);
}

TERN_COLD AnyTensor Safetensors::load(const SafetensorsEntry& entry, DType to) const {
  if (entry.type == StoredType::other) return load(entry);
  char* const bytes = mapping_->file().data() + data_at_ + entry.begin;
  const bool in_place = int(entry.type) == int(to) && to != DType::bool_ &&
                        reinterpret_cast<std::uintptr_t>(bytes) % std::uintptr_t(tern::detail::size_of(to)) == 0;
  if (in_place) {
    mapping_->retain();
    const tern::detail::Deleter release = [](void*, void* context) {
      static_cast<detail::SharedMapping*>(context)->release();
    };
    return Tensor<Cpu>(tern::detail::new_external(to, entry.shape, bytes, release,
                                                  mapping_));  // AnyTensor takes the type from the impl
  }
  tern::detail::TensorImpl* const impl = tern::detail::new_impl(to, entry.shape);
  const Tensor<Cpu> owner(impl);
  detail::read_stored("safetensors", tern::detail::text({"'", path_, "': tensor '", entry.name, "'"}), entry.type,
                      false, bytes, impl->numel, to, impl->data);
  return owner;
}

TERN_COLD StateDict load_safetensors(const std::string& path, CallSite here) {
  const CallScope scope(here);
  const Safetensors file(path);
  StateDict tensors;
  for (const SafetensorsEntry& entry : file.header_.tensors) tensors.push_back({entry.name, file.load(entry)});
  return tensors;
}

TERN_COLD SafetensorsMetadata safetensors_metadata(const std::string& path, CallSite here) {
  const CallScope scope(here);
  const MappedFile file(path);
  SafetensorsHeader header;
  parse_safetensors(file.data(), file.size(), path, header);
  return header.metadata;
}

}}}  // namespace tern::io
