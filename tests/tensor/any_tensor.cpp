// AnyTensor: what it holds, and what it refuses.
#include "support/tensors.hpp"

#include <map>
#include <tern/nn/linear.hpp>
#include <tern/ops/ops.hpp>
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
  const StateDict of_map = std::map<std::string, Tensor<D>>{{"b", ones<D>({2})}, {"a", zeros<D>({1})}};
  CHECK(of_map.keys() == std::vector<std::string>{"a", "b"});
  CHECK(of_map["b"].template as<D>().sum().item() == 2);
  CHECK((fixed["weight"].numel() == 6 && parameters["bias"].numel() == 2));
  CHECK(error_of([&] { fixed["bias"]; }) == "StateDict: there is no tensor \"bias\"");
  CHECK(error_of([&] { StateDict(fixed)["bias"].shape(); }) == "StateDict: there is no tensor \"bias\"");
  CHECK(StateDict(fixed)["weight"].shape() == detail::Shape{2, 3});
  TERN_TEST_LINE(fixed["bias"]);
  CHECK(dict.at("bias").shape() == detail::Shape{2});
  TERN_TEST_LINE(dict.at("scale"));
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

/// The device whose AnyTensors compute.
#if defined(TERN_TESTS_ON_CUDA)
using Known = Cuda;
#else
using Known = Cpu;
#endif

TEMPLATE_TEST_CASE("ops of an AnyTensor are those of its type", "[any_tensor]", float, double, bfloat16, half, Index,
                   std::int32_t, std::uint8_t) {
  using T = TestType;
  using X = Tensor<Known, T>;
  const auto x = tensor<Known, T>({{1, 2, 3}, {4, 5, 6}}), y = tensor<Known, T>({{1, 3, 2}, {7, 1, 5}});
  const AnyTensor a = x.clone(), b = y.clone();
  const auto equal_to = [](const AnyTensor& any, const X& expected) {
    CHECK(values_of(any.as<Known, T>()) == values_of(expected));
  };
  equal_to(a + b, x + y);
  equal_to(x + b, x + y);
  equal_to(a + y, x + y);
  equal_to(a - 1, x - 1);
  equal_to(9 - a, 9 - x);
  equal_to(2 * a * b, 2 * x * y);
  equal_to(a.sub(b, 2), x.sub(y, 2));
  equal_to(a.pow(2), x.pow(2));
  equal_to((-a).abs(), (-x).abs());
  equal_to(a.clamp(2, 5), x.clamp(2, 5));
  equal_to(a.clamp({}, 5), x.clamp({}, 5));
  equal_to(a.square().max(), x.square().max());
  CHECK(a.sum().item() == 21);
  CHECK(a.min().item() == 1);
  CHECK((a.all().item() == 1 && (a - b).any().item() == 1));

  a.add_(b, 3).mul_(2).sub_(1);
  equal_to(a, (x + 3 * y) * 2 - 1);
  a.copy_(b) += 1;
  a *= b;
  equal_to(a, (y + 1) * y);
  a.clamp_(3, 7) -= 2;
  equal_to(a, ((y + 1) * y).clamp(3, 7) - 2);
  x += b;
  equal_to(b, y);
  a.fill_(3);
  equal_to(a, full<Known, T>({2, 3}, 3));
  CHECK(a.zero_().sum().item() == 0);
  if constexpr (detail::is_floating_v<T>) {
    equal_to(b / 3, y / 3);
    equal_to((b + 0.1).lerp(b, 0.3), (y + 0.1).lerp(y, 0.3));
    equal_to(b.norm() + b.mean() + b.std() + b.sum().sqrt(), y.norm() + y.mean() + y.std() + y.sum().sqrt());
    CHECK((!b.isnan().any().item() && b.isfinite().all().item()));
    b /= 0.3;
    b.lerp_(y, 0.005);
    equal_to(b, (y / 0.3).lerp(y, 0.005));
  } else {
    CHECK_THAT(error_of([&] { a / 2; }), Catch::Matchers::ContainsSubstring("div: there is no such op of a tensor"));
    CHECK_THAT(error_of([&] { a += 0.5; }), Catch::Matchers::ContainsSubstring("add_: the number 0.5 does not fit"));
  }
}

TEST_CASE("an AnyTensor and another of another type", "[any_tensor][refusal]") {
  const AnyTensor a = ones<Known>({2}), b = ones<Known, double>({2});
  const std::string device = a.device_name();
  const auto refused = [&](const char* op) {
    return std::string(op) + ": the tensor is " + device + ", float64, not " + device + ", float32";
  };
  CHECK(error_of([&] { a - b; }) == refused("sub"));
  CHECK(error_of([&] { a.mul_(b); }) == refused("mul_"));
  CHECK(error_of([&] { a.copy_(b); }) == refused("copy_"));
  CHECK(error_of([&] { ones<Known>({2}) + b; }) == refused("add"));
  CHECK(error_of([&] { NamedTensor{"a", a} += b; }) == refused("add_"));
  CHECK(error_of([] { 2 * AnyTensor(); }) == "mul: a tensor is undefined");
  CHECK(error_of([&] { a.copy_(AnyTensor()); }) == "copy_: a tensor is undefined");
  TERN_TEST_LINE(a + b);
  TERN_TEST_LINE(a -= b);
  TERN_TEST_LINE(a.lerp_(b, 0.5));
  TERN_TEST_LINE(a.copy_(b));
  TERN_TEST_LINE(ones<Known>({2}) * b);
}

