// Shapes: views and what rearranges elements.
#pragma once
#include "table.hpp"

namespace opinfo {

/// f of each tensor, of which there are one or several.
#define OF_EACH(name)                                          \
  {#name, [](C& c) {                                           \
     Results all;                                              \
     for (const auto& x : c.tensors()) all.push_back(name(x)); \
     return all;                                               \
   }}
/// f(x, sections, rest...) or f(x, positions, rest...).
#define PIECES(name, ...)                                                                               \
  {#name, [](C& c) {                                                                                    \
     if (!c.is_list(1, "indices_or_sections"))                                                          \
       return results(name(c.x(0), c.integer(1, "indices_or_sections") __VA_OPT__(, ) __VA_ARGS__));    \
     const tern::detail::Dims at = c.dims(1, "indices_or_sections");                                    \
     return results(name(c.x(0), std::vector<Index>(at.begin(), at.end()) __VA_OPT__(, ) __VA_ARGS__)); \
   }}

template <class D, class T>
Table<D, T> views() {
  using C = Call<D, T>;
  return {
      {"broadcast_to", [](C& c) { return Results{broadcast_to(c.x(0), c.rest(1))}; }},
      {"chunk", [](C& c) { return results(chunk(c.x(0), c.integer(1), c.integer(2, "dim", 0))); }},
      {"diagonal",
       [](C& c) {
         return Results{diagonal(c.x(0), c.integer(1, "offset", 0), c.integer(2, "dim1", 0), c.integer(3, "dim2", 1))};
       }},
      {"expand", [](C& c) { return Results{expand(c.x(0), c.rest(1))}; }},
      {"expand_as", [](C& c) { return Results{c.x(0).expand_as(c.x(1, "other"))}; }},
      {"reshape_as", [](C& c) { return Results{c.x(0).reshape_as(c.x(1, "other"))}; }},
      {"view_as", [](C& c) { return Results{c.x(0).view_as(c.x(1, "other"))}; }},
      {"new_full",
       [](C& c) {
         return c.with_dtype([&](auto type) {
           return Results{c.x(0).new_full(
               c.dims(1, "size"), tern::detail::scalar_t<typename decltype(type)::type>(c.number(2, "fill_value", 0)),
               type)};
         });
       }},
      {"new_ones",
       [](C& c) { return c.with_dtype([&](auto type) { return Results{c.x(0).new_ones(c.dims(1, "size"), type)}; }); }},
      {"new_zeros",
       [](C& c) {
         return c.with_dtype([&](auto type) { return Results{c.x(0).new_zeros(c.dims(1, "size"), type)}; });
       }},
      {"flatten",
       [](C& c) { return Results{flatten(c.x(0), c.integer(1, "start_dim", 0), c.integer(2, "end_dim", -1))}; }},
      {"flip", [](C& c) { return Results{flip(c.x(0), c.dims(1, "dims"))}; }},
      {"movedim", [](C& c) { return Results{movedim(c.x(0), c.dims(1, "source"), c.dims(2, "destination"))}; }},
      {"narrow", [](C& c) { return Results{narrow(c.x(0), c.integer(1), c.integer(2), c.integer(3))}; }},
      {"permute", [](C& c) { return Results{permute(c.x(0), c.rest(1))}; }},
      {"repeat", [](C& c) { return Results{repeat(c.x(0), c.rest(1))}; }},
      {"reshape", [](C& c) { return Results{reshape(c.x(0), c.rest(1))}; }},
      {"roll", [](C& c) { return Results{roll(c.x(0), c.dims(1, "shifts"), c.dims(2, "dims"))}; }},
      {"rot90", [](C& c) { return Results{rot90(c.x(0), c.integer(1, "k", 1), c.dims(2, "dims", {0, 1}))}; }},
      {"diag", [](C& c) { return Results{diag(c.x(0), c.integer(1, "diagonal", 0))}; }},
      {"diag_embed",
       [](C& c) {
         return Results{
             diag_embed(c.x(0), c.integer(1, "offset", 0), c.integer(2, "dim1", -2), c.integer(3, "dim2", -1))};
       }},
      {"tril", [](C& c) { return Results{tril(c.x(0), c.integer(1, "diagonal", 0))}; }},
      {"triu", [](C& c) { return Results{triu(c.x(0), c.integer(1, "diagonal", 0))}; }},
      {"meshgrid", [](C& c) { return results(meshgrid(c.tensors(), c.text("indexing", "ij").c_str())); }},
      OF_EACH(atleast_1d),
      OF_EACH(atleast_2d),
      OF_EACH(atleast_3d),
      PIECES(tensor_split, c.integer(2, "dim", 0)),
      PIECES(hsplit),
      PIECES(vsplit),
      PIECES(dsplit),
      {"broadcast_tensors", [](C& c) { return results(broadcast_tensors(c.tensors())); }},
      {"narrow_copy", [](C& c) { return Results{narrow_copy(c.x(0), c.integer(1), c.integer(2), c.integer(3))}; }},
      {"ravel", [](C& c) { return Results{ravel(c.x(0))}; }},
      {"positive", [](C& c) { return Results{positive(c.x(0))}; }},
      {"select_scatter",
       [](C& c) { return Results{select_scatter(c.x(0), c.x(1), c.integer(2, "dim"), c.integer(3, "index"))}; }},
      {"slice_scatter",
       [](C& c) {
         const auto bound = [&](int position, const char* name) { return c.optional_integer(position, name); };
         return Results{slice_scatter(c.x(0), c.x(1), c.integer(2, "dim", 0),
                                      tern::Slice(bound(3, "start"), bound(4, "end"), c.integer(5, "step", 1)))};
       }},
      {"diagonal_scatter",
       [](C& c) {
         return Results{diagonal_scatter(c.x(0), c.x(1), c.integer(2, "offset", 0), c.integer(3, "dim1", 0),
                                         c.integer(4, "dim2", 1))};
       }},
      {"unfold", [](C& c) { return Results{unfold(c.x(0), c.integer(1), c.integer(2), c.integer(3))}; }},
      {"select", [](C& c) { return Results{select(c.x(0), c.integer(1), c.integer(2))}; }},
      {"slice",
       [](C& c) {
         const tern::Slice range(c.integer(2, "start", 0), c.integer(3, "end", INT64_MAX), c.integer(4, "step", 1));
         return Results{slice(c.x(0), c.integer(1, "dim", 0), range)};
       }},
      {"split",
       [](C& c) {
         const Index dim = c.integer(2, "dim", 0);
         if (!c.is_list(1)) return results(split(c.x(0), c.integer(1), dim));
         const tern::detail::Dims sizes = c.dims(1, "split_size_or_sections");
         return results(split(c.x(0), std::vector<Index>(sizes.begin(), sizes.end()), dim));
       }},
      {"squeeze",
       [](C& c) {
         if (c.has(1, "dim") && c.dims(1, "dim").empty()) throw Skip{"an empty list of dimensions that means none"};
         return Results{squeeze(c.x(0), c.dims(1, "dim"))};
       }},
      {"t", [](C& c) { return Results{t(c.x(0))}; }},
      {"tile", [](C& c) { return Results{tile(c.x(0), c.rest(1))}; }},
      {"transpose", [](C& c) { return Results{transpose(c.x(0), c.integer(1), c.integer(2))}; }},
      {"unbind", [](C& c) { return results(unbind(c.x(0), c.integer(1, "dim", 0))); }},
      {"unflatten", [](C& c) { return Results{unflatten(c.x(0), c.integer(1, "dim"), c.dims(2, "sizes"))}; }},
      {"unsqueeze", [](C& c) { return Results{unsqueeze(c.x(0), c.integer(1))}; }},
      {"view", [](C& c) { return Results{view(c.x(0), c.rest(1))}; }},
  };
}

#undef OF_EACH
#undef PIECES

}  // namespace opinfo
