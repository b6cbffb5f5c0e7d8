// The cells of recurrent networks. A cell is written once, as an expression in the numbers of a unit. Called with
// packets it is the CPU's loop, with symbols CUDA's kernel, with duals of either the gradient, and with tensors a step
// that has further derivatives.
#pragma once
#include "../core/array.hpp"
#include "../expr/dual.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

// An activation y of x, and the derivative of y from d, that of x, and from y itself.

struct Sigmoid {
  static auto of(const auto& x) { return sigmoid(x); }
  [[gnu::always_inline]] static auto derivative(const auto& d, const auto& y) { return d * (y * (1 - y)); }
};
struct Tanh {
  static auto of(const auto& x) { return tanh(x); }
  [[gnu::always_inline]] static auto derivative(const auto& d, const auto& y) { return d * (1 - y * y); }
};
struct Relu {
  template <class V>
  static V of(const V& x) {
    if constexpr (requires { relu(x); }) return relu(x);
    else return where(x < 0, 0, x);
  }
  template <class D>
  [[gnu::always_inline]] static D derivative(const D& d, const auto& y) {
    return where(y <= 0, D(), d);
  }
};

// A cell has G gates, in the order that the rows of weights have. Gate g adds up the inputs' product u.x[g] and the
// states' product u.p[g]; those of the last `apart` gates are not only added. u.h is the state before the step, u.c the
// cell before it, and once there is one, the cell after it. u.save() marks the `saved` numbers that the gradient is
// made of.

/// tanh and relu networks.
template <class Activation>
struct RnnCell {
  static constexpr int gates = 1, apart = 0, saved = 1;
  static constexpr bool reads_state = false, has_cell = false;
  [[gnu::always_inline]] static auto state(auto& u) { return u.save(Activation(), u.gate(0)); }
};

/// The gates are reset, update, new.
struct GruCell {
  static constexpr int gates = 3, apart = 1, saved = 5;
  static constexpr bool reads_state = true, has_cell = false;
  [[gnu::always_inline]] static auto state(auto& u) {
    const auto r = u.save(Sigmoid(), u.gate(0)), z = u.save(Sigmoid(), u.gate(1)), p = u.save(u.p[2]),
               n = u.save(Tanh(), u.x[2] + r * p), h = u.save(u.h);
    return n + z * (h - n);
  }
};

/// The gates are input, forget, cell, output.
struct LstmCell {
  static constexpr int gates = 4, apart = 0, saved = 5;
  static constexpr bool reads_state = false, has_cell = true;
  [[gnu::always_inline]] static auto cell(auto& u) {
    const auto i = u.save(Sigmoid(), u.gate(0)), f = u.save(Sigmoid(), u.gate(1)), g = u.save(Tanh(), u.gate(2));
    return f * u.save(u.c) + i * g;
  }
  [[gnu::always_inline]] static auto state(auto& u) { return u.save(Sigmoid(), u.gate(3)) * tanh(u.c); }
};

enum class RecurrentKind { rnn_tanh, rnn_relu, gru, lstm };

/// f(the cell of that kind).
template <class F>
constexpr decltype(auto) with_cell(RecurrentKind kind, const F& f) {
  switch (kind) {
    case RecurrentKind::rnn_tanh: return f(RnnCell<Tanh>());
    case RecurrentKind::rnn_relu: return f(RnnCell<Relu>());
    case RecurrentKind::gru: return f(GruCell());
    case RecurrentKind::lstm: break;
  }
  return f(LstmCell());
}
constexpr Index gates_of(RecurrentKind kind) {
  return with_cell(kind, [](auto cell) { return Index(cell.gates); });
}
constexpr Index saved_of(RecurrentKind kind) {
  return with_cell(kind, [](auto cell) { return Index(cell.saved); });
}

/// A unit's numbers of type V. What is to be saved, save_number gets.
template <class V, class Save>
struct Unit {
  V x[4], p[4], h, c;
  Save save_number;

  [[gnu::always_inline]] V gate(int g) const { return x[g] + p[g]; }
  [[gnu::always_inline]] V save(const V& v) {
    save_number(v);
    return v;
  }
  [[gnu::always_inline]] V save(auto activation, const V& v) { return save(activation.of(v)); }
};

/// The state after the step; then u.c is the cell after it.
template <class Cell>
[[gnu::always_inline]] inline auto next_state(auto& u) {
  if constexpr (Cell::has_cell) u.c = Cell::cell(u);
  return Cell::state(u);
}

/// The gradients of the numbers that a unit's state and cell are made of, from those of the state and the cell, and
/// from the saved numbers.
template <class Cell, class V>
class UnitGradient {
  // The variables: the gates' sums, the states' products of gates that are apart, the state, and the cell before the
  // step and after it.
  static constexpr int state_before = Cell::gates + Cell::apart, cell_before = state_before + 1,
                       cell_after = state_before + 2;
  static constexpr int product_of(int gate) { return gate < Cell::gates - Cell::apart ? gate : gate + Cell::apart; }
  using D = detail::expr::Tangents<V, cell_after + 1>;

  /// A unit of duals, whose derivatives are multiplied by a gradient.
  struct Duals {
    using X = detail::expr::Dual<V, D>;
    X x[Cell::gates], p[Cell::gates], h, c;
    const V* saved;

    template <int... g>
    [[gnu::always_inline]] Duals(std::integer_sequence<int, g...>, const V* from, V gradient, int cell, V value)
        : x{variable(g, gradient)...}, p{variable(product_of(g), gradient)...}, h(variable(state_before, gradient)),
          c(value, D::of_input(cell, gradient)), saved(from) {}
    [[gnu::always_inline]] static X variable(int i, V gradient) { return {V(), D::of_input(i, gradient)}; }

    [[gnu::always_inline]] X gate(int g) const { return x[g]; }
    [[gnu::always_inline]] X save(const X& v) { return {*saved++, v.d}; }
    [[gnu::always_inline]] X save(auto activation, const X& v) {
      const V y = *saved++;
      return {y, activation.derivative(v.d, y)};
    }
  };
  D by_;

  [[gnu::always_inline]] static D derivatives(const V* saved, V dh, V dc) {
    constexpr std::make_integer_sequence<int, Cell::gates> gates;
    if constexpr (Cell::has_cell) {
      Duals cell(gates, saved, dc, cell_before, V());
      const V c = Cell::cell(cell).v;
      Duals after(gates, cell.saved, dh, cell_after, c);
      const D of_state = Cell::state(after).d;
      Duals before(gates, saved, dc + of_state[cell_after], cell_before, V());
      return of_state + Cell::cell(before).d;
    } else {
      Duals unit(gates, saved, dh, cell_before, V());
      return Cell::state(unit).d;
    }
  }

 public:
  [[gnu::always_inline]] UnitGradient(const V* saved, V dh, V dc) : by_(derivatives(saved, dh, dc)) {}
  [[gnu::always_inline]] V input(int gate) const { return by_[gate]; }
  [[gnu::always_inline]] V product(int gate) const { return by_[product_of(gate)]; }
  [[gnu::always_inline]] V state() const { return by_[state_before]; }
  [[gnu::always_inline]] V cell() const { return by_[cell_before]; }
};

}}}  // namespace tern::detail::backend
