#include "reference.hpp"

#include <tern/models/alexnet.hpp>
#include <tern/models/vgg.hpp>

using namespace tern_test;

namespace {

template <class T, class Net>
void check_conv_net(const Reference<T>& reference, Net net) {
  reference.fill(net);
  {
    const InferenceMode inference;
    net.eval();
    auto x = net.features(reference.images());
    reference.child("features", x);
    x = adaptive_avg_pool2d(x, net.grid);
    reference.child("avgpool", x);
    x = net.classifier(x.flatten(1));
    reference.child("classifier", x);
    reference.logits(x);
    reference.logits(net(reference.images()));
  }
  reference.training(net);
}

}  // namespace

TEST_CASE("alexnet", "[models]") {
  NEED_TEST_DATA(folder, "models");
  check_conv_net(Reference<float>(folder, "alexnet"), models::alexnet<ModelDevice>({.dropout = 0}));
}

TEST_CASE("vgg16", "[models][large]") {
  NEED_TEST_DATA(folder, "models");
  check_conv_net(Reference<float>(folder, "vgg16"), models::vgg16<ModelDevice>({.dropout = 0}));
}
