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

TERN_INLINE AnyTensor AnyTensor::detach() const {
  AnyTensor x;
  x.impl_ = detail::new_detached(&checked("detach"));
  x.device_ = device_;
  return x;
}

TERN_COLD void AnyTensor::refuse(const char* device, DType dtype) const {
  Error::fail("as", {"the tensor is ", impl_ ? device_->name : "undefined", impl_ ? ", " : "",
                     impl_ ? detail::name_of(impl_->dtype) : "", ", not ", device, ", ", detail::name_of(dtype)});
}

}}  // namespace tern

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD void append(StateDict& dict, std::initializer_list<Piece> name, const AnyTensor& tensor) {
  dict.push_back({text(name), tensor});
}

}}}  // namespace tern::detail
