// The way between devices, and the gradient's way back.
#include "support/tensors.hpp"

#include <tern/ops/transfer.hpp>

namespace ops_transfer {
using namespace tern;
using namespace tern_test;

TEST_CASE("a tensor that is there already stays itself", "[transfer]") {
  const auto x = spread_tensor<Cpu>({2, 3});
  CHECK(x.cpu().impl() == x.impl());
  CHECK(x.to(Cpu{}).impl() == x.impl());
}

TEST_CASE("elements arrive on the other device, from any layout", "[transfer]") {
  for (const auto& x : layouts(spread_tensor<Cpu>({2, 3, 4}))) {
    const Tensor<Naive, double> y = x.to(Naive{});
    CHECK(values_of(y) == values_of(x));
    CHECK(values_of(y.cpu()) == values_of(x));
  }
  CHECK(zeros<Cpu, bool>({0, 2}).to(Naive{}).shape() == detail::Shape{0, 2});
}

TEST_CASE("one tape spans both devices", "[transfer]") {
  const auto x = spread_tensor<Cpu>({3}).requires_grad_();
  const auto y = (x * 2).to(Naive{});
  const auto z = (y * y).cpu() * x;
  z.sum().backward();
  std::vector<double> expected;
  for (const double v : values_of(x)) expected.push_back(12 * v * v);  // z = 4 x³
  check_close(values_of(x.grad()), expected);
}

TEST_CASE("an undefined tensor cannot be moved", "[transfer][refusal]") {
  CHECK(error_of([] { Tensor<Cpu>().cpu(); }) != "");
  CHECK(error_of([] { Tensor<Cpu>().to(Naive{}); }) != "");
}

TEMPLATE_TEST_CASE("to() another tensor takes its device and its element type", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor<D>({1.5, 2});
  const Tensor<Cpu, double> y = x.to(zeros<Cpu, double>({3}));
  const Tensor<D, Index> n = x.to(zeros<D, Index>({1}));
  check_close(values_of(y), {1.5, 2});
  check_close(values_of(n), {1, 2});
  CHECK(x.to(x).impl() == x.impl());
}

}  // namespace ops_transfer
