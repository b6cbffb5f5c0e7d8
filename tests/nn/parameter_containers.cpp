#include "support/tensors.hpp"

#include <tern/nn/nn.hpp>
#include <tern/optim/sgd.hpp>

namespace nn_parameter_containers {
using namespace tern_test;

namespace {

/// x times the product of a list's scales, plus the shift of a name.
template <Device D, class T = float>
struct Shifted : nn::Module<D, T> {
  nn::ParameterList<D, T> scales{tensor_of<D, T>({1, 2}), tensor_of<D, T>({3, 4})};
  nn::ParameterDict<D, T> shifts{{"up", tensor_of<D, T>({1, 1})}, {"down", tensor_of<D, T>({-1, -1})}};
  TERN_FIELDS(Shifted, scales, shifts)
  Tensor<D, T> forward(const Tensor<D, T>& x, const std::string& shift) const {
    Tensor<D, T> y = x;
    for (const auto& scale : scales) y = y * scale;
    return y + shifts[shift];
  }
};

template <class List>
std::vector<std::string> names_of(const List& list) {
  std::vector<std::string> names;
  for (const auto& entry : list) names.push_back(entry.name);
  return names;
}

const std::vector<std::string> names{"scales.0", "scales.1", "shifts.up", "shifts.down"};

}  // namespace

TEMPLATE_TEST_CASE("lists and dictionaries of parameters are trained, under PyTorch's names", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Shifted<D> net;
  CHECK(names_of(net.parameters()) == names);
  CHECK(names_of(net.state_dict()) == names);
  const auto x = tensor_of<D, float>({1, 10});
  CHECK(values_of(net(x, "up")) == std::vector<double>{4, 81});
  CHECK(values_of(net(x, "down")) == std::vector<double>{2, 79});

  optim::SGD sgd(net.parameters(), {.lr = 1});
  net(x, "up").sum().backward();
  sgd.step();
  CHECK(values_of(net.scales[0]) == std::vector<double>{1 - 3, 2 - 40});
  CHECK(values_of(net.scales[-1]) == std::vector<double>{3 - 1, 4 - 20});
  CHECK(values_of(net.shifts["up"]) == std::vector<double>{0, 0});
  CHECK_FALSE(net.shifts["down"].grad().defined());

  CHECK(values_of(net.clone()(x, "up")) == values_of(net(x, "up")));
  CHECK(values_of(net.to(f64)(x.to(f64), "up")) == values_of(net(x, "up")));
  Shifted<D> other;
  other.load_state_dict(net.state_dict());
  CHECK(values_of(other(x, "down")) == values_of(net(x, "down")));
  CHECK(names_of(nn::mixed<bfloat16>(net).parameters()) == names);
}

TEMPLATE_TEST_CASE("a ParameterDict changes as a ModuleDict does", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::ParameterDict<D> dict;
  CHECK(dict.is_empty());
  dict.insert("b", ones<D>({2}));
  dict.insert("a", zeros<D>({3}));
  dict.insert("b", zeros<D>({4}));  // in its place
  CHECK(dict.keys() == std::vector<std::string>{"b", "a"});
  CHECK((dict.contains("a") && !dict.contains("c") && dict.size() == 2));
  CHECK(dict["b"].requires_grad());
  CHECK(dict.pop("b").shape() == detail::Shape{4});
  for (auto& [key, parameter] : dict) CHECK((key == "a" && parameter.numel() == 3));
  dict.clear();
  CHECK(names_of(dict.parameters()).empty());
  CHECK(error_of([&] { dict.at("a"); }) == "ParameterDict: there is no parameter \"a\"; insert() adds one");
  TERN_TEST_LINE(dict["a"]);
  TERN_TEST_LINE(dict.pop("a"));
  TERN_TEST_LINE(dict.insert("a.b", ones<D>({2})));
  TERN_TEST_LINE(nn::ParameterDict<D>{{"a.b", ones<D>({2})}});
}

TEMPLATE_TEST_CASE("a ParameterList grows by push_back", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::ParameterList<D> list;
  list.push_back(ones<D>({2}));
  list.push_back(nn::Parameter<D>(ones<D>({3})));
  CHECK(names_of(list.parameters()) == std::vector<std::string>{"0", "1"});
  CHECK(error_of([&] { list[2]; }) == "operator[]: there is no parameter 2 of 2");
  TERN_TEST_LINE(list[2]);
}

}  // namespace nn_parameter_containers
