#include "support/sixteen_bits.hpp"
#include "support/tensors.hpp"

#include "tern/functional/gradcheck.hpp"
#include "tern/ops/ranking_losses.hpp"

namespace ops_ranking_losses {
using namespace tern;
using namespace tern_test;

namespace {
constexpr Reduction none = Reduction::none;
}

TEMPLATE_TEST_CASE("losses that compare, by their formulas", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({-1, 0.5, 2}), y = tensor_of<D>({1, 0.25, 0.5}), sign = tensor_of<D>({1, -1, -1});
  check_close(values_of(margin_ranking_loss(x, y, sign, {0.5, none})), {2.5, 0.75, 2});
  check_close(values_of(hinge_embedding_loss(x, sign, {1, none})), {-1, 0.5, 0});
  check_close(values_of(margin_ranking_loss(x, y, sign, 0.5, none)), {2.5, 0.75, 2});
  check_close(values_of(hinge_embedding_loss(x, sign, 0.5, none)), {-1, 0, 0});
  check_close(values_of(soft_margin_loss(x, sign, {none})),
              {std::log1p(std::exp(1.)), std::log1p(std::exp(0.5)), std::log1p(std::exp(2.))});
  const auto p = tensor_of<D>({0.5, 0, 0.5});
  check_close(values_of(kl_div(x, p, {none})), {0.5 * std::log(0.5) + 0.5, 0, 0.5 * std::log(0.5) - 1});
  check_close(values_of(kl_div(x, x, {none, true})), {0, 0, 0});
  const double e = std::exp(1.);
  check_close(values_of(poisson_nll_loss(x, y, {.reduction = none})), {1 / e + 1, std::sqrt(e) - 0.125, e * e - 1});
  check_close(values_of(poisson_nll_loss(y, 2 * p, {.log_input = false, .eps = 0, .reduction = none})),
              {1, 0.25, 0.5 - std::log(0.5)});
  const auto three = full<D, double>({1}, 3), one = ones<D, double>({1});
  const double factorial = 3 * std::log(3.) - 3 + 0.5 * std::log(6 * 3.14159265358979323846);
  check_close(values_of(poisson_nll_loss(one, three, {.full = true})), {e - 3 + factorial});
  const auto anchor = tensor_of<D>({0, 0}, {1, 2}), near = tensor_of<D>({3, 4}, {1, 2}),
             far = tensor_of<D>({0, 2}, {1, 2});
  CHECK(triplet_margin_loss(anchor, near, far, {.eps = 0}).item() == Approx(4));
  CHECK(triplet_margin_loss(anchor, far, near, {.eps = 0}).item() == 0);
  CHECK(triplet_margin_loss(anchor, far, near, {.margin = 3, .eps = 0, .swap = true}).item() ==
        Approx(5 - std::sqrt(13.)));
  CHECK(triplet_margin_loss(anchor, far, near, 3, 2, 0, true).item() == Approx(5 - std::sqrt(13.)));
  CHECK(triplet_margin_loss(anchor, near, far, 0.5).item() == Approx(3.5));
  CHECK(soft_margin_loss(full<D, float>({1}, -1000), ones<D, float>({1})).item() == 1000);
}

TEMPLATE_TEST_CASE("the mean and the sum of losses that compare", "[ops]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({2, 3}), t = spread_tensor<TestType>({3}, 0.1, 1);
  const auto check = [&](const auto& loss) {
    const auto each = values_of(loss(none));
    double sum = 0;
    for (double value : each) sum += value;
    CHECK(loss(Reduction::sum).item() == Approx(sum));
    CHECK(loss(Reduction::mean).item() == Approx(sum / 6));
  };
  check([&](Reduction r) { return margin_ranking_loss(x, x.flip(1), x.flip(0), {0.5, r}); });
  check([&](Reduction r) { return hinge_embedding_loss(x, t, {1, r}); });
  check([&](Reduction r) { return soft_margin_loss(x, t, {r}); });
  check([&](Reduction r) { return kl_div(x, t, {r}); });
  CHECK(kl_div(x, t, {.reduction = "batchmean"}).item() == Approx(kl_div(x, t, {Reduction::sum}).item() / 2));
  CHECK(kl_div(x, t, {.reduction = "sum"}).item() == kl_div(x, t, {Reduction::sum}).item());
  CHECK(kl_div(x, t, {.reduction = "mean"}).item() == kl_div(x, t, {Reduction::mean}).item());
  CHECK(values_of(kl_div(x, t, {.reduction = "none"})) == values_of(kl_div(x, t, {none})));
  CHECK(kl_div(x[0][0], t[0], {KlDivReduction::batchmean}).item() == Approx(kl_div(x[0][0], t[0]).item()));
  check([&](Reduction r) { return poisson_nll_loss(x, t, {.reduction = r}); });
}

TEMPLATE_TEST_CASE("gradients of losses that compare", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  auto x = spread_tensor<D>({2, 3}).requires_grad_(), y = spread_tensor<D>({2, 3}, 0.5, 3).requires_grad_();
  const auto sign = tensor_of<D>({1, -1, 1, -1, 1, -1}, {2, 3});
  const auto check = [](const auto& f, const auto& inputs) {
    CHECK(gradcheck(f, inputs));
    CHECK(gradgradcheck(f, inputs));
  };
  const std::tuple both{x, y};
  for (const Reduction r : {none, Reduction::mean}) {
    check([&](const auto& a, const auto& b) { return margin_ranking_loss(a * a, b, sign, {0.3, r}); }, both);
    check([&](const auto& a) { return hinge_embedding_loss(a * a, sign, {2, r}); }, std::tuple{x});
    check([&](const auto& a, const auto& b) { return soft_margin_loss(a, b, {r}); }, both);
    check([&](const auto& a, const auto& b) { return kl_div(a, b, {r}); }, both);
    check([&](const auto& a, const auto& b) { return kl_div(a, b, {r, true}); }, both);
    check([&](const auto& a, const auto& b) { return poisson_nll_loss(a, b, {.full = true, .reduction = r}); }, both);
    check([&](const auto& a, const auto& b) { return poisson_nll_loss(b, a, {.log_input = false, .reduction = r}); },
          both);
    check([&](const auto& a, const auto& b) { return triplet_margin_loss(a, b, sign, {.p = 3, .reduction = r}); },
          both);
  }
}

TEMPLATE_TEST_CASE("losses that compare refuse what does not fit", "[ops]", TERN_TEST_DEVICES) {
  const auto x = zeros<TestType, double>({2, 3}), y = zeros<TestType, double>({2}), z = zeros<TestType, double>({2, 2});
  CHECK(error_of([&] { margin_ranking_loss(x, x, y); }) ==
        "margin_ranking_loss: tensors with the same number of dimensions are needed: [2, 3] and [2]");
  CHECK(error_of([&] { hinge_embedding_loss(x, y); }) ==
        "hinge_embedding_loss: shapes do not broadcast: [2, 3] and [2]");
  CHECK(error_of([&] { soft_margin_loss(x, y); }) == "soft_margin_loss: shapes do not broadcast: [2, 3] and [2]");
  CHECK(error_of([&] { triplet_margin_loss(x, x, y); }) ==
        "triplet_margin_loss: tensors with the same number of dimensions are needed: [2, 3] and [2]");
  CHECK(error_of([&] { triplet_margin_loss(x, y, x); }) ==
        "triplet_margin_loss: tensors with the same number of dimensions are needed: [2, 3] and [2]");
  CHECK(error_of([&] { triplet_margin_loss(y, x, x); }) ==
        "triplet_margin_loss: tensors with the same number of dimensions are needed: [2] and [2, 3]");
  CHECK(error_of([&] { triplet_margin_loss(x, x, x, {.margin = -1}); }) ==
        "triplet_margin_loss: margin must be positive, not -1");
  CHECK(error_of([&] { kl_div(x, z); }) == "kl_div: shapes do not broadcast: [2, 3] and [2, 2]");
  CHECK(error_of([&] { poisson_nll_loss(x, z); }) == "poisson_nll_loss: shapes do not broadcast: [2, 3] and [2, 2]");
}

TEMPLATE_TEST_CASE("losses of cosines, scores of classes and normal distributions are PyTorch's", "[ops][gradcheck]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto a = tensor_of<D>({1, 5, 2, 4, 3, 9}, {2, 3}), signs = tensor_of<D>({1, -1});
  const auto at = tensor_of<D, Index>({1, 0});
  const double near = 29. / 30, far = 81. / 106;  // the cosines of a's rows and the same reversed
  for (const auto& x : layouts(a)) {
    const auto cosines = [&](double margin, Reduction reduction) {
      return values_of(cosine_embedding_loss(x, x.flip({1}), signs, {margin, reduction}));
    };
    check_close(cosines(0, Reduction::none), {1 - near, far});
    check_close(cosines(0.5, Reduction::mean), {(1 - near + far - 0.5) / 2});
    check_close(values_of(multi_margin_loss(x, at, {.p = 2})), {6});  // 36 / 3 of the second row
    check_close(values_of(multi_margin_loss(x, at, {.margin = 2, .reduction = "none"})), {0, 8. / 3});
    check_close(values_of(gaussian_nll_loss(x, x.flip({1}), full<D, double>({}, 2), {.reduction = "sum"})),
                {3 * std::log(2.) + 13});
  }
  check_close(values_of(cosine_embedding_loss(a[0], a[1], full<D, double>({}, 1))), {1 - 37 / std::sqrt(30. * 106)});
  check_close(values_of(multi_margin_loss(a[0], full<D, Index>({}, 0))), {7. / 3});
  const double full_loss = (std::log(1e-6) + 1 / 1e-6) / 2 + std::log(2 * M_PI) / 2;
  check_close(
      values_of(gaussian_nll_loss(ones<D, double>({1}), zeros<D, double>({1}), zeros<D, double>({1}), {.full = true})),
      {full_loss});
  auto variance = zeros<D, double>({1}).requires_grad_();  // counts as 1e-6, and has the gradient there
  gaussian_nll_loss(zeros<D, double>({1}), zeros<D, double>({1}), variance).backward();
  check_close(values_of(variance.grad()), {5e5}, 1e-9, 1e-9);

  const auto x = spread_tensor<D>({2, 3}, -1, 2).requires_grad_(),
             y = spread_tensor<D>({2, 3}, 2, -2).clone().requires_grad_();
  const auto check = [&](const auto& f) {
    CHECK(gradcheck(f, std::tuple{x, y}));
    CHECK(gradgradcheck(f, std::tuple{x, y}));
  };
  for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum}) {
    check([&](const auto& u, const auto& v) {
      return cosine_embedding_loss(u, v, signs, {.margin = -1, .reduction = reduction});
    });
    check([&](const auto& u, const auto& v) { return multi_margin_loss(u * v, at, {.p = 2, .reduction = reduction}); });
    check([&](const auto& u, const auto& v) { return gaussian_nll_loss(u, v, v * v + 1, {.reduction = reduction}); });
  }
  check_rounded_once_in_16_bits(
      [](const auto& u, const auto& v) { return gaussian_nll_loss(u, v, v * v + 1, {.reduction = Reduction::none}); },
      x.detach(), zeros<D, double>({2, 3}));
  CHECK(error_of([&] { gaussian_nll_loss(x, y, full<D, double>({}, -1)); }) ==
        "gaussian_nll_loss: variances must not be negative: -1");
  CHECK(error_of([&] { multi_margin_loss(x, at, {.p = 3}); }) == "multi_margin_loss: p must be 1 or 2, not 3");
  CHECK(error_of([&] { multi_margin_loss(x, at[0]); }) ==
        "multi_margin_loss: scores [N, C] and targets [N] are needed, not [2, 3] and []");
  CHECK(error_of([&] { values_of(multi_margin_loss(x, tensor_of<D, Index>({0, 3}))); }) ==
        "multi_margin_loss: index 3 is out of range for a dimension of size 3");
  CHECK(error_of([&] { cosine_embedding_loss(x, y, y); }).find("cosine_embedding_loss: rows [N, C] and targets [N]") ==
        0);
}

