// New tensors with given elements.
#pragma once
#include <initializer_list>
#include <vector>

#include "map.hpp"

namespace tern {

/// The values in row-major order as a tensor of a shape.
template <HostDevice D, Element T>
Tensor<D, T> from_vector(const std::vector<T>& values, const Shape& shape) {
  if (shape.numel() != Index(values.size()))
    fail("from_vector", {Index(values.size()), " values do not fill shape ", shape});
  Tensor<D, T> x = empty<D, T>(shape);
  for (std::size_t i = 0; i < values.size(); ++i) x.data()[i] = values[i];
  return x;
}

/// A list, a list of lists, or one of those: tensor<Cpu>({{1, 2}, {3, 4}}).
template <HostDevice D, Element T = float>
Tensor<D, T> tensor(std::initializer_list<std::type_identity_t<T>> values) {
  return from_vector<D, T>(std::vector<T>(values), Index(values.size()));
}
template <HostDevice D, Element T = float>
Tensor<D, T> tensor(std::initializer_list<std::initializer_list<std::type_identity_t<T>>> rows) {
  std::vector<T> values;
  for (const auto& row : rows) {
    if (row.size() != rows.begin()->size()) fail("tensor", {"rows of different lengths"});
    values.insert(values.end(), row.begin(), row.end());
  }
  const Index columns = rows.size() ? Index(rows.begin()->size()) : 0;
  return from_vector<D, T>(values, {Index(rows.size()), columns});
}
template <HostDevice D, Element T = float>
Tensor<D, T> tensor(std::initializer_list<std::initializer_list<std::initializer_list<std::type_identity_t<T>>>> blocks) {
  std::vector<T> values;
  const auto& first = *blocks.begin();
  for (const auto& block : blocks) {
    if (block.size() != first.size()) fail("tensor", {"blocks of different sizes"});
    for (const auto& row : block) {
      if (row.size() != first.begin()->size()) fail("tensor", {"rows of different lengths"});
      values.insert(values.end(), row.begin(), row.end());
    }
  }
  return from_vector<D, T>(values, {Index(blocks.size()), Index(first.size()), Index(first.begin()->size())});
}
/// A 0-d tensor.
template <HostDevice D, Element T = float>
Tensor<D, T> scalar_tensor(std::type_identity_t<T> value) {
  return full<D, T>({}, static_cast<scalar_t<T>>(value));
}

/// A tensor over memory of the caller's, row-major; deleter(data, context) runs when nobody uses it any more, if there is one.
template <HostDevice D, Element T>
Tensor<D, T> from_blob(T* data, const Shape& shape, Deleter deleter = nullptr, void* context = nullptr) {
  const Deleter none = [](void*, void*) {};
  return Tensor<D, T>(detail::new_external(dtype_of<T>, shape, data, deleter ? deleter : none, context));
}

/// start, start + step, … up to but not including end.
template <HostDevice D, Element T = Index>
Tensor<D, T> arange(double start, double end, double step = 1) {
  if (step == 0 || (end - start) / step < 0) fail("arange", {"steps of ", step, " do not lead from ", start, " to ", end});
  const double exact = (end - start) / step;
  const Index count = Index(exact) < exact ? Index(exact) + 1 : Index(exact);
  Tensor<D, T> x = empty<D, T>(count);
  for (Index i = 0; i < count; ++i) x.data()[i] = T(compute_t<T>(start + double(i) * step));
  return x;
}
template <HostDevice D, Element T = Index>
Tensor<D, T> arange(double end) {
  return arange<D, T>(0, end);
}

/// `steps` numbers from start to end, both included, equally far apart.
template <HostDevice D, Element T = float>
Tensor<D, T> linspace(double start, double end, Index steps) {
  if (steps < 0) fail("linspace", {"the number of steps must not be negative: ", steps});
  Tensor<D, T> x = empty<D, T>(steps);
  for (Index i = 0; i < steps; ++i) {
    const double part = steps > 1 ? double(i) / double(steps - 1) : 0;
    x.data()[i] = T(compute_t<T>(part < 0.5 ? start + part * (end - start) : end - (1 - part) * (end - start)));
  }
  return x;
}

/// Ones on the diagonal, zeros elsewhere: [n, m], m = n by default.
template <HostDevice D, Element T = float>
Tensor<D, T> eye(Index n, Index m = -1) {
  if (m < 0) m = n;
  Tensor<D, T> x = zeros<D, T>({n, m});
  for (Index i = 0; i < n && i < m; ++i) x.data()[i * m + i] = T(compute_t<T>(1));
  return x;
}

}  // namespace tern
