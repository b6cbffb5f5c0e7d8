// Condition numbers against PyTorch's.
#include "tern/linalg/cond.hpp"
#include "recorded_linalg.hpp"

namespace linalg_cond {
using namespace tern;
using namespace tern_test;

TEST_CASE("cond is PyTorch's", "[linalg]") {
  for (const double p : {2., -2., 1., -1., double(INFINITY), -double(INFINITY)}) {
    const std::string name = std::isinf(p) ? p > 0 ? "inf" : "-inf" : std::to_string(int(p));
    check_recorded("cond, " + name, [p](const auto& x) { return std::vector{linalg::cond(x[0], p)}; });
  }
  for (const char* p : {"fro", "nuc"})
    check_recorded(std::string("cond, ") + p, [p](const auto& x) { return std::vector{linalg::cond(x[0], p)}; });
}

TEST_CASE("cond can be differentiated twice", "[linalg][gradcheck]") {
  check_gradients([](const auto& x) { return linalg::cond(x); }, {2, 4, 3});
  check_gradients([](const auto& x) { return linalg::cond(x, 1); }, {2, 3, 3});
  check_gradients([](const auto& x) { return linalg::cond(x, "fro"); }, {2, 3, 3});
}

TEST_CASE("cond of singular and of empty matrices", "[linalg]") {
  const auto a = stack({2 * eye<Cpu, double>(2), ones<Cpu, double>({2, 2})});
  for (const double p : {1., -1., double(INFINITY), -double(INFINITY)})
    CHECK(values_of(linalg::cond(a, p)) == std::vector<double>{1, INFINITY});
  const auto fro = linalg::cond(a, "fro");
  CHECK(fro[0].item() == Approx(2));
  CHECK(fro[1].item() == INFINITY);
  const auto diagonal = tensor<Cpu, double>({{4, 0}, {0, 0}});
  CHECK(linalg::cond(diagonal).item() == INFINITY);
  CHECK(linalg::cond(diagonal, -2).item() == 0);
  const auto none = zeros<Cpu>({2, 0, 0});
  CHECK(values_of(linalg::cond(none)) == std::vector<double>{0, 0});
  CHECK(values_of(linalg::cond(none, 1)) == std::vector<double>{0, 0});
}

TEST_CASE("cond refuses what has none", "[linalg][refusal]") {
  const auto a = ones<Cpu>({2, 3});
  CHECK(error_of([&] { linalg::cond(a, 1); }) == "cond: the matrices must be square, not [2, 3]");
  CHECK(error_of([] { linalg::cond(ones<Cpu>(3)); }) == "cond: a matrix or a batch of matrices is needed, not [3]");
  CHECK(error_of([] { linalg::cond(eye<Cpu>(3), 3); }) == "cond: ord must be 1, -1, 2, -2, inf or -inf, not 3");
  CHECK(error_of([] { linalg::cond(eye<Cpu>(3), "max"); }) == "cond: ord is \"fro\", \"nuc\" or a number, not \"max\"");
}

}  // namespace linalg_cond
