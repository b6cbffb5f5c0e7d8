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
  [[gnu::noinline, gnu::cold]] Shape shape() const {
    Shape shape;
    for (const NestedList* list = this; list && list->is_list_;
         list = list->list_.size() ? list->list_.begin() : nullptr)
      shape.push_back(Index(list->list_.size()));
    check(shape, 0);
    return shape;
  }

  using Visit = void (*)(void* state, const Number& number);
  /// Visits the numbers in order.
  [[gnu::noinline, gnu::cold]] void each(Visit visit, void* state) const {
    if (!is_list_) return visit(state, number_);
    for (const NestedList& inner : list_) inner.each(visit, state);
  }

 private:
  [[gnu::noinline, gnu::cold]] void check(const Shape& shape, int depth) const {
    if (is_list_ != (depth < shape.n)) Error::fail("tensor", {"numbers and lists stand beside each other"});
    if (!is_list_) return;
    const Index count = Index(list_.size());
    const bool is_row = depth + 1 == shape.n;
    if (count != shape[depth])
      Error::fail("tensor", {is_row ? "rows of different lengths: " : "blocks of different sizes: ", shape[depth],
                             " and ", count});
    for (const NestedList& inner : list_) inner.check(shape, depth + 1);
  }

  Number number_;
  bool is_list_ = false;
  std::initializer_list<NestedList> list_;
};

}}}  // namespace tern::detail
