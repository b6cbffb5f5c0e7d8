// Rows by index. An index out of range reads row 0 and adds to no row.
#pragma once
#include "../gather.hpp"
#include "rows.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

TERN_KERNEL_STRUCT(CheckRangeParameters, Index count; Pointer<const Index> index; Index size; ElementReport report;);
inline constexpr KernelOf<CheckRangeParameters> check_range_kernel{"check_range", R"CUDA(
extern "C" __global__ void check_range(const CheckRangeParameters p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.count; i += all_threads()) {
    const Index k = p.index[i];
    if (k < 0 || k >= p.size) p.report.note(k, p.size);
  }
}
)CUDA"};

// One thread reports what a kernel before it has found.
TERN_KERNEL_STRUCT(RefuseIfParameters,
                   ElementReport report;
                   Pointer<const bool> found;  // whether there is something to report
);
inline constexpr KernelOf<RefuseIfParameters> refuse_if_kernel{"refuse_if", R"CUDA(
extern "C" __global__ void refuse_if(const RefuseIfParameters p) {
  if (*p.found) p.report.note(0, 0);
}
)CUDA"};

TERN_KERNEL_STRUCT(IndexSelectParameters,
                   Index count;
                   Index width;  // pieces of T0 in a row
                   Index rows; Pointer<T0> out; Pointer<const T0> x; Pointer<const Index> index;);
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

// The positions that indices along a dimension of an array stand for.
TERN_KERNEL_STRUCT(IndexedArray,
                   Index count;                                                    // how many indices
                   Index dims; Pointer<const Index> index; Index dim; Index size;  // of the array's dimension dim
                   Index index_size[max_dims]; Index stride[max_dims];             // of the array
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

TERN_KERNEL_STRUCT(GatherParameters, IndexedArray from; Pointer<T0> out; Pointer<const T0> x;);
inline constexpr KernelOf<GatherParameters> gather_kernel{"gather",
                                                          R"CUDA(
extern "C" __global__ void gather(const GatherParameters p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.from.count; i += all_threads()) {
    const Index k = p.from.index[i];
    p.out[i] = p.x[indexed(p.from, i, k < 0 || k >= p.from.size ? 0 : k)];
  }
}
)CUDA",
                                                          {IndexedArray::source, indexed_text}};

TERN_KERNEL_STRUCT(ScatterPositionsParameters, IndexedArray to; Pointer<Index> positions;);
inline constexpr KernelOf<ScatterPositionsParameters> scatter_positions_kernel{"scatter_positions",
                                                                               R"CUDA(
extern "C" __global__ void scatter_positions(const ScatterPositionsParameters p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.to.count; i += all_threads()) {
    const Index k = p.to.index[i];
    p.positions[i] = k < 0 || k >= p.to.size ? -1 : indexed(p.to, i, k);
  }
}
)CUDA",
                                                                               {IndexedArray::source, indexed_text}};

// One thread for each column of each bag.
TERN_KERNEL_STRUCT(EmbeddingBagParameters,
                   Index bags;
                   Index columns; Index rows; Pointer<T0> out; Pointer<const T0> table; Pointer<const Index> index;
                   Pointer<const Index> starts; Pointer<const T0> weights;  // or null
                   Pointer<Index> chosen; Index padding_idx; Index mode;);
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
      const C0 x = C0(promote(p.table[row * columns + i % columns]));
      if (p.mode != max) {
        sum += p.weights ? C0(promote(p.weights[k])) * x : x;
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

// The bag of each index, and the factor of its row of the gradient.
TERN_KERNEL_STRUCT(BagFactorsParameters,
                   Index bags;
                   Pointer<const Index> index; Pointer<const Index> starts; Pointer<const T0> weights;  // or null
                   Index padding_idx; Index mean; Pointer<Index> bag; Pointer<C0> factors;);
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
      p.factors[k] = p.weights ? share * C0(promote(p.weights[k])) : share;
    }
  }
}
)CUDA"};

TERN_API IndexedArray indexed_array(const Array& a, int dim, const Array& index);

TERN_API void run_scatter(ScatterMode how, const char* name, const Array& out, int dim, const Array& index,
                          const Array& x);

}  // namespace cuda_kernels

TERN_API void kernel(On<Cuda>, Types<>, const CheckRange& op);
TERN_API void kernel(On<Cuda>, Types<>, const RefuseIf& op);
TERN_API void kernel(On<Cuda>, Types<>, const IndexSelect& op);
TERN_API void kernel(On<Cuda>, AnyTypes, const IndexAdd& op);
TERN_API void kernel(On<Cuda>, Types<>, const Gather& op);

template <class T, ScatterMode how>
void kernel(On<Cuda>, Types<T>, const Scatter<how>& op) {
  cuda_kernels::run_scatter(how, op.op, op.out, op.dim, op.index, op.x);
}

TERN_API void kernel(On<Cuda>, AnyTypes, const EmbeddingBag& op);
TERN_API void kernel(On<Cuda>, AnyTypes, const EmbeddingBagGradient& op);

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "gather.ipp"
#endif
