// Positions in a text that is held in memory, such as the ends of its lines.
#pragma once
#include <cstdint>
#include <vector>

#include "../core/error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

/// An increasing sequence of positions, of 4 bytes each: a text of short lines or fields has many. What they lack
/// beyond 4 GiB is told by the few places where the sequence passes a multiple of 4 GiB.
class Positions {
 public:
  void push_back(std::size_t position) {
    while (passes_.size() < position >> 32) passes_.push_back(size());
    low_.push_back(std::uint32_t(position));
  }
  std::size_t operator[](Index i) const {
    std::size_t position = low_[std::size_t(i)];
    for (const Index passed : passes_) position += std::size_t(passed <= i) << 32;
    return position;
  }
  Index size() const { return Index(low_.size()); }

 private:
  std::vector<std::uint32_t> low_;
  std::vector<Index> passes_;  // the first position after each multiple of 4 GiB
};

}}}  // namespace tern::data::detail
