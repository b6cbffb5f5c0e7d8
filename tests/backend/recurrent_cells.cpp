// The cells of recurrent networks: their gradients against differences of the formulas written out for numbers.
#include "tern/backend/recurrent_cells.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "support/catch.hpp"

namespace backend_recurrent_cells {
using namespace tern::detail::backend;

namespace {

using V = tern::detail::expr::Packet<double>;

/// What a cell is made of, and what it gives.
struct Numbers {
  std::array<double, 4> x, p;
  double h, c;
};
using Written = std::function<std::array<double, 2>(const Numbers&)>;

double sigma(double v) { return 1 / (1 + std::exp(-v)); }

std::array<double, 2> written_rnn(const Numbers& n) { return {std::tanh(n.x[0] + n.p[0]), 0}; }
std::array<double, 2> written_relu(const Numbers& n) { return {std::fmax(n.x[0] + n.p[0], 0), 0}; }
std::array<double, 2> written_gru(const Numbers& n) {
  const double r = sigma(n.x[0] + n.p[0]), z = sigma(n.x[1] + n.p[1]), m = std::tanh(n.x[2] + r * n.p[2]);
  return {(1 - z) * m + z * n.h, 0};
}
std::array<double, 2> written_lstm(const Numbers& n) {
  const double c = sigma(n.x[1] + n.p[1]) * n.c + sigma(n.x[0] + n.p[0]) * std::tanh(n.x[2] + n.p[2]);
  return {sigma(n.x[3] + n.p[3]) * std::tanh(c), c};
}

double lane(V v) { return v.v[0]; }

template <class Cell>
void check(Cell, const Written& written) {
  const Numbers at{{0.3, -0.7, 0.9, 0.2}, {0.5, 0.4, -1.1, -0.6}, 0.8, -0.35};
  const double dh = 0.7, dc = Cell::has_cell ? -0.45 : 0;

  V saved[Cell::saved];
  int count = 0;
  const auto save = [&](V v) { saved[count++] = v; };
  Unit<V, decltype(save)> unit{{}, {}, V(at.h), V(at.c), save};
  for (int g = 0; g < Cell::gates; ++g) unit.x[g] = V(at.x[std::size_t(g)]), unit.p[g] = V(at.p[std::size_t(g)]);
  const V h = next_state<Cell>(unit);
  CHECK(count == Cell::saved);
  CHECK(lane(h) == Approx(written(at)[0]).epsilon(1e-12));
  if (Cell::has_cell) CHECK(lane(unit.c) == Approx(written(at)[1]).epsilon(1e-12));

  const UnitGradient<Cell, V> by(saved, V(dh), V(dc));
  const auto slope = [&](const std::function<double&(Numbers&)>& of) {
    const double step = 1e-5;
    const auto value = [&](double by_step) {
      Numbers near = at;
      of(near) += by_step;
      const auto [state, cell] = written(near);
      return dh * state + dc * cell;
    };
    return (value(step) - value(-step)) / (2 * step);
  };
  const auto check_close = [](V got, double expected) { CHECK(std::fabs(lane(got) - expected) < 1e-9); };
  for (std::size_t g = 0; g < std::size_t(Cell::gates); ++g) {
    INFO("gate " << g);
    check_close(by.input(int(g)), slope([&](Numbers& n) -> double& { return n.x[g]; }));
    check_close(by.product(int(g)), slope([&](Numbers& n) -> double& { return n.p[g]; }));
  }
  check_close(by.state(), slope([](Numbers& n) -> double& { return n.h; }));
  check_close(by.cell(), slope([](Numbers& n) -> double& { return n.c; }));
}

}  // namespace

TEST_CASE("cells and their gradients are their formulas", "[backend]") {
  check(RnnCell<Tanh>(), written_rnn);
  check(RnnCell<Relu>(), written_relu);
  check(GruCell(), written_gru);
  check(LstmCell(), written_lstm);
}

TEST_CASE("a relu unit that is 0 passes no gradient, not even an infinite one", "[backend]") {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const double y : {0., 2.}) {
    const V saved[] = {V(y)};
    const UnitGradient<RnnCell<Relu>, V> by(saved, V(infinite), V(0));
    CHECK(lane(by.input(0)) == (y > 0 ? infinite : 0));
    CHECK(lane(by.product(0)) == (y > 0 ? infinite : 0));
  }
}

}  // namespace backend_recurrent_cells
