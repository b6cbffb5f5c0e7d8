// The parameters of generated kernels: how many there are depends on the expression.
#pragma once
#include <string>

#include "../../../core/array.hpp"
#include "../../../expr/symbol.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

/// Fields of eight-byte elements, listed once: the kernel's source gets their declaration, a launch their values. A
/// struct that is the same for all expressions, as TERN_KERNEL_STRUCT makes one, would have the capacity of as many
/// operands, dimensions and numbers as there may be, and every launch would copy it.
class TERN_API KernelParameters {
 public:
  static constexpr int most = 500;  // elements: a kernel takes 4 KB of parameters

  /// A field of one element. `field` is a string literal, such as "Index count".
  void add(const char* field, Index value) { begin(field, false), add(value); }
  void add(const char* field, const void* pointer) { begin(field, false), add(pointer); }
  /// An array, whose elements are added next.
  void begin_array(const char* field) { begin(field, true); }
  void add(Index element) { add_word(std::uint64_t(element)); }
  void add(const void* pointer) { add_word(reinterpret_cast<std::uintptr_t>(pointer)); }
  /// The numbers of expressions, in the order of their steps, as the array `numbers`, the last field.
  void add_numbers(std::initializer_list<const detail::expr::Program*> programs);

  int size() const { return size_; }
  const std::uint64_t* data() const { return words_; }
  /// struct Parameters { … }; without the arrays that have no element.
  std::string declaration() const;

 private:
  static constexpr int most_fields = 16;
  struct Field {
    const char* declaration;
    int first;
    bool is_array;
  };
  void begin(const char* field, bool is_array) { fields_[field_count_++] = {field, size_, is_array}; }
  void add_word(std::uint64_t word) {
    if (size_ == most) Error::fail("cuda", {"a kernel of more than ", most, " parameters"});
    words_[size_++] = word;
  }

  int size_ = 0, field_count_ = 0;
  Field fields_[most_fields];
  std::uint64_t words_[most];
};

}  // namespace detail::backend::cuda_kernels
}}  // namespace tern

#ifndef TERN_COMPILED
#include "kernel_parameters.ipp"
#endif
