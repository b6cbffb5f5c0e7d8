// Losses and layers.
#pragma once
#include "table.hpp"

namespace opinfo {

template <class D, class T>
tern::KlDivReduction kl_div_reduction(const Call<D, T>& c) {
  if (c.text("reduction", "mean") == "batchmean") return tern::KlDivReduction::batchmean;
  return c.reduction();
}

template <class D, class T>
Table<D, T> layers() {
  using C = Call<D, T>;
  return {
      {"nn.functional.binary_cross_entropy",
       [](C& c) { return Results{binary_cross_entropy(c.x(0), c.x(1), {c.optional_x(2, "weight"), c.reduction()})}; }},
      {"nn.functional.binary_cross_entropy_with_logits",
       [](C& c) {
         return Results{binary_cross_entropy_with_logits(
             c.x(0), c.x(1), {c.optional_x(2, "weight"), c.reduction(), c.optional_x(9, "pos_weight")})};
       }},
      {"nn.functional.cosine_similarity",
       [](C& c) {
         return Results{cosine_similarity(c.x(0), c.x(1), c.integer(2, "dim", 1), c.number(3, "eps", 1e-8))};
       }},
      {"nn.functional.cross_entropy",
       [](C& c) {
         const tern::CrossEntropyOptions<D, T> options{c.optional_x(2, "weight"), c.integer(9, "ignore_index", -100),
                                                       c.reduction(), c.number("label_smoothing", 0)};
         if (c.is_floating_tensor(1)) return Results{cross_entropy(c.x(0), c.x(1), options)};
         return Results{cross_entropy(c.x(0), c.ints(1), options)};
       }},
      {"nn.functional.ctc_loss",
       [](C& c) {
         const tern::CtcLossOptions options{c.integer(4, "blank", 0), c.reduction(), c.flag("zero_infinity", false)};
         return Results{ctc_loss(c.x(0), c.ints(1), c.ints(2), c.ints(3), options)};
       }},
      {"nn.functional.hinge_embedding_loss",
       [](C& c) { return Results{hinge_embedding_loss(c.x(0), c.x(1), {c.number("margin", 1), c.reduction()})}; }},
      {"nn.functional.huber_loss",
       [](C& c) { return Results{huber_loss(c.x(0), c.x(1), {c.reduction(), c.number("delta", 1)})}; }},
      {"nn.functional.kl_div",
       [](C& c) { return Results{kl_div(c.x(0), c.x(1), {kl_div_reduction(c), c.flag("log_target", false)})}; }},
      {"nn.functional.l1_loss", [](C& c) { return Results{l1_loss(c.x(0), c.x(1), {c.reduction()})}; }},
      {"nn.functional.bilinear",
       [](C& c) { return Results{bilinear(c.x(0), c.x(1), c.x(2, "weight"), c.optional_x(3, "bias"))}; }},
      {"nn.functional.scaled_dot_product_attention",
       [](C& c) {
         tern::AttentionOptions options{.dropout_p = c.number("dropout_p", 0),
                                        .is_causal = c.flag("is_causal", false),
                                        .enable_gqa = c.flag("enable_gqa", false)};
         if (c.has("scale")) options.scale = c.number("scale", 1);
         return Results{scaled_dot_product_attention(c.x(0), c.x(1), c.x(2), c.optional_x(3, "attn_mask"), options)};
       }},
      {"nn.functional.layer_norm",
       [](C& c) {
         return Results{layer_norm(c.x(0), c.dims(1, "normalized_shape"), c.optional_x(2, "weight"),
                                   c.optional_x(3, "bias"), c.number(4, "eps", 1e-5))};
       }},
      {"nn.functional.margin_ranking_loss",
       [](C& c) {
         return Results{margin_ranking_loss(c.x(0), c.x(1), c.x(2), {c.number("margin", 0), c.reduction()})};
       }},
      {"nn.functional.cosine_embedding_loss",
       [](C& c) {
         return Results{cosine_embedding_loss(c.x(0), c.x(1), c.x(2), {c.number("margin", 0), c.reduction()})};
       }},
      {"nn.functional.gaussian_nll_loss",
       [](C& c) {
         return Results{
             gaussian_nll_loss(c.x(0), c.x(1), c.x(2), {c.flag("full", false), c.number("eps", 1e-6), c.reduction()})};
       }},
      {"nn.functional.multi_margin_loss",
       [](C& c) {
         return Results{multi_margin_loss(c.x(0), c.ints(1), {c.number("p", 1), c.number("margin", 1), c.reduction()})};
       }},
      {"nn.functional.multilabel_margin_loss",
       [](C& c) { return Results{multilabel_margin_loss(c.x(0), c.ints(1), {c.reduction()})}; }},
      {"nn.functional.multilabel_soft_margin_loss",
       [](C& c) {
         return Results{multilabel_soft_margin_loss(c.x(0), c.x(1), {c.optional_x(2, "weight"), c.reduction()})};
       }},
      {"nn.functional.mse_loss", [](C& c) { return Results{mse_loss(c.x(0), c.x(1), {c.reduction()})}; }},
      {"nn.functional.nll_loss",
       [](C& c) {
         return Results{nll_loss(c.x(0), c.ints(1),
                                 {c.optional_x(2, "weight"), c.integer(9, "ignore_index", -100), c.reduction()})};
       }},
      {"nn.functional.normalize",
       [](C& c) {
         return Results{normalize(c.x(0), c.number(1, "p", 2), c.dims(2, "dim", 1), c.number(3, "eps", 1e-12))};
       }},
      {"nn.functional.pairwise_distance",
       [](C& c) {
         return Results{pairwise_distance(c.x(0), c.x(1), c.number(2, "p", 2), c.number(3, "eps", 1e-6),
                                          c.flag(4, "keepdim", false))};
       }},
      {"nn.functional.poisson_nll_loss",
       [](C& c) {
         return Results{poisson_nll_loss(
             c.x(0), c.x(1), {c.flag("log_input", true), c.flag("full", false), c.number("eps", 1e-8), c.reduction()})};
       }},
      {"nn.functional.rms_norm",
       [](C& c) {
         // The recorded results are PyTorch's in double, whose machine epsilon is the default there.
         const double eps = c.number(3, "eps", std::numeric_limits<double>::epsilon());
         return Results{rms_norm(c.x(0), c.dims(1, "normalized_shape"), c.optional_x(2, "weight"), eps)};
       }},
      {"nn.functional.smooth_l1_loss",
       [](C& c) { return Results{smooth_l1_loss(c.x(0), c.x(1), {c.reduction(), c.number("beta", 1)})}; }},
      {"nn.functional.soft_margin_loss",
       [](C& c) { return Results{soft_margin_loss(c.x(0), c.x(1), {c.reduction()})}; }},
      {"nn.functional.triplet_margin_loss",
       [](C& c) {
         return Results{triplet_margin_loss(
             c.x(0), c.x(1), c.x(2),
             {c.number("margin", 1), c.number("p", 2), c.number("eps", 1e-6), c.flag("swap", false), c.reduction()})};
       }},
  };
}

}  // namespace opinfo
