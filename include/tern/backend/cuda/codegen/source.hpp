// Source code of kernels from traced lambdas, and the words that are a kernel's parameters.
#pragma once
#include <string>

#include "../../../core/array.hpp"
#include "../../../device/cuda/launch.hpp"
#include "../../../expr/dual.hpp"
#include "../../../expr/symbol.hpp"
#include "prelude.hpp"

namespace tern::inline TERN_BUILD {
namespace backend::cuda_kernels {

/// The element type's name in a kernel.
constexpr const char* type_name(DType type) {
  constexpr const char* names[dtype_count] = {"float", "double", "bfloat16", "half", "int64", "int32", "uint8", "bool"};
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
  expr::Program program;
  DType type;     // of its arguments, and of its result unless that is a mask
  int inputs;
  int result;     // the step that gives it
  bool is_mask;

  /// f of inputs of type T, as many as there are I.
  template <class T, class F, std::size_t... I>
  Traced(Type<T>, const F& f, std::index_sequence<I...>) : type(dtype_of<T>), inputs(sizeof...(I)) {
    using V = expr::Symbol<T>;
    expr::Program* const outer = expr::Program::current;
    expr::Program::current = &program;
    const V x[] = {(static_cast<void>(I), V::input())..., V::written(0)};
    const auto y = f(x[I]...);
    is_mask = std::is_same_v<std::remove_const_t<decltype(y)>, typename V::Mask>;
    if constexpr (requires { y.id; }) result = y.id;
    else result = V(y).id;
    expr::Program::current = outer;
  }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;

  std::uint64_t hash() const { return program.hash() * 31 + std::uint64_t(int(type) << 16 ^ result << 1 ^ int(is_mask)); }
};

/// A kernel's parameters, in order.
class Words {
 public:
  /// A kernel written by hand may take more words than it is given, up to this many: zeros.
  static constexpr int zeroed = 128;

  Words() { std::memset(words_, 0, zeroed * sizeof(std::uint64_t)); }
  void add(Index value) { add_word(std::uint64_t(value)); }
  void add(const void* pointer) { add_word(reinterpret_cast<std::uintptr_t>(pointer)); }
  /// A number, which the kernel reads as number<T>.
  template <class T> void add_number(T number) {
    std::uint64_t word = 0;
    std::memcpy(&word, &number, sizeof number);
    add_word(word);
  }
  void add_numbers(const expr::Program& program) {
    for (int i = 0; i < program.number_count(); ++i) add_word(program.numbers()[i]);
  }
  /// The report, three words: where a kernel notes what is wrong with elements, and what the host then says.
  void add_report(int ordinal, const char* op, BadElement what) {
    add(cuda::detail::bind(ordinal).failure);
    add(static_cast<const void*>(op));
    add(Index(what));
  }
  int size() const { return size_; }
  const std::uint64_t* data() const { return words_; }

 private:
  static constexpr int most = 500;  // a kernel takes 4 KB of parameters
  void add_word(std::uint64_t word) {
    if (size_ == most) fail("cuda", {"a kernel of more than ", most, " parameters"});
    words_[size_++] = word;
  }

  int size_ = 0;
  std::uint64_t words_[most];
};

/// A program's steps as statements; its inputs are called v0, v1 …, its numbers are the words of p from numbers_at on. Steps that do
/// the same to the same are written once: step i is called v<same[i]>.
TERN_API std::string steps_text(const expr::Program& program, const char* type, int numbers_at, std::vector<int>& same);

/// The lambda as a function `name(p, in0, in1, …)`.
TERN_API std::string function_text(const Traced& f, const char* name, int numbers_at);

/// The device that all arrays are on. Error if they are on two.
TERN_API int common_ordinal(const Array& out, const Array* const* in, int n);

/// Null for no array.
inline const char* data_of(const Array* a) { return a ? a->data : nullptr; }

inline std::size_t bytes_of(const Array& a) { return std::size_t(a.numel) * std::size_t(size_of(a.dtype)); }

/// Mixes a value into a kernel's key.
constexpr std::uint64_t mix(std::uint64_t key, std::uint64_t value) {
  key = (key ^ value) * 0x9E3779B97F4A7C15u;
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

}  // namespace backend::cuda_kernels
}  // namespace tern

#ifndef TERN_COMPILED
#include "source.ipp"
#endif
