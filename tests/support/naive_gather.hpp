// Naive's rows by number: one element after the other, in the order of the numbers.
#pragma once
#include "naive.hpp"
#include "tern/backend/gather.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {

inline void check_range(tern_test::Naive, const char* op, const Array& index, Index size) {
  for (Index i = 0; i < index.numel; ++i) {
    const Index k = index.as<Index>()[i];
    if (k < 0 || k >= size) refuse_element(op, BadElement::index, k, size);
  }
}

namespace naive {
/// Calls f(position in a, i) for the i-th element of index, the number read standing for its place along dim.
template <class F> void each_indexed(const Array& a, int dim, const Array& index, const F& f) {
  for (Index i = 0; i < index.numel; ++i) {
    Index rest = i, position = 0, stride = 1, place[max_dims];
    for (int d = index.ndim; d-- > 0; rest /= index.dims[d]) place[d] = rest % index.dims[d];
    for (int d = a.ndim; d-- > 0; stride *= a.dims[d])
      position += (d == dim ? index.as<Index>()[i] : place[d]) * stride;
    f(position, i);
  }
}
}  // namespace naive

inline void take_rows(tern_test::Naive, const Array& out, const Array& x, const Array& index) {
  const Index bytes = x.dims[0] ? x.numel / x.dims[0] * size_of(x.dtype) : 0;
  for (Index i = 0; i < index.numel; ++i)
    for (Index b = 0; b < bytes; ++b) out.data[i * bytes + b] = x.data[index.as<Index>()[i] * bytes + b];
}

template <class T> void add_rows(tern_test::Naive, const Array& out, const Array& index, const Array& x) {
  const Index columns = out.dims[0] ? out.numel / out.dims[0] : 0;
  for (Index i = 0; i < index.numel; ++i)
    for (Index c = 0; c < columns; ++c) {
      T& to = out.as<T>()[index.as<Index>()[i] * columns + c];
      to = T(compute_t<T>(to) + compute_t<T>(x.as<T>()[i * columns + c]));
    }
}

inline void gather(tern_test::Naive device, const char* op, const Array& out, const Array& x, int dim,
                   const Array& index) {
  check_range(device, op, index, x.ndim ? x.dims[dim] : 1);
  const int bytes = size_of(x.dtype);
  naive::each_indexed(x, dim, index, [&](Index from, Index to) {
    for (int b = 0; b < bytes; ++b) out.data[to * bytes + b] = x.data[from * bytes + b];
  });
}

template <class T>
void scatter_add(tern_test::Naive device, const char* op, const Array& out, int dim, const Array& index,
                 const Array& x) {
  check_range(device, op, index, out.ndim ? out.dims[dim] : 1);
  naive::each_indexed(out, dim, index, [&](Index to, Index from) {
    out.as<T>()[to] = T(compute_t<T>(out.as<T>()[to]) + compute_t<T>(x.as<T>()[from]));
  });
}

template <class T>
void bag(tern_test::Naive, const Bags& b, const Array& out, const Array& table, const Array& index, const Array& starts,
         const T* scale, Index* chosen) {
  const Index columns = table.dims[1];
  for (Index i = 0; i < out.dims[0]; ++i)
    for (Index c = 0; c < columns; ++c) {
      double total = 0;
      Index count = 0;
      for (Index k = starts.as<Index>()[i]; k < starts.as<Index>()[i + 1]; ++k) {
        const Index row = index.as<Index>()[k];
        if (row == b.padding_idx) continue;
        const double value = double(compute_t<T>(table.as<T>()[row * columns + c]));
        if (b.mode != BagMode::max) {
          total += (scale ? double(compute_t<T>(scale[k])) : 1) * value;
        } else if (count == 0 || value > total) {
          total = value;
          chosen[i * columns + c] = row;
        }
        ++count;
      }
      out.as<T>()[i * columns + c] = T(compute_t<T>(b.mode == BagMode::mean && count ? total / double(count) : total));
    }
}

template <class T>
void bag_gradient(tern_test::Naive, const Bags& b, const Array& out, const Array& g, const Array& index,
                  const Array& starts, const T* scale) {
  const Index columns = out.dims[1];
  for (Index i = 0; i < g.dims[0]; ++i) {
    const Index first = starts.as<Index>()[i], last = starts.as<Index>()[i + 1];
    Index count = 0;
    for (Index k = first; k < last; ++k) count += index.as<Index>()[k] != b.padding_idx;
    for (Index k = first; k < last; ++k) {
      const Index row = index.as<Index>()[k];
      if (row == b.padding_idx) continue;
      const double share = (scale ? double(compute_t<T>(scale[k])) : 1) / (b.mode == BagMode::mean ? double(count) : 1);
      for (Index c = 0; c < columns; ++c) {
        T& to = out.as<T>()[row * columns + c];
        to = T(compute_t<T>(double(compute_t<T>(to)) + share * double(compute_t<T>(g.as<T>()[i * columns + c]))));
      }
    }
  }
}

}  // namespace backend
}  // namespace tern
