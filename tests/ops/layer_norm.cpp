#include "support/recorded.hpp"

#include "tern/functional/gradcheck.hpp"
#include "tern/ops/layer_norm.hpp"

namespace ops_layer_norm {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("layer_norm as PyTorch has it", "[ops]", TERN_TEST_DEVICES) {
  const RecordedCase c("layer_norm");
  const auto x = c.input<TestType>(0), weight = c.input<TestType>(1), bias = c.input<TestType>(2);
  c.check(layer_norm(x, {3}, weight, bias), x, weight, bias);
}

TEMPLATE_TEST_CASE("layer_norm and its gradients on any shape and layout", "[ops]", float, double, bfloat16, half) {
  const double tolerance = std::is_same_v<TestType, double>  ? 1e-11
                           : std::is_same_v<TestType, float> ? 2e-5
                           : std::is_same_v<TestType, half>  ? 4e-3
                                                             : 4e-2;
  for (const auto& [shape, normalized] : std::vector<std::pair<detail::Shape, detail::Shape>>{{{0, 5}, {5}},
                                                                                              {{5}, {5}},
                                                                                              {{3, 2}, {2}},
                                                                                              {{7, 16}, {16}},
                                                                                              {{40, 17}, {17}},
                                                                                              {{3, 1030}, {1030}},
                                                                                              {{100, 33}, {33}},
                                                                                              {{3, 4, 5}, {4, 5}}}) {
    INFO(detail::text({shape}) << " over " << detail::text({normalized}));
    const auto run = [shape = shape, normalized = normalized]<class D>(D, Tensor<D, TestType> x) {
      x.requires_grad_();
      auto weight = spread_tensor<D, TestType>(normalized, 0.5, 2), bias = spread_tensor<D, TestType>(normalized);
      weight.requires_grad_();
      bias.requires_grad_();
      const auto y = layer_norm(x, normalized, weight, bias);
      y.backward(spread_tensor<D, TestType>(shape, -1, 1));
      return std::vector{values_of(y), values_of(x.grad()), values_of(weight.grad()), values_of(bias.grad())};
    };
    const auto expected = run(Naive{}, spread_tensor<Naive, TestType>(shape, -3, 5));
    for (const auto& x : layouts(spread_tensor<Cpu, TestType>(shape, -3, 5))) {
      const auto actual = run(Cpu{}, x.detach());
      for (std::size_t i = 0; i < expected.size(); ++i) check_close(actual[i], expected[i], tolerance, 4 * tolerance);
    }
  }
}

// Rows that a GPU's threads read at once, in packs of 16 bytes or by elements, and longer ones.
TEMPLATE_TEST_CASE("layer_norm of rows short and long, at any address", "[ops]", TERN_TEST_DEVICES) {
  const auto check = []<class T>(detail::Type<T>, double tolerance) {
    for (const detail::Shape& shape :
         {detail::Shape{3, 8}, detail::Shape{70, 24}, detail::Shape{3, 129}, detail::Shape{2, 1024},
          detail::Shape{1, 2100}, detail::Shape{2, 9000}, detail::Shape{1, 10001}}) {
      INFO(detail::text({shape}) << " of " << detail::name_of(dtype_of<T>));
      const auto run = [&]<class D>(const Tensor<D, T>& x, const Tensor<D, T>& g) {
        const detail::Shape n{shape[1]};
        auto leaf = x.detach().requires_grad_();
        auto weight = spread_tensor<D, T>(n, 0.5, 2).requires_grad_(), bias = spread_tensor<D, T>(n).requires_grad_();
        const auto y = layer_norm(leaf, n, weight, bias);
        y.backward(g);
        return std::vector{values_of(y), values_of(leaf.grad()), values_of(weight.grad()), values_of(bias.grad())};
      };
      const auto expected = run(spread_tensor<Naive, T>(shape, -3, 5), spread_tensor<Naive, T>(shape, -1, 1));
      std::vector<std::vector<double>> first;
      for (const Index offset : {0, 1, 4}) {
        const auto array = zeros<TestType, T>({shape.numel() + 4}).narrow(0, offset, shape.numel()).view(shape);
        array.copy_(spread_tensor<TestType, T>(shape, -3, 5));
        const auto results = run(array, spread_tensor<TestType, T>(shape, -1, 1));
        for (std::size_t i = 0; i < results.size(); ++i) check_close(results[i], expected[i], tolerance, 4 * tolerance);
        if (offset == 0) first = results;
        CHECK(results == first);
      }
    }
  };
  check(detail::Type<float>{}, 2e-5);
  check(detail::Type<double>{}, 1e-11);
  check(detail::Type<bfloat16>{}, 4e-2);
  check(detail::Type<half>{}, 4e-3);
}

TEMPLATE_TEST_CASE("gradients of layer_norm", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  auto x = spread_tensor<TestType>({2, 2, 3}).requires_grad_(),
       w = spread_tensor<TestType>({2, 3}, 0.5, 2).requires_grad_(),
       b = spread_tensor<TestType>({2, 3}).requires_grad_();
  const auto full = [](const auto& v, const auto& weight, const auto& bias) {
    return layer_norm(v, {2, 3}, weight, bias, 1e-2);
  };
  const auto bare = [](const auto& v) { return layer_norm(v, {3}); };
  CHECK(gradcheck(full, std::tuple{x, w, b}));
  CHECK(gradgradcheck(full, std::tuple{x, w, b}));
  CHECK(gradcheck(bare, std::tuple{x}));
  CHECK(gradgradcheck(bare, std::tuple{x}));
}

TEMPLATE_TEST_CASE("layer_norm of large, close numbers is exact", "[ops]", TERN_TEST_DEVICES) {
  const auto y = layer_norm(tensor_of<TestType, float>({10001, 10002, 10003}), {3}, {}, {}, 0);
  check_close(values_of(y), {-std::sqrt(1.5), 0, std::sqrt(1.5)}, 1e-6, 1e-6);
}

TEMPLATE_TEST_CASE("layer_norm refuses", "[ops]", TERN_TEST_DEVICES) {
  const auto x = zeros<TestType>({2, 3});
  CHECK(error_of([&] { layer_norm(x, {2}); }) ==
        "layer_norm: normalized_shape [2] is not the end of the input's shape [2, 3]");
  CHECK(error_of([&] { layer_norm(x, detail::Shape{}); }) ==
        "layer_norm: normalized_shape [] is not the end of the input's shape [2, 3]");
  CHECK(error_of([&] { layer_norm(x, {3}, zeros<TestType>({2})); }) ==
        "layer_norm: weight and bias must be of shape [3], not [2]");
}

}  // namespace ops_layer_norm