TEMPLATE_TEST_CASE("infinite scores in losses of margins", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  constexpr double inf = INFINITY;
  struct Case {
    std::vector<double> scores;
    double loss, squared;
    std::vector<double> gradient;
  };
  // PyTorch 2.15: F.multi_margin_loss(x, [0]) and with p=2, and its gradient. multilabel_margin_loss of one label is
  // the first.
  const Case cases[] = {{{inf, 1, 2}, 0, 0, {0, 0, 0}},
                        {{-inf, 1, 2}, inf, inf, {-2. / 3, 1. / 3, 1. / 3}},
                        {{1, inf, 2}, inf, inf, {-2. / 3, 1. / 3, 1. / 3}},
                        {{1, -inf, 2}, 2. / 3, 4. / 3, {-1. / 3, 0, 1. / 3}},
                        {{inf, inf, 2}, 0, 0, {0, 0, 0}},
                        {{-inf, -inf, 0}, inf, inf, {-1. / 3, 0, 1. / 3}}};
  const auto right = zeros<D, Index>({1}), listed = tensor_of<D, Index>({0, -1, 0}, {1, 3});
  for (const Case& c : cases) {
    CAPTURE(c.scores);
    auto x = tensor_of<D>(c.scores, {1, 3}).clone().requires_grad_();
    const auto loss = multi_margin_loss(x, right);
    check_close(values_of(loss), {c.loss});
    check_close(values_of(multilabel_margin_loss(x, listed)), {c.loss});
    check_close(values_of(multi_margin_loss(x, right, {.p = 2})), {c.squared});
    loss.backward();
    check_close(values_of(x.grad()), c.gradient);
  }
  CHECK(std::isnan(multi_margin_loss(tensor_of<D>({1, NAN, 2}, {1, 3}), right).item()));
}

