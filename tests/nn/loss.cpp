// Losses as modules: what the functions give, with the module's options.
#include "support/tensors.hpp"

#include <tern/nn/loss.hpp>

namespace nn_loss {
using namespace tern_test;

TEMPLATE_TEST_CASE("losses as modules give what the functions give", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({4, 3}, 0.1, 0.9), y = spread_tensor<D>({4, 3}, 0.2, 0.8).clone();
  const auto labels = tensor_of<D, Index>({0, 2, 1, 1});
  const auto sign = tensor_of<D>({1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1}, {4, 3});
  const auto same = [](const auto& a, const auto& b) { CHECK(values_of(a) == values_of(b)); };
  same(nn::MSELoss<D, double>()(x, y), mse_loss(x, y));
  same(nn::L1Loss<D, double>({.reduction = "none"})(x, y), l1_loss(x, y, {.reduction = Reduction::none}));
  same(nn::HuberLoss<D, double>({.delta = 0.1})(x, y), huber_loss(x, y, {.delta = 0.1}));
  same(nn::SmoothL1Loss<D, double>({.beta = 0.1})(x, y), smooth_l1_loss(x, y, {.beta = 0.1}));
  same(nn::SoftMarginLoss<D, double>()(x, sign), soft_margin_loss(x, sign));
  same(nn::HingeEmbeddingLoss<D, double>({.margin = 2})(x, sign), hinge_embedding_loss(x, sign, {.margin = 2}));
  same(nn::MarginRankingLoss<D, double>({.margin = 0.1})(x, y, sign), margin_ranking_loss(x, y, sign, {.margin = 0.1}));
  same(nn::TripletMarginLoss<D, double>()(x, y, sign), triplet_margin_loss(x, y, sign));
  same(nn::KLDivLoss<D, double>({.reduction = "batchmean", .log_target = true})(x, y),
       kl_div(x, y, {.reduction = KlDivReduction::batchmean, .log_target = true}));
  same(nn::PoissonNLLLoss<D, double>({.full = true})(x, y), poisson_nll_loss(x, y, {.full = true}));
  const auto signs = tensor_of<D>({1, -1, 1, -1});
  same(nn::CosineEmbeddingLoss<D, double>({.margin = 0.2})(x, y, signs),
       cosine_embedding_loss(x, y, signs, {.margin = 0.2}));
  same(nn::MultiMarginLoss<D, double>({.p = 2})(x, labels), multi_margin_loss(x, labels, {.p = 2}));
  const auto listed = tensor_of<D, Index>({0, -1, 1, 2, 1, -1, -1, 0, 0, 1, 2, 0}, {4, 3});
  same(nn::MultiLabelMarginLoss<D, double>({.reduction = "sum"})(x, listed),
       multilabel_margin_loss(x, listed, {Reduction::sum}));
  same(nn::GaussianNLLLoss<D, double>({.full = true})(x, y, y), gaussian_nll_loss(x, y, y, {.full = true}));
  // By position, in PyTorch's order.
  same(nn::TripletMarginLoss<D, double>(0.5, 1, 1e-3, true)(x, y, sign),
       triplet_margin_loss(x, y, sign, {.margin = 0.5, .p = 1, .eps = 1e-3, .swap = true}));
  same(nn::CosineEmbeddingLoss<D, double>(0.2)(x, y, signs), cosine_embedding_loss(x, y, signs, {.margin = 0.2}));
  same(nn::MarginRankingLoss<D, double>(1)(x, y, sign), margin_ranking_loss(x, y, sign, {.margin = 1}));
  same(nn::MultiMarginLoss<D, double>(2, 0.5)(x, labels), multi_margin_loss(x, labels, {.p = 2, .margin = 0.5}));
  const auto weight = tensor_of<D>({1, 2, 3});
  same(nn::CrossEntropyLoss<D, double>({.weight = weight, .label_smoothing = 0.1})(x, labels),
       cross_entropy(x, labels, {.weight = weight, .label_smoothing = 0.1}));
  same(nn::CrossEntropyLoss<D, double>({.reduction = "sum"})(x, y), cross_entropy(x, y, {.reduction = Reduction::sum}));
  same(nn::NLLLoss<D, double>({.ignore_index = 1, .reduction = "none"})(x, labels),
       nll_loss(x, labels, {.ignore_index = 1, .reduction = Reduction::none}));
  same(nn::BCELoss<D, double>({.weight = weight, .reduction = "none"})(x, y),
       binary_cross_entropy(x, y, {.weight = weight, .reduction = Reduction::none}));
  same(nn::MultiLabelSoftMarginLoss<D, double>({.weight = weight})(x, y),
       multilabel_soft_margin_loss(x, y, {.weight = weight}));
  same(nn::BCEWithLogitsLoss<D, double>({.pos_weight = weight})(x, y),
       binary_cross_entropy_with_logits(x, y, {.pos_weight = weight}));
}

TEMPLATE_TEST_CASE("losses take LibTorch's reduction by position", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({4, 3}, 0.1, 0.9), y = spread_tensor<D>({4, 3}, 0.2, 0.8).clone();
  const auto labels = tensor_of<D, Index>({0, 2, 1, 1});
  const auto weight = tensor_of<D>({1, 2, 3});
  const auto same = [](const auto& a, const auto& b) { CHECK(values_of(a) == values_of(b)); };
  const Reduction none = Reduction::none, sum = Reduction::sum;
  same(mse_loss(x, y, sum), mse_loss(x, y, {.reduction = sum}));
  same(l1_loss(x, y, none), l1_loss(x, y, {.reduction = none}));
  same(huber_loss(x, y, sum), huber_loss(x, y, {.reduction = sum}));
  same(smooth_l1_loss(x, y, none), smooth_l1_loss(x, y, {.reduction = none}));
  same(soft_margin_loss(x, y, sum), soft_margin_loss(x, y, {.reduction = sum}));
  same(kl_div(x, y, sum), kl_div(x, y, {.reduction = sum}));
  same(binary_cross_entropy(x, y, weight, none), binary_cross_entropy(x, y, {.weight = weight, .reduction = none}));
  same(binary_cross_entropy_with_logits(x, y, {}, weight, none),
       binary_cross_entropy_with_logits(x, y, {.reduction = none, .pos_weight = weight}));
  same(nll_loss(x, labels, weight, sum, 1),
       nll_loss(x, labels, {.weight = weight, .ignore_index = 1, .reduction = sum}));
  same(cross_entropy(x, labels, {}, none, 2, 0.1),
       cross_entropy(x, labels, {.ignore_index = 2, .reduction = none, .label_smoothing = 0.1}));
  same(cross_entropy(x, y, weight, sum), cross_entropy(x, y, {.weight = weight, .reduction = sum}));
}

TEMPLATE_TEST_CASE("a weight may be a loss's third argument, or its layer's only one", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 3}, 0.1, 0.9), y = spread_tensor<D>({2, 3}, 0.8, 0.2);
  const auto labels = tensor_of<D, Index>({2, 0});
  const nn::Parameter<D, double> weight = tensor_of<D>({1, 2, 3});
  const auto check = [&](const auto& placed, const auto& of_layer, const auto& named, const auto& plain) {
    CHECK(values_of(placed) == values_of(named));
    CHECK(values_of(of_layer) == values_of(named));
    CHECK(values_of(plain) != values_of(named));
  };
  check(cross_entropy(x, labels, weight), nn::CrossEntropyLoss<D, double>(weight)(x, labels),
        cross_entropy(x, labels, {.weight = weight}), cross_entropy(x, labels));
  check(cross_entropy(x, y, weight), nn::CrossEntropyLoss<D, double>(weight)(x, y),
        cross_entropy(x, y, {.weight = weight}), cross_entropy(x, y));
  check(nll_loss(x, labels, weight), nn::NLLLoss<D, double>(weight)(x, labels), nll_loss(x, labels, {.weight = weight}),
        nll_loss(x, labels));
  check(binary_cross_entropy(x, y, weight), nn::BCELoss<D, double>(weight)(x, y),
        binary_cross_entropy(x, y, {.weight = weight}), binary_cross_entropy(x, y));
  check(binary_cross_entropy_with_logits(x, y, weight), nn::BCEWithLogitsLoss<D, double>(weight)(x, y),
        binary_cross_entropy_with_logits(x, y, {.weight = weight}), binary_cross_entropy_with_logits(x, y));
  check(multilabel_soft_margin_loss(x, y, weight), nn::MultiLabelSoftMarginLoss<D, double>(weight)(x, y),
        multilabel_soft_margin_loss(x, y, {.weight = weight}), multilabel_soft_margin_loss(x, y));
}

TEMPLATE_TEST_CASE("a loss takes its weights along and learns nothing", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const nn::CrossEntropyLoss<D, double> loss({.weight = tensor_of<D>({1, 2, 3})});
  CHECK(loss.parameters().empty());
  CHECK(loss.state_dict().size() == 1);
  CHECK(values_of(loss.to(f32).weight) == std::vector<double>{1, 2, 3});
}

}  // namespace nn_loss
