// ModuleDict: layers by name.
#pragma once
#include <string>

#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

/// Layers of one class, or of any classes: ModuleDict<AnyLayer<D, T>>, in the order of their insertion. A key is a part
/// of the names of its layer's parameters. It has no forward().
///
///   for (auto& [key, layer] : dict) y = layer(y);
template <class L>
struct ModuleDict : Module<typename L::device_type, typename L::value_type> {
  ModuleDict() {}
  ModuleDict(ModuleDict&&) = default;
  ModuleDict& operator=(ModuleDict&&) = default;
  template <class From, class D, class T>
  explicit ModuleDict(const Rebuild<From, D, T>& from) : Module<D, T>(from), layers_(from(from.source.layers_)) {}

  /// PyTorch's dict[key] = layer: a layer that had the key is replaced. Error if the key is empty or has a dot.
  L& insert(const std::string& key, L layer, CallSite here = {}) {
    const CallScope scope(here);
    detail::check_key(key);
    if (std::pair<std::string, L>* const known = find(key)) return known->second = std::move(layer);
    return layers_.emplace_back(key, std::move(layer)).second;
  }
  /// Error if there is no such key.
  L& at(const std::string& key, CallSite here = {}) { return existing(key, here).second; }
  const L& at(const std::string& key, CallSite here = {}) const {
    return const_cast<ModuleDict*>(this)->existing(key, here).second;
  }
  L& operator[](const std::string& key) { return at(key, CallSite::unknown); }
  const L& operator[](const std::string& key) const { return at(key, CallSite::unknown); }
  /// Removes the layer and returns it. Error if there is no such key.
  L pop(const std::string& key, CallSite here = {}) {
    auto& entry = existing(key, here);
    L layer = std::move(entry.second);
    layers_.erase(layers_.begin() + (&entry - layers_.data()));
    return layer;
  }
  void clear() { layers_.clear(); }

  bool contains(const std::string& key) const { return const_cast<ModuleDict*>(this)->find(key); }
  std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    for (const auto& entry : layers_) keys.push_back(entry.first);
    return keys;
  }
  Index size() const { return Index(layers_.size()); }
  bool is_empty() const { return layers_.empty(); }
  auto begin() { return layers_.begin(); }
  auto end() { return layers_.end(); }
  auto begin() const { return layers_.begin(); }
  auto end() const { return layers_.end(); }

  static constexpr const char* type_name() { return "ModuleDict"; }
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    for (auto& [key, layer] : self.layers_) visit(key.c_str(), layer);
  }
  TERN_MODULE_METHODS(ModuleDict, typename detail::TensorTypesOf<L>::type)

 private:
  template <class>
  friend struct ModuleDict;

  std::pair<std::string, L>* find(const std::string& key) {
    for (auto& entry : layers_)
      if (entry.first == key) return &entry;
    return nullptr;
  }
  std::pair<std::string, L>& existing(const std::string& key, const CallSite& here) {
    std::pair<std::string, L>* const entry = find(key);
    if (!entry) Error::fail({"ModuleDict", here}, {"there is no layer \"", key, "\""});
    return *entry;
  }

  std::vector<std::pair<std::string, L>> layers_;
};

}}}  // namespace tern::nn
