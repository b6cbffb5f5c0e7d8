#include "support/tensors.hpp"

#include "tern/functional/gradcheck.hpp"
#include "tern/ops/local_response_norm.hpp"

namespace ops_local_response_norm {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("local_response_norm by its formula", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const std::vector<double> x = spread_values(2 * 5 * 3);
  for (const int size : {1, 2, 3, 4, 7})
    for (const auto& v : layouts(tensor_of<D>(x, {2, 5, 3}))) {
      std::vector<double> y;
      for (int i = 0; i < 30; ++i) {
        const int c = i / 3 % 5;
        double sum = 0;
        for (int k = c - size / 2; k < c - size / 2 + size; ++k)
          if (k >= 0 && k < 5) sum += std::pow(x[std::size_t(i + (k - c) * 3)], 2);
        y.push_back(x[std::size_t(i)] / std::pow(1.5 + 0.3 * sum / size, 0.6));
      }
      check_close(values_of(local_response_norm(v, size, 0.3, 0.6, 1.5)), y);
    }
  const auto last = local_response_norm(spread_tensor<D>({2, 5, 4, 3}).contiguous(channels_last), 3);
  CHECK(last.is_contiguous(channels_last));
  CHECK(local_response_norm(zeros<D>({0, 5, 3}), 3).shape() == detail::Shape{0, 5, 3});
}

TEMPLATE_TEST_CASE("gradients of local_response_norm", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({2, 4, 3}).requires_grad_();
  const auto f = [](const auto& v) { return local_response_norm(v, 2, 0.3, 0.6, 1.5); };
  CHECK(gradcheck(f, std::tuple{x}));
  CHECK(gradgradcheck(f, std::tuple{x}));
}

TEMPLATE_TEST_CASE("local_response_norm refuses", "[ops]", TERN_TEST_DEVICES) {
  CHECK(error_of([] { local_response_norm(zeros<TestType>({2, 3}), 2); }) ==
        "local_response_norm: an input of shape [N, C, ...] of at least 3 dimensions is needed, not [2, 3]");
  CHECK(error_of([] { local_response_norm(zeros<TestType>({2, 3, 4}), 0); }) ==
        "local_response_norm: size must be positive, not 0");
}

}  // namespace ops_local_response_norm
