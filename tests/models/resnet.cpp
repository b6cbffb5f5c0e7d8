#include "reference.hpp"

#include <tern/models/resnet.hpp>

using namespace tern_test;

namespace {

template <class T>
void check_resnet(const Reference<T>& reference, models::ResNet<ModelDevice, T> net) {
  reference.fill(net);
  {
    const InferenceMode inference;
    net.eval();
    auto x = net.conv1(reference.images());
    reference.child("conv1", x);
    reference.child("bn1", x = net.bn1(x));
    reference.child("relu", x = relu(x));
    reference.child("maxpool", x = max_pool2d(x, 3, {.stride = 2, .padding = 1}));
    const auto row = [&](const char* name, auto& blocks) {
      for (auto& block : blocks) x = block(x);
      reference.child(name, x);
    };
    row("layer1", net.layer1), row("layer2", net.layer2), row("layer3", net.layer3), row("layer4", net.layer4);
    reference.child("avgpool", x = adaptive_avg_pool2d(x, 1));
    reference.child("fc", x = net.fc(x.flatten(1)));
    reference.logits(net(reference.images()));
  }
  reference.fused(net);
  reference.training(net);
}

}  // namespace

TEST_CASE("resnet18", "[models]") {
  NEED_TEST_DATA(folder, "models");
  check_resnet(Reference<float>(folder, "resnet18"), models::resnet18<ModelDevice>());
}
TEST_CASE("resnet18 in double", "[models][double]") {
  NEED_TEST_DATA(folder, "models");
  check_resnet(Reference<double>(folder, "resnet18"), models::resnet18<ModelDevice, double>());
}
TEST_CASE("resnet50", "[models][large]") {
  NEED_TEST_DATA(folder, "models");
  check_resnet(Reference<float>(folder, "resnet50"), models::resnet50<ModelDevice>());
}

TEST_CASE("resnet20 has 20 layers of weights", "[models]") {
  const auto net = models::resnet20<ModelDevice>();
  Index total = 0;
  for (const NamedTensor& p : net.parameters()) total += p.tensor.numel();
  // 3x3 convolutions: 432 + 6 (2304) + 4608 + 5 (9216) + 18432 + 5 (36864); 1x1: 512 + 2048; norms 2 (7 16 + 7 32 + 7
  // 64); dense 650.
  CHECK(total == 432 + 6 * 2304 + 4608 + 5 * 9216 + 18432 + 5 * 36864 + 512 + 2048 + 2 * 7 * 112 + 650);
}
