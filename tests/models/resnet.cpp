#include "reference.hpp"

#include <tern/models/resnet.hpp>

#include <sstream>

#include "support/process.hpp"

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
  for (const auto& p : net.parameters()) total += p.tensor.numel();
  // 3x3 convolutions: 432 + 6 (2304) + 4608 + 5 (9216) + 18432 + 5 (36864); 1x1: 512 + 2048; norms 2 (7 16 + 7 32 + 7
  // 64); dense 650.
  CHECK(total == 432 + 6 * 2304 + 4608 + 5 * 9216 + 18432 + 5 * 36864 + 512 + 2048 + 2 * 7 * 112 + 650);
}

TEST_CASE("in a new process: a training step of ResNet-18 with three images", "[.]") {
  auto net = models::resnet18<Cpu>();
  const auto images = randn<Cpu>({3, 3, 64, 64}).contiguous(channels_last);
  cross_entropy(net(images), randint<Cpu>(0, 1000, {3})).backward();
}

// oneDNN lists what it runs: ...,exec,cpu,KIND,KERNEL,...,SIZES,TIME, the sizes of a reorder as 3x64x16x16.
TEST_CASE("a training step of ResNet-18 brings weights into another order, and no activations", "[models]") {
  if (!std::is_same_v<ModelDevice, Cpu>) SKIP_TEST("oneDNN computes on the CPU alone");
  const Ended step =
      run_test_case("in a new process: a training step of ResNet-18 with three images", "ONEDNN_VERBOSE=1");
  INFO(step.output);
  REQUIRE(step.well);
  int convolutions = 0, weights = 0, activations = 0, slow = 0;
  std::istringstream lines(step.output);
  for (std::string line; std::getline(lines, line);) {
    const auto has = [&](const char* text) { return line.find(text) != std::string::npos; };
    slow += has(",exec,cpu,") && has(",ref");
    convolutions += has(",exec,cpu,convolution,");
    if (has(",exec,cpu,reorder,")) ++(has(",3x") ? activations : weights);
  }
  CHECK(convolutions > 10);  // the others are computed by Winograd's way
  CHECK(weights > 10);
  CHECK(activations == 0);
  CHECK(slow == 0);
  std::printf(
      "reorders in a training step of ResNet-18: %d of weights, %d of activations, for %d convolutions of oneDNN's\n",
      weights, activations, convolutions);
}
