// The functions of any_tensor.hpp that are not templates.
#pragma once
#include "any_tensor.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_NOINLINE TensorImpl* copy_on_host(const TensorImpl* x) {
  TensorImpl* const y = new_impl(x->dtype, x->shape_ref());
  backend::run<Cpu>(backend::Copy{*y, *x});
  return y;
}

}}}  // namespace tern::detail

namespace tern { inline namespace TERN_BUILD {

TERN_COLD AnyTensor AnyTensor::with(detail::TensorImpl* impl) const {
  AnyTensor x;
  detail::retain(impl);
  x.impl_ = impl;
  x.device_ = device_;
  return x;
}

TERN_INLINE AnyTensor AnyTensor::detach(CallSite here) const {
  AnyTensor x;
  x.impl_ = detail::new_detached(&checked({"detach", here}));
  x.device_ = device_;
  return x;
}

TERN_COLD void AnyTensor::refuse(const char* device, DType dtype, CallSite here) const {
  Error::fail({"as", here},
              {"the tensor is ", impl_ ? device_->name : "undefined", impl_ ? ", " : "",
               impl_ ? detail::name_of(impl_->dtype) : "", ", not ", device, ", ", detail::name_of(dtype)});
}

}}  // namespace tern

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD void refuse_type(const CallSite& op, const AnyTensor& x) {
  if (!x.defined()) refuse_undefined(op);
  Error::fail(op, {"there is no such op of a tensor that is ", x.device_name(), ", ", name_of(x.dtype())});
}

TERN_COLD void append(std::vector<NamedTensor>& list, std::initializer_list<Piece> name, const AnyTensor& tensor) {
  list.push_back({text(name), tensor});
}

/// The entry of that name, or the end.
TERN_COLD StateDict::iterator find(StateDict& dict, const std::string& name) {
  StateDict::iterator entry = dict.begin();
  while (entry != dict.end() && entry->name != name) ++entry;
  return entry;
}
TERN_COLD StateDict::iterator existing(const StateDict& dict, const TextAt& name) {
  StateDict& mine = const_cast<StateDict&>(dict);
  const StateDict::iterator entry = find(mine, name.text);
  if (entry == mine.end()) Error::fail({"StateDict", name.here}, {"there is no tensor \"", name.text, "\""});
  return entry;
}

}}}  // namespace tern::detail

namespace tern { inline namespace TERN_BUILD {

TERN_COLD AnyTensor& StateDict::operator[](const detail::TextAt& name) & {
  const iterator entry = detail::find(*this, name.text);
  return entry != end() ? entry->tensor : emplace_back(NamedTensor{name.text, {}}).tensor;
}

TERN_COLD const AnyTensor& StateDict::operator[](const detail::TextAt& name) const& {
  return detail::existing(*this, name)->tensor;
}

TERN_COLD AnyTensor StateDict::pop(const detail::TextAt& name) {
  const iterator entry = detail::existing(*this, name);
  const AnyTensor taken = entry->tensor;
  erase(entry);
  return taken;
}

TERN_COLD bool StateDict::contains(const std::string& name) const {
  return detail::find(const_cast<StateDict&>(*this), name) != end();
}

TERN_COLD std::vector<std::string> StateDict::keys() const {
  std::vector<std::string> names;
  for (const NamedTensor& entry : *this) names.push_back(entry.name);
  return names;
}

}}  // namespace tern
