// Losses and layers.
#pragma once
#include "table.hpp"

namespace opinfo {

template <class D, class T>
Table<D, T> layers() {
  using C = Call<D, T>;
  return {
      {"nn.functional.binary_cross_entropy",
       [](C& c) {
         return Results{binary_cross_entropy(c.x(0), c.x(1), {c.optional_x(2, "weight"), c.reduction()})};
       }},
      {"nn.functional.binary_cross_entropy_with_logits",
       [](C& c) {
         return Results{binary_cross_entropy_with_logits(
             c.x(0), c.x(1), {c.optional_x(2, "weight"), c.optional_x(9, "pos_weight"), c.reduction()})};
       }},
      {"nn.functional.cross_entropy",
       [](C& c) {
         const tern::CrossEntropyOptions<D, T> options{c.optional_x(2, "weight"), c.integer(9, "ignore_index", -100), c.reduction(),
                                                       c.number("label_smoothing", 0)};
         if (c.is_floating_tensor(1)) return Results{cross_entropy(c.x(0), c.x(1), options)};
         return Results{cross_entropy(c.x(0), c.ints(1), options)};
       }},
      {"nn.functional.huber_loss",
       [](C& c) { return Results{huber_loss(c.x(0), c.x(1), {c.number("delta", 1), c.reduction()})}; }},
      {"nn.functional.l1_loss", [](C& c) { return Results{l1_loss(c.x(0), c.x(1), {c.reduction()})}; }},
      {"nn.functional.layer_norm",
       [](C& c) {
         return Results{layer_norm(c.x(0), c.dims(1, "normalized_shape"), c.optional_x(2, "weight"), c.optional_x(3, "bias"),
                                   c.number(4, "eps", 1e-5))};
       }},
      {"nn.functional.mse_loss", [](C& c) { return Results{mse_loss(c.x(0), c.x(1), {c.reduction()})}; }},
      {"nn.functional.nll_loss",
       [](C& c) {
         return Results{nll_loss(c.x(0), c.ints(1),
                                 {c.optional_x(2, "weight"), c.integer(9, "ignore_index", -100), c.reduction()})};
       }},
      {"nn.functional.smooth_l1_loss",
       [](C& c) { return Results{smooth_l1_loss(c.x(0), c.x(1), {c.number("beta", 1), c.reduction()})}; }},
  };
}

}  // namespace opinfo
