// What public definitions of models compute where every weight and the input come from a formula
// (TERN_TEST_DATA/models): outputs of their parts, logits, loss, and gradients.
#pragma once
#include "support/catch.hpp"
#include "support/devices.hpp"

#include <tern/models/load.hpp>
#include <tern/nn/fusion.hpp>
#include <tern/tern.hpp>

#include <zlib.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/tensors.hpp"

#if defined(TERN_TESTS_ON_CUDA)
using ModelDevice = tern::Cuda;
#else
using ModelDevice = tern::Cpu;
#endif

namespace tern_test {

/// Number k of a name, in [-1, 1).
inline double formula_number(std::uint32_t name, std::uint32_t k) {
  std::uint32_t x = k * 2654435761u + name * 40503u;
  for (int i = 0; i < 2; ++i) x = (x ^ (x >> 16)) * 0x45d9f3bu;
  x ^= x >> 16;
  return double(x >> 9) / 0x1p22 - 1;
}

/// True for an embedding of a transformer.
inline bool is_embedding(const std::string& name) {
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  return has("emb") || has("wte") || has("wpe");
}

/// The elements that the formula gives a tensor of a state dict.
template <class T>
Tensor<Cpu, T> formula_tensor(const std::string& name, const tern::detail::Shape& shape) {
  const auto hash = std::uint32_t(crc32(0, reinterpret_cast<const Bytef*>(name.data()), uInt(name.size())));
  const auto ends = [&](const char* with) { return name.ends_with(with); };
  const Tensor<Cpu, T> x = empty<Cpu, T>(shape);
  double scale = 0.1, offset = 0;
  if (name == "input") scale = 1;
  else if (shape.n >= 2) scale = std::sqrt(6 / double(shape.numel() / shape[0])) * (is_embedding(name) ? 0.02 : 1);
  else if (ends("weight")) offset = 1;
  for (Index k = 0; k < x.numel(); ++k) {
    const double u = formula_number(hash, std::uint32_t(k));
    x.data()[k] = T(ends("running_var") ? 1 + 0.5 * std::fabs(u) : offset + scale * u);
  }
  return x;
}

/// A model's row of reference.json, or of another file, held against the model piece by piece.
template <class T>
class Reference {
 public:
  using D = ModelDevice;
  using X = Tensor<D, T>;

  Reference(const std::string& folder, const std::string& model, const char* name = "/reference.json") {
    std::ifstream file(folder + name);
    row_ = nlohmann::json::parse(file).at(model);
  }

  X images() const { return formula_tensor<T>("input", shape(row_["input"])).to(tern::detail::current_device<D>()); }

  /// Gives the model the formula's weights. Its names and shapes must be the recorded ones, but for
  /// num_batches_tracked.
  template <class Net>
  void fill(const Net& net) const {
    std::map<std::string, tern::detail::Shape> expected;
    for (const char* const kind : {"parameters", "buffers"})
      for (const auto& entry : row_.value(kind, nlohmann::json::array())) expected[entry[0]] = shape(entry[1]);
    StateDict dict;
    for (const NamedTensor& entry : net.state_dict()) {
      if (entry.name.ends_with("num_batches_tracked")) continue;
      INFO(entry.name);
      REQUIRE(expected.count(entry.name) == 1);
      REQUIRE(expected[entry.name] == entry.tensor.shape());
      expected.erase(entry.name);
      dict.push_back({entry.name, formula_tensor<T>(entry.name, entry.tensor.shape())});
    }
    for (const auto& [name, unused] : expected) FAIL_CHECK(name << " is missing");
    net.load_state_dict(dict, false);
  }

  /// The output of one of the model's parts.
  void child(const char* name, const X& y) const {
    INFO(name);
    const auto& recorded = row_["eval"]["children"].at(name);
    CHECK(y.shape() == shape(recorded[0]));
    check(norm(y), recorded[1], value_tolerance);
  }

