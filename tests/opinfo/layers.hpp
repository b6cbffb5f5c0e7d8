// Losses and layers.
#pragma once
#include "table.hpp"

namespace opinfo {

template <class D, class T>
Table<D, T> layers() {
  return {};
}

}  // namespace opinfo
