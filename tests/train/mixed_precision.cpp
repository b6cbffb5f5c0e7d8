// Trainings in mixed precision, held against PyTorch's autocast with GradScaler.
#include "support/recorded.hpp"

#include <tern/models/resnet.hpp>
#include <tern/nn/nn.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/optim.hpp>

#include "../models/reference.hpp"

namespace train_mixed_precision {
using namespace tern_test;

namespace {

template <Device D, class T = float>
struct LeNet : nn::Module<D, T> {
  nn::Conv2d<D, T> conv1{1, 10, 5}, conv2{10, 20, 5};
  nn::Linear<D, T> fc1{320, 50}, fc2{50, 10};
  TERN_FIELDS(LeNet, conv1, conv2, fc1, fc2)
  Tensor<D, T> forward(const Tensor<D, T>& images) {
    const auto x = relu(max_pool2d(conv2(relu(max_pool2d(conv1(images), 2))), 2));
    return fc2(relu(fc1(x.flatten(1))));
  }
};

template <Device D, class T = float>
struct Transformer : nn::Module<D, T> {
  nn::Embedding<D, T> table{20, 32}, place{12, 32};
  nn::TransformerEncoder<D, T> encoder{
      nn::TransformerEncoderLayer<D, T>(32, 4, {.dim_feedforward = 64, .dropout = 0, .batch_first = true}), 2};
  nn::Linear<D, T> out{32, 20};
  TERN_FIELDS(Transformer, table, place, encoder, out)
  Tensor<D, T> forward(const Tensor<D, Index>& words) const {
    return out(encoder(table(words) + place(arange<D, Index>(12)))).flatten(0, 1);
  }
};

/// The formula's numbers for a name.
std::vector<double> formula_numbers(const std::string& name, Index n) {
  const auto hash = std::uint32_t(crc32(0, reinterpret_cast<const Bytef*>(name.data()), uInt(name.size())));
  std::vector<double> values;
  for (Index k = 0; k < n; ++k) values.push_back(formula_number(hash, std::uint32_t(k)));
  return values;
}

/// The inputs and labels of batch b, as the recording says.
template <class D>
auto words_of(Index b) {
  std::vector<double> words, labels;
  for (const double u : formula_numbers("words" + std::to_string(b), 96)) {
    words.push_back(std::floor(10 * (u + 1)));
    labels.push_back(std::fmod(3 * words.back() + 1, 20));
  }
  return std::pair(tensor_of<D, Index>(words, {8, 12}), tensor_of<D, Index>(labels));
}
template <class D>
auto images_of(Index b, const tern::detail::Shape& shape) {
  std::vector<double> labels;
  for (Index i = 0; i < shape[0]; ++i) labels.push_back(double((7 * i + b) % 10));
  return std::pair(tensor_of<D, float>(formula_numbers("images" + std::to_string(b), shape.numel()), shape),
                   tensor_of<D, Index>(labels));
}

/// The largest element of the gradients, which a loss multiplied by `scale` has.
template <class Net, class Loss>
double largest_gradient(const Net& net, const Loss& loss, double scale) {
  net.zero_grad();
  (loss() * scale).backward();
  double largest = 0;
  for (const auto& [name, p] : net.named_parameters()) {
    const double most = p.grad().abs().amax().item();
    largest = std::isfinite(most) ? std::fmax(largest, most) : INFINITY;
  }
  return largest;
}

/// Trains a network as it was recorded under that name. Each loss is within 2% of the recorded one. The scale is the
/// recorded one after each step; where it is not, the largest gradient is so near to half's largest number that
/// rounding decides whether the step overflows.
template <class T, class Net, class Batch>
void check_losses(const std::string& name, const Net& start, const Batch& batch, double lr) {
  using D = typename Net::device_type;
  const std::string type = std::is_same_v<T, half> ? "float16" : "bfloat16";
  Json row;
  for (const Json& each : recorded_cases("mixed_precision"))
    if (each["net"] == name && each["dtype"] == type) row = each;
  StateDict weights;
  for (const NamedTensor& entry : start.state_dict())
    if (tern::detail::is_floating(entry.tensor.dtype()))
      weights.push_back({entry.name, formula_tensor<float>(entry.name, entry.tensor.shape())});
  auto net = nn::mixed<T>(start);
  net.load_state_dict(weights, false);
  optim::SGD sgd(net.parameters(), {.lr = lr});
  optim::GradScaler<D> scaler({.growth_interval = 30, .enabled = std::is_same_v<T, half>});
  double worst = 0;
  bool same_scales = true;
  for (std::size_t step = 0; step < 100; ++step) {
    const auto [x, y] = batch(Index(step % 4));
    const auto loss = cross_entropy(net(x), y);
    sgd.zero_grad();
    const double scale = scaler.get_scale();
    scaler.scale(loss).backward();
    scaler.step(sgd);
    scaler.update();
    const double recorded = row["losses"][step].get<double>();
    worst = std::fmax(worst, std::fabs(loss.item() - recorded) / recorded);
    if (same_scales && scaler.is_enabled() && scaler.get_scale() != row["scales"][step].get<double>()) {
      same_scales = false;
      constexpr double limit = 65504;
      const double largest =
          8 * largest_gradient(net, [&, &x = x, &y = y] { return cross_entropy(net(x), y); }, scale / 8);
      INFO(name << ", step " << step << ": the largest gradient is " << largest);
      CHECK((largest > 0.8 * limit && largest < 1.25 * limit));
      CHECK(step > 50);
    }
  }
  INFO(name << " in " << type);
  CHECK(worst < 0.02);
}

}  // namespace

TEMPLATE_TEST_CASE("mixed precision has the losses of PyTorch's autocast: dense layers", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto batch = [](Index b) { return images_of<D>(b, {16, 196}); };
  const nn::Sequential net(nn::Linear<D>(196, 64), nn::ReLU<D>(), nn::Linear<D>(64, 64), nn::ReLU<D>(),
                           nn::Linear<D>(64, 10));
  check_losses<bfloat16>("mlp", net, batch, 0.02);
  check_losses<half>("mlp", net, batch, 0.02);
}

TEMPLATE_TEST_CASE("mixed precision has the losses of PyTorch's autocast: a transformer", "", TERN_TEST_DEVICES) {
  using D = TestType;
  check_losses<bfloat16>("transformer", Transformer<D>(), &words_of<D>, 0.01);
  check_losses<half>("transformer", Transformer<D>(), &words_of<D>, 0.01);
}

TEMPLATE_TEST_CASE("mixed precision has the losses of PyTorch's autocast: convolutions", "[long]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto batch = [](Index b) { return images_of<D>(b, {8, 1, 28, 28}); };
  check_losses<bfloat16>("lenet", LeNet<D>(), batch, 0.002);
  check_losses<half>("lenet", LeNet<D>(), batch, 0.002);
}

TEMPLATE_TEST_CASE("mixed precision has the losses of PyTorch's autocast: a residual network", "[long]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto batch = [](Index b) { return images_of<D>(b, {8, 3, 16, 16}); };
  check_losses<bfloat16>("resnet20", models::resnet20<D>(), batch, 0.0005);
  check_losses<half>("resnet20", models::resnet20<D>(), batch, 0.0005);
}

}  // namespace train_mixed_precision
