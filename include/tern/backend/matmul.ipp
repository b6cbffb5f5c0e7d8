// The functions of matmul.hpp that are not templates.
#pragma once
#include "matmul.hpp"

namespace tern { inline namespace TERN_BUILD { namespace backend {

TERN_INLINE bool one_batch_stride(const Array& a, Index& stride) {
  stride = 0;
  Index count = 1;  // matrices in the dimensions visited so far, from the innermost
  for (int i = a.ndim - 2; i-- > 0;) {
    if (a.dims[i] == 1) continue;
    if (count == 1) stride = a.strides[i];
    else if (a.strides[i] != stride * count) return false;
    count *= a.dims[i];
  }
  return true;
}

}}}  // namespace tern::backend