  /// The logits of the last two rows.
  void logits(const X& y) const {
    const double whole = row_["eval"]["logits_norm"];
    check(norm(y), whole, value_tolerance);
    const std::vector<double> values = values_of(y);
    // A logit near 0 is a difference of large terms, rounded as they are: it is held against the logits' root mean
    // square.
    const double typical = whole / std::sqrt(double(values.size()));
    const auto columns = std::size_t(y.size(-1)), start = values.size() - 2 * columns;
    for (std::size_t row = 0; row < 2; ++row)
      for (std::size_t i = 0; i < std::min<std::size_t>(8, columns); ++i) {
        INFO("logit " << i << " of row " << row);
        check(values[start + row * columns + i], row_["eval"]["logits"][row][i], value_tolerance, typical);
      }
  }

  /// With the normalisations folded into the convolutions, none is left and the network computes the same.
  template <class Net>
  void fused(Net& net) const {
    auto other = nn::fuse_for_inference(net);
    const InferenceMode inference;
    for (const NamedTensor& entry : other.state_dict()) CHECK_FALSE(entry.name.ends_with("running_mean"));
    const auto expected = values_of(net(images()));
    const double typical = norm(net(images())) / std::sqrt(double(expected.size()));
    check_close(values_of(other(images())), expected, 1e-5, 1e-5 * typical);
  }

  /// A training pass: the loss, and every parameter's gradient. Rates of dropout must be 0. In float32 each rounding in
  /// the first layers turns other relus, which batch norms amplify: it moves the norms of a deep network's gradients by
  /// up to 2%. So the middle of three passes counts there; their images differ by a factor that rounds everything anew.
  /// In float64 it changes these norms by less than 6e-4.
  template <class Net>
  void training(Net& net) const {
    const StateDict dict = net.state_dict();
    const bool normalises =
        std::any_of(dict.begin(), dict.end(), [](const auto& entry) { return entry.name.ends_with("running_var"); });
    double factor = 1;
    training(
        net,
        [&] {
          const X x = images() * T(factor);
          factor += 1.3e-6;
          return cross_entropy(net(x), tensor_of<D, Index>({1, 7}));
        },
        normalises && !is_double ? 3 : 1);
  }
  template <class Net, class Loss>
  void training(Net& net, const Loss& compute_loss, std::size_t passes = 1) const {
    net.train();
    const auto parameters = net.parameters();
    std::vector<std::vector<double>> norms(parameters.size());
    for (std::size_t pass = 0; pass < passes; ++pass) {
      net.zero_grad();
      const X loss = compute_loss();
      check(values_of(loss)[0], row_["train"]["loss"], value_tolerance);
      loss.backward();
      for (std::size_t i = 0; i < norms.size(); ++i)
        norms[i].push_back(norm(parameters[i].tensor.template as<D, T>().grad()));
    }
    const auto& expected = row_["train"]["grad_norms"];
    CHECK(parameters.size() == expected.size());
    for (std::size_t i = 0; i < norms.size(); ++i) {
      INFO("gradient of " << parameters[i].name);
      std::sort(norms[i].begin(), norms[i].end());
      const double recorded = expected.at(parameters[i].name), actual = norms[i][passes / 2];
      if (recorded < 1e-9) CHECK(actual < zero_tolerance);
      else check(actual, recorded, gradient_tolerance, least_gradient);
    }
  }

 protected:
  static constexpr bool is_double = std::is_same_v<T, double>;
  static constexpr double value_tolerance = is_double ? 1e-6 : 1e-4, gradient_tolerance = is_double ? 1e-6 : 2e-2;
  static constexpr double zero_tolerance = is_double ? 1e-9 : 1e-4;
  // The values of bert's last layers are nearly equal for all tokens, so the gradients of their queries and keys are
  // differences that float32 rounds away: norms of 3e-7 beside the values' 4. PyTorch's float32 is off by 2e-6 there.
  static constexpr double least_gradient = is_double ? 0 : 4e-6 / gradient_tolerance;

  static tern::detail::Shape shape(const nlohmann::json& sizes) {
    tern::detail::Shape s;
    for (const Index size : sizes) s.push_back(size);
    return s;
  }
  static double norm(const X& x) {
    double sum = 0;
    for (const double v : values_of(x)) sum += v * v;
    return std::sqrt(sum);
  }
  static void check(double actual, double recorded, double tolerance, double least_scale = 0) {
    INFO(actual << ", expected " << recorded);
    CHECK(std::fabs(actual - recorded) <= tolerance * std::fmax(std::fabs(recorded), least_scale));
  }

  nlohmann::json row_;
};

}  // namespace tern_test
