#include "reference.hpp"

#include <tern/models/mobilenet_v2.hpp>

using namespace tern_test;

namespace {

template <class T>
void check_mobilenet(const Reference<T>& reference) {
  auto net = models::mobilenet_v2<ModelDevice, T>({.dropout = 0});
  reference.fill(net);
  {
    const InferenceMode inference;
    net.eval();
    Tensor<ModelDevice, T> x = reference.images();
    for (auto& block : net.features) x = block(x);
    reference.child("features", x);
    reference.child("classifier", net.classifier(adaptive_avg_pool2d(x, 1).flatten(1)));
    reference.logits(net(reference.images()));
  }
  reference.fused(net);
  reference.training(net);
}

}  // namespace

TEST_CASE("mobilenet_v2", "[models]") {
  NEED_TEST_DATA(folder, "models");
  check_mobilenet(Reference<float>(folder, "mobilenet_v2"));
}
TEST_CASE("mobilenet_v2 in double", "[models][double]") {
  NEED_TEST_DATA(folder, "models");
  check_mobilenet(Reference<double>(folder, "mobilenet_v2"));
}