/// A layer, and another that its parameters are pulled to, each as strongly as its number in fisher says.
template <class D>
struct Anchored {
  nn::Linear<D, double> net{3, 2}, target{3, 2};
  Tensor<D, double> fisher[2] = {tensor<D, double>({{1, 2, 3}, {0.5, 0.25, 0.125}}), tensor<D, double>({2, 4})};

  Anchored() {
    const NoGradGuard off;
    net.weight.copy_(tensor<D, double>({{0.5, -1, 2}, {0.25, -0.75, 1.5}}));
    net.bias.copy_(tensor<D, double>({0.1, -0.3}));
    target.weight.copy_(tensor<D, double>({{1, 1, 1}, {-1, -1, -1}}));
    target.bias.fill_(0.5);
  }
  Tensor<D, double> loss() { return net(tensor<D, double>({{1, 2, 3}, {-1, 0.5, 0.25}})).square().mean(); }
};

TEMPLATE_TEST_CASE("a loop over parameters computes", "[any_tensor]", TERN_TEST_DEVICES) {
  using D = TestType;
  Anchored<D> a;
  const auto t = a.target.parameters(), p = a.net.parameters();
  auto loss = a.loss();
  for (std::size_t i = 0; i < p.size(); ++i)
    loss = loss + 0.4 * (a.fisher[i] * (p[i] - t[i]).pow(2)).sum() + 1e-2 * p[i].abs().sum();
  CHECK(loss.item() == Approx(13.9285));  // this and the numbers below are PyTorch's
  loss.backward();
  check_close(values_of(a.net.weight.grad()), {2.11, 1.29, 9.26, 2.26, 2.8525, 4.61625});
  check_close(values_of(a.net.bias.grad()), {1.47, -1.37});
  const NoGradGuard off;
  for (std::size_t i = 0; i < p.size(); ++i) t[i].copy_(p[i] * 0.1 + t[i] * 0.9);
  check_close(values_of(a.target.weight), {0.95, 0.8, 1.1, -0.875, -0.975, -0.75});
  for (auto& q : a.net.parameters()) q.add_(q.grad(), -0.1), q.clamp_(-0.5, 0.5);
  check_close(values_of(a.net.weight), {0.289, -0.5, 0.5, 0.024, -0.5, 0.5});
  check_close(values_of(a.net.bias), {-0.047, -0.163});
  CHECK(p[0].norm().item() == Approx(1.0411997887053186));
  CHECK(p[0].grad().abs().max().item() == Approx(9.26));
  CHECK(p[0].std().item() == Approx(0.46211877982469685));
  for (auto& [name, q] : a.net.parameters()) {
    CHECK(q.name == name);
    q.grad().zero_();
    q -= 0.1 * q.grad();
    CHECK(q.template as<D, double>().impl() == q.impl());
  }
  check_close(values_of(a.net.bias), {-0.047, -0.163});
}

template <Device D>
struct OfTwoTypes : nn::Module<D> {
  nn::Linear<D, double> first{3, 2};
  nn::Linear<D, float> second{2, 1};
  TERN_FIELDS(OfTwoTypes, first, second)
};

TEST_CASE("a loop over parameters of two types computes, and is differentiated", "[any_tensor]") {
  using D = Known;
  Anchored<D> a;
  OfTwoTypes<D> net, target;
  net.first = std::move(a.net);
  target.first = std::move(a.target);
  const auto t = target.parameters(), p = net.parameters();
  const auto x = tensor<D, double>({{1, 2, 3}, {-1, 0.5, 0.25}});
  Tensor<D, double> loss = net.first(x).square().mean();
  for (std::size_t i = 0; i < 2; ++i)
    loss = loss + 0.4 * (a.fisher[i] * (p[i] - t[i]).pow(2)).sum() + 1e-2 * p[i].abs().sum();
  CHECK(loss.item() == Approx(13.9285));
  loss.backward();
  check_close(values_of(net.first.weight.grad()), {2.11, 1.29, 9.26, 2.26, 2.8525, 4.61625});
  const NoGradGuard off;
  for (std::size_t i = 0; i < p.size(); ++i) t[i].copy_(p[i] * 0.1 + t[i] * 0.9);
  check_close(values_of(target.first.weight), {0.95, 0.8, 1.1, -0.875, -0.975, -0.75});
  for (auto& q : net.parameters())
    if (q.grad().defined()) q.add_(q.grad(), -0.1), q.clamp_(-0.5, 0.5);
  check_close(values_of(net.first.weight), {0.289, -0.5, 0.5, 0.024, -0.5, 0.5});

  StateDict sum = target.state_dict();
  const auto before = values_of(target.first.bias);
  for (const auto& [name, y] : net.state_dict()) sum[name] += y;
  for (std::size_t i = 0; i < before.size(); ++i)
    CHECK(values_of(target.first.bias)[i] == Approx(before[i] + values_of(net.first.bias)[i]));
  for (auto& [name, y] : sum) y.copy_(net.state_dict()[name]);
  CHECK(values_of(target.second.weight) == values_of(net.second.weight));
}

}  // namespace tensor_any_tensor
