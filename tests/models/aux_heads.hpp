// What networks with auxiliary heads compute in training (tests/recorded/aux_heads.json), where every weight and the
// input come from the formula of reference.hpp.
#pragma once
#include "reference.hpp"
#include "support/recorded.hpp"

#include <tern/models/inception.hpp>

namespace tern_test {

/// Holds names and shapes of the heads, the loss, and gradients of heads and trunk against torchvision's. Rates of
/// dropout must be 0.
template <class T, class Net>
void check_aux_heads(const std::string& model, Net net) {
  constexpr bool is_double = std::is_same_v<T, double>;
  const double tolerance = is_double ? 1e-6 : 1e-4, gradient_tolerance = is_double ? 1e-6 : 2e-2;
  const auto norm = [](const std::vector<double>& values) {
    double sum = 0;
    for (const double v : values) sum += v * v;
    return std::sqrt(sum);
  };
  const auto near = [](double actual, double recorded, double part) {
    INFO(actual << ", expected " << recorded);
    CHECK(std::fabs(actual - recorded) <= part * std::fabs(recorded));
  };
  for (const auto& recorded : recorded_cases("aux_heads")) {
    if (recorded["model"] != model) continue;
    std::map<std::string, std::vector<Index>> heads;
    for (const auto& tensor : recorded["tensors"]) heads[tensor[0]] = tensor[1].template get<std::vector<Index>>();
    StateDict dict;
    for (const NamedTensor& entry : net.state_dict()) {
      INFO(entry.name);
      const tern::detail::Shape shape = entry.tensor.shape();
      if (entry.name.starts_with("aux") || entry.name.starts_with("Aux")) {
        REQUIRE(heads.count(entry.name) == 1);
        CHECK(heads[entry.name] == std::vector<Index>(shape.begin(), shape.end()));
        heads.erase(entry.name);
      }
      if (!entry.name.ends_with("num_batches_tracked"))
        dict.push_back({entry.name, formula_tensor<T>(entry.name, shape)});
    }
    CHECK(heads.empty());
    net.load_state_dict(dict, false);

    tern::detail::Shape size;
    for (const Index each : recorded["input"]) size.push_back(each);
    const auto images = formula_tensor<T>("input", size).to(tern::detail::current_device<ModelDevice>());
    const auto labels = tensor_of<ModelDevice, Index>({1, 7, 4, 0});
    net.train();
    const auto scores = net(images, models::with_aux);
    near(norm(values_of(scores.logits)), recorded["logits_norm"], tolerance);
    REQUIRE(scores.aux_logits.size() == recorded["aux_logits"].size());
    auto loss = cross_entropy(scores.logits, labels);
    for (std::size_t i = 0; i < scores.aux_logits.size(); ++i) {
      const std::vector<double> expected = recorded["aux_logits"][i];
      check_close(values_of(scores.aux_logits[i]), expected, tolerance, tolerance * norm(expected));
      loss = loss + Net::aux_weight * cross_entropy(scores.aux_logits[i], labels);
    }
    near(values_of(loss)[0], recorded["loss"], tolerance);
    loss.backward();
    std::size_t compared = 0;
    for (const auto& p : net.parameters()) {
      if (!recorded["grad_norms"].contains(p.name)) continue;
      INFO("gradient of " << p.name);
      near(norm(values_of(p.tensor.template as<ModelDevice, T>().grad())), recorded["grad_norms"][p.name],
           gradient_tolerance);
      ++compared;
    }
    CHECK(compared == recorded["grad_norms"].size());
  }
}

}  // namespace tern_test
