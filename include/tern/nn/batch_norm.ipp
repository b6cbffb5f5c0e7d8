// The functions of batch_norm.hpp that are not templates.
#pragma once
#include "batch_norm.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn::detail {

TERN_COLD void check_batch_norm_input(const char* layer, const tern::detail::Array* x, int least, int most) {
  if (x && (x->ndim < least || x->ndim > most))
    Error::fail(layer, {"an input of ", least, least == most ? "" : " or ",
                        least == most ? tern::detail::Piece("") : tern::detail::Piece(most),
                        " dimensions is needed, not ", x->shape_ref()});
}

}}}  // namespace tern::nn::detail
