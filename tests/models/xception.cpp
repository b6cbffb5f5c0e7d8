#include "reference.hpp"

#include <tern/models/xception.hpp>

using namespace tern_test;

TEST_CASE("xception", "[models][large]") {
  NEED_TEST_DATA(folder, "models");
  const Reference<float> reference(folder, "xception");
  auto net = models::xception<ModelDevice>();
  reference.fill(net);
  {
    const InferenceMode inference;
    net.eval();
    auto x = reference.images();
    const auto layer = [&](const char* conv_name, auto& conv, const char* norm_name, auto& norm,
                           const char* relu_name) {
      reference.child(conv_name, x = conv(x));
      reference.child(norm_name, x = norm(x));
      reference.child(relu_name, x = relu(x));
    };
    layer("conv1", net.conv1, "bn1", net.bn1, "act1");
    layer("conv2", net.conv2, "bn2", net.bn2, "act2");
    for (std::size_t i = 0; i < net.blocks.size(); ++i)
      reference.child(tern::detail::text({"block", Index(i + 1)}).c_str(), x = net.blocks[i](x));
    layer("conv3", net.conv3, "bn3", net.bn3, "act3");
    layer("conv4", net.conv4, "bn4", net.bn4, "act4");
    reference.child("global_pool", x = adaptive_avg_pool2d(x, 1).flatten(1));
    reference.child("fc", net.fc(x));
    reference.logits(net(reference.images()));
  }
  reference.fused(net);
  reference.training(net);
}
