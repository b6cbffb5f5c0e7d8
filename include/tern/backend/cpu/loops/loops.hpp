// Nested loops as data.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "map.hpp"

namespace tern::inline TERN_BUILD {
namespace backend::cpu_kernels {

/// Nested loops over strides in bytes, of each input and, last, the output.
struct Loops {
  int n = 0;
  Index count = 1;
  Index size[max_dims], stride[max_dims][max_inputs + 1];

  [[gnu::noinline]] void add(Index length, const Index* by, int operands) {
    size[n] = length;
    count *= length;
    for (int k = 0; k < operands; ++k) stride[n][k] = by[k];
    ++n;
  }
  /// Lengthens the last loop by one inside it, where one loop can stand for the two.
  bool extend(Index length, const Index* by, int operands) {
    for (int k = 0; k < operands; ++k)
      if (stride[n - 1][k] != by[k] * length) return false;
    size[n - 1] *= length;
    count *= length;
    for (int k = 0; k < operands; ++k) stride[n - 1][k] = by[k];
    return true;
  }
  /// Takes the last loop away.
  Index remove(Index* by, int operands) {
    --n;
    count /= size[n];
    for (int k = 0; k < operands; ++k) by[k] = stride[n][k];
    return size[n];
  }
  /// Adds the offsets of a position, counted with the last loop innermost.
  [[gnu::noinline]] void offset(Index position, Index* to, int operands) const {
    for (int i = n; position > 0 && i-- > 0;) {
      const Index at = i ? position % size[i] : position;
      position = i ? position / size[i] : 0;
      for (int k = 0; k < operands; ++k) to[k] += at * stride[i][k];
    }
  }
};

}  // namespace backend::cpu_kernels
}  // namespace tern
