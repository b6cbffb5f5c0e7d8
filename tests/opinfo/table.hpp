// Operators by name, in families. An entry calls the library with a case's arguments, in the order and under the names
// of PyTorch's.
#pragma once
#include "call.hpp"

namespace opinfo {

/// Results of any types.
using Results = std::vector<tern::AnyTensor>;

template <class X>
Results results(const std::vector<X>& xs) {
  return Results(xs.begin(), xs.end());
}

template <class D, class T>
Results ordered(const tern::ValuesAndIndices<D, T>& result) {
  return {result.values, result.indices};
}

template <class D, class T>
struct Operator {
  const char* name;
  Results (*call)(Call<D, T>&);
};
template <class D, class T>
using Table = std::vector<Operator<D, T>>;

// Each family for all element types, and what of it only floating-point types have.
template <class D, class T>
Table<D, T> views();
template <class D, class T>
Table<D, T> pointwise();
template <class D, class T>
Table<D, T> floating_pointwise();
template <class D, class T>
Table<D, T> reductions();
template <class D, class T>
Table<D, T> floating_reductions();
template <class D, class T>
Table<D, T> matrices();
template <class D, class T>
Table<D, T> indexing();
template <class D, class T>
Table<D, T> floating_indexing();
template <class D, class T>
Table<D, T> layers();
template <class D, class T>
Table<D, T> images();
template <class D, class T>
Table<D, T> resampling();
template <class D, class T>
Table<D, T> convolutions();

}  // namespace opinfo
