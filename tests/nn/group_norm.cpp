#include "same_layer.hpp"
#include "support/tensors.hpp"

#include <tern/nn/group_norm.hpp>

namespace nn_group_norm {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("GroupNorm and InstanceNorm are their functions, with PyTorch's names", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 6, 4, 3});
  nn::GroupNorm<D, double> group(3, 6, {.eps = 0.1});
  const auto dict = group.state_dict();
  REQUIRE(dict.size() == 2);
  CHECK((dict[0].name == "weight" && dict[1].name == "bias" && dict[0].tensor.shape() == detail::Shape{6}));
  check_close(values_of(group(x)), values_of(group_norm(x, 3, {}, {}, 0.1)));
  nn::InstanceNorm2d<D, double> plain(6), tracked(6, {.affine = true, .track_running_stats = true});
  CHECK(plain.state_dict().empty());
  CHECK(tracked.state_dict().size() == 5);
  check_close(values_of(plain(x)), values_of(instance_norm(x)));
  check_close(values_of(plain(x.select(0, 1))), values_of(instance_norm(x).select(0, 1).contiguous()));
  tracked(x);
  tracked.eval();
  check_close(values_of(tracked(x)), values_of(batch_norm(x, tracked.running_mean, tracked.running_var)));
  CHECK(values_of(tracked(x)) != values_of(plain(x)));
  auto small = tracked.to(bf16);
  CHECK(small.running_var.dtype() == DType::float32);
}

TEMPLATE_TEST_CASE("GroupNorm refuses groups that do not divide its channels", "", TERN_TEST_DEVICES) {
  CHECK(error_of([] { nn::GroupNorm<TestType>(4, 6); }) ==
        "GroupNorm: num_groups must divide the 6 channels, not be 4");
}

TEMPLATE_TEST_CASE("GroupNorm and InstanceNorm take PyTorch's positional arguments", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D, float>({2, 6, 4, 3});
  check_same_layer([] { return nn::GroupNorm<D>(2, 6, 0.5, false); },
                   [] { return nn::GroupNorm<D>(2, 6, {.eps = 0.5, .affine = false}); }, x);
  CHECK_FALSE(nn::GroupNorm<D>(2, 6, 0.5, false).weight.defined());
  const nn::InstanceNorm2d<D> net(6, 0.5, 0.25, true), tracked(6, 0.5, 0.25, false, true);
  CHECK(net.options.eps == 0.5);
  CHECK(net.options.momentum == 0.25);
  CHECK(net.weight.defined());
  CHECK_FALSE(net.running_mean.defined());
  CHECK_FALSE(tracked.weight.defined());
  CHECK(tracked.running_mean.defined());
}

}  // namespace nn_group_norm
