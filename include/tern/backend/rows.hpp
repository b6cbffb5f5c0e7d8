// The contract: rows of arrays, chosen by index. The first `lead` dimensions of an array number its rows in row-major
// order; the other dimensions make a row. No sum depends on the number of threads: the row numbers alone decide in
// which order sources are added. Arrays of row numbers and masks are dense.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

struct Rows {
  const Array& array;
  int lead;
};

/// From which row to which row: row numbers (int64); null stands for 0, 1, 2 … If to[i] is negative, nothing is moved.
struct RowMoves {
  Index count;
  const Array* to = nullptr;
  const Array* from = nullptr;
};

/// run<D>: out row to[i] = in row from[i], in order; zeros where from[i] < 0.
struct CopyRows {
  Rows out;
  Rows in;
  RowMoves moves;
};

/// run<D, T>: out row to[i] += in row from[i]. in is of type T, out of compute_t<T>.
struct AddRows {
  Rows out;
  Rows in;
  RowMoves moves;
};

/// One of several indices that together number a row. It counts positions of a dimension, which are `step` rows apart.
struct RowIndex {
  const Array* index;  // int64, broadcast to the result's shape
  Index size, step;
  bool from_end = false;  // negative indices count from the end
};

/// run<D>: out[i] = sum over k < count of step_k index_k[i], the row numbers from indices. Error that names op, a
/// string literal, if an index is outside its dimension. CUDA takes such an index for 0, and throws the Error when the
/// host next waits for the device.
struct RowNumbers {
  const char* op;
  const Array& out;
  const RowIndex* indices;
  int count;
};

/// run<D>: count = how many elements of mask are true. Waits for the device.
struct CountTrue {
  const Array& mask;
  Index& count;
};

/// run<D>: out = the row-major positions of the true elements of mask.
struct TruePositions {
  const Array& out;
  const Array& mask;
};

}}}  // namespace tern::detail::backend
