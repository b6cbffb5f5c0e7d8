// The functions of nested_list.hpp that are not templates.
#pragma once
#include "nested_list.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD Shape NestedList::shape() const {
  Shape shape;
  for (const NestedList* list = this; list && list->is_list_; list = list->list_.size() ? list->list_.begin() : nullptr)
    shape.push_back(Index(list->list_.size()));
  check(shape, 0);
  return shape;
}

TERN_COLD void NestedList::check(const Shape& shape, int depth) const {
  if (is_list_ != (depth < shape.n)) Error::fail("tensor", {"numbers and lists stand beside each other"});
  if (!is_list_) return;
  const Index count = Index(list_.size());
  const bool is_row = depth + 1 == shape.n;
  if (count != shape[depth])
    Error::fail("tensor", {is_row ? "rows of different lengths" : "blocks of different sizes"});
  for (const NestedList& inner : list_) inner.check(shape, depth + 1);
}

TERN_COLD void NestedList::each(Visit visit, void* state) const {
  if (!is_list_) return visit(state, number_);
  for (const NestedList& inner : list_) inner.each(visit, state);
}

}}}  // namespace tern::detail
