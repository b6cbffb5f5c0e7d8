// The path of a layer in an Error. tests/nn/module.cpp tests the walks over members.
#include "support/tensors.hpp"

#include <tern/nn/nn.hpp>

namespace nn_members {
using namespace tern_test;

namespace {

template <Device D, class T = float>
struct Block : nn::Module<D, T> {
  nn::Linear<D, T> fc1{4, 5}, fc2{5, 3};
  TERN_FIELDS(Block, fc1, fc2)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return fc2(relu(fc1(x))); }
};

/// Layers in a list, a list inside a Sequential, and ops of its own.
template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  std::vector<Block<D, T>> blocks;
  nn::Sequential<nn::Linear<D, T>, nn::ReLU<D, T>> head{nn::Linear<D, T>(4, 4), nn::ReLU<D, T>()};
  nn::Bilinear<D, T> pair{3, 3, 2};
  int which = 0;
  Net() {
    blocks.emplace_back();
    blocks.emplace_back();
  }
  TERN_FIELDS(Net, blocks, head, pair, which)
  Tensor<D, T> forward(const Tensor<D, T>& x) {
    if (which == 0) return blocks[1](blocks[0](x));
    if (which == 1) return head(x.slice(1, {0, 3}));
    if (which == 2) return blocks[1].fc2(x);  // past the block
    if (which == 3) return pair(x, x);
    if (which == 4) return nn::Linear<D, T>(2, 2)(x);  // not a member
    return x.view({7});
  }
};

template <class D>
std::string refused(Net<D>& net, int which) {
  net.which = which;
  return whole_error_of([&] { net(zeros<D>({8, 4})); });
}

}  // namespace

TEMPLATE_TEST_CASE("an Error names the layer that threw it and the line that called the network", "[nn][refusal]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  Net<D> net;
  const auto x = zeros<D>({8, 4});
  const std::string at = " (members.cpp:" + std::to_string(__LINE__ + 1) + ")";
  CHECK(whole_error_of([&] { net(x); }) == "blocks.1.fc1: linear: input [8, 3] does not fit weight [5, 4]" + at);

  CHECK(refused(net, 1).find("head.0: linear: input [8, 3] does not fit weight [4, 4] (members.cpp:") == 0);
  CHECK(refused(net, 2).find("blocks.1.fc2: linear: input [8, 4] does not fit weight [3, 5] (members.cpp:") == 0);
  CHECK(refused(net, 3).find("pair: bilinear: ") == 0);
  CHECK(refused(net, 4).find("linear: input [8, 4] does not fit weight [2, 2] (members.cpp:") == 0);
  CHECK(refused(net, 5).find("view: ") == 0);

  Block<D> block;
  CHECK(whole_error_of([&] { block.fc1(zeros<D>({8, 3})); }).find("linear: input [8, 3]") == 0);  // called by itself
}

TEMPLATE_TEST_CASE("an Error that passed a layer with a hook names it too", "[nn][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  Block<D> block;
  const auto handle = block.fc2.register_forward_pre_hook([](auto&, const auto&) { Error::fail("hook", {"thrown"}); });
  CHECK(whole_error_of([&] { block(zeros<D>({8, 4})); }).find("fc2: hook: thrown (members.cpp:") == 0);
}

TEMPLATE_TEST_CASE("an Error of a backward pass names the line of the forward call", "[nn][refusal]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  Block<D> block;
  const auto y = block(ones<D>({8, 4}));
  const int line = __LINE__ - 1;
  {
    const NoGradGuard off;
    block.fc2.weight.fill_(0);
  }
  CHECK(whole_error_of([&] { y.sum().backward(); }) ==
        "linear: a tensor saved for backward was modified in place (members.cpp:" + std::to_string(line) + ")");
}

}  // namespace nn_members
