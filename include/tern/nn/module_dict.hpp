// ModuleDict: layers by name.
#pragma once
#include <string>

#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

namespace detail {

using tern::detail::TextAt;

/// The entries of a container by name, in the order of their insertion. They are layers or parameters, of class L.
template <class L>
class Entries {
 public:
  /// PyTorch's dict[key] = entry: an entry that had the key is replaced. Error if the key is empty or has a dot.
  L& insert(const TextAt& key, L entry) {
    const CallScope scope(key.here);
    check_key(key.text);
    if (std::pair<std::string, L>* const known = find(key.text)) return known->second = std::move(entry);
    return entries_.emplace_back(key.text, std::move(entry)).second;
  }
  /// Error if there is no such key.
  L& operator[](const TextAt& key) { return existing(key).second; }
  const L& operator[](const TextAt& key) const { return const_cast<Entries*>(this)->existing(key).second; }
  L& at(const TextAt& key) { return (*this)[key]; }
  const L& at(const TextAt& key) const { return (*this)[key]; }
  /// Removes the entry and returns it. Error if there is no such key.
  L pop(const TextAt& key) {
    auto& entry = existing(key);
    L taken = std::move(entry.second);
    entries_.erase(entries_.begin() + (&entry - entries_.data()));
    return taken;
  }
  void clear() { entries_.clear(); }

  bool contains(const std::string& key) const { return const_cast<Entries*>(this)->find(key); }
  std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    for (const auto& entry : entries_) keys.push_back(entry.first);
    return keys;
  }
  Index size() const { return Index(entries_.size()); }
  bool is_empty() const { return entries_.empty(); }
  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    for (auto& [key, entry] : self.entries_) visit(key.c_str(), entry);
  }

 protected:
  Entries() {}
  template <class From, class D, class T>
  explicit Entries(const Rebuild<From, D, T>& from) : entries_(from(from.source.entries_)) {}
  template <class>
  friend class Entries;

 private:
  std::pair<std::string, L>* find(const std::string& key) {
    for (auto& entry : entries_)
      if (entry.first == key) return &entry;
    return nullptr;
  }
  std::pair<std::string, L>& existing(const TextAt& key) {
    std::pair<std::string, L>* const entry = find(key.text);
    if (!entry)
      Error::fail({is_tensor<L> ? "ParameterDict" : "ModuleDict", key.here},
                  {"there is no ", is_tensor<L> ? "parameter" : "layer", " \"", key.text, "\"; insert() adds one"});
    return *entry;
  }

  std::vector<std::pair<std::string, L>> entries_;
};

}  // namespace detail

/// Layers of one class, or of any classes: ModuleDict<AnyLayer<D, T>>, in the order of their insertion. A key is a part
/// of the names of its layer's parameters. It has no forward().
///
///   for (auto& [key, layer] : dict) y = layer(y);
template <class L>
struct ModuleDict : ModuleOf<ModuleDict<L>, typename L::device_type, typename L::value_type>, detail::Entries<L> {
  ModuleDict() {}
  ModuleDict(ModuleDict&&) = default;
  ModuleDict& operator=(ModuleDict&&) = default;
  template <class From, class D, class T>
  explicit ModuleDict(const Rebuild<From, D, T>& from) : ModuleDict::ModuleOf(from), detail::Entries<L>(from) {}

  static constexpr const char* type_name() { return "ModuleDict"; }
  using detail::Entries<L>::name_fields;
  TERN_MODULE_CLASS(ModuleDict, typename detail::TensorTypesOf<L>::type)
};

}}}  // namespace tern::nn
