// The contract: reading and adding by index, and checks of elements. Tables, rows and indices are dense. Indices are in
// range, unless an op says that it checks them.
//
// The CPU throws at once if an index is out of range. CUDA does not wait: such an index reads row 0, or adds to no row,
// and the Error is thrown when the host next waits for the device.
#pragma once
#include "../core/array.hpp"
#include "../core/element_error.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD {

/// How embedding_bag reduces the rows of a bag.
enum class BagMode : unsigned char { sum, mean, max };

namespace detail::backend {

/// run<D>: Error if an element of index is outside [0, size). It names the op, which must be a string literal, and the
/// element.
struct CheckRange {
  const char* op;
  const Array& index;
  Index size;
};

/// run<D>: Error if the only element of found, a bool, is true. On Cuda it is thrown when the host next waits for the
/// device.
struct RefuseIf {
  const char* op;  // must outlive the kernel
  detail::BadElement what;
  const Array& found;
};

/// run<D>: out[i, :] = x[index[i], :], for any element type.
struct IndexSelect {
  const Array& out;
  const Array& x;
  const Array& index;
};

/// run<D, T>: out[index[i], :] += x[i, :], in the order of i.
struct IndexAdd {
  const Array& out;
  const Array& index;
  const Array& x;
};

/// run<D>: out[.., i, ..] = x[.., index[.., i, ..], ..] along dim, for any element type. Checks the indices. After an
/// Error, out's content is undefined.
struct Gather {
  const Array& out;
  const Array& x;
  int dim;
  const Array& index;
};

/// How Scatter combines two elements. A NaN is the largest and the smallest.
enum class ScatterMode : unsigned char { sum, product, maximum, minimum };

/// run<D, T>: out[.., index[.., i, ..], ..] = itself combined with x[.., i, ..] along dim, in the order of i. Checks
/// the indices, in the name of op, a string literal. After an Error, out's content is undefined.
template <ScatterMode how>
struct Scatter {
  const char* op;
  const Array& out;
  int dim;
  const Array& index;
  const Array& x;
};

/// Stands for the number of a row where there is none.
inline constexpr Index no_row = -1;

/// How bags are reduced. Bag i has the indices from starts[i] to starts[i + 1] - 1.
struct Bags {
  BagMode mode = BagMode::mean;
  Index padding_idx = no_row;  // this row is skipped
};

/// run<D, T>: out[i, :] = the sum, mean or maximum of weights[k] table[index[k], :] over the entries k of bag i.
struct EmbeddingBag {
  Bags bags;
  const Array& out;
  const Array& table;
  const Array& index;
  const Array& starts;
  const Array* weights;  // for a sum; null: ones
  const Array* chosen;   // for a maximum, int64: the row of each element of out; unchanged if a bag is empty
};

/// run<D, T>: adds the table's gradient to out. g is the gradient of a sum or mean of bags.
struct EmbeddingBagGradient {
  Bags bags;
  const Array& out;
  const Array& g;
  const Array& index;
  const Array& starts;
  const Array* weights;
};

}  // namespace detail::backend
}}  // namespace tern
