#include "aux_heads.hpp"
#include "io/temporary_folder.hpp"

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

TEST_CASE("googlenet's auxiliary heads", "[models]") {
  check_aux_heads<float>("googlenet", models::googlenet<ModelDevice>(
                                          {.num_classes = 10, .dropout = 0, .dropout_aux = 0, .aux_logits = true}));
}
TEST_CASE("googlenet's auxiliary heads in double", "[models][double]") {
  const models::GoogLeNetOptions options{.num_classes = 10, .dropout = 0, .dropout_aux = 0, .aux_logits = true};
  check_aux_heads<double>("googlenet", models::googlenet<ModelDevice, double>(options));
}

TEST_CASE("auxiliary heads change no score, and are asked for only where there are some", "[models]") {
  auto net = models::googlenet<ModelDevice>({.num_classes = 4, .aux_logits = true});
  net.eval();
  const auto images = rand<ModelDevice>({1, 3, 64, 64});
  CHECK(values_of(net(images)) == values_of(net(images, models::with_aux).logits));
  auto mixed = nn::mixed<bfloat16>(net);  // its heads too
  CHECK(mixed(images, models::with_aux).aux_logits.size() == 2);
  auto without = models::googlenet<ModelDevice>({.num_classes = 4});
  CHECK_THAT(error_of([&] { without(images, models::with_aux); }),
             Catch::Matchers::ContainsSubstring("made with .aux_logits = true"));
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
  CHECK(models::load_weights(to, path).empty());
  CHECK(values_of(to.fc.weight) == values_of(from.fc.weight));
  dict.push_back({"head.weight", ones<Cpu>({1})});
  io::save_safetensors(path, dict);
  CHECK(error_of([&] { models::load_weights(to, path); }) == "load_state_dict: unexpected: head.weight");
}

TEST_CASE("a layer that may differ stays as it is where the file's does not fit", "[models]") {
  const TemporaryFolder folder;
  const std::string path = folder / "googlenet.safetensors";
  const auto from = models::googlenet<ModelDevice>({.num_classes = 4});
  const auto save = [&](const auto& net) {
    StateDict dict;
    for (const NamedTensor& entry : net.state_dict()) dict.push_back({entry.name, entry.tensor.cpu()});
    io::save_safetensors(path, dict);
  };
  save(from);
  const models::LoadOptions last{.may_differ = {"fc"}},
      heads{.may_differ = {"fc", "aux1.fc2", "aux2.fc2", "aux1", "aux2"}};
  const auto fits = models::googlenet<ModelDevice>({.num_classes = 4});
  CHECK(models::load_weights(fits, path, last).empty());
  CHECK(values_of(fits.fc.weight) == values_of(from.fc.weight));

  const auto other = models::googlenet<ModelDevice>({.num_classes = 5, .aux_logits = true});
  const auto before = values_of(other.fc.weight);
  CHECK_THAT(error_of([&] { models::load_weights(other, path, last); }), Catch::Matchers::ContainsSubstring("aux1."));
  CHECK(models::load_weights(other, path, heads) == heads.may_differ);
  CHECK(values_of(other.fc.weight) == before);
  CHECK(values_of(other.conv1.conv.weight) == values_of(from.conv1.conv.weight));

  save(other);  // with heads: only the layers for the classes differ
  const auto third = models::googlenet<ModelDevice>({.num_classes = 6, .aux_logits = true});
  CHECK(models::load_weights(third, path, heads) == std::vector<std::string>{"fc", "aux1.fc2", "aux2.fc2"});
  CHECK(values_of(third.aux1->fc1.weight) == values_of(other.aux1->fc1.weight));
  CHECK_THAT(error_of([&] { models::load_weights(third, path, last); }),
             Catch::Matchers::ContainsSubstring("aux1.fc2"));
}
