// Kernels written by hand, as templates on the element types.
#pragma once
#include "source.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

/// A kernel's source, in which T0, T1 … stand for element types, C0, C1 … for what is calculated with, and its function
/// is `name`.
struct Kernel {
  const char* name;
  const char* text;
  const char* uses[12] = {};  // what it shares with others, which comes before it
};

TERN_API std::string typed_source(const Kernel& kernel, std::initializer_list<DType> types);

/// The type that stands for elements which are only moved: the same for all of that many bytes.
constexpr DType carrier(int bytes) {
  return bytes == 1 ? DType::uint8 : bytes == 2 ? DType::bfloat16 : bytes == 4 ? DType::int32 : DType::int64;
}

/// `kernel` must be one object for the whole run.
inline std::uint64_t typed_key(const Kernel& kernel, std::initializer_list<DType> types) {
  std::uint64_t key = reinterpret_cast<std::uintptr_t>(&kernel);
  for (const DType type : types) key = mix(key, std::uint64_t(type) + 1);
  return key;
}

/// Launches the kernel for those element types. `parameters` are the words of its only one.
TERN_API void launch_with(int ordinal, const Kernel& kernel, std::initializer_list<DType> types, cuda::Grid grid,
                          const std::uint64_t* parameters);

}  // namespace detail::backend::cuda_kernels
}}  // namespace tern

#ifndef TERN_COMPILED
#include "typed.ipp"
#endif
