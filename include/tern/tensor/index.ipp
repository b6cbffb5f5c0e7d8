// The functions of index.hpp that are not templates.
#pragma once
#include "index.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_NOINLINE Index element_offset(const Array& a, const Shape& index) {
  if (index.n != a.ndim) Error::fail("element", {"index ", index, " does not name every dimension of ", a.shape_ref()});
  Index offset = 0;
  for (int i = 0; i < index.n; ++i) {
    const Index at = index.d[i] < 0 ? index.d[i] + a.dims[i] : index.d[i];
    if (at < 0 || at >= a.dims[i]) Error::fail("element", {"index ", index, " is outside ", a.shape_ref()});
    offset += at * a.strides[i];
  }
  return offset;
}

}}}  // namespace tern::detail
