#include "support/recorded.hpp"

#include "tern/functional/gradcheck.hpp"
#include "tern/ops/softmax.hpp"

namespace ops_softmax {
using namespace tern;
using namespace tern_test;

namespace {

/// Rows short and long, around a packet and around the length from which they are not transposed, over each kind of
/// dimension.
const std::vector<detail::Shape> shapes = {
    {0},      {1},     {3},      {17},     {1000},     {0, 3},     {3, 0},     {1, 5},      {40, 10}, {33, 47},
    {33, 48}, {3, 49}, {5, 257}, {47, 33}, {2, 3, 17}, {3, 17, 2}, {17, 2, 3}, {2, 60, 19}, {1, 1, 1}};

template <class T>
void check_values(double tolerance) {
  for (const detail::Shape& shape : shapes)
    for (int dim = 0; dim < shape.n; ++dim)
      for (const bool log : {false, true}) {
        INFO(detail::text({shape}) << " over " << dim << (log ? ", log, " : ", ") << detail::name_of(dtype_of<T>));
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

// Rows that a GPU's threads read at once, in packs of 16 bytes or by elements, and longer ones.
TEMPLATE_TEST_CASE("softmax of rows short and long, at any address", "[ops]", TERN_TEST_DEVICES) {
  const auto check = []<class T>(detail::Type<T>, double tolerance) {
    for (const detail::Shape& shape :
         {detail::Shape{3, 8}, detail::Shape{70, 24}, detail::Shape{5, 100}, detail::Shape{3, 129},
          detail::Shape{2, 1024}, detail::Shape{1, 2100}, detail::Shape{1, 4096}, detail::Shape{2, 9000},
          detail::Shape{1, 10001}, detail::Shape{2, 40, 3}, detail::Shape{1, 300, 40}})
      for (const bool log : {false, true}) {
        INFO(detail::text({shape}) << (log ? ", log, " : ", ") << detail::name_of(dtype_of<T>));
        const auto run = [&](const auto& x, const auto& g) {
          auto leaf = x.detach().requires_grad_();
          const auto y = log ? log_softmax(leaf, 1) : softmax(leaf, 1);
          y.backward(g);
          return std::pair{values_of(y), values_of(leaf.grad())};
        };
        const auto [expected, slope] = run(spread_tensor<Naive, T>(shape, -5, 5), spread_tensor<Naive, T>(shape));
        std::pair<std::vector<double>, std::vector<double>> first;
        for (const Index offset : {0, 1, 4}) {
          const auto array = zeros<TestType, T>({shape.numel() + 4}).narrow(0, offset, shape.numel()).view(shape);
          array.copy_(spread_tensor<TestType, T>(shape, -5, 5));
          const auto results = run(array, spread_tensor<TestType, T>(shape));
          check_close(results.first, expected, tolerance, tolerance / 10);
          check_close(results.second, slope, tolerance, tolerance / 10);
          if (offset == 0) first = results;
          CHECK(results == first);
        }
      }
  };
  check(detail::Type<float>{}, 2e-5);
  check(detail::Type<double>{}, 1e-12);
  check(detail::Type<bfloat16>{}, 2e-2);
  check(detail::Type<half>{}, 3e-3);
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
  for (const Index n : {96, 99, 6000, 6001})
    for (const auto& [value, expected] :
         {std::pair{INFINITY, NAN}, std::pair{NAN, NAN}, std::pair{-INFINITY, 1.f / float(n - 1)}}) {
      auto row = zeros<TestType, float>({1, n});
      row[0][n - 2].fill_(value);
      const auto z = values_of(softmax(row, 1));
      INFO(value << " in a row of " << n);
      CHECK(close(z[0], expected, 1e-5, 0));
      CHECK(close(z[std::size_t(n - 2)], value == -INFINITY ? 0 : NAN, 0, 0));
    }
}

TEMPLATE_TEST_CASE("gradients of softmax", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  for (const detail::Shape& shape : {detail::Shape{}, detail::Shape{2, 3, 2}})
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

TEMPLATE_TEST_CASE("softmax of another element type converts first", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType, Index>({0, 1, 2});
  const auto expected = softmax(x.to(f64), 0);
  CHECK(values_of(softmax(x, 0, f64)) == values_of(expected));
  check_close(values_of(x.log_softmax(-1, kDouble)), values_of(expected.log()));
  auto scores = ones<TestType, bfloat16>({3}).requires_grad_();
  scores.softmax(0, f32)[0].backward();
  check_close(values_of(scores.grad()), {2 / 9., -1 / 9., -1 / 9.}, 4e-3);
}

TEMPLATE_TEST_CASE("softmax refuses a dimension that is not there", "[ops]", TERN_TEST_DEVICES) {
  CHECK(error_of([&] { softmax(zeros<TestType>({2}), 1); }) == "softmax: dimension 1 is out of range [-1, 0]");
  CHECK(error_of([&] { softmin(zeros<TestType>({2}), 1); }) == "softmin: dimension 1 is out of range [-1, 0]");
  CHECK(error_of([&] { log_softmax(zeros<TestType>({2}), -2); }) ==
        "log_softmax: dimension -2 is out of range [-1, 0]");
}

}  // namespace ops_softmax
