// A module's state_dict() held against PyTorch's: names, order, shapes, and the law that each tensor is drawn from.
#pragma once
#include "support/recorded.hpp"

#include <tern/nn/module.hpp>

namespace tern_test {

/// Uniform in [low, high): inside, and with the mean and standard deviation of that law.
inline void check_uniform(const std::vector<double>& values, double low, double high) {
  double sum = 0, squares = 0;
  for (const double v : values) {
    REQUIRE(v >= low);
    REQUIRE(v <= high);
    sum += v;
    squares += v * v;
  }
  if (values.size() < 100) return;
  const double n = double(values.size()), mean = sum / n, deviation = std::sqrt(squares / n - mean * mean);
  const double expected = (high - low) / std::sqrt(12.0);
  CHECK(std::fabs(mean - (low + high) / 2) < 5 * expected / std::sqrt(n));
  CHECK(std::fabs(deviation / expected - 1) < 3 / std::sqrt(n));
}

/// Normal(0, 1): mean, standard deviation, and the shares within one and two of it.
inline void check_normal(const std::vector<double>& values) {
  double sum = 0, squares = 0, within1 = 0, within2 = 0;
  for (const double v : values) {
    sum += v;
    squares += v * v;
    within1 += std::fabs(v) < 1;
    within2 += std::fabs(v) < 2;
  }
  const double n = double(values.size());
  CHECK(std::fabs(sum / n) < 5 / std::sqrt(n));
  CHECK(std::fabs(squares / n - 1) < 5 * std::sqrt(2 / n));
  CHECK(std::fabs(within1 / n - 0.6827) < 5 * std::sqrt(0.2166 / n));
  CHECK(std::fabs(within2 / n - 0.9545) < 5 * std::sqrt(0.0434 / n));
}

template <class Net>
void check_recorded_module(const std::string& name, const Net& net) {
  using D = typename Net::device_type;
  static const Json all = recorded_cases("modules");
  INFO(name);
  for (const Json& recorded : all) {
    if (recorded["module"] != name) continue;
    const StateDict dict = net.state_dict();
    REQUIRE(dict.size() == recorded["state_dict"].size());
    for (std::size_t i = 0; i < dict.size(); ++i) {
      const Json& entry = recorded["state_dict"][i];
      CHECK(dict[i].name == entry["key"].get<std::string>());
      CHECK(dict[i].tensor.shape() == shape_of(entry));
      const std::vector<double> values = values_of(dict[i].tensor.as<D, typename Net::value_type>());
      if (entry["law"] == "uniform") check_uniform(values, entry["low"], entry["high"]);
      else if (entry["law"] == "normal") check_normal(values);
      else CHECK(values == std::vector<double>(values.size(), entry["value"].get<double>()));
    }
    return;
  }
  FAIL("no such recorded module");
}

}  // namespace tern_test
