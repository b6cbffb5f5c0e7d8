// Putting together, and picking by index.
#pragma once
#include "table.hpp"

namespace opinfo {

template <class D, class T>
Table<D, T> indexing() {
  return {};
}

}  // namespace opinfo
