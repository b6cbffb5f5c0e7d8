// The inner loop of naive products. It is compiled once and with an optimiser (dot.cpp), unlike the tests.
#pragma once
#include <cstdint>

namespace tern_test {

/// Σ aᵢ bᵢ and Σ |aᵢ bᵢ|, which says what rounding may make of it.
struct Dot {
  double sum, size;
};
Dot dot(const double* a, const double* b, std::int64_t n);

/// Σ aᵢ bᵢ, modulo 2⁶⁴.
std::uint64_t dot(const std::uint64_t* a, const std::uint64_t* b, std::int64_t n);

}  // namespace tern_test
