#include "support/tensors.hpp"

#include <tern/functional/gradcheck.hpp>
#include <tern/nn/nn.hpp>
#include <tern/ops/ops.hpp>

namespace nn_functional_call {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <Device D, class T = double>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> in{3, 4}, out{4, 2};
  nn::BatchNorm1d<D, T> norm{4};
  TERN_FIELDS(Net, in, out, norm)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(norm(tanh(in(x)))); }
};

}  // namespace

TEMPLATE_TEST_CASE("a network is called with other tensors, through which gradients go", "[nn]", TERN_TEST_DEVICES) {
  using D = TestType;
  Net<D> net, other;
  const auto x = spread_tensor<D>({5, 3});
  other.load_state_dict(net.state_dict());
  // One step downhill, differentiated through: what MAML does. The other network's weights are the step's results.
  const std::vector<Tensor<D, double>> w = net.parameters();
  const auto loss = nn::functional_call(net, w, x).square().sum();
  CHECK(values_of(loss) == values_of(other(x).square().sum()));
  const auto g = grad(loss, net.parameters(), {.create_graph = true});
  std::vector<Tensor<D, double>> stepped;
  for (std::size_t i = 0; i < w.size(); ++i) stepped.push_back(w[i] - 0.1 * g[i]);
  {
    const NoGradGuard off;
    const std::vector<Tensor<D, double>> to = other.parameters();
    for (std::size_t i = 0; i < to.size(); ++i) to[i].copy_(stepped[i]);
  }
  const auto after = nn::functional_call(net, stepped, x);
  CHECK(values_of(after) == values_of(other(x)));
  CHECK(gradcheck([&](const auto& bias) { return nn::functional_call(net, {{"out.bias", bias}}, x); },
                  {net.out.bias.detach().clone().requires_grad_()}));
  after.sum().backward();
  CHECK(values_of(net.in.weight.grad()).size() == 12);
  CHECK_FALSE(values_of(net.in.weight) == values_of(other.in.weight));
}

TEMPLATE_TEST_CASE("what is not given is the network's own, frozen or not, buffers too", "[nn]", TERN_TEST_DEVICES) {
  using D = TestType;
  Net<D> net;
  net.in.requires_grad_(false);
  const auto x = spread_tensor<D>({5, 3});
  const auto y = nn::functional_call(net, {{"out.weight", zeros<D, double>({2, 4})}}, x);
  CHECK(values_of(y[0]) == values_of(net.out.bias));
  CHECK_FALSE(net.in.weight.requires_grad());
  CHECK(values_of(net.norm.num_batches_tracked) == std::vector<double>{1});
  net.eval();
  const auto shifted = nn::functional_call(net, {{"norm.running_mean", net.norm.running_mean + 1}}, x);
  CHECK_FALSE(values_of(shifted) == values_of(net(x)));
  CHECK(values_of(nn::functional_call(net, net.state_dict(), x)) == values_of(net(x)));
}

TEMPLATE_TEST_CASE("functional_call refuses tensors that do not fit", "[nn][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  Net<D> net;
  const auto x = spread_tensor<D>({5, 3});
  CHECK_THAT(error_of([&] { nn::functional_call(net, {{"in.scale", x}}, x); }),
             ContainsSubstring("functional_call: the network has no tensor \"in.scale\""));
  CHECK_THAT(error_of([&] { nn::functional_call(net, {{"in.bias", zeros<D, double>({3})}}, x); }),
             ContainsSubstring("\"in.bias\" is ") && ContainsSubstring("float64 [4], not ") &&
                 ContainsSubstring("float64 [3]"));
  CHECK_THAT(error_of([&] { nn::functional_call(net, {{"in.bias", zeros<D>({4})}}, x); }),
             ContainsSubstring("float32 [4]"));
  CHECK_THAT(error_of([&] { nn::functional_call(net, {{"in.bias", Tensor<D, double>()}}, x); }),
             ContainsSubstring("not undefined"));
  CHECK_THAT(error_of([&] { nn::functional_call(net, std::vector{x}, x); }),
             ContainsSubstring("functional_call: 1 tensors for 6 parameters"));
}

}  // namespace nn_functional_call
