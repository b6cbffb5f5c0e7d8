// AnyTensor: what it holds, and what it refuses.
#include "support/tensors.hpp"

#include <tern/nn/linear.hpp>
#include <tern/tensor/any_tensor.hpp>
#include <tern/tensor/creation.hpp>

namespace tensor_any_tensor {
using namespace tern;
using namespace tern_test;

TEST_CASE("AnyTensor holds tensors of any device and type", "[any_tensor]") {
  const auto a = tensor<Cpu>({{1, 2}, {3, 4}});
  const auto b = tensor<Naive, std::int64_t>({5, 6});
  std::vector<AnyTensor> all{a, b};
  CHECK(all[0].dtype() == DType::float32);
  CHECK(all[0].dtype() == f32);
  CHECK(all[0].dtype() != f64);
  CHECK(all[0].device_name() == std::string("cpu"));
  CHECK(all[0].shape() == detail::Shape{2, 2});
  CHECK(all[0].numel() == 4);
  CHECK(all[1].device_name() == std::string("naive"));
  CHECK(all[0].is<Cpu>());
  CHECK_FALSE(all[0].is<Cpu, double>());
  CHECK_FALSE(all[1].is<Cpu, std::int64_t>());
  CHECK(all[0].as<Cpu>().impl() == a.impl());
  CHECK(values_of(all[1].as<Naive, std::int64_t>()) == std::vector<double>{5, 6});
}

TEST_CASE("AnyTensor keeps its tensor alive, and lets it go", "[any_tensor]") {
  float number = 3;
  int freed = 0;
  AnyTensor any = from_blob<Cpu>(&number, {1}, [](void*, void* count) { ++*static_cast<int*>(count); }, &freed);
  AnyTensor copy = any, moved = std::move(any);
  CHECK_FALSE(any.defined());
  any = copy;
  copy = AnyTensor();
  moved = AnyTensor();
  CHECK(freed == 0);
  CHECK(any.as<Cpu>().item() == 3);
  any = AnyTensor();
  CHECK(freed == 1);
}

TEST_CASE("a wrong device or type is named together with the right one", "[any_tensor][refusal]") {
  const AnyTensor any = tensor<Cpu>({1});
  CHECK(error_of([&] { any.as<Cpu, double>(); }) == "as: the tensor is cpu, float32, not cpu, float64");
  CHECK(error_of([&] { any.as<Naive>(); }) == "as: the tensor is cpu, float32, not naive, float32");
  CHECK(error_of([&] { AnyTensor().as<Cpu>(); }) == "as: the tensor is undefined, not cpu, float32");
  CHECK_FALSE(AnyTensor().defined());
  CHECK_FALSE(AnyTensor(Tensor<Cpu>()).defined());
  CHECK_THROWS_AS(AnyTensor().dtype(), Error);
  CHECK_THROWS_AS(AnyTensor().shape(), Error);
  CHECK_THROWS_AS(AnyTensor().device_name(), Error);
}

TEMPLATE_TEST_CASE("AnyTensor has a tensor's sizes", "[any_tensor]", TERN_TEST_DEVICES) {
  using D = TestType;
  const AnyTensor any = zeros<D>({2, 3, 4}).transpose(0, 2);
  CHECK(any.dim() == 3);
  CHECK(any.sizes() == detail::Shape{4, 3, 2});
  CHECK((any.size(0) == 4 && any.size(-1) == 2));
  CHECK(any.strides() == detail::Shape{1, 4, 12});
  CHECK(any.stride(-1) == 12);
  CHECK_FALSE(any.is_contiguous());
  CHECK_FALSE(any.requires_grad());
  CHECK((any.element_size() == 4 && any.nbytes() == 96 && any.is_floating_point()));
  CHECK((any.is_cpu() == std::is_same_v<D, Cpu> && any.is_cuda() == std::is_same_v<D, Cuda>));
  CHECK((Tensor<D>::is_cpu() == any.is_cpu() && Tensor<D>::is_cuda() == any.is_cuda()));
  const AnyTensor integers = zeros<D, Index>({2});
  CHECK((integers.nbytes() == 16 && !integers.is_floating_point()));
  CHECK((Tensor<D, half>::is_floating_point() && !Tensor<D, bool>::is_floating_point()));
  CHECK(error_of([&] { any.size(3); }) == "size: dimension 3 is out of range [-3, 2]");
  CHECK(error_of([] { AnyTensor().dim(); }) == "dim: a tensor is undefined");
}

TEMPLATE_TEST_CASE("AnyTensor is copied in its memory order, and the copy is recorded", "[any_tensor]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  nn::Linear<D> net(3, 2);
  StateDict before = net.state_dict();
  for (NamedTensor& entry : before) entry.tensor = entry.clone();
  net.weight.detach().fill_(7);
  CHECK(values_of(before[0].tensor.template as<D>()) != std::vector<double>(6, 7));
  CHECK_FALSE(before[0].tensor.requires_grad());
  const auto copy = AnyTensor(net.weight.t()).clone();
  CHECK(copy.strides() == detail::Shape{1, 3});
  copy.template as<D>().sum().backward();
  CHECK(values_of(net.weight.grad()) == std::vector<double>(6, 1));
  CHECK_FALSE(AnyTensor(net.weight).detach().clone().requires_grad());
  CHECK(values_of(AnyTensor(zeros<D, bool>({2})).clone().template as<D, bool>()) == std::vector<double>{0, 0});
  CHECK(error_of([] { AnyTensor().clone(); }) == "clone: a tensor is undefined");
}

TEMPLATE_TEST_CASE("a state dict is a list and a dictionary", "[any_tensor]", TERN_TEST_DEVICES) {
  using D = TestType;
  const nn::Linear<D> net(3, 2);
  StateDict dict = net.state_dict();
  CHECK(dict.keys() == std::vector<std::string>{"weight", "bias"});
  CHECK((dict["weight"].shape() == detail::Shape{2, 3} && dict[1].name == "bias" && dict.contains("bias")));
  StateDict renamed;
  for (const auto& [name, x] : dict) renamed["fc." + name] = x;
  renamed["fc.bias"] = zeros<D>({2});
  CHECK(renamed.keys() == std::vector<std::string>{"fc.weight", "fc.bias"});
  CHECK(values_of(renamed.pop("fc.bias").template as<D>()) == std::vector<double>{0, 0});
  CHECK((!renamed.contains("fc.bias") && renamed.size() == 1));
  std::erase_if(renamed, [](const NamedTensor& entry) { return entry.name == "fc.weight"; });
  CHECK(renamed.empty());

  const StateDict fixed{{"weight", ones<D>({2, 3})}}, parameters = net.parameters();
  CHECK((fixed["weight"].numel() == 6 && parameters["bias"].numel() == 2));
  CHECK(error_of([&] { fixed["bias"]; }) == "StateDict: there is no tensor \"bias\"");
  TERN_TEST_LINE(fixed["bias"]);
  TERN_TEST_LINE(dict.pop("scale"));
  CHECK(error_of([&] { dict["scale"].shape(); }) == "shape: a tensor is undefined");
}

TEMPLATE_TEST_CASE("a network's parameters are frozen in a loop", "[any_tensor]", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::Linear<D> net(3, 2);
  Index count = 0;
  for (auto& p : net.parameters()) p.requires_grad_(false), count += p.numel();
  CHECK(count == 8);
  CHECK_FALSE(net.weight.requires_grad());
  for (const auto& p : net.parameters()) CHECK_FALSE(p.requires_grad());
  for (const auto& [name, p] : net.named_parameters()) CHECK((p.dim() == (name == "weight" ? 2 : 1)));
  for (auto& p : net.parameters())
    if (p.dim() == 2 && p.size(1) == 3) p.requires_grad_();
  net(ones<D>({1, 3})).sum().backward();
  check_close(values_of(net.weight.grad()), {1, 1, 1, 1, 1, 1});
  CHECK_FALSE(net.bias.requires_grad());
  for (const auto& p : net.parameters()) CHECK(p.grad().defined() == (p.shape() == detail::Shape{2, 3}));
  AnyTensor integers = zeros<D, Index>({2});
  CHECK(error_of([&] { integers.requires_grad_(); }).find("requires_grad_: the tensor is no parameter: ") == 0);
  AnyTensor inner = net.weight * 2;
  CHECK(error_of([&] { inner.requires_grad_(false); }).find("requires_grad_: only a leaf can stop") == 0);
}

}  // namespace tensor_any_tensor
