#include "tern/expr/symbol.hpp"

#include "support/catch.hpp"
#include "tern/backend/cuda/codegen/source.hpp"

namespace expr_symbol {
using namespace tern;
using detail::backend::cuda_kernels::Traced;

namespace {

template <class F>
Traced traced(const F& f) {
  return Traced(f32, f, std::make_index_sequence<2>{});
}

/// The statements of a lambda of two floats.
template <class F>
std::string text_of(const F& f) {
  return detail::backend::cuda_kernels::function_text(traced(f), "f", 3);
}

}  // namespace

TEST_CASE("a lambda's steps become statements, each value once", "[expr]") {
  const auto f = [](auto x, auto y) {
    const auto first = exp(x);
    const auto product = first * y;
    const auto again = exp(x);
    return product + again;
  };
  CHECK(text_of(f) ==
        "inline __device__ float f(const Parameters& p, float v0, float v1) {\n"
        "  const float v2 = exp(v0);\n"
        "  const float v3 = multiply(v2, v1);\n"
        "  const float v5 = add(v3, v2);\n"
        "  return v5;\n"
        "}\n");
}

TEST_CASE("numbers are parameters, in the order of the steps", "[expr]") {
  const auto f = [](float a) {
    return [a](auto x, auto y) {
      const auto scaled = x * a;
      return where(scaled > 2, scaled, y);
    };
  };
  CHECK(text_of(f(7)) ==
        "inline __device__ float f(const Parameters& p, float v0, float v1) {\n"
        "  const float v2 = number<float>(p.numbers[3]);\n"
        "  const float v3 = multiply(v0, v2);\n"
        "  const float v4 = number<float>(p.numbers[4]);\n"
        "  const bool v5 = greater(v3, v4);\n"
        "  const float v6 = where(v5, v3, v1);\n"
        "  return v6;\n"
        "}\n");
  CHECK(traced(f(7)).hash() == traced(f(8)).hash());
  CHECK(traced(f(7)).program.numbers()[0] != traced(f(8)).program.numbers()[0]);
}

TEST_CASE("another expression is another kernel, also where only the way through the lambda differs", "[expr]") {
  const auto f = [](bool add) { return [add](auto x, auto y) { return add ? x + y : x - y; }; };
  CHECK(traced(f(true)).hash() != traced(f(false)).hash());
  CHECK(traced([](auto x, auto) { return x; }).hash() != traced([](auto, auto y) { return y; }).hash());
  CHECK(traced([](auto x, auto y) { return x < y; }).hash() != traced([](auto x, auto y) { return y < x; }).hash());
}

TEST_CASE("the derivative of a lambda is a program too", "[expr]") {
  const auto square = [](auto x) { return x * x; };
  const auto text = text_of(detail::expr::Partial<0, decltype(square)>{square});
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("multiply(v"));
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("add(v"));
}

TEST_CASE("an expression may be long, but not endless", "[expr]") {
  const auto chain = [](int n) {
    return [n](auto x, auto y) {
      for (int i = 0; i < n; ++i) x = x + y;
      return x;
    };
  };
  CHECK_NOTHROW(traced(chain(400)));
  CHECK_THROWS_AS(traced(chain(600)), Error);
}

}  // namespace expr_symbol
