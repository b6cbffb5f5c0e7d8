// cat and stack: tensors joined along a dimension, or along a new one.
#pragma once
#include "views.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// The shape of the tensors joined along dim.
template <class D, class T>
Shape cat_shape(const CallSite& op, const std::vector<Tensor<D, T>>& tensors, int dim) {
  Shape shape = tensors[0].shape();
  for (std::size_t k = 1; k < tensors.size(); ++k) {
    const Shape other = tensors[k].shape();
    bool fits = other.n == shape.n;
    for (int i = 0; fits && i < shape.n; ++i) fits = i == dim || other[i] == shape[i];
    if (!fits)
      Error::fail(op, {"shapes ", tensors[0].shape(), " and ", other, " differ in a dimension other than ", dim});
    shape[dim] = checked_sum(op, {shape[dim], other[dim]});
  }
  return shape;
}

/// The positions start … start + size - 1 of a dimension, as a view.
inline Array part_of(const Array& whole, int dim, Index start, Index size) {
  Array part = whole;
  part.data += start * whole.strides[dim] * size_of(whole.dtype);
  part.dims[dim] = size;
  part.numel = part.shape().numel();
  update_contiguous(part);
  return part;
}

template <class D, class T>
bool any_recorded(const std::vector<Tensor<D, T>>& tensors) {
  for (const Tensor<D, T>& x : tensors)
    if (records(x)) return true;
  return false;
}

}  // namespace detail

/// The tensors joined along dim. Their other sizes must be equal. As in PyTorch, a tensor of shape [0] is skipped. The
/// result is channels-last if the first tensor is.
template <Device D, Element T>
Tensor<D, T> cat(const std::vector<Tensor<D, T>>& tensors, Index dim = 0, CallSite here = {}) {
  if (tensors.empty()) Error::fail({"cat", here}, {"at least one tensor is needed"});
  const auto is_nothing = [](const Tensor<D, T>& x) { return x.shape() == detail::Shape{0}; };
  const Tensor<D, T>* model = &tensors[0];
  for (const Tensor<D, T>& x : tensors) {
    if (x.checked({"cat", here})->ndim == 0)
      Error::fail({"cat", here}, {"a 0-d tensor cannot be concatenated; use stack"});
    if (is_nothing(*model)) model = &x;
  }
  const int d = detail::wrap_dim({"cat", here}, dim, model->dim());
  detail::Shape empty_part = model->shape();
  empty_part[d] = 0;
  std::vector<Tensor<D, T>> parts;
  for (const Tensor<D, T>& x : tensors) parts.push_back(is_nothing(x) ? view(x, empty_part, here) : x);
  if (parts.size() > detail::max_edges &&
      detail::any_recorded(parts)) {  // more than one node has edges for: join them in groups
    std::vector<Tensor<D, T>> groups;
    for (auto first = parts.begin(); first != parts.end();) {
      const auto last = parts.end() - first > detail::max_edges ? first + detail::max_edges : parts.end();
      groups.push_back(cat(std::vector<Tensor<D, T>>(first, last), d, here));
      first = last;
    }
    return cat(groups, d, here);
  }
  const detail::Shape shape = detail::cat_shape({"cat", here}, parts, d);
  const bool last = !parts[0].impl()->contiguous && detail::is_channels_last(*parts[0].impl());
  const Tensor<D, T> y =
      last ? empty<D, T>(shape, channels_last, parts[0].device()) : empty<D, T>(shape, parts[0].device());
  Index start = 0;
  const auto gradient = [d](Index first, Index size) {
    return [d, first, size](const Tensor<D, T>& g) { return narrow(g, d, first, size); };
  };
  std::vector<decltype(wrt(y, gradient(0, 0)))> edges;
  for (const Tensor<D, T>& x : parts) {
    const Index size = x.impl()->dims[d];
    detail::backend::run<D>(detail::backend::Copy{detail::part_of(*y.impl(), d, start, size), *x.impl()});
    edges.push_back(wrt(x, gradient(start, size)));
    start += size;
  }
  detail::record_each({"cat", here}, y, std::move(edges));
  return y;
}

template <Device D, Element T>
Tensor<D, T> cat(std::initializer_list<Tensor<D, T>> tensors, Index dim = 0, CallSite here = {}) {
  return cat(std::vector<Tensor<D, T>>(tensors), dim, here);
}

/// The same of nn::Parameters and other classes of tensors.
template <detail::TensorSubclass X>
auto cat(const std::vector<X>& tensors, Index dim = 0, CallSite here = {}) {
  return cat(detail::plain_tensors(tensors), dim, here);
}

/// Tensors of one shape joined along a new dimension.
template <Device D, Element T>
Tensor<D, T> stack(const std::vector<Tensor<D, T>>& tensors, Index dim = 0, CallSite here = {}) {
  if (tensors.empty()) Error::fail({"stack", here}, {"at least one tensor is needed"});
  std::vector<Tensor<D, T>> rows;
  const int d = detail::wrap_dim({"stack", here}, dim, tensors[0].checked({"stack", here})->ndim + 1);
  for (const Tensor<D, T>& x : tensors) {
    if (!detail::same_shape(*tensors[0].impl(), *x.checked({"stack", here})))
      Error::fail({"stack", here}, {"shapes differ: ", tensors[0].shape(), " and ", x.shape()});
    rows.push_back(unsqueeze(x, d, here));
  }
  return cat(rows, d, here);
}
template <Device D, Element T>
Tensor<D, T> stack(std::initializer_list<Tensor<D, T>> tensors, Index dim = 0, CallSite here = {}) {
  return stack(std::vector<Tensor<D, T>>(tensors), dim, here);
}
template <detail::TensorSubclass X>
auto stack(const std::vector<X>& tensors, Index dim = 0, CallSite here = {}) {
  return stack(detail::plain_tensors(tensors), dim, here);
}

}}  // namespace tern
