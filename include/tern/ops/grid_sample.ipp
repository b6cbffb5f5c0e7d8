// The functions of grid_sample.hpp that are not templates.
#pragma once
#include "grid_sample.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD void check_grid_sample(const CallSite& op, const Array& x, const Array& grid) {
  if (x.ndim != 4 || grid.ndim != 4 || grid.dims[3] != 2 || grid.dims[0] != x.dims[0])
    Error::fail(op,
                {"images [N, C, H, W] and positions [N, h, w, 2] are needed, not ", x.shape(), " and ", grid.shape()});
  if (x.dims[2] == 0 || x.dims[3] == 0) Error::fail(op, {"there are no pixels in images of ", x.shape()});
}

}}}  // namespace tern::detail
