#include "support/recorded.hpp"

#include "tern/functional/gradcheck.hpp"
#include "tern/ops/softmax.hpp"

using namespace tern;
using namespace tern_test;

namespace {

/// Rows short and long, around a packet and around the length from which they are not transposed, over each kind of
/// dimension.
const std::vector<Shape> shapes = {{0},        {1},        {3},        {17},        {1000},   {0, 3},   {3, 0},
                                   {1, 5},     {40, 10},   {33, 47},   {33, 48},    {3, 49},  {5, 257}, {47, 33},
                                   {2, 3, 17}, {3, 17, 2}, {17, 2, 3}, {2, 60, 19}, {1, 1, 1}};

template <class T> void check_values(double tolerance) {
  for (const Shape& shape : shapes)
    for (int dim = 0; dim < shape.n; ++dim)
      for (const bool log : {false, true}) {
        INFO(text({shape}) << " over " << dim << (log ? ", log, " : ", ") << name_of(dtype_of<T>));
        const auto run = [&](auto device, const auto& x) {
          using D = decltype(device);
          auto y = log ? log_softmax(x, dim) : softmax(x, dim);
          y.backward(spread_tensor<D, T>(shape));
          return std::pair{values_of(y), values_of(x.grad())};
        };
        auto reference = spread_tensor<Naive, T>(shape, -5, 5);
        reference.requires_grad_();
        const auto [expected, slope] = run(Naive{}, reference);
        for (const auto& layout : layouts(spread_tensor<Cpu, T>(shape, -5, 5))) {
          auto x = layout.detach();
          x.requires_grad_();
          const auto [y, dx] = run(Cpu{}, x);
          check_close(y, expected, tolerance, tolerance);
          check_close(dx, slope, tolerance, tolerance);
        }
      }
}

}  // namespace

TEST_CASE("softmax and its gradient on any shape and layout", "[ops]") {
  check_values<float>(2e-6);
  check_values<double>(1e-13);
  check_values<bfloat16>(2e-2);
  check_values<half>(3e-3);
}

TEMPLATE_TEST_CASE("softmax with infinities as PyTorch has it", "[ops]", TERN_TEST_DEVICES) {
  const RecordedCase plain("softmax with infinities"), log("log_softmax with infinities");
  const auto x = plain.input<TestType>(0), y = log.input<TestType>(0);
  plain.check(softmax(x, 1), x);
  log.check(log_softmax(y, 1), y);
}

TEMPLATE_TEST_CASE("a long row with infinities, in float", "[ops]", TERN_TEST_DEVICES) {
  auto x = full<TestType>({2, 100}, -INFINITY);
  x[0][70].fill_(3);
  const auto y = values_of(softmax(x, 1));
  CHECK(y[70] == 1);
  CHECK(y[0] == 0);
  CHECK(std::isnan(y[100]));
}

TEMPLATE_TEST_CASE("gradients of softmax", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  for (const Shape& shape : {Shape{}, Shape{2, 3, 2}})
    for (int dim = 0; dim < std::max(1, shape.n); ++dim) {
      auto x = spread_tensor<TestType>(shape).requires_grad_();
      const auto plain = [&](const auto& v) { return softmax(v, dim); };
      const auto log = [&](const auto& v) { return log_softmax(v, dim); };
      CHECK(gradcheck(plain, std::tuple{x}));
      CHECK(gradgradcheck(plain, std::tuple{x}));
      CHECK(gradcheck(log, std::tuple{x}));
      CHECK(gradgradcheck(log, std::tuple{x}));
      CHECK(gradcheck([&](const auto& v) { return softmin(v, dim); }, std::tuple{x}));
      check_close(values_of(softmin(x, dim)), values_of(softmax(-x, dim)));
    }
}

TEMPLATE_TEST_CASE("softmax refuses a dimension that is not there", "[ops]", TERN_TEST_DEVICES) {
  CHECK(error_of([&] { softmax(zeros<TestType>({2}), 1); }) == "softmax: dimension 1 is out of range [-1, 0]");
  CHECK(error_of([&] { softmin(zeros<TestType>({2}), 1); }) == "softmin: dimension 1 is out of range [-1, 0]");
  CHECK(error_of([&] { log_softmax(zeros<TestType>({2}), -2); }) ==
        "log_softmax: dimension -2 is out of range [-1, 0]");
}
