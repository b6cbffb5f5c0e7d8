#include "support/tensors.hpp"

#include "tern/ops/distance.hpp"
#include "tern/functional/gradcheck.hpp"

namespace ops_distance {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("norms of vectors", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({1, -2, 3, -4, 5, -7}, {2, 3});
  CHECK(linalg::vector_norm(x, 3).item() == Approx(std::cbrt(1. + 8 + 27 + 64 + 125 + 343)));
}

TEMPLATE_TEST_CASE("distances and directions", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({3, 4, 0, 2}, {2, 2}), y = tensor_of<TestType>({0, 0, 0, 1}, {2, 2});
  check_close(values_of(pairwise_distance(x, y, 2, 0)), {5, 1});
  check_close(values_of(pairwise_distance(x, y, 1, 1)), {9, 3});
  check_close(values_of(normalize(x)), {0.6, 0.8, 0, 1});
  check_close(values_of(normalize(y, 1, 0)), {0, 0, 0, 1});
  check_close(values_of(cosine_similarity(x, tensor_of<TestType>({1, 1}), -1)), {7 / std::sqrt(50.), std::sqrt(0.5)});
}

TEMPLATE_TEST_CASE("gradients of distances", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  for (const auto& layout : layouts(spread_tensor<TestType>({3, 2}))) {
    auto x = layout.detach().requires_grad_(), y = spread_tensor<TestType>({3, 2}, 1, 5).requires_grad_();
    const auto check = [](const auto& f, const auto& inputs) {
      CHECK(gradcheck(f, inputs));
      CHECK(gradgradcheck(f, inputs));
    };
    check([](const auto& a) { return linalg::vector_norm(a, 3, 1); }, std::tuple{x});
    check([](const auto& a, const auto& b) { return pairwise_distance(a, b, 3); }, std::tuple{x, y});
    check([](const auto& a) { return normalize(a); }, std::tuple{x});
    check([](const auto& a, const auto& b) { return cosine_similarity(a, b); }, std::tuple{x, y});
  }
}

TEMPLATE_TEST_CASE("distances refuse what does not fit", "[ops]", TERN_TEST_DEVICES) {
  const auto x = zeros<TestType, double>({2, 3}), y = zeros<TestType, double>({2, 2});
  CHECK(error_of([&] { linalg::vector_norm(x, 2, 2); }) == "vector_norm: dimension 2 is out of range [-2, 1]");
  CHECK(error_of([&] { pairwise_distance(x, y); }) == "pairwise_distance: shapes do not broadcast: [2, 3] and [2, 2]");
  CHECK(error_of([&] { normalize(x, 2, 2); }) == "normalize: dimension 2 is out of range [-2, 1]");
  CHECK(error_of([&] { cosine_similarity(x, y); }) == "cosine_similarity: shapes do not broadcast: [2, 3] and [2, 2]");
}

}  // namespace ops_distance
