// Naive's rows by number: one element after the other, in the order of the numbers.
#pragma once
#include "naive.hpp"
#include "tern/backend/gather.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

inline void kernel(On<Naive>, Types<>, const CheckRange& op) {
  for (Index i = 0; i < op.index.numel; ++i) {
    const Index k = op.index.as<Index>()[i];
    if (k < 0 || k >= op.size) tern::detail::refuse_element(op.op, tern::detail::BadElement::index, k, op.size);
  }
}

namespace naive {
/// Calls f(position in a, i) for the i-th element of index, the number read standing for its place along dim.
template <class F>
void each_indexed(const Array& a, int dim, const Array& index, const F& f) {
  for (Index i = 0; i < index.numel; ++i) {
    Index rest = i, position = 0, stride = 1, place[tern::detail::max_dims];
    for (int d = index.ndim; d-- > 0; rest /= index.dims[d]) place[d] = rest % index.dims[d];
    for (int d = a.ndim; d-- > 0; stride *= a.dims[d])
      position += (d == dim ? index.as<Index>()[i] : place[d]) * stride;
    f(position, i);
  }
}
}  // namespace naive

inline void kernel(On<Naive>, Types<>, const IndexSelect& op) {
  const Array &out = op.out, &x = op.x, &index = op.index;
  const Index bytes = x.dims[0] ? x.numel / x.dims[0] * tern::detail::size_of(x.dtype) : 0;
  for (Index i = 0; i < index.numel; ++i)
    for (Index b = 0; b < bytes; ++b) out.data[i * bytes + b] = x.data[index.as<Index>()[i] * bytes + b];
}

template <class T>
void kernel(On<Naive>, Types<T>, const IndexAdd& op) {
  const Array &out = op.out, &index = op.index, &x = op.x;
  const Index columns = out.dims[0] ? out.numel / out.dims[0] : 0;
  for (Index i = 0; i < index.numel; ++i)
    for (Index c = 0; c < columns; ++c) {
      T& to = out.as<T>()[index.as<Index>()[i] * columns + c];
      to = T(compute_t<T>(to) + compute_t<T>(x.as<T>()[i * columns + c]));
    }
}

inline void kernel(On<Naive>, Types<>, const Gather& op) {
  const Array &out = op.out, &x = op.x;
  run<Naive>(CheckRange{"gather", op.index, x.ndim ? x.dims[op.dim] : 1});
  const int bytes = tern::detail::size_of(x.dtype);
  naive::each_indexed(x, op.dim, op.index, [&](Index from, Index to) {
    for (int b = 0; b < bytes; ++b) out.data[to * bytes + b] = x.data[from * bytes + b];
  });
}

template <class T, ScatterMode how>
void kernel(On<Naive>, Types<T>, const Scatter<how>& op) {
  const Array &out = op.out, &x = op.x;
  run<Naive>(CheckRange{op.op, op.index, out.ndim ? out.dims[op.dim] : 1});
  naive::each_indexed(out, op.dim, op.index, [&](Index to, Index from) {
    const auto a = compute_t<T>(out.template as<T>()[to]), b = compute_t<T>(x.template as<T>()[from]);
    const bool keep = a != a || (how == ScatterMode::maximum ? a > b : a < b);
    out.template as<T>()[to] = T(how == ScatterMode::sum ? a + b : how == ScatterMode::product ? a * b : keep ? a : b);
  });
}

template <class T>
void kernel(On<Naive>, Types<T>, const EmbeddingBag& op) {
  const Bags bags = op.bags;
  const Array &out = op.out, &table = op.table, &index = op.index, &starts = op.starts;
  const Index columns = table.dims[1];
  for (Index i = 0; i < out.dims[0]; ++i)
    for (Index c = 0; c < columns; ++c) {
      double total = 0;
      Index count = 0;
      for (Index k = starts.as<Index>()[i]; k < starts.as<Index>()[i + 1]; ++k) {
        const Index row = index.as<Index>()[k];
        if (row == bags.padding_idx) continue;
        const double value = double(compute_t<T>(table.as<T>()[row * columns + c]));
        if (bags.mode != BagMode::max) {
          total += (op.weights ? double(compute_t<T>(op.weights->as<T>()[k])) : 1) * value;
        } else if (count == 0 || value > total) {
          total = value;
          op.chosen->as<Index>()[i * columns + c] = row;
        }
        ++count;
      }
      out.as<T>()[i * columns + c] =
          T(compute_t<T>(bags.mode == BagMode::mean && count ? total / double(count) : total));
    }
}

template <class T>
void kernel(On<Naive>, Types<T>, const EmbeddingBagGradient& op) {
  const Bags bags = op.bags;
  const Array &out = op.out, &g = op.g, &index = op.index, &starts = op.starts;
  const Index columns = out.dims[1];
  for (Index i = 0; i < g.dims[0]; ++i) {
    const Index first = starts.as<Index>()[i], last = starts.as<Index>()[i + 1];
    Index count = 0;
    for (Index k = first; k < last; ++k) count += index.as<Index>()[k] != bags.padding_idx;
    for (Index k = first; k < last; ++k) {
      const Index row = index.as<Index>()[k];
      if (row == bags.padding_idx) continue;
      const double weight = op.weights ? double(compute_t<T>(op.weights->as<T>()[k])) : 1;
      const double share = weight / (bags.mode == BagMode::mean ? double(count) : 1);
      for (Index c = 0; c < columns; ++c) {
        T& to = out.as<T>()[row * columns + c];
        to = T(compute_t<T>(double(compute_t<T>(to)) + share * double(compute_t<T>(g.as<T>()[i * columns + c]))));
      }
    }
  }
}

}  // namespace detail::backend
}}  // namespace tern
