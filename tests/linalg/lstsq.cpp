// Least squares against PyTorch's.
#include "tern/linalg/lstsq.hpp"
#include "recorded_linalg.hpp"

namespace linalg_lstsq {
using namespace tern;
using namespace tern_test;

const char* const drivers[] = {"gels", "gelsy", "gelsd", "gelss"};

TEST_CASE("lstsq is PyTorch's", "[linalg]") {
  check_recorded("lstsq", [](const auto& x) { return std::vector{linalg::lstsq(x[0], x[1]).solution}; });
  check_recorded("lstsq, rcond",
                 [](const auto& x) { return std::vector{linalg::lstsq(x[0], x[1], 0.4, "gelsd").solution}; });
  for (const char* driver : {"gels", "gelsd"})
    check_recorded(std::string("lstsq, ") + driver, [driver](const auto& x) {
      const auto y = linalg::lstsq(x[0], x[1], {}, driver);
      return std::vector{y.solution, y.residuals};
    });
}

TEST_CASE("lstsq can be differentiated twice", "[linalg][gradcheck]") {
  const auto b = spread_tensor<Cpu>({2, 4, 2}, -1, 3).requires_grad_();
  for (const Index n : {3, 4, 5}) {
    const auto matrices = (spread_tensor<Cpu>({4, n}) + 2 * eye<Cpu, double>(4, n)).detach().requires_grad_();
    const auto inputs = std::tuple{matrices, b};
    for (const char* driver : {"gelsy", "gelsd"}) {
      const auto f = [driver](const auto& a, const auto& y) { return linalg::lstsq(a, y, {}, driver).solution; };
      CHECK(gradcheck(f, inputs));
      CHECK(gradgradcheck(f, inputs));
    }
  }
  const auto inputs = std::tuple{spread_tensor<Cpu>({4, 2}).requires_grad_(), b};
  CHECK(gradcheck([](const auto& a, const auto& y) { return linalg::lstsq(a, y, {}, "gels").residuals; }, inputs));
}

TEST_CASE("each driver of lstsq gives its results", "[linalg]") {
  const auto a = stack({spread_tensor<Cpu>({4, 2}), ones<Cpu, double>({4, 2})}), b = spread_tensor<Cpu>({2, 4, 3});
  for (const char* driver : drivers) {
    INFO(driver);
    const bool by_values = std::string(driver).find("gelsd") == 0 || std::string(driver) == "gelss";
    const auto y = linalg::lstsq(a, b, {}, driver);
    CHECK(y.solution.shape() == detail::Shape{2, 2, 3});
    if (std::string(driver) == "gels") CHECK(y.rank.shape() == detail::Shape{0});
    else CHECK(values_of(y.rank) == std::vector<double>{2, 1});
    CHECK(y.singular_values.shape() == (by_values ? detail::Shape{2, 2} : detail::Shape{0}));
    const auto full = linalg::lstsq(a[0], b[0], {}, driver);
    CHECK(full.residuals.shape() == (std::string(driver) == "gelsy" ? detail::Shape{0} : detail::Shape{3}));
  }
  CHECK(linalg::lstsq(a, b, {}, "gelsd").residuals.numel() == 0);
  check_near(values_of(linalg::lstsq(a[1], b[1], {}, "gelsd").singular_values), {std::sqrt(8.), 0}, 1e-15);
}

TEST_CASE("lstsq of large matrices of any rank and scale has the least norm", "[linalg]") {
  manual_seed(1);
  for (const detail::Shape& shape : {detail::Shape{130, 130}, detail::Shape{200, 70}, detail::Shape{70, 200}})
    for (const Index rank : {Index(30), std::min(shape[0], shape[1])})
      for (const double scale : {1., 1e200, 1e-200}) {
        INFO("rank " << rank << " of " << shape[0] << " x " << shape[1] << ", " << scale);
        const auto a = matmul(randn<Cpu, double>({shape[0], rank}), randn<Cpu, double>({rank, shape[1]}));
        const auto b = randn<Cpu, double>({shape[0], 3});
        const auto y = linalg::lstsq(a * scale, b);
        CHECK(y.rank.item() == rank);
        check_near(values_of(y.solution * scale), values_of(matmul(linalg::pinv(a), b)), 1e-8);
      }
}

TEST_CASE("lstsq broadcasts, and takes vectors and nothing", "[linalg]") {
  const auto a = spread_tensor<Cpu>({2, 4, 3}), b = spread_tensor<Cpu>({4, 2}), v = spread_tensor<Cpu>({4});
  const auto both = linalg::lstsq(a, b).solution;
  for (const Index i : {0, 1}) {
    check_near(values_of(both[i]), values_of(linalg::lstsq(a[i], b).solution), 1e-15);
    check_near(values_of(linalg::lstsq(a, v).solution[i]), values_of(matmul(linalg::pinv(a[i]), v)), 1e-12);
  }
  for (const char* driver : drivers) {
    CHECK(values_of(linalg::lstsq(zeros<Cpu>({0, 3}), zeros<Cpu>({0, 2}), {}, driver).solution) ==
          std::vector<double>(6, 0.));
    CHECK(linalg::lstsq(zeros<Cpu>({3, 0}), ones<Cpu>({3, 2}), {}, driver).solution.shape() == detail::Shape{0, 2});
  }
  CHECK(linalg::lstsq(zeros<Cpu>({0, 3}), zeros<Cpu>({0, 2})).rank.item() == 0);
}

TEST_CASE("lstsq refuses what does not fit", "[linalg][refusal]") {
  const auto a = spread_tensor<Cpu>({4, 3});
  CHECK(error_of([&] { linalg::lstsq(a, ones<Cpu, double>({3, 2})); }) ==
        "lstsq: matrices of shape [4, 3] do not fit right sides of shape [3, 2]");
  CHECK(error_of([&] { linalg::lstsq(ones<Cpu>(3), ones<Cpu>(3)); }) ==
        "lstsq: a matrix or a batch of matrices is needed, not [3]");
  CHECK(error_of([&] { linalg::lstsq(a, a, {}, "qr"); }) ==
        "lstsq: the driver must be \"gels\", \"gelsy\", \"gelsd\" or \"gelss\", not \"qr\"");
  for (const char* driver : drivers)
    CHECK(error_of([&] { linalg::lstsq(stack({a, a * NAN}), a, {}, driver); }) ==
          "lstsq: matrix 1 of the batch has NaN or infinity");
}

}  // namespace linalg_lstsq
