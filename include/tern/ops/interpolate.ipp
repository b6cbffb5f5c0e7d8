// The functions of interpolate.hpp that are not templates.
#pragma once
#include "interpolate.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD void check_interpolate(const Array& x, const InterpolateOptions& o, Resampling* each) {
  using enum InterpolateMode;
  const int dims = x.ndim - 2;
  if (dims < 1 || dims > 3) Error::fail("interpolate", {"1 to 3 dimensions after [N, C] are needed, not ", x.shape()});
  const int wanted = o.mode == linear                          ? 1
                     : o.mode == bilinear || o.mode == bicubic ? 2
                     : o.mode == trilinear                     ? 3
                                                               : dims;
  if (dims != wanted)
    Error::fail("interpolate", {"this mode needs ", Index(wanted), " dimensions after [N, C]: ", x.shape()});
  if (o.align_corners && (o.mode == nearest || o.mode == nearest_exact || o.mode == area))
    Error::fail("interpolate", {"align_corners has no meaning for nearest and area"});
  const int given = o.size.n + o.scale_factor.n;
  if ((o.size.n > 0) == (o.scale_factor.n > 0) || (given != 1 && given != dims))
    Error::fail("interpolate",
                {"either size or scale_factor is needed, for all dimensions or for each of ", Index(dims)});
  if (o.recompute_scale_factor && o.size.n) Error::fail("interpolate", {"recompute_scale_factor needs a scale_factor"});
  for (int i = 0; i < dims; ++i) {
    const Index in = x.dims[i + 2];
    each[i] = {in,
               o.size.n ? o.size[o.size.n == 1 ? 0 : i]
                        : checked_index({"interpolate", CallSite::unknown}, double(in) * o.scale_factor[i]),
               0};
    if (o.scale_factor.n && !o.recompute_scale_factor) each[i].factor = o.scale_factor[i];
    if (in <= 0 || each[i].out <= 0) Error::fail("interpolate", {"sizes must be positive: ", in, " to ", each[i].out});
    checked_product({"interpolate", CallSite::unknown}, {in, each[i].out});  // of which positions are quotients
  }
}

}}}  // namespace tern::detail
