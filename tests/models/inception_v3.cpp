#include "aux_heads.hpp"

#include <tern/models/inception_v3.hpp>

using namespace tern_test;

namespace {

template <class T>
void check_inception(const Reference<T>& reference) {
  auto net = models::inception_v3<ModelDevice, T>({.dropout = 0});
  reference.fill(net);
  {
    const InferenceMode inference;
    net.eval();
    Tensor<ModelDevice, T> x = reference.images();
    const auto pool = [&](const char* name) { reference.child(name, x = max_pool2d(x, 3, {.stride = 2})); };
#define LAYER(name) reference.child(#name, x = net.name(x))
    LAYER(Conv2d_1a_3x3), LAYER(Conv2d_2a_3x3), LAYER(Conv2d_2b_3x3), pool("maxpool1");
    LAYER(Conv2d_3b_1x1), LAYER(Conv2d_4a_3x3), pool("maxpool2");
    LAYER(Mixed_5b), LAYER(Mixed_5c), LAYER(Mixed_5d), LAYER(Mixed_6a), LAYER(Mixed_6b), LAYER(Mixed_6c);
    LAYER(Mixed_6d), LAYER(Mixed_6e), LAYER(Mixed_7a), LAYER(Mixed_7b), LAYER(Mixed_7c);
    reference.child("avgpool", x = adaptive_avg_pool2d(x, 1));
    LAYER(dropout);
    reference.child("fc", net.fc(x.flatten(1)));
#undef LAYER
    reference.logits(net(reference.images()));
  }
  reference.fused(net);
  reference.training(net);
}

}  // namespace

TEST_CASE("inception_v3", "[models][large]") {
  NEED_TEST_DATA(folder, "models");
  check_inception(Reference<float>(folder, "inception_v3"));
}
TEST_CASE("inception_v3 in double", "[models][double]") {
  NEED_TEST_DATA(folder, "models");
  check_inception(Reference<double>(folder, "inception_v3"));
}

TEST_CASE("inception_v3's auxiliary head", "[models][large]") {
  check_aux_heads<float>("inception_v3",
                         models::inception_v3<ModelDevice>({.num_classes = 10, .dropout = 0, .aux_logits = true}));
}
TEST_CASE("inception_v3's auxiliary head in double", "[models][double]") {
  check_aux_heads<double>(
      "inception_v3", models::inception_v3<ModelDevice, double>({.num_classes = 10, .dropout = 0, .aux_logits = true}));
}
