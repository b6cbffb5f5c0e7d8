// The functions of gather.hpp that are not templates.
#pragma once
#include "gather.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_NOINLINE IndexedArray indexed_array(const Array& a, int dim, const Array& index) {
  IndexedArray indexed{.count = index.numel,
                       .dims = a.ndim,
                       .index = index.data,
                       .dim = dim,
                       .size = a.ndim ? a.dims[dim] : 1,
                       .index_size = {},
                       .stride = {}};
  Array dense = a;
  detail::set_contiguous_strides(dense);
  for (int d = 0; d < a.ndim; ++d)
    indexed.index_size[d] = d < index.ndim ? index.dims[d] : 1, indexed.stride[d] = dense.strides[d];
  return indexed;
}

TERN_NOINLINE void run_scatter(ScatterMode how, const char* name, const Array& out, int dim, const Array& index,
                               const Array& x) {
  run<Cuda>(CheckRange{name, index, out.ndim ? out.dims[dim] : 1});
  const Array* const arrays[] = {&index, &x};
  const int ordinal = common_ordinal(out, arrays, 2);
  if (index.numel == 0 || out.numel == 0) return;
  const cuda::detail::Scratch positions(ordinal, std::size_t(8 * index.numel));
  launch_typed(ordinal, scatter_positions_kernel, {}, grid_for(index.numel),
               {.to = indexed_array(out, dim, index), .positions = positions.data()});
  // Each element is a row.
  Array to = out, from = x;
  to.ndim = from.ndim = 1;
  to.dims[0] = out.numel, from.dims[0] = index.numel;
  to.strides[0] = from.strides[0] = 1;
  add_sorted_rows(ordinal, {to, 1}, {from, 1}, SortedKeys(ordinal, index.numel, positions.data(), nullptr, out.numel),
                  nullptr, nullptr, how);
}

}}}  // namespace tern::detail::backend::cuda_kernels

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const EmbeddingBag& op) {
  using namespace cuda_kernels;
  const Array &out = op.out, &table = op.table;
  const Array* const arrays[] = {&table, &op.index, &op.starts};
  const int ordinal = common_ordinal(out, arrays, 3);
  if (out.numel == 0) return;
  launch_typed(ordinal, embedding_bag_kernel, {table.dtype}, grid_for(out.numel),
               {.bags = out.dims[0],
                .columns = table.dims[1],
                .rows = table.dims[0],
                .out = out.data,
                .table = table.data,
                .index = op.index.data,
                .starts = op.starts.data,
                .weights = data_of(op.weights),
                .chosen = data_of(op.chosen),
                .padding_idx = op.bags.padding_idx,
                .mode = Index(op.bags.mode)});
}

TERN_NOINLINE void kernel(On<Cuda>, AnyTypes, const EmbeddingBagGradient& op) {
  using namespace cuda_kernels;
  const Array &out = op.out, &g = op.g, &index = op.index;
  const Array* const arrays[] = {&g, &index, &op.starts};
  const int ordinal = common_ordinal(out, arrays, 3);
  const Index n = index.numel;
  if (n == 0 || out.numel == 0) return;
  const cuda::detail::Scratch bags(ordinal, std::size_t(16 * n));
  char* const factors = bags.data() + 8 * n;
  cuda::detail::start_filling(ordinal, bags.data(), 0xff, std::size_t(8 * n));  // -1, which no bag has
  if (g.dims[0])
    launch_typed(ordinal, bag_factors_kernel, {g.dtype}, grid_for(g.dims[0]),
                 {.bags = g.dims[0],
                  .index = index.data,
                  .starts = op.starts.data,
                  .weights = data_of(op.weights),
                  .padding_idx = op.bags.padding_idx,
                  .mean = op.bags.mode == BagMode::mean,
                  .bag = bags.data(),
                  .factors = factors});
  add_sorted_rows(ordinal, {out, 1}, {g, 1},
                  SortedKeys(ordinal, n, index.data, bags.data(), out.dims[0], op.bags.padding_idx), bags.data(),
                  factors);
}

TERN_NOINLINE void kernel(On<Cuda>, Types<>, const RefuseIf& op) {
  using namespace cuda_kernels;
  launch_typed(op.found.ordinal, refuse_if_kernel, {}, {1, 1},
               {.report = {op.found.ordinal, op.op, op.what}, .found = op.found.data});
}

TERN_NOINLINE void kernel(On<Cuda>, Types<>, const CheckRange& op) {
  const Array& index = op.index;
  if (index.numel == 0) return;
  if (op.size == 0) detail::refuse_element(op.op, detail::BadElement::index, 0, 0);
  cuda_kernels::launch_typed(index.ordinal, cuda_kernels::check_range_kernel, {}, cuda_kernels::grid_for(index.numel),
                             {.count = index.numel,
                              .index = index.data,
                              .size = op.size,
                              .report = {index.ordinal, op.op, detail::BadElement::index}});
}

TERN_NOINLINE void kernel(On<Cuda>, Types<>, const IndexSelect& op) {
  const Array &out = op.out, &x = op.x, &index = op.index;
  const Array* const arrays[] = {&x, &index};
  const int ordinal = cuda_kernels::common_ordinal(out, arrays, 2);
  if (out.numel == 0) return;
  const Index bytes = x.numel / x.dims[0] * detail::size_of(x.dtype);
  // The widest pieces that divide the rows.
  const std::uintptr_t places =
      reinterpret_cast<std::uintptr_t>(out.data) | reinterpret_cast<std::uintptr_t>(x.data) | std::uintptr_t(bytes);
  const int piece = places % 8 == 0 ? 8 : places % 4 == 0 ? 4 : places % 2 == 0 ? 2 : 1;
  cuda_kernels::launch_typed(ordinal, cuda_kernels::index_select_kernel, {cuda_kernels::carrier(piece)},
                             cuda_kernels::grid_for(index.numel * (bytes / piece)),
                             {.count = index.numel,
                              .width = bytes / piece,
                              .rows = x.dims[0],
                              .out = out.data,
                              .x = x.data,
                              .index = index.data});
}

TERN_NOINLINE void kernel(On<Cuda> device, AnyTypes types, const IndexAdd& op) {
  kernel(device, types, AddRows{{op.out, 1}, {op.x, 1}, {.count = op.index.numel, .to = &op.index}});
}

TERN_NOINLINE void kernel(On<Cuda>, Types<>, const Gather& op) {
  const Array &out = op.out, &x = op.x, &index = op.index;
  run<Cuda>(CheckRange{"gather", index, x.ndim ? x.dims[op.dim] : 1});
  const Array* const arrays[] = {&x, &index};
  const int ordinal = cuda_kernels::common_ordinal(out, arrays, 2);
  if (index.numel == 0) return;
  cuda_kernels::launch_typed(ordinal, cuda_kernels::gather_kernel, {cuda_kernels::carrier(detail::size_of(x.dtype))},
                             cuda_kernels::grid_for(index.numel),
                             {.from = cuda_kernels::indexed_array(x, op.dim, index), .out = out.data, .x = x.data});
}

}}}  // namespace tern::detail::backend
