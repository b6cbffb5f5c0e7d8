#include "tern/linalg/multi_dot.hpp"
#include "support/sixteen_bits.hpp"
#include "support/tensors.hpp"

#include "tern/functional/gradcheck.hpp"

namespace linalg_multi_dot {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("multi_dot is the product from left to right", "[linalg][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto a = spread_tensor<D>({2, 5}, -1, 1).requires_grad_(), b = spread_tensor<D>({5, 3}, 0, 1).requires_grad_(),
             c = spread_tensor<D>({3, 4}, -2, 1).requires_grad_(), d = spread_tensor<D>({4}, 1, 2).requires_grad_();
  check_close(values_of(linalg::multi_dot({a, b})), values_of(matmul(a, b)));
  check_close(values_of(linalg::multi_dot({a, b, c})), values_of(matmul(matmul(a, b), c)));
  check_close(values_of(linalg::multi_dot({a, b, c, d})), values_of(matmul(matmul(matmul(a, b), c), d)));
  const auto all = linalg::multi_dot({a[0], b, c, d});
  CHECK(all.shape() == detail::Shape{});
  check_close(values_of(all), values_of(matmul(matmul(matmul(a[0], b), c), d)));
  CHECK(linalg::multi_dot({a[1], b, c}).shape() == detail::Shape{4});
  const auto f = [](const auto& w, const auto& x, const auto& y, const auto& z) {
    return linalg::multi_dot({w, x, y, z});
  };
  CHECK(gradcheck(f, std::tuple{a, b, c, d}));
  CHECK(gradgradcheck(f, std::tuple{a, b, c, d}));
  check_rounded_once_in_16_bits(
      [](const auto& x, const auto& y, const auto& z) { return linalg::multi_dot({x, y, z}); }, a.detach(), b.detach(),
      c.detach());
}

TEST_CASE("multi_dot needs the fewest multiplications", "[linalg]") {
  // The example of Cormen et al.: ((A1 (A2 A3)) ((A4 A5) A6)), 15,125 multiplications; from left to right 40,500.
  const Index sizes[] = {30, 35, 15, 5, 10, 20, 25};
  std::vector<Tensor<Cpu, double>> factors;
  for (int i = 0; i < 6; ++i) factors.push_back(spread_tensor<Cpu>({sizes[i], sizes[i + 1]}, -1, 1));
  const auto y = linalg::multi_dot(factors);
  const auto& f = factors;
  const auto best = matmul(matmul(f[0], matmul(f[1], f[2])), matmul(matmul(f[3], f[4]), f[5]));
  CHECK(values_of(y) == values_of(best));  // bit for bit, which no other order gives
  CHECK(values_of(matmul(matmul(matmul(matmul(matmul(f[0], f[1]), f[2]), f[3]), f[4]), f[5])) != values_of(best));
}

TEMPLATE_TEST_CASE("multi_dot refuses what does not fit", "[linalg]", TERN_TEST_DEVICES) {
  const auto a = zeros<TestType>({2, 3}), v = zeros<TestType>({3});
  CHECK(error_of([&] { linalg::multi_dot({a}); }) == "multi_dot: at least two tensors are needed, not 1");
  CHECK(error_of([&] { linalg::multi_dot({a, a}); }) == "multi_dot: tensors 0 and 1 do not fit: [2, 3] and [2, 3]");
  CHECK(error_of([&] { linalg::multi_dot({a, v, a}); }) == "multi_dot: tensor 1 must be a matrix, not [3]");
  CHECK(error_of([&] { linalg::multi_dot({a[0][0], a}); }) ==
        "multi_dot: tensor 0 must be a matrix or a vector, not []");
}

}  // namespace linalg_multi_dot
