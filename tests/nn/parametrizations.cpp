#include "recorded_module.hpp"

#include <tern/nn/nn.hpp>
#include <tern/optim/sgd.hpp>

namespace nn_parametrizations {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Element i of the k-th entry of a state dict is 0.4 sin(1.3 i + k).
template <class D>
void fill(const StateDict& dict) {
  for (std::size_t k = 0; k < dict.size(); ++k) {
    const auto x = dict[k].tensor.template as<D, double>();
    x.copy_((arange<D, double>(0, double(x.numel())) * 1.3 + double(k)).sin().mul(0.4).reshape(x.shape()));
  }
}

/// sin(i).
template <class D>
Tensor<D, double> incoming(const detail::Shape& shape) {
  return arange<D, double>(0, double(shape.numel())).sin().reshape(shape);
}

/// Three calls of a layer, with gradients and buffers, against PyTorch's.
template <class Net>
void check_recorded(const std::string& name, Net net) {
  using D = typename Net::device_type;
  INFO(name);
  static const Json all = recorded_cases("parametrizations");
  for (const Json& recorded : all) {
    if (recorded["name"] != name) continue;
    const StateDict dict = net.state_dict();
    REQUIRE(dict.size() == recorded["state_dict"].size());
    for (std::size_t i = 0; i < dict.size(); ++i) {
      CHECK(dict[i].name == recorded["state_dict"][i]["key"].get<std::string>());
      CHECK(dict[i].tensor.shape() == shape_of(recorded["state_dict"][i]));
    }
    fill<D>(dict);
    const auto x = tensor_of<D>(numbers_of(recorded["input"]), shape_of(recorded["input"])).requires_grad_();
    for (const Json& call : recorded["calls"]) {
      net.train(call["training"].get<bool>());
      net.zero_grad();
      x.set_grad({});
      const auto y = net(x);
      REQUIRE(y.shape() == shape_of(call["output"]));
      check_close(values_of(y), numbers_of(call["output"]));
      y.backward(incoming<D>(y.shape()));
      check_close(values_of(x.grad()), numbers_of(call["gradient"]));
      const auto parameters = net.named_parameters();
      REQUIRE(parameters.size() == call["parameter_gradients"].size());
      for (const Json& gradient : call["parameter_gradients"])
        for (const auto& p : parameters)
          if (p.name == gradient["name"].get<std::string>()) {
            INFO(p.name);
            check_close(values_of(p.tensor.grad()), numbers_of(gradient["value"]));
          }
      for (const Json& buffer : call["buffers"])
        for (const NamedTensor& entry : net.state_dict())
          if (entry.name == buffer["name"].get<std::string>()) {
            INFO(entry.name);
            check_close(values_of(entry.tensor.template as<D, double>()), numbers_of(buffer["value"]));
          }
    }
    return;
  }
  FAIL("no such recorded case");
}

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::WeightNorm<nn::Linear<D, T>> fc{nn::Linear<D, T>(4, 3)};
  nn::SpectralNorm<nn::Linear<D, T>> out = nn::spectral_norm(nn::Linear<D, T>(3, 2));
  TERN_FIELDS(Net, fc, out)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(relu(fc(x))); }
};

}  // namespace

TEMPLATE_TEST_CASE("weight_norm is PyTorch's", "", TERN_TEST_DEVICES) {
  using D = TestType;
  using Linear = nn::Linear<D, double>;
  using Conv2d = nn::Conv2d<D, double>;
  using Transposed = nn::ConvTranspose1d<D, double>;
  check_recorded("weight_norm: Linear(4, 3)", nn::weight_norm(Linear(4, 3)));
  check_recorded("weight_norm: Conv2d(2, 3, (2, 3))", nn::weight_norm(Conv2d(2, 3, {2, 3})));
  check_recorded("weight_norm: ConvTranspose1d(2, 3, 2)", nn::weight_norm(Transposed(2, 3, 2)));
  check_recorded("weight_norm: LayerNorm(4)", nn::weight_norm(nn::LayerNorm<D, double>(4)));
  check_recorded("weight_norm, dim 1: Linear(4, 3)", nn::weight_norm(Linear(4, 3), {.dim = 1}));
  check_recorded("weight_norm, dim 1: Conv2d(2, 3, (2, 3))", nn::weight_norm(Conv2d(2, 3, {2, 3}), {.dim = 1}));
  check_recorded("weight_norm, dim 1: Linear(4, 3)", nn::weight_norm(Linear(4, 3), "weight", 1));
  check_recorded("weight_norm, dim 1: ConvTranspose1d(2, 3, 2)", nn::weight_norm(Transposed(2, 3, 2), {.dim = 1}));
  check_recorded("weight_norm, whole: Linear(4, 3)", nn::weight_norm(Linear(4, 3), {.dim = -1}));
  check_recorded("weight_norm, whole: LayerNorm(4)", nn::weight_norm(nn::LayerNorm<D, double>(4), {.dim = -1}));
}

