// QR factorisation against PyTorch's.
#include "tern/linalg/qr.hpp"
#include "recorded_linalg.hpp"

namespace linalg_qr {
using namespace tern;
using namespace tern_test;

TEST_CASE("qr is PyTorch's", "[linalg]") {
  for (const char* mode : {"reduced", "complete"})
    check_recorded(std::string("qr, ") + mode, [mode](const auto& x) {
      const auto [q, r] = linalg::qr(x[0], mode);
      return std::vector{q, r};
    });
  check_recorded("qr, r", [](const auto& x) {
    const auto [q, r] = linalg::qr(x[0], "r");
    CHECK(!q.defined());
    return std::vector{r};
  });
}

TEST_CASE("qr's results have PyTorch's names and are a tuple", "[linalg]") {
  const auto a = ones<Cpu, double>({2, 3});
  CHECK(linalg::qr(a).R.shape() == detail::Shape{2, 3});
  CHECK(std::get<0>(linalg::qr(a)).shape() == detail::Shape{2, 2});
  const auto [q, r] = linalg::qr(a);
  check_close(values_of(matmul(q, r)), values_of(a));
}

TEST_CASE("qr can be differentiated twice", "[linalg][gradcheck]") {
  for (const detail::Shape& shape : {detail::Shape{4, 2}, detail::Shape{2, 3, 3}, detail::Shape{2, 4}}) {
    check_gradients([](const auto& x) { return linalg::qr(x).Q; }, shape);
    check_gradients([](const auto& x) { return linalg::qr(x).R; }, shape);
  }
}

TEST_CASE("qr refuses what it does not know", "[linalg][refusal]") {
  CHECK(error_of([] { linalg::qr(ones<Cpu>({2, 2}), "raw"); }) ==
        "qr: the mode must be \"reduced\", \"complete\" or \"r\", not \"raw\"");
  CHECK(error_of([] { linalg::qr(ones<Cpu>(2)); }) == "qr: a matrix or a batch of matrices is needed, not [2]");
  const auto a = spread_tensor<Cpu>({3, 2}).requires_grad_();
  CHECK(error_of([&] { sum(linalg::qr(a, "complete").Q).backward(); }) ==
        "qr: mode \"complete\" has no gradient for more rows than columns; use mode \"reduced\"");
}

TEST_CASE("qr of large matrices", "[linalg]") {
  manual_seed(1);
  for (const detail::Shape& shape : {detail::Shape{130, 130}, detail::Shape{200, 70}, detail::Shape{70, 200}}) {
    const auto a = randn<Cpu, double>(shape);
    for (const char* mode : {"reduced", "complete"}) {
      const auto [q, r] = linalg::qr(a, mode);
      check_near(values_of(matmul(q, r)), values_of(a), 1e-12);
      check_near(values_of(matmul(q.mT(), q)), values_of(eye<Cpu, double>(q.size(-1))), 1e-12);
      CHECK(values_of(tril(r, -1)) == values_of(zeros_like(r)));
    }
  }
}

}  // namespace linalg_qr
