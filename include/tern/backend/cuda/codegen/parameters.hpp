// Kernels written by hand: templates on the element types, whose only parameter is a struct with fields that are listed
// once, for the host and for the kernel's source.
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

/// A struct of the host, whose `source` declares the same one in a kernel. Its fields are of type Index, uint64,
/// double, Pointer, KernelNumber and ElementReport, arrays of these, and other such structs.
#define TERN_KERNEL_STRUCT(Name, ...)                                                 \
  struct Name {                                                                       \
    __VA_ARGS__                                                                       \
    static constexpr const char* source = "struct " #Name " { " #__VA_ARGS__ " };\n"; \
  }

// What a kernel's source calls element types, and what is calculated with.
struct T0;
struct T1;
struct C0;
using uint64 = std::uint64_t;
using int32 = std::int32_t;

/// A T* of the device's, or null.
template <class T>
struct Pointer {
  const void* address = nullptr;
  Pointer() = default;
  Pointer(const void* to) : address(to) {}
};

/// A number of type T, which the kernel's source may name only; any that fits eight bytes.
template <class T>
struct KernelNumber {
  std::uint64_t bits = 0;
  template <class U>
    requires std::is_arithmetic_v<U>
  KernelNumber(U value) {
    std::memcpy(&bits, &value, sizeof value);
  }
};

/// Where a kernel notes what is wrong with elements, and what the host then says: the op that the user called, whose
/// name is a string literal, and its line.
struct ElementReport {
  const void* failure;
  CallSite op;
  Index what;
  ElementReport(int ordinal, const char* name, detail::BadElement bad)
      : failure(cuda::detail::bind(ordinal).failure), op(tern::detail::accounted({name, CallSite::unknown})),
        what(Index(bad)) {}
};
static_assert(sizeof(CallSite) == 16 && std::is_trivially_copyable_v<CallSite>);

/// A kernel whose only parameter is a P.
template <class P>
struct KernelOf : Kernel {
  constexpr KernelOf(const char* function, const char* source, std::initializer_list<const char*> shared = {},
                     std::initializer_list<const char*> first = {})
      : Kernel{function, source} {
    int used = 0;
    for (const char* const each : first) uses[used++] = each;
    for (const char* const each : shared) uses[used++] = each;
    uses[used] = P::source;
  }
};

/// Launches a kernel for those element types.
template <class P>
void launch_typed(int ordinal, const KernelOf<P>& kernel, std::initializer_list<DType> types, cuda::Grid grid,
                  const std::type_identity_t<P>& parameters) {
  static_assert(sizeof(P) % 8 == 0 && sizeof(P) <= 4096 && std::is_trivially_copyable_v<P>);
  launch_with(ordinal, kernel, types, grid, reinterpret_cast<const std::uint64_t*>(&parameters));
}

}  // namespace detail::backend::cuda_kernels
}}  // namespace tern

#ifndef TERN_COMPILED
#include "parameters.ipp"
#endif
