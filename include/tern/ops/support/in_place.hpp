// Operations that write into their first argument. The tape sees the value before and after: the history is rewritten,
// and that of the base where a view is written.
#pragma once
#include "../../autograd/record.hpp"
#include "../../tensor/map.hpp"
#include "region.hpp"

namespace tern::inline TERN_BUILD::detail {

/// Error where x must not be written: a leaf that the tape needs unchanged, or memory that several indices share. Pinned memory is
/// waited for.
TERN_API void check_writable(const char* op, TensorImpl* x);

/// What y's op saved of the memory of x, which is about to be overwritten, is copied.
TERN_API void keep_old_values(const TensorImpl* y, const TensorImpl* x, const GradOps& ops);

/// x, just overwritten with y, gets the history of y; where it is a view, its base does.
TERN_API void rewrite_history(const OpName& op, TensorImpl* x, TensorImpl* y, const GradOps* ops);

/// Writes y, computed from x, into x, and gives x the history of y. ops is null for types without gradients.
TERN_API void assign(const OpName& op, TensorImpl* x, TensorImpl* y, const DeviceOps& device, const GradOps* ops);
/// The gradient functions of a type; null if it has none.
template <class D, class T>
constexpr const GradOps* grad_ops_for() {
  if constexpr (is_floating_v<T>) return &GradOpsFor<D, T>::table;
  else return nullptr;
}
template <class D, class T>
const Tensor<D, T>& assign(const OpName& op, const Tensor<D, T>& x, const Tensor<D, T>& y) {
  assign(op, x.impl(), y.checked(op.name), device_ops<D>, grad_ops_for<D, T>());
  return x;
}

}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "in_place.ipp"
#endif
