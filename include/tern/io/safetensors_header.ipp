// The functions of safetensors_header.hpp that are not templates.
#pragma once
#include "file_kind.hpp"
#include "safetensors_header.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io::detail {

TERN_COLD void SafetensorsParser::parse(SafetensorsHeader& header) {
  bool has_metadata = false;
  std::string name;
  for (bool first = true; next_member(first, name);) {
    if (name == "__metadata__") {
      if (std::exchange(has_metadata, true)) refuse_second(name);
      parse_metadata(header.metadata);
    } else {
      header.tensors.push_back(parse_tensor(name));
    }
  }
  end();
  std::vector<const std::string*> names(header.tensors.size()), keys(header.metadata.size());
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = &header.tensors[i].name;
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = &header.metadata[i].first;
  refuse_duplicates(names);
  refuse_duplicates(keys);
}

TERN_COLD void SafetensorsParser::refuse_second(const std::string& name) const {
  Error::fail("safetensors", {"'", path_, "': the header names '", name, "' twice"});
}

TERN_COLD void SafetensorsParser::refuse_duplicates(std::vector<const std::string*>& names) const {
  if (names.empty()) return;
  std::qsort(names.data(), names.size(), sizeof(const std::string*), [](const void* a, const void* b) {
    return (*static_cast<const std::string* const*>(a))->compare(**static_cast<const std::string* const*>(b));
  });
  for (std::size_t i = 1; i < names.size(); ++i)
    if (*names[i] == *names[i - 1]) refuse_second(*names[i]);
}

TERN_COLD void SafetensorsParser::parse_metadata(SafetensorsMetadata& metadata) {
  if (accept_null()) return;
  std::string name;
  for (bool first = true; next_member(first, name);) metadata.emplace_back(name, string());
}

TERN_COLD tern::detail::Shape SafetensorsParser::parse_shape(const std::string& tensor) {
  tern::detail::Shape shape;
  for (bool first = true; next_element(first);) {
    const Index size = integer();
    if (shape.n == tern::detail::max_dims)
      Error::fail("safetensors",
                  {"'", path_, "': tensor '", tensor, "' has more than ", tern::detail::max_dims, " dimensions"});
    shape.push_back(size);
  }
  return shape;
}

TERN_COLD SafetensorsEntry SafetensorsParser::parse_tensor(const std::string& name) {
  SafetensorsEntry entry{name, StoredType::other, {}, nullptr, 0, 0};
  bool dtype = false, shape = false, offsets = false;
  std::string key;
  for (bool first = true; next_member(first, key);) {
    bool* const seen = key == "dtype" ? &dtype : key == "shape" ? &shape : key == "data_offsets" ? &offsets : nullptr;
    if (!seen) refuse("a member other than dtype, shape and data_offsets");
    if (std::exchange(*seen, true)) refuse_second(key);
    if (seen == &dtype) {
      entry.type_name = string();
      int type = 0;
      while (type < int(StoredType::other) && entry.type_name != stored_types[type].safetensors) ++type;
      entry.type = StoredType(type);
    } else if (seen == &shape) {
      entry.shape = parse_shape(name);
    } else {
      Index* const to[] = {&entry.begin, &entry.end};
      std::size_t count = 0;
      for (bool next = true; next_element(next); ++count) {
        if (count == 2) refuse("data_offsets are two numbers");
        *to[count] = integer();
      }
      if (count < 2) refuse("data_offsets are two numbers");
    }
  }
  if (!dtype || !shape || !offsets) refuse("a tensor lacks dtype, shape or data_offsets");
  return entry;
}

