// What PyTorch answered where a formula alone does not say: the cases of tests/recorded/*.json.
#pragma once
#include "json.hpp"
#include "tensors.hpp"

#include <map>

namespace tern_test {

inline double number_of(const Json& j) {
  if (j.is_string()) return std::stod(j.get<std::string>());
  return j.is_boolean() ? double(j.get<bool>()) : j.get<double>();
}
inline std::vector<double> numbers_of(const Json& tensor) {
  std::vector<double> values;
  for (const Json& j : tensor["data"]) values.push_back(number_of(j));
  return values;
}
inline tern::detail::Shape shape_of(const Json& tensor) {
  tern::detail::Shape shape;
  for (const Json& j : tensor["shape"]) shape.push_back(j.get<Index>());
  return shape;
}

/// The cases of tests/recorded/NAME.json.
inline Json recorded_cases(const std::string& name) { return read_recorded(name + ".json")["cases"]; }

/// One call of conventions.json, or another file of that form. Its first inputs of type double, as many as there are
/// gradients, require one.
class RecordedCase {
 public:
  explicit RecordedCase(const std::string& name, double gradient_tolerance = 1e-8,
                        const std::string& file = "conventions")
      : name_(name), gradient_tolerance_(gradient_tolerance) {
    static std::map<std::string, Json> files;
    if (!files.count(file)) files[file] = recorded_cases(file);
    for (const Json& j : files[file])
      if (j["name"] == name) json_ = j;
    INFO("recorded case " << name);
    REQUIRE(!json_.is_null());
  }

  const Json& args() const { return json_["args"]; }
  const Json& output() const { return json_["output"]; }
  bool has(const char* argument) const {
    return json_.contains("args") && args().is_object() && args().contains(argument);
  }
  double number(const char* argument, double otherwise) const {
    return has(argument) ? number_of(args()[argument]) : otherwise;
  }
  /// A tensor among the arguments; undefined if it was not given.
  template <class D, class T = double>
  Tensor<D, T> optional(const char* argument) const {
    return has(argument) ? tensor<D, T>(args()[argument]) : Tensor<D, T>();
  }
  template <class D, class T = double>
  Tensor<D, T> input(std::size_t i) const {
    Tensor<D, T> x = tensor<D, T>(json_["inputs"][i]);
    if constexpr (std::is_same_v<T, double>)
      if (json_.contains("gradients") && i < json_["gradients"].size()) x.requires_grad_();
    return x;
  }

  /// Compares a result, and after a backward from 1, 2, 3, ... the gradients of these inputs.
  template <class D, class T, class... X>
  void check(const Tensor<D, T>& y, const X&... inputs) const {
    INFO("recorded case " << name_);
    REQUIRE(tern::detail::name_of(y.dtype()) == json_["output"]["dtype"].get<std::string>());
    REQUIRE(y.shape() == shape_of(json_["output"]));
    check_close(values_of(y), numbers_of(json_["output"]));
    if constexpr (sizeof...(X) > 0) {
      REQUIRE(json_["gradients"].size() == sizeof...(X));
      std::vector<double> slopes;
      for (Index i = 0; i < y.numel(); ++i) slopes.push_back(double(i + 1));
      const auto g = tensor_of<D, T>(slopes, y.shape());
      y.backward(g);
      std::size_t i = 0;
      (check_close(values_of(inputs.grad()), numbers_of(json_["gradients"][i++]), gradient_tolerance_, 1e-12), ...);
    }
  }

 private:
  template <class D, class T>
  static Tensor<D, T> tensor(const Json& j) {
    return tensor_of<D, T>(numbers_of(j), shape_of(j));
  }

  std::string name_;
  double gradient_tolerance_;
  Json json_;
};

}  // namespace tern_test
