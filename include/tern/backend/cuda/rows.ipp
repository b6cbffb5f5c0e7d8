// The functions of rows.hpp that are not templates.
#pragma once
#include "rows.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_INLINE Array row_of(const Rows& rows) {
  Array row = rows.array;
  row.ndim = std::uint8_t(row.ndim - rows.lead);
  for (int i = 0; i < row.ndim; ++i) {
    row.dims[i] = row.dims[i + rows.lead];
    row.strides[i] = row.strides[i + rows.lead];
  }
  return row;
}

TERN_NOINLINE RowLoops row_loops(const Rows& out, const Rows& in) {
  const auto over = [](const Array& shaped, std::initializer_list<const Array*> arrays) {
    return detail::LoopNest(shaped.shape(), arrays.begin(), int(arrays.size()));
  };
  const Array out_lead = lead_of(out), in_lead = lead_of(in), to = row_of(out), from = row_of(in);
  return {.to = array_loops(over(out_lead, {&out_lead})),
          .from = array_loops(over(in_lead, {&in_lead})),
          .row = copy_loops(over(to, {&to, &from}))};
}

TERN_NOINLINE void add_sorted_rows(int ordinal, const Rows& out, const Rows& in, const SortedKeys& keys,
                                   const char* from, const char* factors, ScatterMode how) {
  const Index width = row_of(out).shape().numel(), count = keys.count();
  // If all sources go to one row, it takes about as many steps in a part as there are parts to add.
  Index part_bits = 6;
  while (count >> part_bits > Index(1) << part_bits) ++part_bits;
  const Index parts = (count + (Index(1) << part_bits) - 1) >> part_bits;
  const bool may_be_long = parts > 2;
  const cuda::detail::Scratch sums(ordinal, may_be_long ? std::size_t(2 * parts * width) * 8 : 0);
  const AddRowsParameters parameters{.count = count,
                                     .part_bits = part_bits,
                                     .width = width,
                                     .out = out.array.data,
                                     .in = in.array.data,
                                     .keys = keys.data(),
                                     .shift = keys.shift(),
                                     .from = from,
                                     .factors = factors,
                                     .how = Index(how),
                                     .sums = sums.data(),
                                     .loops = row_loops(out, in)};
  const std::initializer_list<DType> types{out.array.dtype, in.array.dtype};
  launch_typed(ordinal, add_rows_kernel, types, grid_for(count * width), parameters);
  if (may_be_long) launch_typed(ordinal, add_parts_kernel, types, grid_for((parts - 2) * width), parameters);
}

TERN_INLINE MaskParameters mask_parameters(const Array& mask) {
  return {.count = mask.numel,
          .tiles = (mask.numel + 4095) / 4096,
          .aligned = are_aligned(16, {&mask}),
          .mask = mask.data,
          .total = {},
          .before = {},
          .out = {}};
}

}}}  // namespace tern::detail::backend::cuda_kernels

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const AddRows& op) {
  using namespace cuda_kernels;
  const Rows &out = op.out, &in = op.in;
  const Array* const arrays[] = {&in.array};
  const int ordinal = common_ordinal(out.array, arrays, 1);
  if (op.moves.count == 0 || out.array.numel == 0) return;
  const SortedKeys keys(ordinal, op.moves.count, data_of(op.moves.to), data_of(op.moves.from),
                        lead_of(out).shape().numel());
  add_sorted_rows(ordinal, out, in, keys, data_of(op.moves.from), nullptr);
}

