// Putting together, and picking by index.
#pragma once
#include "table.hpp"

namespace opinfo {

/// Positions as the type that was asked for.
template <class D, class T>
Results positions(const Call<D, T>& c, const Tensor<D, Index>& at) {
  if (c.flag("out_int32", false)) return {at.to(tern::i32)};
  return {at};
}

/// What was asked for of the different elements.
template <class D, class T>
Results told(const tern::UniqueElements<D, T>& found, const tern::UniqueOptions& options) {
  Results results{found.output};
  if (options.return_inverse) results.push_back(found.inverse_indices);
  if (options.return_counts) results.push_back(found.counts);
  return results;
}

template <class D, class T>
Table<D, T> indexing() {
  using C = Call<D, T>;
  Table<D, T> table{
      {"cat", [](C& c) { return Results{cat(c.list(0), c.integer(1, "dim", 0))}; }},
      {"stack", [](C& c) { return Results{stack(c.list(0), c.integer(1, "dim", 0))}; }},
      {"hstack", [](C& c) { return Results{hstack(c.list(0))}; }},
      {"vstack", [](C& c) { return Results{vstack(c.list(0))}; }},
      {"dstack", [](C& c) { return Results{dstack(c.list(0))}; }},
      {"column_stack", [](C& c) { return Results{column_stack(c.list(0))}; }},
      {"block_diag", [](C& c) { return Results{block_diag(c.tensors())}; }},
      {"cartesian_prod", [](C& c) { return Results{cartesian_prod(c.tensors())}; }},
      {"combinations",
       [](C& c) { return Results{combinations(c.x(0), c.integer(1, "r", 2), c.flag(2, "with_replacement", false))}; }},
      {"argwhere", [](C& c) { return Results{argwhere(c.x(0))}; }},
      {"put", [](C& c) { return Results{put(c.x(0), c.ints(1), c.x(2), c.flag(3, "accumulate", false))}; }},
      {"__getitem__", [](C& c) { return Results{index(c.x(0), c.index_list(1))}; }},
      {"index_put",
       [](C& c) {
         return Results{index_put(c.x(0), c.index_list(1), c.x(2, "values"), c.flag(3, "accumulate", false))};
       }},
      {"masked_fill",
       [](C& c) {
         if (c.is_tensor(2, "value")) return Results{masked_fill(c.x(0), c.bools(1), c.x(2, "value"))};
         return Results{masked_fill(c.x(0), c.bools(1), c.scalar(2, "value"))};
       }},
      {"masked_scatter", [](C& c) { return Results{masked_scatter(c.x(0), c.bools(1), c.x(2, "source"))}; }},
      {"masked_select", [](C& c) { return Results{masked_select(c.x(0), c.bools(1))}; }},
      {"gather",
       [](C& c) {
         return c.with_positions(2, [&](const auto& at) { return Results{gather(c.x(0), c.integer(1), at)}; });
       }},
      {"index_fill",
       [](C& c) {
         if (c.is_tensor(3, "value")) return Results{index_fill(c.x(0), c.integer(1), c.ints(2), c.x(3, "value"))};
         return Results{index_fill(c.x(0), c.integer(1), c.ints(2), c.scalar(3, "value"))};
       }},
      {"scatter",
       [](C& c) {
         return c.with_positions(2, [&](const auto& at) {
           const auto x = c.x(0);
           const Index dim = c.integer(1);
           const auto put = [&](const auto& source) {
             if (!c.has("reduce")) return Results{scatter(x, dim, at, source)};
             return Results{scatter(x, dim, at, source, c.text("reduce", "").c_str())};
           };
           return c.is_tensor(3, "src") ? put(c.x(3, "src")) : put(c.scalar(3, "value"));
         });
       }},
      {"index_copy", [](C& c) { return Results{index_copy(c.x(0), c.integer(1), c.ints(2), c.x(3))}; }},
      {"isin",
       [](C& c) {
         c.flag("assume_unique", false);  // a hint
         const bool invert = c.flag("invert", false);
         if (!c.is_tensor(1, "test_elements"))
           return Results{isin(c.x(0, "elements"), c.scalar(1, "test_elements"), invert)};
         if (!c.is_tensor(0, "elements"))
           return Results{isin(c.scalar(0, "elements"), c.x(1, "test_elements"), invert)};
         return Results{isin(c.x(0, "elements"), c.x(1, "test_elements"), invert)};
       }},
      {"scatter_reduce",
       [](C& c) {
         const std::string reduce = c.text(4, "reduce", "");
         return c.with_positions(2, [&](const auto& at) {
           return Results{
               scatter_reduce(c.x(0), c.integer(1), at, c.x(3, "src"), reduce.c_str(), c.flag("include_self", true))};
         });
       }},
      {"index_reduce",
       [](C& c) {
         return Results{index_reduce(c.x(0), c.integer(1), c.ints(2), c.x(3), c.text(4, "reduce", "").c_str(),
                                     c.flag("include_self", true))};
       }},
      {"take", [](C& c) { return Results{take(c.x(0), c.ints(1))}; }},
      {"take_along_dim",
       [](C& c) {
         const auto dim = c.has(2, "dim") ? std::optional(c.integer(2, "dim")) : std::nullopt;
         return Results{take_along_dim(c.x(0), c.ints(1), dim)};
       }},
      {"repeat_interleave",
       [](C& c) {
         const auto dim = c.has(2, "dim") ? std::optional(c.integer(2, "dim")) : std::nullopt;
         c.integer(9, "output_size", 0);  // known without being told
         if (c.is_tensor(1, "repeats")) return Results{repeat_interleave(c.x(0), c.ints(1, "repeats"), dim)};
         return Results{repeat_interleave(c.x(0), c.integer(1, "repeats"), dim)};
       }},
      {"nonzero",
       [](C& c) {
         const auto at = nonzero(c.x(0));
         if (!c.flag("as_tuple", false)) return Results{at};
         return c.x(0).dim() ? results(at.unbind(1)) : Results{at.reshape({-1})};
       }},
      {"sort",
       [](C& c) {
         c.flag("stable", true);  // it always is
         return ordered(sort(c.x(0), c.integer(1, "dim", -1), c.flag(2, "descending", false)));
       }},
      {"msort", [](C& c) { return Results{msort(c.x(0))}; }},
      {"topk",
       [](C& c) {
         c.flag(4, "sorted", true);  // they always are
         return ordered(topk(c.x(0), c.integer(1, "k"), c.integer(2, "dim", -1), c.flag(3, "largest", true)));
       }},
      {"kthvalue",
       [](C& c) {
         return ordered(kthvalue(c.x(0), c.integer(1, "k"), c.integer(2, "dim", -1), c.flag(3, "keepdim", false)));
       }},
      {"searchsorted",
       [](C& c) {
         const bool right = c.flag("right", false) || c.text("side", "left") == "right";
         const auto sorter = c.has("sorter") ? c.ints(9, "sorter") : Tensor<D, Index>();
         if (c.is_tensor(1)) return positions(c, searchsorted(c.x(0), c.x(1), right, sorter));
         return positions(c, searchsorted(c.x(0), c.scalar(1), right, sorter));
       }},
      {"bucketize", [](C& c) { return positions(c, bucketize(c.x(0), c.x(1), c.flag("right", false))); }},
      {"index_select", [](C& c) { return Results{index_select(c.x(0), c.integer(1), c.ints(2))}; }},
      {"unique",
       [](C& c) {
         c.flag(1, "sorted", true);  // they always are
         const tern::UniqueOptions options = c.unique_options(2);
         return told(unique(c.x(0), options), options);
       }},
      {"unique_consecutive",
       [](C& c) {
         const tern::UniqueOptions options = c.unique_options(1);
         return told(unique_consecutive(c.x(0), options), options);
       }},
  };
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    table.push_back({"bincount", [](C& c) {
                       const Index minlength = c.integer(2, "minlength", 0);
                       if (!c.has(1, "weights")) return Results{bincount(c.x(0), minlength)};
                       if (!c.is_floating_tensor(1, "weights"))
                         return Results{bincount(c.x(0), c.x(1, "weights"), minlength)};
                       return Results{bincount(c.x(0), c.doubles(1, "weights"), minlength)};
                     }});
  return table;
}

template <class D, class T>
Table<D, T> floating_indexing() {
  using C = Call<D, T>;
  return {
      {"index_add",
       [](C& c) { return Results{index_add(c.x(0), c.integer(1), c.ints(2), c.x(3), c.number("alpha", 1))}; }},
      {"scatter_add", [](C& c) { return Results{scatter_add(c.x(0), c.integer(1), c.ints(2), c.x(3))}; }},
      {"nn.functional.embedding",
       [](C& c) { return Results{embedding(c.ints(1), c.x(0), c.optional_integer(2, "padding_idx"))}; }},
      {"nn.functional.embedding_bag",
       [](C& c) {
         const std::map<std::string, tern::BagMode> modes{
             {"sum", tern::BagMode::sum}, {"mean", tern::BagMode::mean}, {"max", tern::BagMode::max}};
         const auto mode = modes.find(c.text("mode", "mean"));
         if (mode == modes.end()) throw Skip{"a mode that its type excludes"};
         const tern::EmbeddingBagOptions options{.mode = mode->second,
                                                 .include_last_offset = c.flag("include_last_offset", false),
                                                 .padding_idx = c.optional_integer(9, "padding_idx")};
         const auto offsets = c.has("offsets") ? c.ints(2, "offsets") : Tensor<D, Index>();
         return Results{embedding_bag(c.ints(1), c.x(0), offsets, options, c.optional_x(9, "per_sample_weights"))};
       }},
  };
}

}  // namespace opinfo
