// Rows by number. A number out of range reads row 0 and adds to none.
#pragma once
#include "../gather.hpp"
#include "rows.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

TERN_KERNEL_STRUCT(CheckRangeParameters,
  Index count;
  Pointer<const Index> index;
  Index size;
  ElementReport report;
);
inline constexpr KernelOf<CheckRangeParameters> check_range_kernel{"check_range", R"CUDA(
extern "C" __global__ void check_range(const CheckRangeParameters p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.count; i += all_threads()) {
    const Index k = p.index[i];
    if (k < 0 || k >= p.size) p.report.note(k, p.size);
  }
}
)CUDA"};

TERN_KERNEL_STRUCT(IndexSelectParameters,
  Index count;
  Index width;             // pieces of T0 that a row has
  Index rows;
  Pointer<T0> out;
  Pointer<const T0> x;
  Pointer<const Index> index;
);
inline constexpr KernelOf<IndexSelectParameters> index_select_kernel{"index_select", R"CUDA(
extern "C" __global__ void index_select(const IndexSelectParameters p) {
  const Index width = p.width;
  #pragma unroll 1
  for (Index i = first_thread(); i < p.count * width; i += all_threads()) {
    const Index k = p.index[i / width], row = k < 0 || k >= p.rows ? 0 : k;
    p.out[i] = p.x[row * width + i % width];
  }
}
)CUDA"};

// Where numbers along a dimension of an array point to.
TERN_KERNEL_STRUCT(IndexedArray,
  Index count;                  // of numbers
  Index dims;
  Pointer<const Index> index;
  Index dim;
  Index size;                   // of the array's dimension dim
  Index index_size[max_dims];
  Index stride[max_dims];       // of the array
);
inline constexpr const char* indexed_text = R"CUDA(
inline __device__ Index indexed(const IndexedArray& a, Index i, Index number) {
  Index position = 0, rest = i;
  #pragma unroll 1
  for (int d = int(a.dims); d-- > 0; rest /= a.index_size[d])
    position += (d == a.dim ? number : rest % a.index_size[d]) * a.stride[d];
  return position;
}
)CUDA";

TERN_KERNEL_STRUCT(GatherParameters,
  IndexedArray from;
  Pointer<T0> out;
  Pointer<const T0> x;
);
inline constexpr KernelOf<GatherParameters> gather_kernel{"gather", R"CUDA(
extern "C" __global__ void gather(const GatherParameters p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.from.count; i += all_threads()) {
    const Index k = p.from.index[i];
    p.out[i] = p.x[indexed(p.from, i, k < 0 || k >= p.from.size ? 0 : k)];
  }
}
)CUDA", {IndexedArray::source, indexed_text}};

TERN_KERNEL_STRUCT(ScatterPositionsParameters,
  IndexedArray to;
  Pointer<Index> positions;
);
inline constexpr KernelOf<ScatterPositionsParameters> scatter_positions_kernel{"scatter_positions", R"CUDA(
extern "C" __global__ void scatter_positions(const ScatterPositionsParameters p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.to.count; i += all_threads()) {
    const Index k = p.to.index[i];
    p.positions[i] = k < 0 || k >= p.to.size ? -1 : indexed(p.to, i, k);
  }
}
)CUDA", {IndexedArray::source, indexed_text}};

// A thread for each column of each bag.
TERN_KERNEL_STRUCT(EmbeddingBagParameters,
  Index bags;
  Index columns;
  Index rows;
  Pointer<T0> out;
  Pointer<const T0> table;
  Pointer<const Index> index;
  Pointer<const Index> starts;
  Pointer<const T0> weights;   // or null
  Pointer<Index> chosen;
  Index padding_idx;
  Index mode;
);
inline constexpr KernelOf<EmbeddingBagParameters> embedding_bag_kernel{"embedding_bag", R"CUDA(
extern "C" __global__ void embedding_bag(const EmbeddingBagParameters p) {
  enum { mean = 1, max = 2 };
  const Index columns = p.columns;
  #pragma unroll 1
  for (Index i = first_thread(); i < p.bags * columns; i += all_threads()) {
    const Index bag = i / columns;
    Index count = 0, chosen = -1;
    C0 sum = 0;
    #pragma unroll 1
    for (Index k = p.starts[bag]; k < p.starts[bag + 1]; ++k) {
      const Index row = p.index[k];
      if (row == p.padding_idx || row < 0 || row >= p.rows) continue;
      const C0 x = C0(wide(p.table[row * columns + i % columns]));
      if (p.mode != max) {
        sum += p.weights ? C0(wide(p.weights[k])) * x : x;
      } else if (!count || x > sum) {
        sum = x;
        chosen = row;
      }
      ++count;
    }
    if (chosen >= 0) p.chosen[i] = chosen;
    p.out[i] = Element<T0>::of(p.mode == mean && count ? sum / C0(count) : sum);
  }
}
)CUDA"};

// The bag of each number, and by what its row of the gradient is multiplied.
TERN_KERNEL_STRUCT(BagFactorsParameters,
  Index bags;
  Pointer<const Index> index;
  Pointer<const Index> starts;
  Pointer<const T0> weights;   // or null
  Index padding_idx;
  Index mean;
  Pointer<Index> bag;
  Pointer<C0> factors;
);
inline constexpr KernelOf<BagFactorsParameters> bag_factors_kernel{"bag_factors", R"CUDA(
extern "C" __global__ void bag_factors(const BagFactorsParameters p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.bags; i += all_threads()) {
    Index count = 0;
    #pragma unroll 1
    for (Index k = p.starts[i]; k < p.starts[i + 1]; ++k) count += p.index[k] != p.padding_idx;
    const C0 share = p.mean && count ? C0(1) / C0(count) : C0(1);
    #pragma unroll 1
    for (Index k = p.starts[i]; k < p.starts[i + 1]; ++k) {
      p.bag[k] = i;
      p.factors[k] = p.weights ? share * C0(wide(p.weights[k])) : share;
    }
  }
}
)CUDA"};

