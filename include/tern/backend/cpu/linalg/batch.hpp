// What the CPU's factorisations share: a batch of matrices, one after the other.
#pragma once
#include <algorithm>

#include "../../../core/parallel.hpp"
#include "../../../device/device.hpp"
#include "../../linalg.hpp"
#include "../dispatch.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::linalg_detail {

inline Index rows(const Array& a) { return a.dims[a.ndim - 2]; }
inline Index columns(const Array& a) { return a.dims[a.ndim - 1]; }

/// The first element of matrix i.
template <class T>
T* matrix(const Array& a, Index i) {
  return a.as<T>() + i * rows(a) * columns(a);
}

/// f(i) for each matrix of a batch. One matrix is one thread's work; `work` is the number of its multiplications.
template <class F>
void for_each_matrix(const Array& batch, Index work, const F& f) {
  detail::parallel_for(matrix_count(batch), std::max<Index>(1, 65536 / (work + 1)), [&](Index begin, Index end) {
    const detail::SerialRegion alone;
    for (Index i = begin; i < end; ++i) f(i);
  });
}

}}}  // namespace tern::detail::backend::linalg_detail
