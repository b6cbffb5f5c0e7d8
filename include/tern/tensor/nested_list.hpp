// Braced lists of numbers, in braces again for each dimension of a tensor: {{1, 2}, {3, 4}}.
#pragma once
#include <initializer_list>

#include "../core/number.hpp"
#include "../core/shape.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// A number or a list of such. It does not own the list, so it lives only in the expression that makes it.
class TERN_API NestedList {
 public:
  template <class N>
    requires(std::is_arithmetic_v<N> || is_half_v<N>)
  constexpr NestedList(N number) : number_(number) {}
  constexpr NestedList(std::initializer_list<NestedList> list) : number_(0), is_list_(true), list_(list) {}

  /// The sizes of the list, and of the lists in it. Error if lists beside each other differ in length or depth.
  Shape shape() const;

  using Visit = void (*)(void* state, const Number& number);
  /// Visits the numbers in order.
  void each(Visit visit, void* state) const;

 private:
  void check(const Shape& shape, int depth) const;

  Number number_;
  bool is_list_ = false;
  std::initializer_list<NestedList> list_;
};

}}}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "nested_list.ipp"
#endif
