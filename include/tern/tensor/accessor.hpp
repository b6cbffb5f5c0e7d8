// The elements of a tensor by indices that nothing checks.
#pragma once
#include "../core/array.hpp"

namespace tern { inline namespace TERN_BUILD {

/// a[i][j] is element (i, j), to read or to write, where a = x.accessor<float, 2>(). No index is checked. An accessor
/// refers to its tensor, which must live as long.
template <class T, int N>
class TensorAccessor {
  static_assert(N > 0, "an accessor has a dimension at least: x.item() is the element of a tensor without any");

 public:
  TensorAccessor(T* data, const Index* sizes, const Index* strides) : data_(data), sizes_(sizes), strides_(strides) {}

  /// The element, or with dimensions left the accessor of those.
  decltype(auto) operator[](Index i) const {
    T* const at = data_ + i * strides_[0];
    if constexpr (N == 1) return (*at);
    else return TensorAccessor<T, N - 1>(at, sizes_ + 1, strides_ + 1);
  }
  T* data() const { return data_; }
  Index size(Index dim) const { return sizes_[dim]; }
  Index stride(Index dim) const { return strides_[dim]; }

 private:
  T* data_;
  const Index *sizes_, *strides_;
};

}}  // namespace tern