TERN_COLD std::vector<const SafetensorsEntry*> sorted(const std::vector<SafetensorsEntry>& entries,
                                                      int (*compare)(const void*, const void*)) {
  std::vector<const SafetensorsEntry*> order(entries.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = &entries[i];
  if (!order.empty()) std::qsort(order.data(), order.size(), sizeof order[0], compare);
  return order;
}

TERN_INLINE bool count_bytes(const SafetensorsEntry& entry, Index& bytes) {
  bytes = info_of(entry.type).bytes;
  for (const Index size : entry.shape)
    if (__builtin_mul_overflow(bytes, size, &bytes)) return false;
  return true;
}

TERN_COLD std::string misplaced(const SafetensorsEntry& entry, Index filled, Index data_bytes) {
  const bool is_known = entry.type != StoredType::other;
  Index bytes = 0;
  if (is_known && !count_bytes(entry, bytes))
    return tern::detail::text({"has too many elements: ", tern::detail::ShapeRef(entry.shape)});
  if (entry.end < entry.begin) return "ends before it begins";
  if (entry.end > data_bytes)
    return tern::detail::text({"reaches beyond the file, which holds ", data_bytes, " bytes of data"});
  if (is_known && entry.end - entry.begin != bytes)
    return tern::detail::text(
        {"does not have the ", bytes, " bytes of ", tern::detail::ShapeRef(entry.shape), " of ", entry.type_name});
  if (entry.begin < filled) return tern::detail::text({"overlaps the tensor before it, which ends at ", filled});
  if (entry.begin > filled) return tern::detail::text({"leaves a gap after byte ", filled});
  return "";
}

TERN_COLD void check_layout(const SafetensorsHeader& header, Index data_bytes, const std::string& path) {
  const auto by_offsets = [](const void* a, const void* b) {
    const SafetensorsEntry &x = entry_at(a), &y = entry_at(b);
    return x.begin != y.begin ? (x.begin < y.begin ? -1 : 1) : (x.end > y.end) - (x.end < y.end);
  };
  Index filled = 0;
  for (const SafetensorsEntry* entry : sorted(header.tensors, by_offsets)) {
    const std::string problem = misplaced(*entry, filled, data_bytes);
    if (!problem.empty())
      Error::fail("safetensors", {"'", path, "': tensor '", entry->name, "' with data_offsets [", entry->begin, ", ",
                                  entry->end, "] ", problem});
    filled = entry->end;
  }
  if (filled != data_bytes)
    Error::fail("safetensors", {"'", path, "': ", data_bytes - filled, " bytes at the end belong to no tensor"});
}

}}}  // namespace tern::io::detail

namespace tern { inline namespace TERN_BUILD { namespace io {

TERN_COLD Index parse_safetensors(const char* bytes, Index size, const std::string& path, SafetensorsHeader& header) {
  if (size < 8)
    Error::fail("safetensors", {"'", path, "': is truncated: ", size, " bytes cannot hold the header's length"});
  std::uint64_t length = 0;
  for (int i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  if (length > std::uint64_t(max_safetensors_header)) {
    if (const std::string other = but_of_kind({bytes, std::size_t(size)}); !other.empty())
      Error::fail("safetensors", {"'", path, "': is no safetensors file", other});
    Error::fail("safetensors", {"'", path, "': the header's length is larger than allowed: ", std::to_string(length),
                                " > ", max_safetensors_header});
  }
  if (Index(length) > size - 8)
    Error::fail("safetensors", {"'", path, "': is truncated: a header of ", Index(length), " bytes is announced, ",
                                size - 8, " follow"});
  detail::SafetensorsParser(bytes + 8, Index(length), path).parse(header);
  detail::check_layout(header, size - 8 - Index(length), path);
  return 8 + Index(length);
}

TERN_COLD SafetensorsLayout layout_safetensors(const std::vector<SafetensorsEntry>& tensors,
                                               const SafetensorsMetadata& metadata, const std::string& path) {
  const auto as_python = [](const void* a, const void* b) {
    constexpr int rank[] = {5, 6, 3, 2, 7, 4, 1, 0};
    const SafetensorsEntry &x = detail::entry_at(a), &y = detail::entry_at(b);
    return x.type != y.type ? rank[int(y.type)] - rank[int(x.type)] : x.name.compare(y.name);
  };
  SafetensorsLayout layout{"", detail::sorted(tensors, as_python)};
  std::string json = "{";
  const auto put = [&json](std::initializer_list<tern::detail::Piece> pieces) { json += tern::detail::text(pieces); };
  for (const auto& [name, value] : metadata)
    put({json.size() == 1 ? "\"__metadata__\":{" : ",", json_quoted(name), ":", json_quoted(value)});
  if (!metadata.empty()) put({layout.order.empty() ? "}" : "},"});
  Index filled = 0;
  for (const SafetensorsEntry* entry : layout.order) {
    const detail::StoredTypeInfo& type = detail::info_of(entry->type);
    put({json_quoted(entry->name), ":{\"dtype\":\"", type.safetensors, "\",\"shape\":["});
    for (int i = 0; i < entry->shape.n; ++i) put({i ? "," : "", entry->shape[i]});
    const Index end = filled + entry->shape.numel() * type.bytes;
    put({"],\"data_offsets\":[", filled, ",", end, entry == layout.order.back() ? "]}" : "]},"});
    filled = end;
  }
  json += '}';
  json.append((8 - json.size() % 8) % 8, ' ');

  for (int i = 0; i < 8; ++i) layout.head += char(json.size() >> (8 * i) & 0xff);
  layout.head += json;
  SafetensorsHeader unused;  // so that nothing is written that a reader would refuse
  parse_safetensors(layout.head.data(), Index(layout.head.size()) + filled, path, unused);
  return layout;
}

}}}  // namespace tern::io
