// Runs recorded cases of recurrent layers (cases.jsonl, tensors.safetensors) in float and in double: outputs and all
// gradients.
#include <tern/io/safetensors.hpp>
#include <tern/tern.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "support/emulator.hpp"

using namespace tern;

using Json = nlohmann::json;
using Device_ = TERN_RECURRENT_DEVICE;

namespace {

using Tensors = std::map<std::string, AnyTensor>;

struct Tolerance {
  double absolute, relative;
};

Tensor<Cpu, double> doubles(const AnyTensor& x) {
  const AnyTensor here = x.cpu();
  if (here.impl()->dtype == DType::float64) return here.as<Cpu, double>().detach().contiguous();
  return to_type(here.as<Cpu, float>().detach(), f64).contiguous();
}

void require_close(const std::string& what, const AnyTensor& got, const AnyTensor& want, Tolerance tolerance) {
  const Tensor<Cpu, double> x = doubles(got), y = doubles(want);
  if (x.shape() != y.shape())
    throw std::runtime_error(what + ": shape " + detail::text({x.shape()}) + ", expected " + detail::text({y.shape()}));
  for (Index i = 0; i < x.numel(); ++i)
    if (!(std::abs(x.data()[i] - y.data()[i]) <= tolerance.absolute + tolerance.relative * std::abs(y.data()[i])))
      throw std::runtime_error(what + ": element " + std::to_string(i) + " is " + std::to_string(x.data()[i]) +
                               ", expected " + std::to_string(y.data()[i]));
}

/// A case with elements T.
template <class T>
class Run {
  using X = Tensor<Device_, T>;

 public:
  Run(const Json& c, const Tensors& tensors) : case_(c), tensors_(tensors) {}

  void check() {
    const Json& o = case_["options"];
    const auto flag = [&](const char* name, bool otherwise) { return o.value(name, otherwise); };
    const Index size = o["input_size"], hidden = o["hidden_size"], layers = o.value("num_layers", 1);
    const bool bias = flag("bias", true), first = flag("batch_first", false), both = flag("bidirectional", false);
    const auto how = o.value("nonlinearity", "tanh") == "relu" ? nn::Nonlinearity::relu : nn::Nonlinearity::tanh;
    const std::string layer = case_["layer"];
    input_ = input("input", case_["input"]);
    for (std::size_t i = 0; i < case_.value("state", Json::array()).size(); ++i)
      state_[i] = input(i ? "c0" : "h0", case_["state"][i]);
    if (layer == "RNN")
      sequence(nn::RNN<Device_, T>(
          size, hidden,
          {.num_layers = layers, .nonlinearity = how, .bias = bias, .batch_first = first, .bidirectional = both}));
    else if (layer == "GRU")
      sequence(nn::GRU<Device_, T>(size, hidden,
                                   {.num_layers = layers, .bias = bias, .batch_first = first, .bidirectional = both}));
    else if (layer == "LSTM")
      sequence(nn::LSTM<Device_, T>(size, hidden,
                                    {.num_layers = layers,
                                     .bias = bias,
                                     .batch_first = first,
                                     .bidirectional = both,
                                     .proj_size = o.value("proj_size", 0)}));
    else if (layer == "RNNCell") cell(nn::RNNCell<Device_, T>(size, hidden, {.bias = bias, .nonlinearity = how}));
    else if (layer == "GRUCell") cell(nn::GRUCell<Device_, T>(size, hidden, {.bias = bias}));
    else if (layer == "LSTMCell") cell(nn::LSTMCell<Device_, T>(size, hidden, {.bias = bias}));
    else throw std::runtime_error("no layer " + layer);
  }

 private:
  X recorded(const std::string& name) const {
    return to_device(to_type(tensors_.at(name).template as<Cpu, float>().clone(), detail::Type<T>{}), Device_{});
  }
  X input(const std::string& name, const std::string& tensor) {
    X x = recorded(tensor);
    x.requires_grad_();
    leaves_.emplace_back(name, x);
    return x;
  }