[[gnu::noinline]] inline IndexedArray indexed_array(const Array& a, int dim, const Array& index) {
  IndexedArray indexed{.count = index.numel,
                       .dims = a.ndim,
                       .index = index.data,
                       .dim = dim,
                       .size = a.ndim ? a.dims[dim] : 1,
                       .index_size = {},
                       .stride = {}};
  Array dense = a;
  set_contiguous_strides(dense);
  for (int d = 0; d < a.ndim; ++d) indexed.index_size[d] = d < index.ndim ? index.dims[d] : 1, indexed.stride[d] = dense.strides[d];
  return indexed;
}

[[gnu::noinline]] inline void run_scatter_add(const ScatterAdd& op) {
  const Array &out = op.out, &index = op.index, &x = op.x;
  const Array* const arrays[] = {&index, &x};
  const int ordinal = common_ordinal(out, arrays, 2);
  if (index.numel == 0 || out.numel == 0) return;
  const cuda::detail::Scratch positions(ordinal, std::size_t(8 * index.numel));
  launch_typed(ordinal, scatter_positions_kernel, {}, grid_for(index.numel),
               {.to = indexed_array(out, op.dim, index), .positions = positions.data()});
  // Rows of one element.
  Array to = out, from = x;
  to.ndim = from.ndim = 1;
  to.dims[0] = out.numel, from.dims[0] = index.numel;
  to.strides[0] = from.strides[0] = 1;
  add_sorted_rows(ordinal, {to, 1}, {from, 1}, SortedKeys(ordinal, index.numel, positions.data(), nullptr, out.numel),
                  nullptr, nullptr);
}

[[gnu::noinline]] inline void run_embedding_bag(const EmbeddingBag& op) {
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

[[gnu::noinline]] inline void run_embedding_bag_gradient(const EmbeddingBagGradient& op) {
  const Array &out = op.out, &g = op.g, &index = op.index;
  const Array* const arrays[] = {&g, &index, &op.starts};
  const int ordinal = common_ordinal(out, arrays, 3);
  const Index n = index.numel;
  if (n == 0 || out.numel == 0) return;
  const cuda::detail::Scratch bags(ordinal, std::size_t(16 * n));
  char* const factors = bags.data() + 8 * n;
  cuda::detail::start_filling(ordinal, bags.data(), 0xff, std::size_t(8 * n));  // a number that no bag has: -1
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
                  SortedKeys(ordinal, n, index.data, bags.data(), out.dims[0], op.bags.padding_idx), bags.data(), factors);
}

}  // namespace cuda_kernels

[[gnu::noinline]] inline void kernel(On<Cuda>, Types<>, const CheckRange& op) {
  const Array& index = op.index;
  if (index.numel == 0) return;
  if (op.size == 0) refuse_element(op.op, BadElement::index, 0, 0);
  cuda_kernels::launch_typed(
      index.ordinal, cuda_kernels::check_range_kernel, {}, cuda_kernels::grid_for(index.numel),
      {.count = index.numel, .index = index.data, .size = op.size, .report = {index.ordinal, op.op, BadElement::index}});
}

[[gnu::noinline]] inline void kernel(On<Cuda>, Types<>, const IndexSelect& op) {
  const Array &out = op.out, &x = op.x, &index = op.index;
  const Array* const arrays[] = {&x, &index};
  const int ordinal = cuda_kernels::common_ordinal(out, arrays, 2);
  if (out.numel == 0) return;
  const Index bytes = x.numel / x.dims[0] * size_of(x.dtype);
  // The widest pieces that rows divide into.
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

template <class T> void kernel(On<Cuda>, Types<T>, const IndexAdd& op) {
  cuda_kernels::run_add_rows({{op.out, 1}, {op.x, 1}, {.count = op.index.numel, .to = &op.index}});
}

[[gnu::noinline]] inline void kernel(On<Cuda>, Types<>, const Gather& op) {
  const Array &out = op.out, &x = op.x, &index = op.index;
  run<Cuda>(CheckRange{"gather", index, x.ndim ? x.dims[op.dim] : 1});
  const Array* const arrays[] = {&x, &index};
  const int ordinal = cuda_kernels::common_ordinal(out, arrays, 2);
  if (index.numel == 0) return;
  cuda_kernels::launch_typed(ordinal, cuda_kernels::gather_kernel, {cuda_kernels::carrier(size_of(x.dtype))},
                             cuda_kernels::grid_for(index.numel),
                             {.from = cuda_kernels::indexed_array(x, op.dim, index), .out = out.data, .x = x.data});
}

template <class T>
void kernel(On<Cuda>, Types<T>, const ScatterAdd& op) {
  run<Cuda>(CheckRange{"scatter_add", op.index, op.out.ndim ? op.out.dims[op.dim] : 1});
  cuda_kernels::run_scatter_add(op);
}

template <class T>
void kernel(On<Cuda>, Types<T>, const EmbeddingBag& op) {
  cuda_kernels::run_embedding_bag(op);
}

template <class T>
void kernel(On<Cuda>, Types<T>, const EmbeddingBagGradient& op) {
  cuda_kernels::run_embedding_bag_gradient(op);
}

}  // namespace backend
}  // namespace tern
