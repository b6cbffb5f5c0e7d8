// Sorting on a GPU. 32 bits of an element's key and its position form one 64-bit number, so that equal elements keep
// their order. Elements of 64 bits are sorted by their lower halves first, then by their upper ones; of shorter
// elements only the bits count that they have. A few elements of a row are selected, without an order of the others.
#pragma once
#include "../sort.hpp"
#include "codegen/loops.hpp"
#include "codegen/sorted_keys.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

// A half of each element's key. Larger elements have larger keys; entries after a row's end come last.
TERN_KERNEL_STRUCT(SortKeysParameters,
                   Index rows;
                   Index n; Index padded;  // from one row of keys to the next
                   uint64 reciprocal;      // of padded
                   Pointer<uint64> keys; Pointer<const T0> in;
                   Pointer<const Index> before;  // the order so far, or null
                   Index upper;                  // which half of the key
                   Index descending;);
inline constexpr const char* key_text = R"CUDA(
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
)CUDA";
inline constexpr KernelOf<SortKeysParameters> sort_keys_kernel{"sort_keys",
                                                               R"CUDA(
template <class P> inline __device__ void make_keys(const SortKeysParameters& p) {
  const Index n = p.n, padded = p.padded;
  #pragma unroll 1
  for (Index i = first_thread(); i < p.rows * padded; i += all_threads()) {
    P position = P(i);
    const Index place = Index(take_index(position, padded, p.reciprocal)), row = Index(position);
    uint64 packed = ~uint64(0);
    if (place < n) {
      const Index at = p.before ? p.before[row * n + place] : place;
      uint64 key = key_of(promote(p.in[row * n + at]));
      if (p.descending) key = ~key;
      packed = (p.upper ? key >> 32 : key & 0xffffffffu) << 32 | uint64(place);
    }
    p.keys[i] = packed;
  }
}
extern "C" __global__ void sort_keys(const SortKeysParameters p) {
  if (p.rows * p.padded >> 31) make_keys<uint64>(p);
  else make_keys<uint32>(p);
}
)CUDA",
                                                               {key_text}};

// The order that the keys of the lower halves stand for.
TERN_KERNEL_STRUCT(SortOrderParameters, Index rows; Index n; Index padded; Pointer<const uint64> keys;
                   Pointer<Index> order;);
inline constexpr KernelOf<SortOrderParameters> sort_order_kernel{"sort_order", R"CUDA(
extern "C" __global__ void sort_order(const SortOrderParameters p) {
  const Index n = p.n;
  #pragma unroll 1
  for (Index i = first_thread(); i < p.rows * n; i += all_threads())
    p.order[i] = Index(p.keys[i / n * p.padded + i % n] & 0xffffffffu);
}
)CUDA"};

// k elements of each row, from place `first` of its order.
TERN_KERNEL_STRUCT(TakeSortedParameters,
                   Index rows;
                   Index n; Index padded; Index k; uint64 reciprocal;  // of k
                   Index first; Index descending;
                   Pointer<const uint64> keys;   // sorted; of the upper halves, where elements have two
                   Pointer<const Index> before;  // the order by the lower halves, or null
                   Pointer<const T0> in; Pointer<T0> values; Pointer<Index> positions;);
