// Naive's recurrences, sorting and searching: one element after the other.
#pragma once
#include <algorithm>
#include <numeric>

#include "naive.hpp"
#include "tern/backend/scan.hpp"
#include "tern/backend/sort.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

template <class T>
void kernel(On<Naive>, Types<T>, const Scan& op) {
  using S = std::conditional_t<tern::detail::is_floating_v<T>, double, T>;
  const Array& in = op.in;
  const int dim = op.dim;
  const bool reverse = op.reverse;
  const Index n = in.dims[dim], stride = in.strides[dim];
  for (tern_test::Positions p(in.shape()); !p.done(); p.next()) {
    if (p.at[dim] != 0) continue;
    Index i = &p.in<T>(in) - in.as<T>() + (reverse ? (n - 1) * stride : 0);
    S s = op.kind == Scan::product ? S(1) : S(0);
    for (Index k = 0; k < n; ++k, i += reverse ? -stride : stride) {
      const S x = S(in.as<T>()[i]);
      s = op.kind == Scan::sum ? S(s + x) : op.kind == Scan::product ? S(s * x) : S(S(op.gates->as<T>()[i]) * s + x);
      op.out.as<T>()[i] = T(s);
    }
  }
}

template <class T>
void kernel(On<Naive>, Types<T>, const RunningExtreme& op) {
  const Array& in = op.in;
  const Index n = in.dims[op.dim], stride = in.strides[op.dim];
  for (tern_test::Positions p(in.shape()); !p.done(); p.next()) {
    if (p.at[op.dim] != 0) continue;
    const Index first = &p.in<T>(in) - in.as<T>();
    for (Index k = 0, best = 0; k < n; ++k) {
      const auto v = compute_t<T>(in.as<T>()[first + k * stride]), b = compute_t<T>(in.as<T>()[first + best * stride]);
      if (v != v || (b == b && (op.largest ? v >= b : v <= b))) best = k;
      op.values.as<T>()[first + k * stride] = in.as<T>()[first + best * stride];
      op.positions.as<Index>()[first + k * stride] = best;
    }
  }
}

template <class T>
void kernel(On<Naive>, Types<T>, const Sort& op) {
  const Array &in = op.in, &values = op.values, &positions = op.positions;
  const Index n = in.dims[1], k = values.dims[1];
  for (Index row = 0; row < in.dims[0]; ++row) {
    const T* const x = in.as<T>() + row * n;
    std::vector<Index> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), Index(0));
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
      if (op.descending) std::swap(a, b);
      const auto u = compute_t<T>(x[a]), v = compute_t<T>(x[b]);
      return u < v || (u == u && v != v);
    });
    for (Index i = 0; i < k; ++i) {
      const Index at = order[std::size_t(op.first + i)];
      positions.as<Index>()[row * k + i] = at;
      values.as<T>()[row * k + i] = x[at];
    }
  }
}

template <class T>
void kernel(On<Naive>, Types<T>, const SearchSorted& op) {
  const Array &sorted = op.sorted, &values = op.values;
  const Index n = sorted.dims[sorted.ndim - 1];
  for (Index i = 0; i < values.numel; ++i) {
    const T* const row = sorted.as<T>() + (sorted.ndim > 1 ? i / values.dims[1] * n : 0);
    const auto v = compute_t<T>(values.as<T>()[i]);
    Index count = 0;
    while (count < n && !(op.right ? compute_t<T>(row[count]) > v : compute_t<T>(row[count]) >= v)) ++count;
    op.out.as<Index>()[i] = count;
  }
}

}  // namespace detail::backend
}}  // namespace tern
