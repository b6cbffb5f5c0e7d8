// Counts and sizes, of any integer type, where a function takes a number: they are the number. tests/warnings compiles
// this with -Wconversion, which warns of an integer that becomes a double.
#include "programs/program.hpp"

#include <tern/linalg/linalg.hpp>
#include <tern/tern.hpp>

namespace programs_numbers {
using namespace tern_test;

namespace {

/// The results of calls with the numbers 0, 1 and 2. They are arguments, because compilers do not warn of constants.
template <class D, class N>
std::vector<std::vector<double>> results(N none, N one, N two) {
  const auto x = tensor_of<D, float>({-1, 0.25, 2, 3}, {2, 2}), y = x + 1, v = x[0];
  std::vector<std::vector<double>> rows;
  const auto row = [&](const auto& result) { rows.push_back(values_of(result)); };
  row(linspace<D>(none, two, 3));
  row(logspace<D>(none, two, 3, two));
  row(uniform<D>({2}, one, one));
  row(normal<D>(two, none, {2}));
  row(normal(x, none));
  row(normal(one, zeros_like(x)));
  row(empty_like(x).uniform_(one, one));
  row(empty_like(x).normal_(two, none));
  row(empty_like(x).bernoulli_(one));
  row(x.norm(one));
  row(dist(x, y, one));
  row(renorm(x, one, 0, two));
  row(normalize(x, one, 1, one));
  row(pairwise_distance(x, y, one, none));
  row(cosine_similarity(x, y, 1, one));
  row(cdist(x, y, one));
  row(pdist(x, one));
  row(linalg::vector_norm(x, one));
  row(linalg::matrix_norm(x, one));
  row(x.var(0, none));
  row(x.std(0, none));
  row(var_mean(x, 0, none).first);
  row(std_mean(x, 0, none).first);
  row(x.cov(none));
  row(x.histc(3, none, two));
  row(x.abs().quantile(one));
  row(x.isclose(y, none, two));
  row(x.nan_to_num(one));
  row(x.copysign(one));
  row(x.float_power(two));
  row(pow(two, x));
  row(lerp(x, y, two));
  row(addcdiv(x, y, y + 4, two));
  row(addmm(x, x, y, two, two));
  row(addmv(v, x, v, two, two));
  row(addr(x, v, v, two, two));
  row(logit(abs(x) / 4, none));
  row(trapezoid(x, two));
  row(cumulative_trapezoid(x, two));
  row(leaky_relu(x, two));
  row(elu(x, two));
  row(celu(x, two));
  row(hardtanh(x, none, two));
  row(threshold(x, one, two));
  row(softplus(x, two, one));
  row(softshrink(x, one));
  row(hardshrink(x, one));
  row(dropout(x, none));
  row(alpha_dropout(x, none));
  row(layer_norm(x, {2}, {}, {}, one));
  row(group_norm(x, 1, {}, {}, one));
  row(batch_norm(x, {}, {}, {}, {}, true, one, one));
  row(lp_pool1d(abs(x), two, 2));
  row(local_response_norm(x.view({1, 2, 2}), 1, one, two, two));
  row(nn::init::constant_(clone(x), two));
  row(nn::init::uniform_(clone(x), one, one));
  row(nn::init::normal_(clone(x), two, none));
  row(nn::Threshold<D>(one, two)(x));
  row(nn::Hardtanh<D>(none, two)(x));
  row(nn::Softplus<D>(two, one)(x));
  row(nn::LeakyReLU<D>(two)(x));
  row(nn::PairwiseDistance<D>(one, none)(x, y));
  row(nn::Dropout<D>(none)(x));
  auto w = clone(x).requires_grad_();
  (w * w).sum().backward();
  row(optim::clip_grad_norm_({w}, one, two));
  optim::clip_grad_value_({w}, one);
  row(w.grad());
  return rows;
}

}  // namespace

TEMPLATE_TEST_CASE("an integer of any type is the number that it is", "[programs]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto expected = results<D>(0.0, 1.0, 2.0);
  CHECK(expected[0] == std::vector<double>{0, 1, 2});
  CHECK(results<D, Index>(0, 1, 2) == expected);
  CHECK(results<D, std::size_t>(0, 1, 2) == expected);
}

}  // namespace programs_numbers