inline constexpr KernelOf<TakeSortedParameters> take_sorted_kernel{"take_sorted", R"CUDA(
// The element with the key, if no other one has it: reading elements in their sorted order takes a sector of memory for each.
inline __device__ bool element_of(uint32 key, float& x) {
  x = float_of(key >> 31 ? key ^ 0x80000000u : ~key);
  return key != 0x80000000u && key != ~0u;   // zeros have two signs, and NaNs bits of their own
}
inline __device__ bool element_of(uint32 key, int32& x) { x = int32(key ^ 0x80000000u); return true; }
inline __device__ bool element_of(uint32 key, uint8& x) { x = uint8(key); return true; }
inline __device__ bool element_of(uint32 key, bool& x) { x = key & 1; return true; }
inline __device__ bool element_of(uint32, int64&) { return false; }
inline __device__ bool element_of(uint32, double&) { return false; }
template <class P> inline __device__ void take(const TakeSortedParameters& p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.rows * p.k; i += all_threads()) {
    P position = P(i);
    const Index place = p.first + Index(take_index(position, p.k, p.reciprocal)), row = Index(position);
    const uint64 packed = p.keys[row * p.padded + place];
    const Index in_order = Index(packed & 0xffffffffu), at = p.before ? p.before[row * p.n + in_order] : in_order;
    const uint32 key = uint32(packed >> 32);
    C0 x;
    p.values[i] = element_of(p.descending ? ~key : key, x) ? Element<T0>::of(x) : p.in[row * p.n + at];
    p.positions[i] = at;
  }
}
extern "C" __global__ void take_sorted(const TakeSortedParameters p) {
  if (p.rows * p.k >> 31) take<uint64>(p);
  else take<uint32>(p);
}
)CUDA"};

// The first k elements of each row's order, or the one at place `first`. A block has a row. It finds the last element
// of them by digits of 11 bits, from the highest on: it counts the digits of the elements that agree with all digits
// found so far. Where keys are equal, the digits of the positions follow. The elements that are chosen then come in
// order by counting, for each, those before it.
TERN_KERNEL_STRUCT(SelectParameters,
                   Index n;      // below 2^31
                   Index k;      // 1024 at most
                   Index first;  // 0 where k is above 1
                   Index descending; Pointer<const T0> in; Pointer<T0> values; Pointer<Index> positions;);
inline constexpr KernelOf<SelectParameters> select_kernel{"select",
                                                          R"CUDA(
template <class T> struct KeyOf { typedef uint32 type; };
template <> struct KeyOf<int64> { typedef uint64 type; };
template <> struct KeyOf<double> { typedef uint64 type; };
typedef KeyOf<C0>::type Key;
enum { key_bits = 8 * sizeof(Key), digit_bits = 11, digits = 1 << digit_bits, most = 1024 };

// What is known of the last element: all but the lowest bits of its key, or of its position.
template <class V> struct Known {
  int unknown;   // bits
  V upper;
  __device__ explicit Known(int bits) : unknown(bits), upper(0) {}
  __device__ V upper_of(V value) const { return unknown < int(8 * sizeof(V)) ? value >> unknown : V(0); }
  __device__ int digit_size() const { return unknown < digit_bits ? unknown : digit_bits; }
  __device__ int digit_of(V value) const { return int(value >> (unknown - digit_size()) & V((1 << digit_size()) - 1)); }
  __device__ void add(int digit) {
    upper = upper << digit_size() | V(digit);
    unknown -= digit_size();
  }
};
// The digit of the element that has `rank` elements before it, how many of the counted have a smaller digit, and how many have it.
struct Chosen { uint32 digit, before, count; };
inline __device__ void choose(const Pack<uint32, 4>* counts, uint32 rank, uint32* of_warps, Chosen* chosen) {
  const Pack<uint32, 4> mine[2] = {counts[2 * threadIdx.x], counts[2 * threadIdx.x + 1]};
  uint32 sum = 0;
  for (int e = 0; e < 8; ++e) sum += mine[e / 4].at[e % 4];
  uint32 before = sum_before(sum, of_warps);
  for (int e = 0; e < 8; ++e) {
    const uint32 count = mine[e / 4].at[e % 4];
    if (before <= rank && rank - before < count) *chosen = Chosen{8 * threadIdx.x + e, before, count};
    before += count;
  }
  __syncthreads();
}
extern "C" __global__ void select(const SelectParameters p) {
  __shared__ Pack<uint32, 4> packs[digits / 4];
  __shared__ Key keys[most];
  __shared__ uint32 places[most], of_warps[8], found;
  __shared__ Chosen chosen;
  uint32* const counts = packs[0].at;
  const T0* const in = p.in + blockIdx.x * p.n;
  const uint32 n = uint32(p.n);
  const bool alone = p.first > 0;   // the last element without those before it
  const auto key_at = [&](uint32 i) {
    const Key key = Key(key_of(promote(in[i])));
    return p.descending ? Key(~key) : key;
  };
  uint32 rank = uint32(p.first + p.k - 1);   // the last element's, among those that agree with what is known
  bool is_found = false;
  const auto next_digit = [&](auto& known, const auto& value_at, const auto& agrees) {
    for (int d = threadIdx.x; d < digits; d += 256) counts[d] = 0;
    __syncthreads();
    #pragma unroll 4
    for (uint32 i = threadIdx.x; i < n; i += 256) {
      const auto value = value_at(i);
      if (known.upper_of(value) == known.upper && agrees(i)) atomicAdd(counts + known.digit_of(value), 1u);
    }
    __syncthreads();
    choose(packs, rank, of_warps, &chosen);
    rank -= chosen.before;
    is_found = chosen.count == (alone ? 1 : rank + 1);
    known.add(int(chosen.digit));
    __syncthreads();
  };
  Known<Key> key(key_bits);
  #pragma unroll 1
  while (key.unknown && !is_found) next_digit(key, key_at, [](uint32) { return true; });
  Known<uint32> position(32 - __clz(int(n)));
  #pragma unroll 1
  while (!is_found) next_digit(position, [](uint32 i) { return i; }, [&](uint32 i) { return key_at(i) == key.upper; });

  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  #pragma unroll 4
  for (uint32 i = threadIdx.x; i < n; i += 256) {
    const Key own = key_at(i), upper = key.upper_of(own);
    const uint32 own_position = position.upper_of(i);
    const bool agrees = upper == key.upper && own_position == position.upper;
    const bool is_before = upper < key.upper || (upper == key.upper && own_position < position.upper);
    if (!agrees && (alone || !is_before)) continue;
    const uint32 place = atomicAdd(&found, 1u);
    keys[place] = own;
    places[place] = i;
  }
  __syncthreads();
  const Index row = blockIdx.x * p.k;
  #pragma unroll 1
  for (uint32 s = threadIdx.x; s < found; s += 256) {
    const Key own = keys[s];
    const uint32 at = places[s];
    Index before = 0;
    #pragma unroll 4
    for (uint32 other = 0; other < found; ++other) before += keys[other] < own || (keys[other] == own && places[other] < at);
    p.values[row + before] = in[at];
    p.positions[row + before] = at;
  }
}
)CUDA",
                                                          {key_text, sum_before_text}};

