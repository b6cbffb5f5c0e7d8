// The functions of sort.hpp that are not templates.
#pragma once
#include "sort.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

/// The lowest bit in which two keys of that type may differ, among the 32 of a half.
constexpr int first_key_bit(DType type) { return type == DType::bfloat16 ? 16 : type == DType::float16 ? 13 : 0; }

TERN_NOINLINE SortedRows::SortedRows(int ordinal, const Array& in, bool descending)
    : ordinal_(ordinal), rows_(in.dims[0]), n_(in.dims[1]), keys_(ordinal, rows_, n_),
      before_(ordinal, detail::size_of(in.dtype) == 8 ? std::size_t(8 * rows_ * n_) : 0) {
  if (n_ > Index(~std::uint32_t(0))) Error::fail("sort", {n_, " elements are too many to be sorted"});
  sort_by(in, nullptr, false, descending);
  if (!before()) return;
  launch_typed(ordinal_, sort_order_kernel, {}, grid_for(rows_ * n_),
               {.rows = rows_, .n = n_, .padded = stride(), .keys = keys(), .order = before()});
  sort_by(in, before(), true, descending);
}

TERN_INLINE void SortedRows::sort_by(const Array& in, const char* before, bool upper, bool descending) {
  launch_typed(ordinal_, sort_keys_kernel, {in.dtype}, grid_for(rows_ * stride()),
               {.rows = rows_,
                .n = n_,
                .padded = stride(),
                .reciprocal = reciprocal(stride()),
                .keys = keys(),
                .in = in.data,
                .before = before,
                .upper = upper,
                .descending = descending});
  const int first = first_key_bit(in.dtype), last = detail::size_of(in.dtype) == 1 ? 8 : 32;
  keys_.sort(32 + first, last - first);
}

}}}  // namespace tern::detail::backend::cuda_kernels

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const Sort& op) {
  using namespace cuda_kernels;
  const Array &values = op.values, &positions = op.positions, &in = op.in;
  const Array* const arrays[] = {&positions, &in};
  const int ordinal = common_ordinal(values, arrays, 2);
  if (values.numel == 0) return;
  const Index rows = in.dims[0], n = in.dims[1], k = values.dims[1];
  // A block reads its row three to five times, where a sort moves each element as often; but a block is slow with a
  // long one.
  const bool few = k == 1 || (op.first == 0 && k <= std::min<Index>(1024, n / 2));
  const bool blocks_suffice = n <= 1 << 16 || (rows >= 16 && n >> 31 == 0);
  if (n >= 512 && few && blocks_suffice)
    return launch_typed(ordinal, select_kernel, {in.dtype}, {rows},
                        {.n = n,
                         .k = k,
                         .first = op.first,
                         .descending = op.descending,
                         .in = in.data,
                         .values = values.data,
                         .positions = positions.data});
  const SortedRows sorted(ordinal, in, op.descending);
  launch_typed(ordinal, take_sorted_kernel, {in.dtype}, grid_for(values.numel),
               {.rows = rows,
                .n = n,
                .padded = sorted.stride(),
                .k = k,
                .reciprocal = reciprocal(k),
                .first = op.first,
                .descending = op.descending,
                .keys = sorted.keys(),
                .before = sorted.before(),
                .in = in.data,
                .values = values.data,
                .positions = positions.data});
}

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const SearchSorted& op) {
  using namespace cuda_kernels;
  const Array &sorted = op.sorted, &values = op.values;
  const Array* const arrays[] = {&sorted, &values};
  const int ordinal = common_ordinal(op.out, arrays, 2);
  if (values.numel == 0) return;
  const Index n = sorted.dims[sorted.ndim - 1];
  launch_typed(ordinal, searchsorted_kernel, {values.dtype}, grid_for(values.numel),
               {.count = values.numel,
                .row_values = values.dims[1],
                .n = n,
                .out = op.out.data,
                .sorted = sorted.data,
                .row_stride = sorted.ndim > 1 ? n : 0,
                .values = values.data,
                .right = op.right});
}

}}}  // namespace tern::detail::backend
