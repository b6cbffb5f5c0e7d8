// The contract: reading and adding by number. Tables, rows and numbers are dense. Numbers are in range but where an op checks them.
//
// The CPU refuses a number out of range at once. CUDA does not wait: such a number reads row 0, or adds to no row, and is an Error
// where the host next waits for the device.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern::inline TERN_BUILD {

/// How embedding_bag reduces the rows of a bag.
enum class BagMode : unsigned char { sum, mean, max };

namespace backend {

/// run<D>: Error naming op, which is a string literal, and the number where one of index is outside [0, size).
struct CheckRange {
  const char* op;
  const Array& index;
  Index size;
};

/// run<D>: out[i, :] = x[index[i], :], of any element type.
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

/// run<D>: out[.., i, ..] = x[.., index[.., i, ..], ..] along dim, of any element type. Checks the numbers; after an Error out holds
/// anything.
struct Gather {
  const Array& out;
  const Array& x;
  int dim;
  const Array& index;
};

/// run<D, T>: out[.., index[.., i, ..], ..] += x[.., i, ..] along dim, in the order of i. Checks the numbers; after an Error out
/// holds anything.
struct ScatterAdd {
  const Array& out;
  int dim;
  const Array& index;
  const Array& x;
};

/// How the rows of bags are reduced. Bag i has the numbers at starts[i] to starts[i + 1].
struct Bags {
  BagMode mode = BagMode::mean;
  Index padding_idx = -1;  // rows of this number are left out; -1: none
};

/// run<D, T>: out[i, :] = the sum, mean or maximum of weights[k] table[index[k], :] over the numbers k of bag i.
struct EmbeddingBag {
  Bags bags;
  const Array& out;
  const Array& table;
  const Array& index;
  const Array& starts;
  const Array* weights;  // of a sum; null: 1
  const Array* chosen;   // of a maximum, int64: the row that each element of out is from; unchanged where a bag is empty
};

/// run<D, T>: adds the gradient by the table to out, from g, the gradient of a sum or mean of bags.
struct EmbeddingBagGradient {
  Bags bags;
  const Array& out;
  const Array& g;
  const Array& index;
  const Array& starts;
  const Array* weights;
};

}  // namespace backend
}  // namespace tern
