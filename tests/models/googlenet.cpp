#include "io/temporary_folder.hpp"
#include "reference.hpp"

#include <tern/models/googlenet.hpp>

using namespace tern_test;

namespace {

template <class T>
void check_googlenet(const Reference<T>& reference) {
  auto net = models::googlenet<ModelDevice, T>({.dropout = 0});
  reference.fill(net);
  {
    const InferenceMode inference;
    net.eval();
    Tensor<ModelDevice, T> x = reference.images();
    const auto layer = [&](const char* name, auto& part) { reference.child(name, x = part(x)); };
    const auto pool = [&](const char* name, Index window) {
      reference.child(name, x = max_pool2d(x, window, {.stride = 2, .ceil_mode = true}));
    };
    layer("conv1", net.conv1), pool("maxpool1", 3), layer("conv2", net.conv2), layer("conv3", net.conv3);
    pool("maxpool2", 3), layer("inception3a", net.inception3a), layer("inception3b", net.inception3b);
    pool("maxpool3", 3), layer("inception4a", net.inception4a), layer("inception4b", net.inception4b);
    layer("inception4c", net.inception4c), layer("inception4d", net.inception4d), layer("inception4e", net.inception4e);
    pool("maxpool4", 2), layer("inception5a", net.inception5a), layer("inception5b", net.inception5b);
    reference.child("avgpool", x = adaptive_avg_pool2d(x, 1));
    reference.child("dropout", x = net.dropout(x.flatten(1)));
    layer("fc", net.fc);
    reference.logits(net(reference.images()));
  }
  reference.fused(net);
  reference.training(net);
}

}  // namespace

TEST_CASE("googlenet", "[models]") {
  NEED_TEST_DATA(folder, "models");
  check_googlenet(Reference<float>(folder, "googlenet"));
}
TEST_CASE("googlenet in double", "[models][double]") {
  NEED_TEST_DATA(folder, "models");
  check_googlenet(Reference<double>(folder, "googlenet"));
}

TEST_CASE("images normalised with ImageNet's statistics are normalised with 0.5 where asked for", "[models]") {
  const auto pixels = rand<ModelDevice>({2, 3, 32, 32});
  std::vector<Tensor<ModelDevice>> normalised;
  const double means[] = {0.485, 0.456, 0.406}, deviations[] = {0.229, 0.224, 0.225};
  for (Index c = 0; c < 3; ++c) normalised.push_back((pixels.narrow(1, c, 1) - means[c]) / deviations[c]);
  auto net = models::googlenet<ModelDevice>({.num_classes = 4, .transform_input = true});
  net.eval();
  auto plain = net.clone();
  plain.transform_input = false;
  check_close(values_of(net(cat<ModelDevice, float>(normalised, 1))), values_of(plain((pixels - 0.5) / 0.5)), 1e-4);
}

TEST_CASE("weights of torchvision's names are loaded, those of auxiliary heads passed over", "[models]") {
  const TemporaryFolder folder;
  const std::string path = folder / "googlenet.safetensors";
  const auto from = models::googlenet<ModelDevice>();
  StateDict dict;
  bool counts_batches = false;
  for (const NamedTensor& entry : from.state_dict()) {
    counts_batches = counts_batches || entry.name == "inception5b.branch4.1.bn.num_batches_tracked";
    dict.push_back({entry.name, entry.tensor.cpu()});
  }
  CHECK(counts_batches);
  dict.push_back({"aux1.conv.conv.weight", ones<Cpu>({128, 512, 1, 1})});
  io::save_safetensors(path, dict);
  const auto to = models::googlenet<ModelDevice>();
  models::load_weights(to, path);
  CHECK(values_of(to.fc.weight) == values_of(from.fc.weight));
  dict.push_back({"head.weight", ones<Cpu>({1})});
  io::save_safetensors(path, dict);
  CHECK(error_of([&] { models::load_weights(to, path); }) == "load_state_dict: unexpected: head.weight");
}
