// The functions of recurrent.hpp that are not templates.
#pragma once
#include "recurrent.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn::detail {

TERN_INLINE std::string recurrent_weight_name(Index i, bool bias, bool projected, bool bidirectional) {
  static constexpr const char* names[] = {"weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr"};
  const Index each = 2 + 2 * bias + projected, layer = i / each, directions = bidirectional ? 2 : 1, place = i % each;
  return tern::detail::text(
      {names[place == 2 && !bias ? 4 : place], "_l", layer / directions, layer % directions ? "_reverse" : ""});
}

}}}  // namespace tern::nn::detail