TERN_NOINLINE void kernel(On<Cuda>, Types<>, const RowNumbers& op) {
  const Array& out = op.out;
  const int ordinal = out.ordinal;
  if (out.numel == 0) return;
  cuda_kernels::RowNumbersParameters parameters{.out = out.data,
                                                .count = out.numel,
                                                .dims = out.ndim,
                                                .size = {},
                                                .report = {ordinal, op.op, detail::BadElement::index},
                                                .terms = op.count,
                                                .term = {}};
  for (int i = 0; i < out.ndim; ++i) parameters.size[i] = out.dims[i];
  for (int k = 0; k < op.count; ++k) {
    const RowIndex& term = op.indices[k];
    cuda_kernels::common_ordinal(out, &term.index, 1);
    if (term.size == 0) detail::refuse_element(op.op, detail::BadElement::index, 0, 0);
    parameters.term[k] = {
        .index = term.index->data, .size = term.size, .step = term.step, .from_end = term.from_end, .stride = {}};
    for (int i = 0; i < out.ndim; ++i)
      parameters.term[k].stride[i] = detail::broadcast_stride(*term.index, i, out.ndim);
  }
  cuda_kernels::launch_typed(ordinal, cuda_kernels::row_numbers_kernel, {}, cuda_kernels::grid_for(out.numel),
                             parameters);
}

TERN_NOINLINE void kernel(On<Cuda>, Types<>, const CopyRows& op) {
  const Rows &out = op.out, &in = op.in;
  const RowMoves& moves = op.moves;
  const Array* const arrays[] = {&in.array};
  const int ordinal = cuda_kernels::common_ordinal(out.array, arrays, 1);
  if (moves.count == 0 || out.array.numel == 0) return;
  const Index rows = cuda_kernels::lead_of(out).shape().numel(), width = cuda_kernels::row_of(out).shape().numel();
  const cuda::detail::Scratch last(ordinal, moves.to ? std::size_t(8 * rows) : 0);
  if (moves.to) {
    cuda::detail::start_filling(ordinal, last.data(), 0xff, std::size_t(8 * rows));
    cuda_kernels::launch_typed(ordinal, cuda_kernels::last_moves_kernel, {}, cuda_kernels::grid_for(moves.count),
                               {.moves = moves.count, .to = moves.to->data, .last = last.data()});
  }
  cuda_kernels::launch_typed(ordinal, cuda_kernels::copy_rows_kernel,
                             {cuda_kernels::carrier(detail::size_of(out.array.dtype))},
                             cuda_kernels::grid_for(moves.count * width),
                             {.moves = moves.count,
                              .width = width,
                              .width_reciprocal = cuda_kernels::reciprocal(width),
                              .out = out.array.data,
                              .in = in.array.data,
                              .to = cuda_kernels::data_of(moves.to),
                              .from = cuda_kernels::data_of(moves.from),
                              .last = last.data(),
                              .loops = cuda_kernels::row_loops(out, in)});
}

TERN_NOINLINE void kernel(On<Cuda>, Types<>, const CountTrue& op) {
  const Array& mask = op.mask;
  op.count = 0;
  if (mask.numel == 0) return;
  const cuda_kernels::PostedWords total(mask.ordinal, 1, 0);
  cuda_kernels::MaskParameters parameters = cuda_kernels::mask_parameters(mask);
  parameters.total = total.counter(0);
  cuda_kernels::launch_typed(mask.ordinal, cuda_kernels::count_true_kernel, {},
                             {std::min<Index>(parameters.tiles, 1024)}, parameters);
  cuda::detail::copy_to_host(mask.ordinal, &op.count, total.counter(0), sizeof op.count);
}

TERN_NOINLINE void kernel(On<Cuda>, Types<>, const TruePositions& op) {
  const Array& mask = op.mask;
  if (mask.numel == 0) return;
  cuda_kernels::MaskParameters parameters = cuda_kernels::mask_parameters(mask);
  const cuda_kernels::TilePosts posts(mask.ordinal, 1, parameters.tiles, 256, 2);
  parameters.before = posts.parameters();
  parameters.out = op.out.data;
  cuda_kernels::launch_typed(mask.ordinal, cuda_kernels::true_positions_kernel, {mask.dtype}, {parameters.tiles},
                             parameters);
}

}}}  // namespace tern::detail::backend
