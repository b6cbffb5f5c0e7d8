// Products of matrices.
#pragma once
#include "table.hpp"

namespace opinfo {

#define PRODUCT(name) {#name, [](C& c) { return Results{name(c.x(0), c.x(1))}; }}

template <class D, class T>
Table<D, T> matrices() {
  using C = Call<D, T>;
  return {
      PRODUCT(matmul), PRODUCT(mm), PRODUCT(bmm), PRODUCT(mv), PRODUCT(dot),
      {"nn.functional.linear", [](C& c) { return Results{linear(c.x(0), c.x(1, "weight"), c.optional_x(2, "bias"))}; }},
  };
}

#undef PRODUCT

}  // namespace opinfo
