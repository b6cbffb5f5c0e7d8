// Source code of kernels from traced lambdas.
#pragma once
#include <string>

#include "../../../core/array.hpp"
#include "../../../device/cuda/launch.hpp"
#include "../../../expr/dual.hpp"
#include "../../../expr/symbol.hpp"
#include "prelude.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

/// The element type's name in a kernel.
constexpr const char* type_name(DType type) {
  constexpr const char* names[detail::dtype_count] = {"float", "double", "bfloat16", "half",
                                                      "int64", "int32",  "uint8",    "bool"};
  return names[int(type)];
}

/// What elementwise kernels on these types calculate with: the first that is not bool decides.
template <class First, class... Rest>
struct Calculated {
  using type = compute_t<First>;
};
template <class Second, class... Rest>
struct Calculated<bool, Second, Rest...> : Calculated<Second, Rest...> {};

/// A lambda of numbers of one type, written down.
struct Traced {
  detail::expr::Program program;
  DType type;  // of its arguments, and of its result unless that is a mask
  int inputs;
  int result;  // the step that gives it
  bool is_mask;

  /// f of inputs of type T, as many as there are I.
  template <class T, class F, std::size_t... I>
  Traced(detail::Type<T>, const F& f, std::index_sequence<I...>) : type(dtype_of<T>), inputs(sizeof...(I)) {
    using V = detail::expr::Symbol<T>;
    detail::expr::Program* const outer = detail::expr::Program::current;
    detail::expr::Program::current = &program;
    const V x[] = {(static_cast<void>(I), V::input())..., V::written(0)};
    const auto y = f(x[I]...);
    is_mask = std::is_same_v<std::remove_const_t<decltype(y)>, typename V::Mask>;
    if constexpr (requires { y.id; }) result = y.id;
    else result = V(y).id;
    detail::expr::Program::current = outer;
  }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;

  std::uint64_t hash() const {
    return program.hash() * 31 + std::uint64_t(int(type) << 16 ^ result << 1 ^ int(is_mask));
  }
};

/// A program's steps as statements; its inputs are called v0, v1 …, its numbers are p.numbers from `first_number` on.
/// Steps that do the same to the same are written once: step i is called v<same[i]>.
TERN_API std::string steps_text(const detail::expr::Program& program, const char* type, int first_number,
                                std::vector<int>& same);

/// A kernel's name for profilers: `kind` and the first functions of the programs, such as map_exp_multiply.
TERN_API std::string kernel_name(const char* kind, std::initializer_list<const detail::expr::Program*> programs);

/// The lambda as a function `name(p, in0, in1, …)`.
TERN_API std::string function_text(const Traced& f, const char* name, int first_number);

/// The device that all arrays are on. Error if they are on two.
TERN_API int common_ordinal(const Array& out, const Array* const* in, int n);

/// Null for no array.
inline const char* data_of(const Array* a) { return a ? a->data : nullptr; }

inline std::size_t bytes_of(const Array& a) { return std::size_t(a.numel) * std::size_t(detail::size_of(a.dtype)); }

// What a kernel takes whose parameters P differ in each replay of a graph. There it reads them from memory
// (cuda::detail::live_source).
inline constexpr const char* words_text = R"CUDA(
template <class P> struct Words {
#ifdef TERN_LIVE_WORDS
  const P* words;
  __device__ const P& get() const { return *words; }
#else
  P words;
  __device__ const P& get() const { return words; }
#endif
};
)CUDA";

/// Mixes a value into a kernel's key. Different pairs of small numbers give different keys.
constexpr std::uint64_t mix(std::uint64_t key, std::uint64_t value) {
  key = key * 0x9E3779B97F4A7C15u + value;
  return key ^ key >> 29;
}

/// The largest power of two not above n, at most 256.
constexpr Index power_of_two_below(Index n) {
  Index p = 1;
  while (p < 256 && 2 * p <= n) p *= 2;
  return p;
}

/// Enough blocks of 256 threads for n elements, and no more than fill a large device a few times.
inline cuda::Grid grid_for(Index n) {
  const Index blocks = (n + 255) / 256;
  return {blocks < 4096 ? blocks : 4096};
}

}  // namespace detail::backend::cuda_kernels
}}  // namespace tern

#ifndef TERN_COMPILED
#include "source.ipp"
#endif
