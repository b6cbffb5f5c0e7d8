// Operators on each element.
#pragma once
#include "table.hpp"

namespace opinfo {

/// An operator of one tensor.
#define UNARY(torch_name, name) {torch_name, [](C& c) { return Results{name(c.x(0))}; }}
/// An operator of two tensors.
#define OF_TWO(name) {#name, [](C& c) { return Results{name(c.x(0), c.x(1, "other"))}; }}
/// An operator of a tensor and a tensor or number.
#define BINARY(name) \
  {#name, [](C& c) { return Results{c.binary([](const auto& a, const auto& b) { return name(a, b); })}; }}
/// An operator of two tensors, the second multiplied by alpha, or of a tensor and a number.
#define WITH_ALPHA(name)                                                                   \
  {#name, [](C& c) {                                                                       \
     if (c.has("alpha")) return Results{name(c.x(0), c.x(1, "other"), c.scalar("alpha"))}; \
     return Results{c.binary([](const auto& a, const auto& b) { return name(a, b); })};    \
   }}

template <class D, class T>
Table<D, T> pointwise() {
  using C = Call<D, T>;
  Table<D, T> table{
      BINARY(eq),
      BINARY(ne),
      BINARY(lt),
      BINARY(le),
      BINARY(gt),
      BINARY(ge),
      OF_TWO(logical_and),
      OF_TWO(logical_or),
      OF_TWO(logical_xor),
      UNARY("logical_not", logical_not),
      {"nan_to_num",
       [](C& c) {
         const auto bound = [&](int position, const char* name) {
           return c.has(position, name) ? std::optional(c.number(position, name, 0)) : std::nullopt;
         };
         return Results{nan_to_num(c.x(0), c.number(1, "nan", 0), bound(2, "posinf"), bound(3, "neginf"))};
       }},
      {"isclose",
       [](C& c) {
         return Results{isclose(c.x(0), c.x(1, "other"), c.number(2, "rtol", 1e-5), c.number(3, "atol", 1e-8),
                                c.flag(4, "equal_nan", false))};
       }},
      {"where",
       [](C& c) {
         const auto condition = c.bools(1, "condition");
         if (!c.is_tensor(2, "other")) return Results{where(condition, c.x(0), c.scalar(2, "other"))};
         return Results{where(condition, c.x(0), c.x(2, "other"))};
       }},
  };
  if constexpr (!std::is_same_v<T, bool>) {
    const Table<D, T> numbers{
        UNARY("abs", abs),
        UNARY("neg", neg),
        UNARY("sign", sign),
        UNARY("square", square),
        UNARY("nn.functional.relu", relu),
        UNARY("isfinite", isfinite),
        UNARY("isinf", isinf),
        UNARY("isnan", isnan),
        WITH_ALPHA(add),
        WITH_ALPHA(sub),
        BINARY(mul),
        BINARY(fmod),
        BINARY(remainder),
        OF_TWO(maximum),
        OF_TWO(minimum),
        OF_TWO(fmax),
        OF_TWO(fmin),
        OF_TWO(heaviside),
        UNARY("signbit", signbit),
        {"addcmul",
         [](C& c) {
           const auto value = c.has("value") ? c.scalar("value") : typename C::Scalar(1);
           return Results{addcmul(c.x(0), c.x(1), c.x(2), value)};
         }},
        {"clamp",
         [](C& c) {
           if (c.is_tensor(1, "min") || c.is_tensor(2, "max"))
             return Results{clamp(c.x(0), c.optional_x(1, "min"), c.optional_x(2, "max"))};
           std::optional<typename C::Scalar> min, max;
           if (c.has(1, "min")) min = c.scalar(1, "min");
           if (c.has(2, "max")) max = c.scalar(2, "max");
           return Results{clamp(c.x(0), min, max)};
         }},
        {"pow", [](C& c) { return Results{c.binary([](const auto& a, const auto& b) { return pow(a, b); })}; }},
    };
    table.insert(table.end(), numbers.begin(), numbers.end());
  }
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    table.push_back(OF_TWO(gcd));
    table.push_back(OF_TWO(lcm));
  }
  return table;
}

