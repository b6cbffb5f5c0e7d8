// What PyTorch answered at kinks, ties, NaN and infinities, held against the pointwise ops.
#include "support/recorded.hpp"
#include "tern/ops/activations.hpp"
#include "tern/ops/fuse.hpp"

#include <functional>

namespace ops_conventions {
using namespace tern;
using namespace tern_test;

namespace {

/// The result of a recorded call down to the sign of 0, and its gradients.
template <class D, class T, class... X>
void check_case(const RecordedCase& recorded, const Tensor<D, T>& y, const X&... inputs) {
  recorded.check(y, inputs...);
  const auto expected = numbers_of(recorded.output()), actual = values_of(y);
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (expected[i] == 0) CHECK(std::signbit(actual[i]) == std::signbit(expected[i]));
}

template <class D>
void check_unary(const std::string& name, const std::function<Tensor<D, double>(const Tensor<D, double>&)>& op) {
  INFO(name);
  // PyTorch's gradient of hardsigmoid is multiplied by a sixth in float.
  const RecordedCase recorded(name, name.find("hardsigmoid") == 0 ? 1e-7 : 1e-12);
  const auto x = recorded.input<D>(0);
  check_case(recorded, op(x), x);
}

template <class D, class F>
void check_binary(const std::string& name, const F& op) {
  INFO(name);
  const RecordedCase recorded(name, 1e-12);
  const auto a = recorded.input<D>(0), b = recorded.input<D>(1);
  check_case(recorded, op(a, b), a, b);
}

}  // namespace

TEMPLATE_TEST_CASE("activations and functions at the edges are PyTorch's", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  using X = Tensor<D, double>;
#define EDGES(name)                                           \
  {                                                           \
    #name " at the edges", [](const X& x) { return name(x); } \
  }
  const std::map<std::string, std::function<X(const X&)>> ops{
      EDGES(relu),
      EDGES(leaky_relu),
      EDGES(elu),
      EDGES(selu),
      EDGES(celu),
      EDGES(hardtanh),
      EDGES(hardsigmoid),
      EDGES(hardswish),
      EDGES(relu6),
      EDGES(softplus),
      EDGES(softsign),
      EDGES(silu),
      EDGES(mish),
      EDGES(gelu),
      EDGES(sigmoid),
      EDGES(logsigmoid),
      EDGES(tanh),
      EDGES(abs),
      EDGES(sign),
      EDGES(sqrt),
      EDGES(rsqrt),
      EDGES(log),
      EDGES(log1p),
      EDGES(reciprocal),
      EDGES(square),
      EDGES(exp),
      EDGES(floor),
      {"relu6 at its corners", [](const X& x) { return relu6(x); }},
      {"hardtanh at its corners", [](const X& x) { return hardtanh(x); }},
      {"hardsigmoid at its corners", [](const X& x) { return hardsigmoid(x); }},
      {"hardswish at its corners", [](const X& x) { return hardswish(x); }},
      {"softplus beyond its threshold", [](const X& x) { return softplus(x); }},
      {"round half to even", [](const X& x) { return round(x); }},
      {"clamp at its bounds", [](const X& x) { return clamp(x, -1, 1); }},
      {"clamp with min above max", [](const X& x) { return clamp(x, 2, 1); }},
      {"where hides nan", [](const X& x) { return where(x > 0, x, zeros<D, double>({})); }},
      {"where over sqrt", [](const X& x) { return where(x > 0, sqrt(x), x); }}};
#undef EDGES
  for (const auto& [name, op] : ops) check_unary<D>(name, op);
  for (const auto* text : {"0", "1", "2", "3", "0.5", "-1"})
    check_unary<D>(std::string("pow with the number ") + text, [&](const X& x) { return pow(x, std::stod(text)); });
}

TEMPLATE_TEST_CASE("ties, zeros and signs of two arguments are PyTorch's", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  check_binary<D>("maximum: ties and nan", [](const auto& a, const auto& b) { return maximum(a, b); });
  check_binary<D>("minimum: ties and nan", [](const auto& a, const auto& b) { return minimum(a, b); });
  check_binary<D>("clamp_min: ties and nan", [](const auto& a, const auto& b) { return clamp_min(a, b); });
  check_binary<D>("clamp_max: ties and nan", [](const auto& a, const auto& b) { return clamp_max(a, b); });
  check_binary<D>("clamp_min: ties and nan", [](const auto& a, const auto& b) { return clamp(a, b); });
  check_binary<D>("remainder", [](const auto& a, const auto& b) { return remainder(a, b); });
  check_binary<D>("fmod", [](const auto& a, const auto& b) { return fmod(a, b); });
  check_binary<D>("pow at 0", [](const auto& a, const auto& b) { return pow(a, b); });
  check_binary<D>("atan2 at the axes", [](const auto& a, const auto& b) { return atan2(a, b); });
}

TEMPLATE_TEST_CASE("clamp, and a clamp in a fused expression, are PyTorch's at their bounds", "[ops]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  check_unary<D>("clamp at its bounds", fuse([](auto x) { return clamp(x, -1, 1); }));
  check_unary<D>("clamp with min above max", fuse([](auto x) { return clamp(x, 2, 1); }));
  const auto check = [](const auto& op) {
    const RecordedCase recorded("clamp between tensors: ties, and min above max", 1e-12);
    const auto x = recorded.input<D>(0), low = recorded.input<D>(1), high = recorded.input<D>(2);
    check_case(recorded, op(x, low, high), x, low, high);
  };
  check([](const auto& x, const auto& low, const auto& high) { return clamp(x, low, high); });
  check(fuse([](auto x, auto low, auto high) { return clamp(x, low, high); }));
}

TEMPLATE_TEST_CASE("integer quotients and remainders are PyTorch's", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](const char* name, const auto& op) {
    const RecordedCase recorded(name);
    recorded.check(op(recorded.input<D, Index>(0), recorded.input<D, Index>(1)));
  };
  check("integer division is true division", [](const auto& a, const auto& b) { return a.to(f32) / b.to(f32); });
  check("integer remainder", [](const auto& a, const auto& b) { return remainder(a, b); });
  check("integer floor_divide", [](const auto& a, const auto& b) { return floor_divide(a, b); });
}

}  // namespace ops_conventions
