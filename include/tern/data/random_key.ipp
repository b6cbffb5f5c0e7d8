// The functions of random_key.hpp that are not templates.
#pragma once
#include "random_key.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_INLINE RandomState detail::batch_state(const RandomKey& key) {
  const std::uint64_t epoch = Random::batches | (std::uint64_t(key.epoch) & 0xffffffff);
  return {tern::detail::seed_of(tern::detail::philox(key.seed, epoch, std::uint64_t(key.place))),
          tern::detail::random_rank};
}

TERN_INLINE std::uint32_t Random::word() {
  if (left_ == 0) {
    words_ = tern::detail::philox(seed_, stream_, counter_++);
    left_ = 4;
  }
  return words_.word[--left_];
}

TERN_INLINE float Random::uniform(float low, float high) { return low + (high - low) * uniform(); }

TERN_INLINE double Random::uniform_double() {
  const std::uint32_t high = word();
  return tern::detail::unit_double(high, word());
}

TERN_INLINE Index Random::below(Index n) {
  __extension__ typedef unsigned __int128 Wide;
  const std::uint64_t high = word();
  return Index(Wide(high << 32 | word()) * Wide(n) >> 64);
}

TERN_INLINE double Random::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform_double()));
  return radius * std::cos(6.283185307179586 * uniform_double());
}

}}}  // namespace tern::data
