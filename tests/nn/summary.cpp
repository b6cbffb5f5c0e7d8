#include "support/tensors.hpp"

#include <tern/nn/nn.hpp>

namespace nn_summary {
using namespace tern_test;

namespace {

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> hidden{3, 4};
  std::vector<nn::Linear<D, T>> blocks;
  nn::Sequential<nn::LayerNorm<D, T>, nn::Dropout<D, T>> tail{nn::LayerNorm<D, T>(4), nn::Dropout<D, T>(0.5)};
  nn::Parameter<D, T> gain = ones<D, T>({4});
  Tensor<D, T> mean = zeros<D, T>({2, 2});
  Net() {
    blocks.emplace_back(4, 4, nn::LinearOptions{.bias = false});
    blocks.emplace_back(4, 4, nn::LinearOptions{.bias = false});
    blocks[1].weight = blocks[0].weight;
  }
  TERN_FIELDS(Net, hidden, blocks, tail, gain, mean)
};

}  // namespace

TEMPLATE_TEST_CASE("summary() shows modules, shapes and the number of parameters; tied ones count once", "",
                   TERN_TEST_DEVICES) {
  CHECK(nn::summary(Net<TestType>()) ==
        "Net  gain [4]  mean [2, 2]\n"
        "  (hidden): Linear  weight [4, 3]  bias [4]\n"
        "  (blocks.0): Linear  weight [4, 4]\n"
        "  (blocks.1): Linear  weight [4, 4]\n"
        "  (tail): Sequential\n"
        "    (0): LayerNorm  weight [4]  bias [4]\n"
        "    (1): Dropout\n"
        "44 parameters\n");
}

TEMPLATE_TEST_CASE("a printed module is the tree of its modules in PyTorch's layout", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto printed = [](const auto& module) { return (std::ostringstream() << module).str(); };
  Net<D> net;
  CHECK(printed(net) ==
        "Net(\n"
        "  gain=[4], mean=[2, 2]\n"
        "  (hidden): Linear(weight=[4, 3], bias=[4])\n"
        "  (blocks.0): Linear(weight=[4, 4])\n"
        "  (blocks.1): Linear(weight=[4, 4])\n"
        "  (tail): Sequential(\n"
        "    (0): LayerNorm(weight=[4], bias=[4])\n"
        "    (1): Dropout()\n"
        "  )\n"
        ")");
  CHECK(printed(net.hidden) == "Linear(weight=[4, 3], bias=[4])");
  CHECK(printed(nn::Dropout<D>(0.5)) == "Dropout()");
  CHECK(printed(net.named_children()[0].module) == printed(net.hidden));
  const nn::Sequential deep{nn::Sequential<nn::Sequential<nn::Dropout<D>>>(nn::Sequential{nn::Dropout<D>(0.5)}),
                            nn::Dropout<D>(0.5)};
  CHECK(printed(deep) ==
        "Sequential(\n"
        "  (0): Sequential(\n"
        "    (0): Sequential(\n"
        "      (0): Dropout()\n"
        "    )\n"
        "  )\n"
        "  (1): Dropout()\n"
        ")");
}

#define CHECK_NAMES(Name)                                             \
  CHECK(std::string(nn::Name##1d < D > ::type_name()) == #Name "1d"); \
  CHECK(std::string(nn::Name##2d < D > ::type_name()) == #Name "2d"); \
  CHECK(std::string(nn::Name##3d < D > ::type_name()) == #Name "3d");

TEMPLATE_TEST_CASE("layers of 1, 2 and 3 dimensions go by PyTorch's names", "", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK_NAMES(Conv)
  CHECK_NAMES(ConvTranspose)
  CHECK_NAMES(BatchNorm)
  CHECK_NAMES(InstanceNorm)
  CHECK_NAMES(MaxPool)
  CHECK_NAMES(AvgPool)
  CHECK_NAMES(AdaptiveMaxPool)
  CHECK_NAMES(AdaptiveAvgPool)
  CHECK_NAMES(LPPool)
  CHECK_NAMES(Dropout)
  CHECK_NAMES(ConstantPad)
  CHECK_NAMES(ZeroPad)
  CHECK_NAMES(ReflectionPad)
  CHECK_NAMES(ReplicationPad)
  CHECK_NAMES(CircularPad)
}

}  // namespace nn_summary