TEMPLATE_TEST_CASE("spectral_norm is PyTorch's", "", TERN_TEST_DEVICES) {
  using D = TestType;
  using Linear = nn::Linear<D, double>;
  using Conv2d = nn::Conv2d<D, double>;
  using Transposed = nn::ConvTranspose1d<D, double>;
  check_recorded("spectral_norm: Linear(4, 3)", nn::spectral_norm(Linear(4, 3)));
  check_recorded("spectral_norm: Conv2d(2, 3, (2, 3))", nn::spectral_norm(Conv2d(2, 3, {2, 3})));
  check_recorded("spectral_norm: ConvTranspose1d(2, 3, 2)", nn::spectral_norm(Transposed(2, 3, 2)));
  check_recorded("spectral_norm: LayerNorm(4)", nn::spectral_norm(nn::LayerNorm<D, double>(4)));
  const nn::SpectralNormOptions thrice{.n_power_iterations = 3, .dim = 1};
  check_recorded("spectral_norm, 3 iterations, dim 1: Linear(4, 3)", nn::spectral_norm(Linear(4, 3), thrice));
  check_recorded("spectral_norm, 3 iterations, dim 1: Conv2d(2, 3, (2, 3))",
                 nn::spectral_norm(Conv2d(2, 3, {2, 3}), thrice));
}

TEMPLATE_TEST_CASE("a new parametrized layer has the layer's weight, or that divided by its largest singular value", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  nn::Linear<D, double> layer(4, 3);
  const auto weight = layer.weight.detach().clone();
  const auto normed = nn::weight_norm(layer.clone());
  check_close(values_of(normed.weight()), values_of(weight));
  layer.weight.requires_grad_(false).copy_(tensor_of<D>({3, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0}, {3, 4}));
  const auto spectral = nn::spectral_norm(std::move(layer));
  check_close(values_of(spectral.weight()), {1, 0, 0, 0, 0, 2. / 3, 0, 0, 0, 0, 1. / 3, 0}, 1e-4, 1e-4);
}

TEMPLATE_TEST_CASE("parametrized layers are copied, converted, mixed and trained", "", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  Net<D> net;
  std::vector<std::string> names;
  for (const auto& p : net.parameters()) names.push_back(p.name);
  CHECK(names == std::vector<std::string>{"fc.bias", "fc.parametrizations.weight.original0",
                                          "fc.parametrizations.weight.original1", "out.bias",
                                          "out.parametrizations.weight.original"});
  net.eval();
  const auto x = spread_tensor<D, float>({5, 4});
  const std::vector<double> y = values_of(net(x));
  CHECK(values_of(net.clone()(x)) == y);
  check_close(values_of(net.to(f64)(x.to(f64))), y, 1e-5, 1e-5);
  auto mixed = nn::mixed<bfloat16>(net);
  check_close(values_of(mixed(x)), y, 3e-2, 3e-2);
  CHECK(mixed.parameters().size() == 5);
  net.train();
  optim::SGD sgd(net.parameters(), {.lr = 0.1});
  const double before = net(x).square().mean().item();
  for (int step = 0; step < 10; ++step) {
    sgd.zero_grad();
    net(x).square().mean().backward();
    sgd.step();
  }
  CHECK(net(x).square().mean().item() < before);
}

TEMPLATE_TEST_CASE("weight_norm and spectral_norm refuse what they cannot do", "", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK_THAT(error_of([] { nn::weight_norm(nn::Linear<D>(4, 3), {.dim = 2}); }), ContainsSubstring("weight_norm: "));
  CHECK_THAT(error_of([] { nn::spectral_norm(nn::Linear<D>(4, 3), {.dim = 2}); }),
             ContainsSubstring("spectral_norm: "));
  CHECK(error_of([] { nn::spectral_norm(nn::Linear<D>(4, 3), {.n_power_iterations = 0}); }) ==
        "spectral_norm: n_power_iterations must be positive, not 0");
  CHECK(error_of([] { nn::weight_norm(nn::LayerNorm<D>(4, {.elementwise_affine = false})); }) ==
        "weight_norm: the layer has no weight");
  CHECK_THAT(error_of([] { nn::weight_norm(nn::Linear<D>(4, 3), "bias"); }),
             ContainsSubstring("weight_norm: only a layer's weight is normalised, not bias"));
  CHECK_THAT(error_of([] { nn::spectral_norm(nn::Linear<D>(4, 3), "weight", 0); }),
             ContainsSubstring("spectral_norm: n_power_iterations must be positive, not 0"));
  auto net = nn::weight_norm(nn::Linear<D>(4, 3));
  CHECK_THROWS_AS(net(ones<D>({2, 5})), Error);
  CHECK_FALSE(net.layer.weight.defined());  // also after an Error
}

}  // namespace nn_parametrizations
