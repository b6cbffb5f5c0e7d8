#include "same_layer.hpp"
#include "support/tensors.hpp"

#include <tern/nn/batch_norm.hpp>
#include <tern/nn/dropout.hpp>
#include <tern/nn/group_norm.hpp>
#include <tern/nn/local_response_norm.hpp>
#include <tern/nn/pooling.hpp>

namespace nn_batch_norm {
using namespace tern;
using namespace tern_test;

namespace {

template <class Net>
std::vector<std::string> names_of(const Net& net) {
  std::vector<std::string> names;
  for (const auto& entry : net.state_dict()) names.push_back(entry.name);
  return names;
}

}  // namespace

TEMPLATE_TEST_CASE("BatchNorm has PyTorch's names and initial values", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const nn::BatchNorm2d<D> net(3);
  CHECK(names_of(net) ==
        std::vector<std::string>{"weight", "bias", "running_mean", "running_var", "num_batches_tracked"});
  check_close(values_of(net.weight), {1, 1, 1});
  check_close(values_of(net.bias), {0, 0, 0});
  check_close(values_of(net.running_mean), {0, 0, 0});
  check_close(values_of(net.running_var), {1, 1, 1});
  CHECK(net.num_batches_tracked.item() == 0);
  CHECK(net.parameters().size() == 2);
  CHECK(names_of(nn::BatchNorm1d<D>(3, {.affine = false})) ==
        std::vector<std::string>{"running_mean", "running_var", "num_batches_tracked"});
  CHECK(names_of(nn::BatchNorm3d<D>(3, {.track_running_stats = false})) == std::vector<std::string>{"weight", "bias"});
}

TEMPLATE_TEST_CASE("BatchNorm follows its batches in training and keeps to them in evaluation", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto first = tensor_of<D>({1, 3, 5, 7}, {4, 1}), second = tensor_of<D>({2, 2, 4, 4}, {4, 1});
  nn::BatchNorm1d<D, double> net(1), average(1, {.momentum = std::nullopt}),
      untracked(1, {.track_running_stats = false});
  for (auto* each : {&net, &average}) {
    (*each)(first);
    (*each)(second);
    CHECK(each->num_batches_tracked.item() == 2);
    each->eval();
  }
  // Means 4 and 3, unbiased variances 20 / 3 and 4 / 3.
  check_close(values_of(net.running_mean), {0.9 * 0.4 + 0.3});
  check_close(values_of(net.running_var), {0.9 * (0.9 + 2 / 3.) + 0.4 / 3});
  check_close(values_of(average.running_mean), {3.5});
  check_close(values_of(average.running_var), {4});
  check_close(values_of(average(first)), {-2.5 / std::sqrt(4.00001), -0.5 / std::sqrt(4.00001),
                                          1.5 / std::sqrt(4.00001), 3.5 / std::sqrt(4.00001)});
  CHECK(average.num_batches_tracked.item() == 2);
  const auto trained = untracked(first);
  untracked.eval();
  check_close(values_of(untracked(first)), values_of(trained));
}

TEMPLATE_TEST_CASE("BatchNorm's fused forms are its own, then relu", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 3, 4, 4}), r = spread_tensor<D>({2, 3, 4, 4}, -1, 1);
  for (const bool training : {true, false}) {
    nn::BatchNorm2d<D, double> a(3), b(3), c(3);
    for (auto* each : {&a, &b, &c}) each->train(training);
    const auto y = a(x);
    check_close(values_of(b.relu(x)), values_of(relu(y)));
    check_close(values_of(c.add_relu(x, r)), values_of(relu(y + r)));
    check_close(values_of(b.running_var), values_of(a.running_var));
    check_close(values_of(c.running_mean), values_of(a.running_mean));
    CHECK(c.num_batches_tracked.item() == Index(training));
  }
}

