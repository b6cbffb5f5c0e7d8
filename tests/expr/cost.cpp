#include "support/catch.hpp"
#include "tern/expr/cost.hpp"

namespace expr_cost {
using namespace tern;

namespace {
template <int n, class F>
bool costly(const F& f) {
  return detail::expr::is_costly(f, std::make_index_sequence<n>());
}
}  // namespace

TEST_CASE("an expression is costly if it calls a function", "[expr]") {
  CHECK_FALSE(costly<2>([](auto a, auto b) { return a * b + 2 - -a / b; }));
  CHECK_FALSE(costly<1>([](auto a) { return where((a < 0) | !(a >= 2), abs(a), clamp(a, -1, 1)) + max(a, 3); }));
  CHECK_FALSE(costly<1>([](auto) { return 1; }));
  CHECK(costly<1>([](auto a) { return exp(a); }));
  CHECK(costly<2>([](auto a, auto b) { return a + 2 * pow(b, 3); }));
  CHECK(costly<1>([](auto a) { return where(tanh(a) > 0, a, 0); }));
  CHECK(costly<1>([](auto a) {
    auto sum = a;
    sum += polygamma(1, a);
    return sum;
  }));
}

}  // namespace expr_cost
