// The functions of shape.hpp that are not templates.
#pragma once
#include "shape.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD Index checked_sum(const CallSite& op, std::initializer_list<Index> terms) {
  Index sum = 0;
  for (const Index term : terms)
    if (__builtin_add_overflow(sum, term, &sum) || sum > max_elements || sum < -max_elements)
      Error::fail(op, {"the sum of ", ShapeRef{terms.begin(), int(terms.size())}, " is out of range"});
  return sum;
}

TERN_COLD Index checked_product(const CallSite& op, std::initializer_list<Index> factors) {
  Index product = 1;
  for (const Index factor : factors)
    if (__builtin_mul_overflow(product, factor, &product) || product > max_elements || product < -max_elements)
      Error::fail(op, {"the product of ", ShapeRef{factors.begin(), int(factors.size())}, " is out of range"});
  return product;
}

TERN_COLD Index checked_index(const CallSite& op, double value) {
  if (!(value <= double(max_elements) && value >= -double(max_elements)))
    Error::fail(op, {"a size or position of ", value, " is out of range"});
  return Index(value);
}

TERN_COLD Index empty_numel(const CallSite& op, ShapeRef shape) {
  Index extent = 1;
  for (int i = 0; i < shape.n; ++i) {
    if (shape.d[i] < 0) Error::fail(op, {"negative size in ", shape});
    if (shape.d[i] > 0 && (__builtin_mul_overflow(extent, shape.d[i], &extent) || extent > max_elements))
      Error::fail(op, {"a tensor of shape ", shape, " would have more than ", max_elements, " elements"});
  }
  return 0;
}

TERN_INLINE Index checked_numel(const CallSite& op, ShapeRef shape) {
  Index numel = 1;
  bool usual = true;
  for (int i = 0; i < shape.n; ++i)
    usual = usual && shape.d[i] > 0 && !__builtin_mul_overflow(numel, shape.d[i], &numel);
  return usual && numel <= max_elements ? numel : empty_numel(op, shape);
}

TERN_INLINE int existing_dim(const CallSite& op, Index dim, int n) {
  if (n == 0) Error::fail(op, {"there is no dimension ", dim, " in a 0-d tensor"});
  if (dim < -n || dim >= n)
    Error::fail(op, {"dimension ", dim, " is out of range [", Index(-n), ", ", Index(n - 1), "]"});
  return int(dim < 0 ? dim + n : dim);
}

TERN_INLINE int wrap_dim(const CallSite& op, Index dim, int n) { return existing_dim(op, dim, n == 0 ? 1 : n); }

TERN_COLD unsigned dim_mask(const CallSite& op, const Dims& dims, int n) {
  if (dims.empty()) return n == 0 ? 0u : (1u << n) - 1;
  unsigned mask = 0;
  for (Index dim : dims) {
    const unsigned bit = 1u << wrap_dim(op, dim, n);
    if (mask & bit) Error::fail(op, {"dimension ", dim, " is named twice"});
    mask |= bit;
  }
  return n == 0 ? 0u : mask;
}

TERN_COLD Shape broadcast_shapes(const CallSite& op, ShapeRef a, ShapeRef b) {
  const int n = a.n > b.n ? a.n : b.n;
  Shape out;
  out.n = n;
  for (int i = 0; i < n; ++i) {
    const int ia = i - (n - a.n), ib = i - (n - b.n);
    const Index sa = ia < 0 ? 1 : a.d[ia], sb = ib < 0 ? 1 : b.d[ib];
    if (sa != sb && sa != 1 && sb != 1) Error::fail(op, {"shapes do not broadcast: ", a, " and ", b});
    out.d[i] = sa == 1 ? sb : sa;
  }
  checked_numel(op, out);
  return out;
}

TERN_NOINLINE Shape reduced_shape(ShapeRef shape, unsigned mask, bool keepdim) {
  Shape out;
  for (int i = 0; i < shape.n; ++i) {
    if (!(mask >> i & 1)) out.d[out.n++] = shape.d[i];
    else if (keepdim) out.d[out.n++] = 1;
  }
  return out;
}

}}}  // namespace tern::detail
