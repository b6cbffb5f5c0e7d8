// The functions of symbol.hpp that are not templates.
#pragma once
#include "symbol.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::expr {

TERN_INLINE int Program::add(const Step& step) {
  if (size_ == max_steps) Error::fail("fuse", {"an expression of more than ", max_steps, " steps"});
  steps_[size_] = step;
  std::uint64_t word = reinterpret_cast<std::uintptr_t>(step.function);
  word ^= std::uint64_t(std::uint16_t(step.arguments[0])) << 48 ^
          std::uint64_t(std::uint16_t(step.arguments[1])) << 24 ^ std::uint64_t(std::uint16_t(step.arguments[2]));
  hash_ = (hash_ ^ word) * 0x9E3779B97F4A7C15u;
  hash_ ^= hash_ >> 29;
  return size_++;
}

}}}  // namespace tern::detail::expr
