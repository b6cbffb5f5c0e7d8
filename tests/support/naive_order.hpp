// Naive's recurrences, sorting and searching: one element after the other.
#pragma once
#include <algorithm>
#include <numeric>

#include "naive.hpp"
#include "tern/backend/scan.hpp"
#include "tern/backend/sort.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {

template <class T>
void scan(tern_test::Naive, Scan kind, const Array& out, const Array& in, const Array* gates, int dim, bool reverse) {
  using S = std::conditional_t<is_floating_v<T>, double, T>;
  const Index n = in.dims[dim], stride = in.strides[dim];
  for (tern_test::Positions p(in.shape()); !p.done(); p.next()) {
    if (p.at[dim] != 0) continue;
    Index i = &p.in<T>(in) - in.as<T>() + (reverse ? (n - 1) * stride : 0);
    S s = kind == Scan::product ? S(1) : S(0);
    for (Index k = 0; k < n; ++k, i += reverse ? -stride : stride) {
      const S x = S(in.as<T>()[i]);
      s = kind == Scan::sum ? S(s + x) : kind == Scan::product ? S(s * x) : S(S(gates->as<T>()[i]) * s + x);
      out.as<T>()[i] = T(s);
    }
  }
}

template <class T>
void sort(tern_test::Naive, const Array& values, const Array& positions, const Array& in, bool descending) {
  const Index n = in.dims[1], k = values.dims[1];
  for (Index row = 0; row < in.dims[0]; ++row) {
    const T* const x = in.as<T>() + row * n;
    std::vector<Index> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), Index(0));
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
      if (descending) std::swap(a, b);
      const auto u = compute_t<T>(x[a]), v = compute_t<T>(x[b]);
      return u < v || (u == u && v != v);
    });
    for (Index i = 0; i < k; ++i) {
      positions.as<Index>()[row * k + i] = order[std::size_t(i)];
      values.as<T>()[row * k + i] = x[order[std::size_t(i)]];
    }
  }
}

template <class T>
void searchsorted(tern_test::Naive, const Array& out, const Array& sorted, const Array& values, bool right) {
  const Index n = sorted.dims[sorted.ndim - 1];
  for (Index i = 0; i < values.numel; ++i) {
    const T* const row = sorted.as<T>() + (sorted.ndim > 1 ? i / values.dims[1] * n : 0);
    const auto v = compute_t<T>(values.as<T>()[i]);
    Index count = 0;
    while (count < n && !(right ? compute_t<T>(row[count]) > v : compute_t<T>(row[count]) >= v)) ++count;
    out.as<Index>()[i] = count;
  }
}

}  // namespace backend
}  // namespace tern