TEMPLATE_TEST_CASE("losses of several labels a row, by their formulas", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({0.1, 0.2, 0.4, 0.8, 3, -1, 0, 0.5}, {2, 4});
  const auto listed = tensor_of<D, Index>({3, 0, -1, 1, -1, 7, -8, 3}, {2, 4});  // after -1 anything may stand
  // PyTorch's example: (1 - (0.1 - 0.2) + 1 - (0.1 - 0.4) + 1 - (0.8 - 0.2) + 1 - (0.8 - 0.4)) / 4
  check_close(values_of(multilabel_margin_loss(x, listed, {none})), {0.85, 0});
  check_close(values_of(multilabel_margin_loss(x, listed)), {0.425});
  check_close(values_of(multilabel_margin_loss(x[0], listed[0], {.reduction = "sum"})), {0.85});
  const auto masked = tensor_of<D>({-INFINITY, 0.5, 1});  // the class 0 stands for those that are not listed
  check_close(values_of(multilabel_margin_loss(masked, tensor_of<D, Index>({1, -1, -1}))), {0.5});
  const auto target = tensor_of<D>({1, 0, 0, 1, 0, 1, 0.5, 0}, {2, 4}), weight = tensor_of<D>({1, 2, 0, 4});
  const auto scores = values_of(x), wanted = values_of(target), weights = values_of(weight);
  std::vector<double> rows(2, 0);
  for (std::size_t i = 0; i < 8; ++i) {
    const double p = 1 / (1 + std::exp(-scores[i]));
    rows[i / 4] -= weights[i % 4] * (wanted[i] * std::log(p) + (1 - wanted[i]) * std::log(1 - p)) / 4;
  }
  for (const auto& layout : layouts(x))
    check_close(values_of(multilabel_soft_margin_loss(layout, target, {weight, none})), rows);
  CHECK(multilabel_soft_margin_loss(x, target, {weight}).item() == Approx((rows[0] + rows[1]) / 2));
  CHECK(multilabel_soft_margin_loss(x, target, {.weight = weight, .reduction = "sum"}).item() ==
        Approx(rows[0] + rows[1]));
  CHECK(multilabel_soft_margin_loss(full<D, float>({1}, -1000), ones<D, float>({1})).item() == 1000);

  const auto leaf = spread_tensor<D>({2, 4}, -1, 2).requires_grad_();
  for (const Reduction r : {none, Reduction::mean}) {
    const auto margin = [&](const auto& v) { return multilabel_margin_loss(v * v, listed, {r}); };
    const auto soft = [&](const auto& v) { return multilabel_soft_margin_loss(v, target, {weight, r}); };
    CHECK(gradcheck(margin, std::tuple{leaf}));
    CHECK(gradgradcheck(margin, std::tuple{leaf}));
    CHECK(gradcheck(soft, std::tuple{leaf}));
    CHECK(gradgradcheck(soft, std::tuple{leaf}));
  }
  check_rounded_once_in_16_bits(
      [](const auto& u, const auto& v) { return multilabel_soft_margin_loss(u, v, {.reduction = none}); },
      leaf.detach(), target);
  CHECK(error_of([&] { multilabel_margin_loss(x, listed[0]); }) ==
        "multilabel_margin_loss: scores and targets [N, C] are needed, not [2, 4] and [4]");
  CHECK(error_of([&] { values_of(multilabel_margin_loss(x[0], tensor_of<D, Index>({4, 0, 0, 0}))); }) ==
        "multilabel_margin_loss: index 4 is out of range for a dimension of size 4");
  CHECK(error_of([&] { multilabel_soft_margin_loss(x, target[0]); }).find("multilabel_soft_margin_loss: ") == 0);
}

}  // namespace ops_ranking_losses
