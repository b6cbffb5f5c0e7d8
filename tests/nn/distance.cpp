// Distances as modules: what the functions give, with the module's options.
#include "support/tensors.hpp"

#include <tern/nn/distance.hpp>

namespace nn_distance {
using namespace tern_test;

TEMPLATE_TEST_CASE("distances as modules give what the functions give", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({4, 3}, 0.1, 0.9), y = spread_tensor<D>({4, 3}, 0.8, 0.2);
  const auto same = [](const auto& a, const auto& b) {
    CHECK(a.shape() == b.shape());
    CHECK(values_of(a) == values_of(b));
  };
  same(nn::CosineSimilarity<D, double>()(x, y), cosine_similarity(x, y));
  same(nn::CosineSimilarity<D, double>(0).clone()(x, y), cosine_similarity(x, y, 0));
  same(nn::PairwiseDistance<D, double>()(x, y), pairwise_distance(x, y));
  same(nn::PairwiseDistance<D, double>(1, 1e-3, true).clone()(x, y), pairwise_distance(x, y, 1, 1e-3, true));
}

}  // namespace nn_distance
