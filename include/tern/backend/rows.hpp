// The contract: rows of arrays, chosen by number. The first `lead` dimensions of an array number its rows in row-major
// order; what is left is a row. A device implements
//
//   positions(device, op, out, indices, n)        out[i] = sum over k of step_k index_k[i]: row numbers from indices
//   copy_rows(device, out, in, moves)             out row to[i] = in row from[i], in order; zeros where from[i] < 0
//   add_rows<T>(device, out, in, moves)           out row to[i] += in row from[i]; out is of type compute_t<T>
//   count_true(device, mask)                      how many elements are true
//   true_positions(device, out, mask)             the row-major positions of those
//
// where a negative to[i] means that nothing is moved. No sum depends on the number of threads: what goes to one row is
// added in order. Arrays of row numbers, and masks, are row-major without gaps. positions: Error on an index outside its
// dimension; on Cuda it stands for 0, and the Error comes where the host next waits for the device.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../core/array.hpp"

namespace tern::inline TERN_BUILD {

struct Rows {
  const Array& array;
  int lead;
};

/// Which row goes where: row numbers (int64), null for 0, 1, 2 …
struct RowMoves {
  Index count;
  const Array* to = nullptr;
  const Array* from = nullptr;
};

/// One index of several that together name a row: it counts positions of a dimension, each `step` rows apart.
struct RowIndex {
  const Array* index;     // int64, broadcast to the result's shape
  Index size, step;
  bool from_end = false;  // negative ones count from the end
};

}  // namespace tern
