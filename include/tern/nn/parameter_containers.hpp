// ParameterList and ParameterDict: parameters whose number or names the program decides.
#pragma once
#include <initializer_list>

#include "module_dict.hpp"
#include "module_list.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

/// Parameters in a list that grows. Their names are 0, 1, …
///
///   nn::ParameterList<Cpu> scales{ones<Cpu>({3}), ones<Cpu>({4})};
template <Device D, Element T = float>
struct ParameterList : ModuleOf<ParameterList<D, T>, D, T>, detail::Layers<Parameter<D, T>> {
  ParameterList() {}
  ParameterList(std::initializer_list<Tensor<D, T>> parameters) {
    for (const Tensor<D, T>& p : parameters) this->push_back(p);
  }
  ParameterList(ParameterList&&) = default;
  ParameterList& operator=(ParameterList&&) = default;
  template <class From, class D2, class T2>
  explicit ParameterList(const Rebuild<From, D2, T2>& from)
      : ParameterList::ModuleOf(from), detail::Layers<Parameter<D, T>>(from) {}

  static constexpr const char* type_name() { return "ParameterList"; }
  using detail::Layers<Parameter<D, T>>::name_fields;
  TERN_MODULE_CLASS(ParameterList, typename detail::TensorTypesOf<Parameter<D, T>>::type)
};

/// Parameters by name, in the order of their insertion.
///
///   nn::ParameterDict<Cpu> scales{{"left", ones<Cpu>({3})}, {"right", ones<Cpu>({4})}};
template <Device D, Element T = float>
struct ParameterDict : ModuleOf<ParameterDict<D, T>, D, T>, detail::Entries<Parameter<D, T>> {
  struct Entry {
    detail::TextAt key;
    Tensor<D, T> parameter;
  };

  ParameterDict() {}
  ParameterDict(std::initializer_list<Entry> parameters) {
    for (const auto& [key, p] : parameters) this->insert(key, p);
  }
  ParameterDict(ParameterDict&&) = default;
  ParameterDict& operator=(ParameterDict&&) = default;
  template <class From, class D2, class T2>
  explicit ParameterDict(const Rebuild<From, D2, T2>& from)
      : ParameterDict::ModuleOf(from), detail::Entries<Parameter<D, T>>(from) {}

  static constexpr const char* type_name() { return "ParameterDict"; }
  using detail::Entries<Parameter<D, T>>::name_fields;
  TERN_MODULE_CLASS(ParameterDict, typename detail::TensorTypesOf<Parameter<D, T>>::type)
};

}}}  // namespace tern::nn