template <class D, class T>
Table<D, T> floating_pointwise() {
  using C = Call<D, T>;
  return {
      UNARY("acos", acos),
      UNARY("acosh", acosh),
      UNARY("asin", asin),
      UNARY("asinh", asinh),
      UNARY("atan", atan),
      UNARY("atanh", atanh),
      UNARY("ceil", ceil),
      UNARY("cos", cos),
      UNARY("cosh", cosh),
      UNARY("erf", erf),
      UNARY("erfc", erfc),
      UNARY("exp", exp),
      UNARY("exp2", exp2),
      UNARY("expm1", expm1),
      UNARY("floor", floor),
      UNARY("frac", frac),
      UNARY("log", log),
      UNARY("log10", log10),
      UNARY("log1p", log1p),
      UNARY("log2", log2),
      UNARY("reciprocal", reciprocal),
      UNARY("rsqrt", rsqrt),
      UNARY("sigmoid", sigmoid),
      UNARY("sin", sin),
      UNARY("sinc", sinc),
      UNARY("rad2deg", rad2deg),
      UNARY("deg2rad", deg2rad),
      UNARY("sinh", sinh),
      UNARY("sqrt", sqrt),
      UNARY("tan", tan),
      UNARY("tanh", tanh),
      UNARY("trunc", trunc),
      UNARY("nn.functional.hardsigmoid", hardsigmoid),
      UNARY("nn.functional.hardswish", hardswish),
      UNARY("nn.functional.logsigmoid", logsigmoid),
      UNARY("nn.functional.mish", mish),
      UNARY("nn.functional.relu6", relu6),
      UNARY("nn.functional.selu", selu),
      UNARY("nn.functional.silu", silu),
      UNARY("nn.functional.softsign", softsign),
      UNARY("nn.functional.tanhshrink", tanhshrink),
      OF_TWO(atan2),
      OF_TWO(hypot),
      OF_TWO(logaddexp),
      OF_TWO(logaddexp2),
      OF_TWO(xlogy),
      {"special.xlog1py", [](C& c) { return Results{xlog1py(c.x(0), c.x(1, "other"))}; }},
      BINARY(copysign),
      {"frexp",
       [](C& c) {
         const auto [mantissa, exponent] = frexp(c.x(0));
         return Results{mantissa, exponent};
       }},
      {"ldexp",
       [](C& c) {
         return Results{c.is_floating_tensor(1, "other") ? ldexp(c.x(0), c.x(1, "other")) : ldexp(c.x(0), c.ints(1))};
       }},
      {"addcdiv", [](C& c) { return Results{addcdiv(c.x(0), c.x(1), c.x(2), c.number("value", 1))}; }},
      {"div",
       [](C& c) {
         if (c.has("rounding_mode")) return Results{div(c.x(0), c.x(1, "other"), c.text("rounding_mode", "").c_str())};
         return Results{c.binary([](const auto& a, const auto& b) { return div(a, b); })};
       }},
      {"float_power",
       [](C& c) {
         const auto power = c.binary([](const auto& a, const auto& b) { return float_power(a, b); });
         return Results{power.to(tern::detail::Type<T>{})};
       }},
      {"lerp",
       [](C& c) {
         if (c.is_tensor(2, "weight")) return Results{lerp(c.x(0), c.x(1), c.x(2, "weight"))};
         return Results{lerp(c.x(0), c.x(1), c.number(2, "weight", 0))};
       }},
      {"round",
       [](C& c) { return Results{c.has("decimals") ? round(c.x(0), int(c.integer(1, "decimals"))) : round(c.x(0))}; }},
      {"nn.functional.celu", [](C& c) { return Results{celu(c.x(0), c.number(1, "alpha", 1))}; }},
      {"nn.functional.elu", [](C& c) { return Results{elu(c.x(0), c.number(1, "alpha", 1))}; }},
      {"nn.functional.gelu", [](C& c) { return Results{gelu(c.x(0), c.text("approximate", "none").c_str())}; }},
      {"nn.functional.glu", [](C& c) { return Results{glu(c.x(0), c.integer(1, "dim", -1))}; }},
      {"nn.functional.hardtanh",
       [](C& c) { return Results{hardtanh(c.x(0), c.number(1, "min_val", -1), c.number(2, "max_val", 1))}; }},
      {"nn.functional.leaky_relu",
       [](C& c) { return Results{leaky_relu(c.x(0), c.number(1, "negative_slope", 0.01))}; }},
      {"nn.functional.prelu", [](C& c) { return Results{prelu(c.x(0), c.x(1, "weight"))}; }},
      {"nn.functional.softplus",
       [](C& c) { return Results{softplus(c.x(0), c.number(1, "beta", 1), c.number(2, "threshold", 20))}; }},
      {"nn.functional.threshold",
       [](C& c) { return Results{threshold(c.x(0), c.number(1, "threshold", 0), c.number(2, "value", 0))}; }},
  };
}

#undef UNARY
#undef OF_TWO
#undef BINARY
#undef WITH_ALPHA

}  // namespace opinfo
