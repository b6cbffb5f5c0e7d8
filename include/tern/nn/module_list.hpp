// ModuleList: layers in a list that grows.
#pragma once
#include "any_layer.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

namespace detail {

/// The list of a container's layers or parameters, of class L.
template <class L>
class Layers {
 public:
  void push_back(L layer) { layers_.push_back(std::move(layer)); }
  /// Appends L(arguments...).
  template <class... Arguments>
  L& emplace_back(Arguments&&... arguments) {
    return layers_.emplace_back(std::forward<Arguments>(arguments)...);
  }
  /// PyTorch's name of push_back().
  void append(L layer) { push_back(std::move(layer)); }
  /// Appends the entries of another list, which are moved: list.extend(std::move(other)).
  template <class List>
    requires(!std::is_lvalue_reference_v<List>)
  void extend(List&& others) {
    for (auto& layer : others) push_back(std::move(layer));
  }
  Index size() const { return Index(layers_.size()); }
  bool is_empty() const { return layers_.empty(); }
  /// Entry i. A negative i counts from the last.
  L& operator[](tern::detail::At<Index> i) { return layers_[position(i)]; }
  const L& operator[](tern::detail::At<Index> i) const { return layers_[position(i)]; }
  auto begin() { return layers_.begin(); }
  auto end() { return layers_.end(); }
  auto begin() const { return layers_.begin(); }
  auto end() const { return layers_.end(); }
  auto rbegin() { return layers_.rbegin(); }
  auto rend() { return layers_.rend(); }
  auto rbegin() const { return layers_.rbegin(); }
  auto rend() const { return layers_.rend(); }

  /// Names the entries 0, 1, …
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    for (std::size_t i = 0; i < self.layers_.size(); ++i)
      visit(tern::detail::text({Index(i)}).c_str(), self.layers_[i]);
  }

 protected:
  Layers() {}
  template <class From, class D, class T>
  explicit Layers(const Rebuild<From, D, T>& from) : layers_(from(from.source.layers_)) {}
  template <class>
  friend class Layers;

 private:
  std::size_t position(const tern::detail::At<Index>& at) const {
    const Index i = at.tensor;
    if (i < -size() || i >= size())
      Error::fail({"operator[]", at.here}, {"there is no ", is_tensor<L> ? "parameter " : "layer ", i, " of ", size()});
    return std::size_t(i < 0 ? i + size() : i);
  }
  std::vector<L> layers_;
};

}  // namespace detail

/// Layers of one class, or of any classes: ModuleList<AnyLayer<D, T>>. Their names are 0, 1, … It has no forward().
///
///   nn::ModuleList<nn::Linear<Cpu>> layers(nn::Linear<Cpu>(4, 8), nn::Linear<Cpu>(8, 4));
template <class L>
struct ModuleList : ModuleOf<ModuleList<L>, typename L::device_type, typename L::value_type>, detail::Layers<L> {
  ModuleList() {}
  template <std::convertible_to<L>... M>
    requires(sizeof...(M) > 0)
  explicit ModuleList(M... modules) {
    (this->push_back(std::move(modules)), ...);
  }
  ModuleList(ModuleList&&) = default;
  ModuleList& operator=(ModuleList&&) = default;
  template <class From, class D, class T>
  explicit ModuleList(const Rebuild<From, D, T>& from) : ModuleList::ModuleOf(from), detail::Layers<L>(from) {}

  static constexpr const char* type_name() { return "ModuleList"; }
  using detail::Layers<L>::name_fields;
  TERN_MODULE_CLASS(ModuleList, typename detail::TensorTypesOf<L>::type)
};

}}}  // namespace tern::nn
