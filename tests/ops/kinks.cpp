// The gradients where a function has none, held against PyTorch 2.15's (recorded/kinks.json): at kinks, jumps, ties and
// zeros.
#include "support/recorded.hpp"
#include "tern/linalg/matrix_norm.hpp"
#include "tern/ops/ops.hpp"

#include <functional>
#include <limits>
#include <map>

namespace ops_kinks {
using namespace tern;
using namespace tern_test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Reduction none = Reduction::none;

/// Each recorded function by its name.
template <class D>
std::map<std::string, std::function<Tensor<D, double>(const std::vector<Tensor<D, double>>&)>> functions() {
  using X = Tensor<D, double>;
#define OF_X(name, ...)                  \
  {                                      \
    name, [](const std::vector<X>& in) { \
      const X& x = in[0];                \
      return __VA_ARGS__;                \
    }                                    \
  }
#define OF_X_Y(name, ...)                \
  {                                      \
    name, [](const std::vector<X>& in) { \
      const X &x = in[0], &y = in[1];    \
      return __VA_ARGS__;                \
    }                                    \
  }
#define OF_X_Y_Z(name, ...)                       \
  {                                               \
    name, [](const std::vector<X>& in) {          \
      const X &x = in[0], &y = in[1], &z = in[2]; \
      return __VA_ARGS__;                         \
    }                                             \
  }
  const auto sign = [] { return tensor_of<D>({1, 1, 1, -1, -1, -1}); };
  return {
      OF_X("threshold", threshold(x, 1, 5)),
      OF_X("hardtanh", hardtanh(x, -2, 1)),
      OF_X("leaky_relu, slope 2", leaky_relu(x, 2)),
      OF_X("elu, alpha 2", elu(x, 2)),
      OF_X("celu, alpha 2", celu(x, 2)),
      OF_X_Y("prelu", prelu(x, y)),
      OF_X("hardshrink, 0.5", hardshrink(x)),
      OF_X("hardshrink, 0.0", hardshrink(x, 0)),
      OF_X("softshrink, 0.5", softshrink(x)),
      OF_X("softshrink, 0.0", softshrink(x, 0)),
      OF_X("softplus", softplus(x, 2, 3)),
      OF_X("logit, eps", logit(x, 0.25)),
      OF_X("floor", floor(x)),
      OF_X("ceil", ceil(x)),
      OF_X("round", round(x)),
      OF_X("trunc", trunc(x)),
      OF_X("frac", frac(x)),
      OF_X("asin", asin(x)),
      OF_X("acos", acos(x)),
      OF_X("acosh", acosh(x)),
      OF_X("atanh", atanh(x)),
      OF_X("erfinv", erfinv(x)),

      OF_X("clamp, one bound", clamp(x, 1)),
      OF_X("clamp_min", clamp_min(x, 1)),
      OF_X("clamp_max", clamp_max(x, 1)),
      OF_X("clamp, equal bounds", clamp(x, 1, 1)),
      OF_X_Y("maximum of equals", maximum(x, y)),
      OF_X_Y("minimum of equals", minimum(x, y)),
      OF_X_Y("clamp_min of equals", clamp_min(x, y)),
      OF_X_Y("clamp_max of equals", clamp_max(x, y)),
      OF_X_Y("logaddexp of equals", logaddexp(x, y)),
      OF_X_Y("xlogy", xlogy(x, y)),
      OF_X_Y("hypot", hypot(x, y)),

      OF_X("amax", amax(x, 1)),
      OF_X("amax, two dimensions", amax(x, {0, 1})),
      OF_X("amin", amin(x, 1)),
      OF_X("amin, two dimensions", amin(x, {0, 1})),
      OF_X("max", max(x)),
      OF_X("max, a dimension", max(x, 1).values),
      OF_X("min", min(x)),
      OF_X("min, a dimension", min(x, 1).values),
      OF_X("median", median(x)),
      OF_X("median, a dimension", median(x, 1).values),
      OF_X("aminmax", aminmax(x, 1).first + aminmax(x, 1).second),
      OF_X("aminmax of all", aminmax(x).first + aminmax(x).second),
      OF_X("kthvalue", kthvalue(x, 2, 1).values),
      OF_X("sort", sort(x, 1).values),
      OF_X("sort, descending", sort(x, 1, true).values),
      OF_X("norm of rows, p = 1.0", norm(x, 1, 1)),
      OF_X("norm of rows, p = 2.0", norm(x, 2, 1)),
      OF_X("norm of rows, p = 3.0", norm(x, 3, 1)),
      OF_X("norm of rows, p = 1.5", norm(x, 1.5, 1)),
      OF_X("norm of rows, p = 0.5", norm(x, 0.5, 1)),
      OF_X("norm of rows, p = inf", norm(x, infinity, 1)),
      OF_X("norm of rows, p = -inf", norm(x, -infinity, 1)),
      OF_X("matrix_norm, fro", linalg::matrix_norm(x)),
      OF_X("matrix_norm, 1", linalg::matrix_norm(x, 1)),
      OF_X("matrix_norm, inf", linalg::matrix_norm(x, infinity)),
      OF_X("matrix_norm, -1", linalg::matrix_norm(x, -1)),
      OF_X("matrix_norm, -inf", linalg::matrix_norm(x, -infinity)),
      OF_X("matrix_norm of zeros", linalg::matrix_norm(x)),
      OF_X_Y("pairwise_distance, p = 1.0", pairwise_distance(x, y, 1, 0)),
      OF_X_Y("pairwise_distance, p = 2.0", pairwise_distance(x, y, 2, 0)),
      OF_X_Y("pairwise_distance, p = inf", pairwise_distance(x, y, infinity, 0)),
      OF_X_Y("cosine_similarity", cosine_similarity(x, y)),
      OF_X("normalize", normalize(x)),
      OF_X("prod", prod(x, 1)),
      OF_X("cumprod", cumprod(x, 1)),
      OF_X("var", var(x, 1)),
      OF_X("std", tern::std(x, 1)),

      OF_X_Y("l1_loss", l1_loss(x, y, {none})),
      OF_X_Y("huber_loss", huber_loss(x, y, {none, 0.5})),
      OF_X_Y("smooth_l1_loss", smooth_l1_loss(x, y, {none, 0.5})),
      OF_X_Y("smooth_l1_loss, beta 0", smooth_l1_loss(x, y, {none, 0})),
      OF_X("soft_margin_loss", soft_margin_loss(x, ones_like(x), {none})),
      {"margin_ranking_loss", [=](const auto& in) { return margin_ranking_loss(in[0], in[1], sign(), {0.5, none}); }},
      {"hinge_embedding_loss", [=](const auto& in) { return hinge_embedding_loss(in[0], sign(), {0.5, none}); }},
      OF_X_Y_Z("triplet_margin_loss", triplet_margin_loss(x, y, z, {.margin = 0.5, .eps = 0, .reduction = none})),
      OF_X_Y_Z("triplet_margin_loss, swap",
               triplet_margin_loss(x, y, z, {.margin = 4, .eps = 0, .swap = true, .reduction = none})),
      OF_X("kl_div", kl_div(x, tensor_of<D>({0, 0.5}), {none})),
      OF_X_Y("poisson_nll_loss", poisson_nll_loss(x, y, {.full = true, .reduction = none})),
      OF_X_Y("binary_cross_entropy_with_logits", binary_cross_entropy_with_logits(x, y, {.reduction = none})),

      OF_X("max_pool1d", max_pool1d(x, 3)),
      OF_X("adaptive_max_pool1d", adaptive_max_pool1d(x, 4)),
      OF_X("lp_pool1d", lp_pool1d(x, 2, 2))};
#undef OF_X
#undef OF_X_Y
#undef OF_X_Y_Z
}

}  // namespace

TEMPLATE_TEST_CASE("gradients at kinks, jumps, ties and zeros are PyTorch's", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto all = functions<D>();
  const Json cases = recorded_cases("kinks");
  CHECK(all.size() == cases.size());
  for (const Json& recorded : cases) {
    const std::string name = recorded["name"];
    DYNAMIC_SECTION(name) {
      std::vector<Tensor<D, double>> in;
      for (const Json& x : recorded["inputs"]) in.push_back(tensor_of<D>(numbers_of(x), shape_of(x)).requires_grad_());
      const auto y = all.at(name)(in);
      check_close(values_of(y), numbers_of(recorded["output"]));
      const auto incoming = arange<Cpu, double>(1, double(y.numel() + 1)).view(y.shape()).to(y.device());
      const auto gradients = tern::grad(std::vector{y}, in, {incoming});
      for (std::size_t i = 0; i < in.size(); ++i)
        check_close(values_of(gradients[i]), numbers_of(recorded["gradients"][i]), 1e-9, 1e-12);
    }
  }
}

}  // namespace ops_kinks
