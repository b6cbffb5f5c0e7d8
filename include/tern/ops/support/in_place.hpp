// Operations that write into their first argument. The tape sees the value before and after. So the history of the
// tensor is rewritten, and if it is a view, its base's too.
#pragma once
#include "../../autograd/record.hpp"
#include "../../tensor/map.hpp"
#include "region.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// Error if x must not be written: it is a leaf that the tape needs unchanged, several indices share memory, or the
/// memory is read only. Waits for copies of pinned memory.
TERN_API void check_writable(const CallSite& op, TensorImpl* x);

/// Copies the tensors that y's op saved and that share memory with x, because x is about to be overwritten.
TERN_API void keep_old_values(const TensorImpl* y, const TensorImpl* x, const GradOps& ops);

/// Gives x, which was just overwritten with y, the history of y. If x is a view, its base gets it.
TERN_API void rewrite_history(const CallSite& op, TensorImpl* x, TensorImpl* y, const GradOps* ops);

/// Writes y, computed from x, into x, and gives x the history of y. ops is null for types without gradients.
TERN_API void assign(const CallSite& op, TensorImpl* x, TensorImpl* y, const DeviceOps& device, const GradOps* ops);
/// The GradOps of a type; null if it has no gradients.
template <class D, class T>
constexpr const GradOps* grad_ops_for() {
  if constexpr (is_floating_v<T>) return &GradOpsFor<D, T>::table;
  else return nullptr;
}
template <class D, class T>
const Tensor<D, T>& assign(const CallSite& op, const Tensor<D, T>& x, const Tensor<D, T>& y) {
  assign(op, x.impl(), y.checked(op), device_ops<D>, grad_ops_for<D, T>());
  return x;
}

}}}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "in_place.ipp"
#endif
