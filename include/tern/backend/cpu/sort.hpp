// Sorting on the CPU. Elements become unsigned keys of the same order, and each key is sorted together with its
// position: few keys by comparison, many by radix sort, least significant digit first. If only the first k of many are
// needed, they are selected before. A single one is found by counting the keys by their upper bits.
#pragma once
#include <algorithm>
#include <bit>

#include "../sort.hpp"
#include "loops/map.hpp"
#include "loops/workspace.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cpu_kernels {

template <class T>
using SortKey = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// An unsigned number that orders like x. 0 and -0 give the same one.
template <class T>
SortKey<T> sort_key(T x) {
  using Key = SortKey<T>;
  constexpr Key sign = Key(1) << (8 * sizeof(Key) - 1);
  if constexpr (detail::is_floating_v<T>) {
    const auto c = compute_t<T>(x) + 0;
    const Key bits = std::bit_cast<Key>(c);
    return c != c ? Key(~Key(0)) : bits & sign ? Key(~bits) : Key(bits | sign);
  } else {
    return Key(x) ^ (std::is_signed_v<T> ? sign : 0);
  }
}

template <class Key>
struct Keyed {
  Key key;
  std::uint32_t at;
  friend bool operator<(const Keyed& a, const Keyed& b) { return a.key < b.key || (a.key == b.key && a.at < b.at); }
};

/// Radix sort with digits of eight bits. A digit that all keys share is only counted.
template <class Key>
void radix_sort(Keyed<Key>* from, Keyed<Key>* spare, Index n) {
  Keyed<Key>* const result = from;
  for (unsigned shift = 0; shift < 8 * sizeof(Key); shift += 8) {
    Index start[256] = {}, sum = 0;
    for (Index i = 0; i < n; ++i) ++start[from[i].key >> shift & 255];
    if (start[from[0].key >> shift & 255] == n) continue;
    for (Index& s : start) sum += std::exchange(s, sum);
    for (Index i = 0; i < n; ++i) spare[start[from[i].key >> shift & 255]++] = from[i];
    std::swap(from, spare);
  }
  if (from != result) std::copy_n(from, n, result);
}

/// Sorts the first k.
template <class Key>
void sort_keys(Keyed<Key>* keys, Keyed<Key>* spare, Index n, Index k) {
  constexpr Index few = 1024;  // at this size, both algorithms took the same time
  if (64 * k <= n)
    return std::partial_sort(keys, keys + k, keys + n);  // almost every key is excluded by one comparison
  if (k < few) {
    if (k < n) std::nth_element(keys, keys + k, keys + n);
    return std::sort(keys, keys + k);
  }
  if (k < n) {  // the first k stay in the order that they have, which the radix sort keeps among equal ones
    std::copy_n(keys, n, spare);
    std::nth_element(spare, spare + (k - 1), spare + n);
    const Keyed<Key> last = spare[k - 1];
    static_cast<void>(std::remove_if(keys, keys + n, [&](const Keyed<Key>& x) { return last < x; }));
  }
  radix_sort(keys, spare, k);
}

/// The element of sorted x that has `before` others before it. buffer is for n keys.
template <class T>
Keyed<SortKey<T>> nth_key(const T* x, Index n, Index before, bool descending, Keyed<SortKey<T>>* buffer) {
  using Key = SortKey<T>;
  constexpr int bits = 11, shift = 8 * int(sizeof(Key)) - bits;
  const Key flip = descending ? Key(~Key(0)) : Key(0);
  Index count = 0;
  if (n < 8192) {
    for (; count < n; ++count) buffer[count] = {Key(sort_key(x[count]) ^ flip), std::uint32_t(count)};
  } else {
    std::uint32_t keys[1 << bits] = {};
    for (Index i = 0; i < n; ++i) ++keys[(sort_key(x[i]) ^ flip) >> shift];
    Key digit = 0;
    for (; before >= keys[digit]; ++digit) before -= keys[digit];
    for (Index i = 0; i < n; ++i) {  // without branches: buffer has a place for each
      const Key key = sort_key(x[i]) ^ flip;
      buffer[count] = {key, std::uint32_t(i)};
      count += key >> shift == digit;
    }
  }
  if (64 * before < count) std::partial_sort(buffer, buffer + before + 1, buffer + count);
  else std::nth_element(buffer, buffer + before, buffer + count);
  return buffer[before];
}

}  // namespace cpu_kernels

template <class T>
void kernel(On<Cpu>, Types<T>, const Sort& op) {
  using namespace cpu_kernels;
  using Key = Keyed<SortKey<T>>;
  const Array &in = op.in, &values = op.values, &positions = op.positions;
  const bool descending = op.descending;
  const Index rows = in.dims[0], n = in.dims[1], k = values.dims[1], before = op.first;
  if (n > Index(~std::uint32_t(0))) Error::fail("sort", {n, " elements are too many to be sorted"});
  detail::parallel_for(k ? rows : 0, parallel_grain / (16 * n + 1) + 1, [&](Index first, Index last) {
    const Workspace<Key> memory(2 * n);
    Key* const keys = memory.get();
    for (Index row = first; row < last; ++row) {
      const T* const x = in.as<T>() + row * n;
      if (k == 1) {
        const Index at = nth_key(x, n, before, descending, keys).at;
        values.as<T>()[row] = x[at], positions.as<Index>()[row] = at;
        continue;
      }
      for (Index i = 0; i < n; ++i) {
        const auto key = sort_key(x[i]);
        keys[i] = {descending ? decltype(key)(~key) : key, std::uint32_t(i)};
      }
      sort_keys(keys, keys + n, n, before + k);
      for (Index i = 0; i < k; ++i) {
        const Index at = keys[before + i].at;
        values.as<T>()[row * k + i] = x[at];
        positions.as<Index>()[row * k + i] = at;
      }
    }
  });
}

template <class T>
void kernel(On<Cpu>, Types<T>, const SearchSorted& op) {
  const Array &out = op.out, &sorted = op.sorted, &values = op.values;
  const bool right = op.right;
  using C = compute_t<T>;
  const Index n = sorted.dims[sorted.ndim - 1], m = values.dims[1];
  detail::parallel_for(values.numel, cpu_kernels::parallel_grain / 64, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const T* const row = sorted.as<T>() + (sorted.ndim > 1 ? i / m * n : 0);
      const C v = C(values.as<T>()[i]);
      const T* const at = std::partition_point(row, row + n, [&](T x) { return right ? !(C(x) > v) : !(C(x) >= v); });
      out.as<Index>()[i] = at - row;
    }
  });
}

}  // namespace detail::backend
}}  // namespace tern
