// Sorting on a GPU. 32 bits of an element's key and its position form one 64-bit number, so that equal elements keep their
// order. Elements of 64 bits are sorted by their lower halves first, then by their upper ones; of shorter elements only the
// bits count that they have.
#pragma once
#include "../sort.hpp"
#include "codegen/sorted_keys.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

// A half of each element's key. Larger elements have larger keys; entries after a row's end come last.
TERN_KERNEL_STRUCT(SortKeysParameters,
  Index rows;
  Index n;
  Index padded;                 // from one row of keys to the next
  Pointer<uint64> keys;
  Pointer<const T0> in;
  Pointer<const Index> before;  // the order so far, or null
  Index upper;                  // which half of the key
  Index descending;
);
inline constexpr KernelOf<SortKeysParameters> sort_keys_kernel{"sort_keys", R"CUDA(
inline __device__ uint64 key_of(float x) {
  const uint32 bits = bits_of(x + 0.0f);
  return x != x ? ~0u : bits >> 31 ? ~bits : bits | 0x80000000u;
}
inline __device__ uint64 key_of(double x) {
  const double normal = x + 0.0;
  uint64 bits;
  memcpy(&bits, &normal, sizeof bits);
  return x != x ? ~uint64(0) : bits >> 63 ? ~bits : bits | uint64(1) << 63;
}
inline __device__ uint64 key_of(int64 x) { return uint64(x) ^ uint64(1) << 63; }
inline __device__ uint64 key_of(int32 x) { return uint32(x) ^ 0x80000000u; }
inline __device__ uint64 key_of(uint8 x) { return x; }
inline __device__ uint64 key_of(bool x) { return x; }
extern "C" __global__ void sort_keys(const SortKeysParameters p) {
  const Index n = p.n, padded = p.padded;
  #pragma unroll 1
  for (Index i = first_thread(); i < p.rows * padded; i += all_threads()) {
    const Index row = i / padded, place = i % padded;
    uint64 packed = ~uint64(0);
    if (place < n) {
      const Index at = p.before ? p.before[row * n + place] : place;
      uint64 key = key_of(wide(p.in[row * n + at]));
      if (p.descending) key = ~key;
      packed = (p.upper ? key >> 32 : key & 0xffffffffu) << 32 | uint64(place);
    }
    p.keys[i] = packed;
  }
}
)CUDA"};

// The order that the sorted keys stand for.
TERN_KERNEL_STRUCT(SortOrderParameters,
  Index rows;
  Index n;
  Index padded;
  Pointer<const uint64> keys;
  Pointer<const Index> before;  // or null
  Pointer<Index> order;
);
inline constexpr KernelOf<SortOrderParameters> sort_order_kernel{"sort_order", R"CUDA(
extern "C" __global__ void sort_order(const SortOrderParameters p) {
  const Index n = p.n;
  #pragma unroll 1
  for (Index i = first_thread(); i < p.rows * n; i += all_threads()) {
    const Index row = i / n, place = Index(p.keys[row * p.padded + i % n] & 0xffffffffu);
    p.order[i] = p.before ? p.before[row * n + place] : place;
  }
}
)CUDA"};

// k elements of each row, from place `first` of its order.
TERN_KERNEL_STRUCT(TakeSortedParameters,
  Index rows;
  Index n;
  Index k;
  Index first;
  Pointer<const Index> order;
  Pointer<const T0> in;
  Pointer<T0> values;
  Pointer<Index> positions;
);
inline constexpr KernelOf<TakeSortedParameters> take_sorted_kernel{"take_sorted", R"CUDA(
extern "C" __global__ void take_sorted(const TakeSortedParameters p) {
  const Index n = p.n, k = p.k;
  #pragma unroll 1
  for (Index i = first_thread(); i < p.rows * k; i += all_threads()) {
    const Index at = p.order[i / k * n + p.first + i % k];
    p.values[i] = p.in[i / k * n + at];
    p.positions[i] = at;
  }
}
)CUDA"};

TERN_KERNEL_STRUCT(SearchSortedParameters,
  Index count;
  Index row_values;             // values of a row
  Index n;
  Pointer<Index> out;
  Pointer<const T0> sorted;
  Index row_stride;             // n, or 0: one row for all values
  Pointer<const T0> values;
  Index right;
);
inline constexpr KernelOf<SearchSortedParameters> searchsorted_kernel{"searchsorted", R"CUDA(
extern "C" __global__ void searchsorted(const SearchSortedParameters p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.count; i += all_threads()) {
    const T0* const row = p.sorted + (p.row_stride ? i / p.row_values * p.row_stride : 0);
    const C0 v = C0(wide(p.values[i]));
    Index low = 0, high = p.n;
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      const C0 x = C0(wide(row[middle]));
      if (p.right ? !(x > v) : !(x >= v)) low = middle + 1;
      else high = middle;
    }
    p.out[i] = low;
  }
}
)CUDA"};

/// The order of each row's elements.
class TERN_API SortedRows {
 public:
  SortedRows(int ordinal, const Array& in, bool descending)
      : ordinal_(ordinal),
        rows_(in.dims[0]),
        n_(in.dims[1]),
        keys_(ordinal, rows_, n_),
        orders_(ordinal, std::size_t(16 * rows_ * n_)) {
    if (n_ > Index(~std::uint32_t(0))) fail("sort", {n_, " elements are too many to be sorted"});
    sort_by(in, nullptr, false, descending);
    if (size_of(in.dtype) == 8) sort_by(in, order(), true, descending);
  }
  char* order() const { return static_cast<char*>(orders_.data()) + 8 * rows_ * n_ * (passes_ - 1); }

 private:
  void sort_by(const Array& in, const char* before, bool upper, bool descending);

  int ordinal_, passes_ = 0;
  Index rows_, n_;
  KeyStretches keys_;
  cuda::detail::Scratch orders_;
};

TERN_API void run_sort(const Sort& op);

TERN_API void run_search_sorted(const SearchSorted& op);

}  // namespace cuda_kernels

template <class T>
void kernel(On<Cuda>, Types<T>, const Sort& op) {
  cuda_kernels::run_sort(op);
}

template <class T>
void kernel(On<Cuda>, Types<T>, const SearchSorted& op) {
  cuda_kernels::run_search_sorted(op);
}

}  // namespace backend
}  // namespace tern

#ifndef TERN_COMPILED
#include "sort.ipp"
#endif
