// The contract: reading and adding by number. A device implements, for numbers that are all checked to be in range but
// where op is an argument,
//
//   check_range(device, op, index, size)                 Error naming op and the number where one is outside [0, size)
//   take_rows(device, out, x, index)                     out[i, :] = x[index[i], :]; any element type
//   add_rows<T>(device, out, index, x)                   out[index[i], :] += x[i, :], in the order of i
//   gather(device, op, out, x, dim, index)               out[.., i, ..] = x[.., index[.., i, ..], ..] along dim; any element type
//   scatter_add<T>(device, op, out, dim, index, x)       out[.., index[.., i, ..], ..] += x[.., i, ..], in the order of i
//   bag<T>(device, b, out, table, index, starts, scale)  the rows of each bag reduced
//   bag_gradient<T>(device, b, out, g, index, starts, scale)   out[index[i], :] += (scale, weight, …) g[bag of i, :]
//
// gather and scatter_add check the numbers themselves, as check_range does; after an Error out holds anything.
// Tables, rows and numbers are contiguous. Cuda checks without waiting: a number out of range reads row 0, or adds to no
// row, and is an Error where the host next waits for the device. op is a string that lives on.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../core/config.hpp"
#include "../core/array.hpp"

namespace tern::inline TERN_BUILD {

/// What embedding_bag makes of the rows of a bag.
enum class BagMode : unsigned char { sum, mean, max };

namespace backend {

/// How bags are reduced.
struct Bags {
  BagMode mode = BagMode::mean;
  Index padding_idx = -1;  // rows of this number are left out; -1: none
};

}  // namespace backend
}  // namespace tern
