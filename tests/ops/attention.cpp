// Attention, against softmax and products written out.
#include "tern/ops/attention.hpp"
#include "support/tensors.hpp"
#include "tern/ops/gradcheck.hpp"

using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("attention is a mean of values weighted by softmax", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto q = spread_tensor<D>({2, 3, 4}), k = spread_tensor<D>({2, 5, 4}, -2, 1),
             v = spread_tensor<D>({2, 5, 6}, 0, 3);
  const auto written_out = [&](const auto& added, double scale) {
    return matmul(softmax(add(mul(matmul(q, k.mT()), scale), added), -1), v);
  };
  const auto zero = zeros<D, double>({3, 5});
  check_close(values_of(scaled_dot_product_attention(q, k, v)), values_of(written_out(zero, 0.5)));
  check_close(values_of(scaled_dot_product_attention(q, k, v, {}, {.scale = 2})), values_of(written_out(zero, 2)));
  const auto mask = spread_tensor<D>({3, 5}, -1, 1);
  check_close(values_of(scaled_dot_product_attention(q, k, v, mask)), values_of(written_out(mask, 0.5)));
  const auto causal = triu(full<D, double>({3, 5}, -std::numeric_limits<double>::infinity()), 1);
  check_close(values_of(scaled_dot_product_attention(q, k, v, {}, {.is_causal = true})),
              values_of(written_out(causal, 0.5)));
}

TEMPLATE_TEST_CASE("a query that sees no key gives zeros and no NaN in gradients", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  auto x = spread_tensor<D>({2, 4});
  x.requires_grad_();
  const auto mask = tensor_of<D, bool>({1, 1, 0, 0}, {2, 2});
  const auto y = scaled_dot_product_attention(x, x, x, mask);
  CHECK(values_of(y[1]) == std::vector<double>(4, 0));
  y.sum().backward();
  for (const double g : values_of(x.grad())) CHECK(g == g);
}

TEMPLATE_TEST_CASE("groups of heads share keys", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto q = spread_tensor<D>({4, 3, 2}), k = spread_tensor<D>({2, 3, 2}, -1, 2);
  const auto shared = scaled_dot_product_attention(q, k, k, {}, {.enable_gqa = true});
  check_close(values_of(shared[3]), values_of(scaled_dot_product_attention(q[3], k[1], k[1])));
  CHECK(error_of([&] { scaled_dot_product_attention(q, q.narrow(0, 0, 3), k, {}, {.enable_gqa = true}); }) ==
        "scaled_dot_product_attention: heads of keys [3, 3, 2] and values [2, 3, 2] do not divide those of [4, 3, 2]");
}
