// The contract: recurrences along a dimension. A device implements
//
//   scan<T>(device, kind, out, in, gates, dim, reverse)
//
// of row-major arrays without gaps: for each i along dim, from the last on if reverse, with s = 0, of a product 1,
// before the first,
//
//   sum          out[i] = s + in[i]
//   product      out[i] = s in[i]
//   recurrence   out[i] = gates[i] s + in[i]     gates is null for the others
//
// where s is what was found before. How sums are grouped depends on the sizes alone.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../core/array.hpp"
#include "../core/config.hpp"

namespace tern::inline TERN_BUILD {

enum class Scan : unsigned char { sum, product, recurrence };

}  // namespace tern
