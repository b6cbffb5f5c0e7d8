// What random_key.hpp declares and is no template.
#pragma once
#include "random_key.hpp"

namespace tern::inline TERN_BUILD::data {

TERN_INLINE std::uint32_t Random::word() {
  if (left_ == 0) {
    words_ = philox(seed_, stream_, counter_++);
    left_ = 4;
  }
  return words_.word[--left_];
}

}  // namespace tern::data
