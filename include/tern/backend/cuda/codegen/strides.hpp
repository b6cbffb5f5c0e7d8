// Shapes as kernels walk them: dimensions of size 1 left out, and those merged that every operand has in one run.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../../../core/array.hpp"
#include "../../../core/config.hpp"

namespace tern::inline TERN_BUILD {
namespace backend::cuda_kernels {

/// Several arrays, broadcast to one shape. Strides count elements.
class Strides {
 public:
  static constexpr int most = 12;  // arrays

  Strides(const Shape& shape, const Array* const* arrays, int count) : count_(count) {
    for (int i = 0; i < shape.n; ++i) {
      if (shape[i] == 1) continue;
      Index stride[most];
      for (int k = 0; k < count; ++k) {
        const int j = i - (shape.n - arrays[k]->ndim);
        stride[k] = j < 0 || arrays[k]->dims[j] == 1 ? 0 : arrays[k]->strides[j];
      }
      append(shape[i], stride);
    }
  }

  int dims() const { return n_; }
  Index size(int i) const { return size_[i]; }
  Index stride(int i, int array) const { return stride_[i][array]; }
  /// True if array k is walked in steps of one element from start to end, or of none.
  bool flat(int k) const { return n_ == 0 || (n_ == 1 && stride_[0][k] <= 1); }

 private:
  void append(Index size, const Index* stride) {
    bool merge = n_ > 0;
    for (int k = 0; k < count_ && merge; ++k) merge = stride_[n_ - 1][k] == stride[k] * size;
    const int at = merge ? n_ - 1 : n_++;
    size_[at] = merge ? size_[at] * size : size;
    for (int k = 0; k < count_; ++k) stride_[at][k] = stride[k];
  }

  int count_, n_ = 0;
  Index size_[max_dims], stride_[max_dims][most];
};

}  // namespace backend::cuda_kernels
}  // namespace tern
