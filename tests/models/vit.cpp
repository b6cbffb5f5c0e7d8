#include "transformers.hpp"

#include <tern/models/vit.hpp>

using namespace tern_test;

namespace {

using D = ModelDevice;

template <class T>
void check_vit(TransformerReference<T> reference) {
  auto net = models::vit_b_16<D, T>();
  reference.fill(net);
  {
    const InferenceMode inference;
    net.eval();
    reference.template watch<nn::Conv2d<D, T>, nn::Dropout<D, T>, nn::LayerNorm<D, T>, models::VitLayer<D, T>>(net);
    const auto last = net.layers.back().register_forward_hook(
        [&](auto&, const auto&, const auto& y) { reference.module("encoder.layers", y); });
    const auto encoded =
        net.ln.register_forward_hook([&](auto&, const auto&, const auto& y) { reference.module("encoder", y); });
    const auto logits = net(reference.images());
    reference.module("heads.head", logits), reference.module("heads", logits);
    reference.watched();
    reference.logits(logits);
  }
  reference.training(net);
}

}  // namespace

TEST_CASE("vit_b_16", "[models][large]") {
  NEED_TEST_DATA(folder, "models");
  check_vit(TransformerReference<float>(folder, "vit_b_16"));
}
TEST_CASE("vit_b_16 in double", "[models][large][double]") {
  NEED_TEST_DATA(folder, "models");
  check_vit(TransformerReference<double>(folder, "vit_b_16"));
}

TEST_CASE("a vision transformer refuses images of other sizes", "[models]") {
  const auto small = [](Index image_size) {
    return models::VisionTransformer<D>(
        {.patch_size = 4, .num_layers = 1, .num_heads = 2, .hidden_dim = 8, .mlp_dim = 16},
        {.num_classes = 3, .image_size = image_size});
  };
  CHECK(error_of([&] { small(6); }) == "VisionTransformer: an image of 6 pixels cannot be cut into patches of 4");
  auto net = small(8);
  CHECK(net(zeros<D>({2, 3, 8, 8})).shape() == tern::detail::Shape{2, 3});
  CHECK(error_of([&] { net(zeros<D>({2, 3, 8, 4})); }).find("images must be [N, 3, 8, 8], not [2, 3, 8, 4]") !=
        std::string::npos);
}
