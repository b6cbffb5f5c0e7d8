// A dense array as rows along one of its dimensions.
#pragma once
#include "array.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// The array as [outer, n, inner]. Row r starts at (r / inner) n inner + r mod inner, and its elements are `inner`
/// apart.
struct RowsAlong {
  Index outer = 1, n = 1, inner = 1;
  RowsAlong(const Array& a, int dim) {
    for (int i = 0; i < a.ndim; ++i) (i < dim ? outer : i == dim ? n : inner) *= a.dims[i];
  }
  Index rows() const { return outer * inner; }
};

}}}  // namespace tern::detail