  template <class L>
  void load(const L& layer) {
    StateDict weights;
    for (const auto& [name, tensor] : case_["parameters"].items()) weights.push_back({name, recorded(tensor)});
    layer.load_state_dict(weights);
    for (const auto& [name, p] : layer.named_parameters()) leaves_.emplace_back(name, p);
  }

  template <class L>
  void sequence(L layer) {
    load(layer);
    const auto run = [&](const auto& x) {
      if constexpr (requires { typename L::State; }) return layer(x, {state_[0], state_[1]});
      else return layer(x, state_[0]);
    };
    X y;
    if (case_.contains("lengths")) {
      const std::vector<Index> lengths = case_["lengths"];
      const auto [packed, state] = run(pack_padded_sequence(
          input_, lengths, {.batch_first = layer.batch_first, .enforce_sorted = case_["enforce_sorted"]}));
      const auto padded = pad_packed_sequence(packed, {.batch_first = layer.batch_first});
      if (padded.second != lengths) throw std::runtime_error("other lengths came back");
      finish(padded.first, state);
    } else {
      const auto [output, state] = run(input_);
      finish(output, state);
    }
  }
  void finish(const X& y, const X& h) { compare({y, h}); }
  void finish(const X& y, const std::tuple<X, X>& state) { compare({y, std::get<0>(state), std::get<1>(state)}); }

  template <class L>
  void cell(L layer) {
    load(layer);
    if constexpr (requires { typename L::State; }) {
      const auto [h, c] = layer(input_, {state_[0], state_[1]});
      compare({h, c});
    } else {
      compare({layer(input_, state_[0])});
    }
  }

  void compare(const std::vector<X>& outputs) {
    constexpr bool wide = std::is_same_v<T, double>;
    constexpr Tolerance result = wide ? Tolerance{1e-12, 1e-6} : Tolerance{1e-5, 1e-4},
                        gradient = wide ? result : Tolerance{1e-4, 1e-3};
    const std::string type = wide ? "double" : "float";
    if (case_["outputs"].size() != outputs.size()) throw std::runtime_error("another number of outputs");
    X loss;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      require_close(type + ", output " + std::to_string(i), outputs[i], tensors_.at(std::string(case_["outputs"][i])),
                    result);
      const X part = sum(outputs[i] * recorded(case_["cotangents"][i]));
      loss = loss.defined() ? loss + part : part;
    }
    loss.backward();
    std::size_t compared = 0;
    for (const auto& [name, leaf] : leaves_) {
      if (!leaf.grad().defined()) throw std::runtime_error(type + ": no gradient of " + name);
      require_close(type + ", gradient of " + name, leaf.grad(), tensors_.at(std::string(case_["grads"].at(name))),
                    gradient);
      ++compared;
    }
    if (compared != case_["grads"].size()) throw std::runtime_error("another number of gradients");
  }

  const Json& case_;
  const Tensors& tensors_;
  X input_, state_[2];
  std::vector<std::pair<std::string, X>> leaves_;
};

}  // namespace

int main(int argc, char** argv) {
  tern_test::use_emulated_cuda();
  if (argc != 3 || std::strcmp(argv[1], "--cases")) {
    std::fprintf(stderr, "usage: recurrent --cases DIR\n");
    return 2;
  }
  const std::string folder = argv[2];
  std::ifstream file(folder + "/cases.jsonl");
  if (!file) {
    std::fprintf(stderr, "cannot read %s/cases.jsonl\n", folder.c_str());
    return 2;
  }
  Tensors tensors;
  for (const NamedTensor& t : io::load_safetensors(folder + "/tensors.safetensors")) tensors.emplace(t.name, t.tensor);
  int passed = 0, failed = 0;
  for (std::string line; std::getline(file, line);) {
    const Json c = Json::parse(line);
    try {
      Run<float>(c, tensors).check();
      Run<double>(c, tensors).check();
      ++passed;
    } catch (const std::exception& error) {
      std::printf("%s: %s\n", std::string(c["id"]).c_str(), error.what());
      ++failed;
    }
  }
  std::printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed || !passed;
}
