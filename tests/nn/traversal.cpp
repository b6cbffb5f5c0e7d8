#include "support/tensors.hpp"

#include <memory>

#include <tern/nn/nn.hpp>
#include <tern/ops/ops.hpp>

namespace nn_traversal {
using namespace tern_test;

namespace {

template <Device D, class T = float>
struct Block : nn::Module<D, T> {
  nn::Linear<D, T> fc{2, 2};
  nn::Dropout<D, T> dropout{0.5};
  TERN_FIELDS(Block, fc, dropout)
  Tensor<D, T> forward(const Tensor<D, T>& x) const { return dropout(fc(x)); }
};

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  std::vector<Block<D, T>> blocks;
  std::shared_ptr<nn::Linear<D, T>> out{new nn::Linear<D, T>(2, 2)}, tied = out;
  Net() { blocks.resize(2); }
  TERN_FIELDS(Net, blocks, out, tied)
  Tensor<D, T> forward(const Tensor<D, T>& x) const { return (*tied)((*out)(blocks[1](blocks[0](x)))); }
};

/// Parameters of two types.
template <Device D>
struct Mixed : nn::Module<D> {
  nn::Linear<D, float> a{2, 2};
  nn::Linear<D, double> b{2, 2};
  TERN_FIELDS(Mixed, a, b)
};

using Names = std::vector<std::string>;

}  // namespace

TEMPLATE_TEST_CASE("modules() lists a network's modules once, outer ones first; children() lists its own", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  Net<D> net;
  Names names, types;
  for (const auto& [name, module] : net.named_modules()) names.push_back(name), types.push_back(module.type_name());
  CHECK(names ==
        Names{"", "blocks.0", "blocks.0.fc", "blocks.0.dropout", "blocks.1", "blocks.1.fc", "blocks.1.dropout", "out"});
  CHECK(types == Names{"Net", "Block", "Linear", "Dropout", "Block", "Linear", "Dropout", "Linear"});
  CHECK(net.modules().size() == 8);
  names.clear();
  for (const auto& [name, module] : net.named_children()) names.push_back(name);
  CHECK(names == Names{"blocks.0", "blocks.1", "out"});
  CHECK(net.children().size() == 3);
  CHECK(net.children()[0] == net.modules()[1]);
  CHECK_FALSE(net.children()[0] == net.children()[1]);
}

TEMPLATE_TEST_CASE("a ModuleRef gives the module back by its class, and can be changed", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Net<D> net;
  CHECK(net.modules()[0].template as<Net<D>>() == &net);
  CHECK(net.modules()[1].template as<Block<D>>() == &net.blocks[0]);
  CHECK(net.modules()[1].template as<nn::Linear<D>>() == nullptr);
  CHECK(net.modules()[1].template as<Block<D, double>>() == nullptr);
  for (const nn::ModuleRef module : net.modules())
    if (auto* dropout = module.template as<nn::Dropout<D>>()) dropout->p = 0.25;
  CHECK(net.blocks[1].dropout.p == 0.25);
  net.children()[1].eval();
  CHECK(net.blocks[0].dropout.is_training());
  CHECK_FALSE(net.blocks[1].dropout.is_training());
  CHECK(nn::state_dict(net.children()[2]).size() == 2);  // every function that takes a module takes it
}

TEMPLATE_TEST_CASE("apply() goes from the inner modules to the outer ones, once to each", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Net<D> net;
  Names types;
  net.apply([&](nn::ModuleRef module) {
    types.push_back(module.type_name());
    if (auto* linear = module.template as<nn::Linear<D>>()) linear->weight.detach().add_(1);
  });
  CHECK(types == Names{"Linear", "Dropout", "Block", "Linear", "Dropout", "Block", "Linear", "Net"});
  Net<D> other;
  for (auto& [name, p] : other.named_parameters()) p.detach().fill_(0);
  other.apply([](nn::ModuleRef module) {
    if (auto* linear = module.template as<nn::Linear<D>>()) linear->weight.detach().add_(1);
  });
  CHECK(values_of(other.out->weight) == std::vector<double>(4, 1));
  CHECK(values_of(other.out->bias) == std::vector<double>(2, 0));
}

TEMPLATE_TEST_CASE("named_parameters() has tensors with their gradients", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Net<D, double> net;
  for (auto& [name, p] : net.named_parameters()) CHECK_FALSE(p.grad().defined());
  net(spread_tensor<D>({4, 2})).square().sum().backward();
  Names names;
  for (auto& [name, p] : net.named_parameters()) {
    static_assert(std::is_same_v<decltype(p), Tensor<D, double>>);
    names.push_back(name);
    CHECK(p.grad().shape() == p.shape());
  }
  CHECK(names == Names{"blocks.0.fc.weight", "blocks.0.fc.bias", "blocks.1.fc.weight", "blocks.1.fc.bias", "out.weight",
                       "out.bias"});
  for (auto& [name, p] : net.parameters()) CHECK(p.grad().impl() == p.template as<D, double>().grad().impl());

  Mixed<D> mixed;
  mixed.b.weight.sum().backward();
  std::vector<bool> defined;
  for (auto& [name, p] : mixed.named_parameters()) {
    static_assert(std::is_same_v<decltype(p), AnyTensor>);
    defined.push_back(p.grad().defined());
  }
  CHECK(defined == std::vector<bool>{false, false, true, false});
  CHECK(values_of(mixed.named_parameters()[2].tensor.grad().template as<D, double>()) == std::vector<double>(4, 1));
}

}  // namespace nn_traversal
