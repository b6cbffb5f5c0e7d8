// The functions of example.hpp that are not templates.
#pragma once
#include <algorithm>

#include "../../io/wire_format.hpp"
#include "example.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_NOINLINE Example Example::parse(std::string_view message, CallSite here) {
  const CallScope scope(here);
  Example example;
  for (io::WireReader fields("Example", message); fields.next();) {
    if (fields.number() != 1) continue;
    for (io::WireReader entries("Example", fields.bytes()); entries.next();) {
      if (entries.number() != 1) continue;
      Feature feature = parse_feature(entries.bytes());
      std::erase_if(example.features_,
                    [&](const Feature& other) { return other.name == feature.name; });  // the last one counts
      example.features_.push_back(std::move(feature));
    }
  }
  return example;
}

/// An entry of the map: field 1 is the name; field 2 the feature, of one field, a list whose field 1 repeats.
TERN_NOINLINE Example::Feature Example::parse_feature(std::string_view entry) {
  Feature feature;
  for (io::WireReader parts("Example", entry); parts.next();) {
    if (parts.number() == 1) feature.name = parts.bytes();
    if (parts.number() != 2) continue;
    for (io::WireReader lists("Example", parts.bytes()); lists.next();) {
      if (lists.number() < 1 || lists.number() > 3) continue;
      const Kind kind = Kind(lists.number());
      if (feature.kind != Kind::none && feature.kind != kind) Error::fail("Example", {"a feature is of two kinds"});
      feature.kind = kind;
      for (io::WireReader values("Example", lists.bytes()); values.next();) {
        if (values.number() != 1) continue;
        if (kind == Kind::bytes) feature.bytes.push_back(values.bytes());
        if (kind == Kind::floats) values.each_float32([&](float x) { feature.floats.push_back(x); });
        if (kind == Kind::integers) values.each_varint([&](std::uint64_t x) { feature.integers.push_back(Index(x)); });
      }
    }
  }
  return feature;
}

TERN_NOINLINE Example& Example::set(std::string_view name, std::string_view bytes) {
  return set(name, std::vector<std::string_view>{bytes});
}
TERN_NOINLINE Example& Example::set(std::string_view name, Index number) {
  return set(name, std::vector<Index>{number});
}
TERN_NOINLINE Example& Example::set(std::string_view name, std::vector<std::string_view> bytes) {
  put(name, Kind::bytes).bytes = std::move(bytes);
  return *this;
}
TERN_NOINLINE Example& Example::set(std::string_view name, std::vector<float> numbers) {
  put(name, Kind::floats).floats = std::move(numbers);
  return *this;
}
TERN_NOINLINE Example& Example::set(std::string_view name, std::vector<Index> numbers) {
  put(name, Kind::integers).integers = std::move(numbers);
  return *this;
}

TERN_NOINLINE std::vector<std::string_view> Example::names() const {
  std::vector<std::string_view> names;
  for (const Feature& feature : features_) names.push_back(feature.name);
  return names;
}

TERN_NOINLINE const std::vector<std::string_view>& Example::bytes(std::string_view name, CallSite here) const {
  const CallScope scope(here);
  return expect(name, Kind::bytes).bytes;
}
TERN_NOINLINE const std::vector<float>& Example::floats(std::string_view name, CallSite here) const {
  const CallScope scope(here);
  return expect(name, Kind::floats).floats;
}
TERN_NOINLINE const std::vector<Index>& Example::integers(std::string_view name, CallSite here) const {
  const CallScope scope(here);
  return expect(name, Kind::integers).integers;
}

TERN_NOINLINE std::string Example::serialize() const {
  std::vector<const Feature*> sorted;
  for (const Feature& feature : features_) sorted.push_back(&feature);
  std::sort(sorted.begin(), sorted.end(), [](const Feature* a, const Feature* b) { return a->name < b->name; });
  io::WireWriter map;
  for (const Feature* feature : sorted) {
    io::WireWriter list, kind, entry;
    for (const std::string_view bytes : feature->bytes) list.bytes(1, bytes);
    if (!feature->floats.empty()) list.floats(1, feature->floats.data(), feature->floats.size());
    if (!feature->integers.empty()) list.varints(1, feature->integers.data(), feature->integers.size());
    if (feature->kind != Kind::none) kind.bytes(Index(feature->kind), list.message());
    entry.bytes(1, feature->name);
    entry.bytes(2, kind.message());
    map.bytes(1, entry.message());
  }
  io::WireWriter example;
  example.bytes(1, map.message());
  return example.message();
}

TERN_NOINLINE const Example::Feature* Example::find(std::string_view name) const {
  for (const Feature& feature : features_)
    if (feature.name == name) return &feature;
  return nullptr;
}

TERN_NOINLINE const Example::Feature& Example::expect(std::string_view name, Kind kind) const {
  constexpr const char* kinds[] = {"nothing", "bytes", "floats", "integers"};
  const Feature* const feature = find(name);
  if (!feature) Error::fail("Example", {"there is no feature '", std::string(name), "'"});
  if (feature->kind != kind)
    Error::fail("Example",
                {"feature '", std::string(name), "' is of ", kinds[int(feature->kind)], ", not of ", kinds[int(kind)]});
  return *feature;
}

TERN_NOINLINE Example::Feature& Example::put(std::string_view name, Kind kind) {
  std::erase_if(features_, [&](const Feature& feature) { return feature.name == name; });
  features_.push_back({.name = name, .kind = kind});
  return features_.back();
}

}}}  // namespace tern::data