TERN_KERNEL_STRUCT(SearchSortedParameters,
                   Index count;
                   Index row_values;  // values of a row
                   Index n; Pointer<Index> out; Pointer<const T0> sorted;
                   Index row_stride;  // n, or 0: one row for all values
                   Pointer<const T0> values; Index right;);
inline constexpr KernelOf<SearchSortedParameters> searchsorted_kernel{"searchsorted", R"CUDA(
extern "C" __global__ void searchsorted(const SearchSortedParameters p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.count; i += all_threads()) {
    const T0* const row = p.sorted + (p.row_stride ? i / p.row_values * p.row_stride : 0);
    const C0 v = C0(promote(p.values[i]));
    Index low = 0, high = p.n;
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      const C0 x = C0(promote(row[middle]));
      if (p.right ? !(x > v) : !(x >= v)) low = middle + 1;
      else high = middle;
    }
    p.out[i] = low;
  }
}
)CUDA"};

/// The keys of each row's elements in order.
class TERN_API SortedRows {
 public:
  SortedRows(int ordinal, const Array& in, bool descending);
  const char* keys() const { return keys_.data(); }
  Index stride() const { return keys_.stride(); }
  /// The order by the lower halves of 64 bits, which the keys of the upper ones count in; else null.
  const char* before() const { return before_.data(); }

 private:
  void sort_by(const Array& in, const char* before, bool upper, bool descending);

  int ordinal_;
  Index rows_, n_;
  KeyStretches keys_;
  cuda::detail::Scratch before_;
};

}  // namespace cuda_kernels

TERN_API void kernel(On<Cuda>, AnyTypes, const Sort& op);
TERN_API void kernel(On<Cuda>, AnyTypes, const SearchSorted& op);

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "sort.ipp"
#endif
