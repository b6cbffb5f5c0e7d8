// The matrix product that every device implements as backend::matmul(device, product).
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../core/config.hpp"
#include "../core/error.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {

/// What is applied to a product on its way to memory. gelu is the exact one, x (1 + erf(x / sqrt(2))) / 2.
enum class Epilogue : unsigned char { none, relu, gelu };

/// c = epilogue(a b + bias), for each matrix of a batch: a is m x k, b k x n, c m x n, bias a row of n.
/// Strides count elements: those of a and b may be any, 0 too; the columns of c are adjacent. c overlaps neither a nor
/// b. Integers wrap around and take no epilogue.
template <class T>
struct MatMul {
  Index batch = 1, m = 0, n = 0, k = 0;
  const T* a = nullptr;
  Index a_row = 0, a_col = 1, a_batch = 0;
  const T* b = nullptr;
  Index b_row = 0, b_col = 1, b_batch = 0;
  T* c = nullptr;
  Index c_row = 0, c_batch = 0;
  const T* bias = nullptr;  // or null
  Epilogue epilogue = Epilogue::none;
  bool accumulate = false;  // c = epilogue(c + a b + bias)
  int ordinal = 0;          // which device of its kind
};

}  // namespace backend
}  // namespace tern
