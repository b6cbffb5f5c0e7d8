#include "support/recorded.hpp"

#include "tern/ops/extrema.hpp"
#include "tern/functional/gradcheck.hpp"

using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("amax and amin: ties and NaN as PyTorch has them", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const char* name : {"amax: ties", "amax: nan"}) {
    const RecordedCase c(name);
    const auto x = c.input<D>(0);
    c.check(amax(x, {1}), x);
  }
  for (const char* name : {"amin: ties", "amin: nan"}) {
    const RecordedCase c(name);
    const auto x = c.input<D>(0);
    c.check(amin(x, {1}), x);
  }
  const RecordedCase largest("amax of all: ties"), smallest("amin of all: ties");
  const auto x = largest.input<D>(0), y = smallest.input<D>(0);
  largest.check(amax(x), x);
  smallest.check(amin(y), y);
}

TEMPLATE_TEST_CASE("argmax and argmin: ties and NaN as PyTorch has them", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const RecordedCase max_ties("argmax: ties"), min_ties("argmin: ties"), max_nan("argmax: nan"), min_nan("argmin: nan"),
      max_all("argmax of all"), min_all("argmin of all");
  max_ties.check(argmax(max_ties.input<D>(0), 1));
  min_ties.check(argmin(min_ties.input<D>(0), 1));
  max_nan.check(argmax(max_nan.input<D>(0)));
  min_nan.check(argmin(min_nan.input<D>(0)));
  max_all.check(argmax(max_all.input<D>(0)));
  min_all.check(argmin(min_all.input<D>(0)));
}

TEMPLATE_TEST_CASE("positions in a transposed tensor count in its own order", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({0, 1, 9, 3, 4, 5}, {2, 3});
  CHECK(argmax(x).item() == 2);
  CHECK(argmax(x.t()).item() == 4);
  CHECK(argmin(x.t(), 0, true).shape() == Shape{1, 2});
  CHECK(argmax(full<TestType>({}, 3)).item() == 0);
  CHECK(argmax(full<TestType>({}, 3), -1).item() == 0);
}

TEMPLATE_TEST_CASE("gradients of amax and amin", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  for (const Dims& dims : {Dims{}, Dims{1}, Dims{0, -1}})
    for (const auto& layout : layouts(spread_tensor<TestType>({2, 3, 4}))) {
      auto x = layout.detach().requires_grad_();
      const auto largest = [&](const auto& v) { return amax(v * v, dims); };
      const auto smallest = [&](const auto& v) { return amin(v * v, dims, true); };
      CHECK(gradcheck(largest, std::tuple{x}));
      CHECK(gradcheck(smallest, std::tuple{x}));
      CHECK(gradgradcheck(largest, std::tuple{x}));
      CHECK(gradgradcheck(smallest, std::tuple{x}));
    }
}

TEMPLATE_TEST_CASE("extremes of nothing are refused", "[ops]", TERN_TEST_DEVICES) {
  const auto x = zeros<TestType>({2, 0});
  CHECK(error_of([&] { amax(x, {1}); }) == "amax: dimension 1 of [2, 0] is empty");
  CHECK(error_of([&] { amin(x); }) == "amin: dimension 1 of [2, 0] is empty");
  CHECK(error_of([&] { argmax(x, 1); }) == "argmax: dimension 1 of [2, 0] is empty");
  CHECK(error_of([&] { argmin(x); }) == "argmin: dimension 0 of [0] is empty");
  CHECK(amax(x, {0}).shape() == Shape{0});
  CHECK(error_of([&] { argmax(x, 2); }) == "argmax: dimension 2 is out of range [-2, 1]");
}
