// Order on a GPU: half of an element's key, 32 bits, and its position are one 64-bit number, so that the network of
// sorted_keys.hpp, which is not stable by itself, keeps the order of equal ones. Elements of 64 bits are sorted by
// their lower halves first, then by their upper ones.
#pragma once
#include "../sort.hpp"
#include "codegen/sorted_keys.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

// The half of each element's key, larger for larger elements; what stands behind a row's end comes last. Words: rows,
// n, n padded, keys, in, order so far or null, upper half, descending.
inline constexpr Kernel sort_keys_kernel{"sort_keys", R"CUDA(
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
extern "C" __global__ void sort_keys(const Words<8> p) {
  const Index n = p.index(1), padded = p.index(2);
  #pragma unroll 1
  for (Index i = first_thread(); i < p.index(0) * padded; i += all_threads()) {
    const Index row = i / padded, place = i % padded;
    uint64 packed = ~uint64(0);
    if (place < n) {
      const Index at = p.word[5] ? p.pointer<Index>(5)[row * n + place] : place;
      uint64 key = key_of(wide(p.pointer<T0>(4)[row * n + at]));
      if (p.word[7]) key = ~key;
      packed = (p.word[6] ? key >> 32 : key & 0xffffffffu) << 32 | uint64(place);
    }
    p.pointer<uint64>(3)[i] = packed;
  }
}
)CUDA"};

// The order that sorted keys stand for. Words: rows, n, n padded, keys, order before or null, order.
inline constexpr Kernel sort_order_kernel{"sort_order", R"CUDA(
extern "C" __global__ void sort_order(const Words<6> p) {
  const Index n = p.index(1);
  #pragma unroll 1
  for (Index i = first_thread(); i < p.index(0) * n; i += all_threads()) {
    const Index row = i / n, place = Index(p.pointer<uint64>(3)[row * p.index(2) + i % n] & 0xffffffffu);
    p.pointer<Index>(5)[i] = p.word[4] ? p.pointer<Index>(4)[row * n + place] : place;
  }
}
)CUDA"};

// The first k of each row. Words: rows, n, k, order, in, values, positions.
inline constexpr Kernel take_sorted_kernel{"take_sorted", R"CUDA(
extern "C" __global__ void take_sorted(const Words<7> p) {
  const Index n = p.index(1), k = p.index(2);
  #pragma unroll 1
  for (Index i = first_thread(); i < p.index(0) * k; i += all_threads()) {
    const Index at = p.pointer<Index>(3)[i / k * n + i % k];
    p.pointer<T0>(5)[i] = p.pointer<T0>(4)[i / k * n + at];
    p.pointer<Index>(6)[i] = at;
  }
}
)CUDA"};

// Words: values, how many in a row, n, out, sorted, whether it has a row for each, values, right.
inline constexpr Kernel searchsorted_kernel{"searchsorted", R"CUDA(
extern "C" __global__ void searchsorted(const Words<8> p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.index(0); i += all_threads()) {
    const T0* const row = p.pointer<T0>(4) + (p.word[5] ? i / p.index(1) * p.index(2) : 0);
    const C0 v = C0(wide(p.pointer<T0>(6)[i]));
    Index low = 0, high = p.index(2);
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      const C0 x = C0(wide(row[middle]));
      if (p.word[7] ? !(x > v) : !(x >= v)) low = middle + 1;
      else high = middle;
    }
    p.pointer<Index>(3)[i] = low;
  }
}
)CUDA"};

/// The order of each row's elements.
class SortedRows {
 public:
  SortedRows(int ordinal, const Array& in, bool descending)
      : ordinal_(ordinal),
        rows_(in.dims[0]),
        n_(in.dims[1]),
        padded_(padded_to_power(n_)),
        count_((rows_ * padded_ + 2047) / 2048 * 2048),
        keys_(ordinal, std::size_t(8 * count_)),
        orders_(ordinal, std::size_t(16 * rows_ * n_)) {
    if (n_ > Index(~std::uint32_t(0))) fail("sort", {n_, " elements are too many to be sorted"});
    sort_by(in, nullptr, false, descending);
    if (size_of(in.dtype) == 8) sort_by(in, order(), true, descending);
  }
  char* order() const { return static_cast<char*>(orders_.data()) + 8 * rows_ * n_ * (passes_ - 1); }

 private:
  void sort_by(const Array& in, const char* before, bool upper, bool descending) {
    ++passes_;
    Words words;
    // The keys behind the last row's are sorted too, and never read.
    for (const Index word : {rows_, n_, padded_}) words.add(word);
    for (const char* pointer : {static_cast<const char*>(keys_.data()), static_cast<const char*>(in.data), before})
      words.add(pointer);
    for (const Index word : {Index(upper), Index(descending)}) words.add(word);
    launch_typed(ordinal_, sort_keys_kernel, {in.dtype}, grid_for(rows_ * padded_), words);
    sort_stretches(ordinal_, static_cast<char*>(keys_.data()), count_, padded_);
    Words taking;
    for (const Index word : {rows_, n_, padded_}) taking.add(word);
    for (const char* pointer : {static_cast<const char*>(keys_.data()), before, static_cast<const char*>(order())})
      taking.add(pointer);
    launch_typed(ordinal_, sort_order_kernel, {}, grid_for(rows_ * n_), taking);
  }

  int ordinal_, passes_ = 0;
  Index rows_, n_, padded_, count_;
  cuda::detail::Scratch keys_, orders_;
};

[[gnu::noinline]] inline void run_sort(const Sort& op) {
  const Array &values = op.values, &positions = op.positions, &in = op.in;
  const Array* const arrays[] = {&positions, &in};
  const int ordinal = common_ordinal(values, arrays, 2);
  if (values.numel == 0) return;
  const SortedRows sorted(ordinal, in, op.descending);
  Words words;
  for (const Index word : {in.dims[0], in.dims[1], values.dims[1]}) words.add(word);
  for (const char* pointer : {static_cast<const char*>(sorted.order()), static_cast<const char*>(in.data),
                              static_cast<const char*>(values.data), static_cast<const char*>(positions.data)})
    words.add(pointer);
  launch_typed(ordinal, take_sorted_kernel, {in.dtype}, grid_for(values.numel), words);
}

[[gnu::noinline]] inline void run_search_sorted(const SearchSorted& op) {
  const Array &sorted = op.sorted, &values = op.values;
  const Array* const arrays[] = {&sorted, &values};
  const int ordinal = common_ordinal(op.out, arrays, 2);
  if (values.numel == 0) return;
  Words words;
  for (const Index word : {values.numel, values.dims[1], sorted.dims[sorted.ndim - 1]}) words.add(word);
  words.add(op.out.data);
  words.add(sorted.data);
  words.add(Index(sorted.ndim > 1));
  words.add(values.data);
  words.add(Index(op.right));
  launch_typed(ordinal, searchsorted_kernel, {values.dtype}, grid_for(values.numel), words);
}

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