TEMPLATE_TEST_CASE("BatchNorm of another type keeps its statistics in float", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::BatchNorm2d<D> net(2);
  net(spread_tensor<D, float>({3, 2, 4, 4}, 0, 1));
  auto small = net.to(bf16);
  CHECK(small.weight.dtype() == DType::bfloat16);
  CHECK(small.running_mean.dtype() == DType::float32);
  check_close(values_of(small.running_mean), values_of(net.running_mean));
  const auto copy = small.clone();
  small(spread_tensor<D, bfloat16>({3, 2, 4, 4}, 2, 3));
  check_close(values_of(copy.running_mean), values_of(net.running_mean));
  CHECK(values_of(small.running_mean) != values_of(net.running_mean));
  CHECK(small.num_batches_tracked.item() == 2);
  CHECK(!small.running_mean.requires_grad());
  nn::BatchNorm2d<D> loaded(2);
  loaded.load_state_dict(small.state_dict());
  check_close(values_of(loaded.running_var), values_of(small.running_var));
}

TEMPLATE_TEST_CASE(
    "activations are channels-last from the first layer on, and so are gradients: nothing is put in order between", "",
    TERN_TEST_DEVICES) {
  using D = TestType;
  nn::BatchNorm2d<D> norm(6);
  nn::GroupNorm<D> group(2, 6);
  auto x = spread_tensor<D, float>({2, 6, 8, 8}).requires_grad_();  // row-major
  std::vector<Tensor<D, float>> y{norm.add_relu(x, x)};
  const auto add = [&](auto layer) { y.push_back(layer(y.back())); };
  add([&](const auto& v) { return group(v); });
  add(nn::Dropout<D>(0.5));
  add(nn::Dropout2d<D>(0.2));
  add(nn::LocalResponseNorm<D>(3));
  add(nn::MaxPool2d<D>(2));
  add(nn::InstanceNorm2d<D>(6));
  add(nn::AvgPool2d<D>(2));
  add(nn::AdaptiveMaxPool2d<D>(2));
  for (const auto& v : y) CHECK(v.is_contiguous(channels_last));
  const auto gradients = tern::grad<D, float>({y.back()}, y, {spread_tensor<D, float>({2, 6, 2, 2})});
  for (const auto& g : gradients)
    if (!(g.shape() == detail::Shape{2, 6, 2, 2})) CHECK(g.is_contiguous(channels_last));
}

TEMPLATE_TEST_CASE("BatchNorm refuses an input of other dimensions", "", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK(error_of([] { nn::BatchNorm2d<D>(3)(zeros<D>({2, 3, 4})); }) ==
        "BatchNorm2d: an input of 4 dimensions is needed, not [2, 3, 4]");
  CHECK(error_of([] { nn::BatchNorm1d<D>(3)(zeros<D>({2, 3, 4, 4})); }) ==
        "BatchNorm1d: an input of 2 or 3 dimensions is needed, not [2, 3, 4, 4]");
}

TEMPLATE_TEST_CASE("BatchNorm takes PyTorch's positional arguments", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D, float>({2, 3, 4, 5});
  check_same_layer([] { return nn::BatchNorm2d<D>(3, 0.5, 0.25, false, false); },
                   [] {
                     return nn::BatchNorm2d<D>(
                         3, {.eps = 0.5, .momentum = 0.25, .affine = false, .track_running_stats = false});
                   },
                   x);
  const nn::BatchNorm2d<D> net(3, 0.5, 0.25, false), cumulative(3, 1e-3, std::nullopt), integers(3, 1, 1);
  CHECK(net.options.eps == 0.5);
  CHECK(net.options.momentum == 0.25);
  CHECK_FALSE(net.weight.defined());
  CHECK(net.running_mean.defined());
  CHECK_FALSE(nn::BatchNorm2d<D>(3, 0.5, 0.25, true, false).running_mean.defined());
  CHECK_FALSE(cumulative.options.momentum);
  CHECK(integers.options.eps == 1);
}

}  // namespace nn_batch_norm
