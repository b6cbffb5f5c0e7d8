// Products of matrices.
#pragma once
#include <tern/linalg/multi_dot.hpp>

#include "table.hpp"

namespace opinfo {

#define PRODUCT(name) {#name, [](C& c) { return Results{name(c.x(0), c.x(1))}; }}

/// The sum of a tensor and a product, each with a factor.
#define ADD_PRODUCT(name) \
  {#name, [](C& c) { return Results{name(c.x(0), c.x(1), c.x(2), c.number("beta", 1), c.number("alpha", 1))}; }}

template <class D, class T>
Table<D, T> matrices() {
  using C = Call<D, T>;
  return {
      PRODUCT(matmul),
      PRODUCT(mm),
      PRODUCT(bmm),
      PRODUCT(mv),
      PRODUCT(dot),
      PRODUCT(outer),
      PRODUCT(inner),
      PRODUCT(kron),
      {"cross",
       [](C& c) {
         Index dim = 0;  // by default the first of size 3
         while (!c.has(2, "dim") && c.x(0).size(dim) != 3) ++dim;
         return Results{cross(c.x(0), c.x(1), c.integer(2, "dim", dim))};
       }},
      {"linalg.cross", [](C& c) { return Results{cross(c.x(0), c.x(1), c.integer(2, "dim", -1))}; }},
      ADD_PRODUCT(addmm),
      ADD_PRODUCT(addmv),
      ADD_PRODUCT(addr),
      ADD_PRODUCT(addbmm),
      ADD_PRODUCT(baddbmm),
      {"tensordot",
       [](C& c) {
         if (!c.is_list(2, "dims")) return Results{tensordot(c.x(0), c.x(1), c.integer(2, "dims", 2))};
         const std::vector<tern::detail::Dims> dims = c.dims_list(2, "dims");
         return Results{tensordot(c.x(0), c.x(1), dims.at(0), dims.at(1))};
       }},
      {"einsum", [](C& c) { return Results{einsum(c.text(1, "equation", ""), c.list(0))}; }},
      {"linalg.multi_dot", [](C& c) { return Results{tern::linalg::multi_dot(c.list(0))}; }},
      {"linalg.vander", [](C& c) { return Results{tern::linalg::vander(c.x(0), c.optional_integer(1, "N"))}; }},
      {"trace", [](C& c) { return Results{trace(c.x(0))}; }},
      {"nn.functional.linear", [](C& c) { return Results{linear(c.x(0), c.x(1, "weight"), c.optional_x(2, "bias"))}; }},
  };
}

#undef PRODUCT
#undef ADD_PRODUCT

}  // namespace opinfo
