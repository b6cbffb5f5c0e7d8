// The functions of positions.hpp that are not templates.
#pragma once
#include "positions.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

TERN_INLINE void Positions::push_back(std::size_t position) {
  while (passes_.size() < position >> 32) passes_.push_back(size());
  low_.push_back(std::uint32_t(position));
}

}}}  // namespace tern::data::detail
