// The functions of keyed_cache.hpp that are not templates.
#pragma once
#include "keyed_cache.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE std::uint64_t hash_words(const void* words, std::size_t count) {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t word;
    std::memcpy(&word, static_cast<const char*>(words) + i * sizeof word, sizeof word);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return hash;
}

}}}  // namespace tern::detail
