// Recurrent layers from their descriptors, by plain loops in the accumulator's type.
#include <algorithm>
#include <cmath>

#include "cudnn_elements.hpp"
#include "cudnn_rnn.hpp"
#include "settings.hpp"

using namespace abi;

namespace emulator::dnn {

int gates_of(const Rnn& rnn) { return rnn.cell == CUDNN_LSTM ? 4 : rnn.cell == CUDNN_GRU ? 3 : 1; }
bool reduces(const Rnn& rnn) { return rnn.state < rnn.hidden; }
bool rounds_to_tf32(const Rnn& rnn) {
  return rnn.type == CUDNN_DATA_FLOAT && rnn.math != CUDNN_FMA_MATH && settings().capability >= 80;
}

// Matrices come first, then biases. A gap before each piece shows who guesses where they are.
Piece find_piece(const Rnn& rnn, int direction, int number) {
  constexpr std::size_t gap = 4;
  const int gates = gates_of(rnn), gate = number % gates;
  const auto size = [](int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  };
  const std::size_t inputs = gap + size(gates * rnn.hidden, rnn.inputs),
                    states = gap + size(gates * rnn.hidden, rnn.state),
                    reduced = reduces(rnn) ? gap + size(rnn.state, rnn.hidden) : 0,
                    bias = gap + size(gates, rnn.hidden);
  const auto d = static_cast<std::size_t>(direction), all = static_cast<std::size_t>(rnn.directions);
  const std::size_t matrices = d * (inputs + states + reduced),
                    biases = all * (inputs + states + reduced) + 2 * d * bias;
  if (number == 2 * gates && reduces(rnn)) return {matrices + inputs + states + gap, 0, rnn.state, rnn.hidden, false};
  if (number >= 2 * gates) return {};
  const bool own = number >= gates;
  const int columns = own ? rnn.state : rnn.inputs;
  return {matrices + (own ? inputs : 0) + gap + size(gate * rnn.hidden, columns),
          biases + (own ? bias : 0) + gap + size(gate, rnn.hidden), rnn.hidden, columns,
          rnn.bias == CUDNN_RNN_DOUBLE_BIAS};
}

std::size_t weight_elements(const Rnn& rnn) {
  std::size_t last = 0;
  for (int direction = 0; direction < rnn.directions; ++direction)
    for (int number = 0; number <= 2 * gates_of(rnn); ++number) {
      const Piece p = find_piece(rnn, direction, number);
      last = std::max({last, p.matrix + static_cast<std::size_t>(p.rows * p.columns),
                       p.has_bias ? p.bias + static_cast<std::size_t>(p.rows) : 0});
    }
  return last;
}

std::size_t reserved_numbers(const Rnn& rnn) { return static_cast<std::size_t>(6 * rnn.hidden + rnn.state); }
std::size_t accumulator_bytes(const Rnn& rnn) { return rnn.type == CUDNN_DATA_DOUBLE ? sizeof(double) : sizeof(float); }

namespace {

template <class A>
A sigmoid(A x) {
  return A(1) / (A(1) + std::exp(-x));
}

// One direction of a layer.
template <class A>
class Direction {
 public:
  Direction(const Rnn& rnn, int direction, const std::vector<int>& lengths, const RnnMemory& m)
      : rnn_(rnn), lengths_(lengths), m_(m), direction_(direction), gates_(gates_of(rnn)), hidden_(rnn.hidden),
        state_(rnn.state), wide_(rnn.directions * rnn.state) {
    for (int t = 0, row = 0; t < lengths.front(); ++t) {
      first_.push_back(row);
      row += rows(t);
    }
  }

  // Before the forward pass and the one for data, which read the weights often.
  void load_weights() {
    weights_.resize(weight_elements(rnn_));
    for (std::size_t i = 0; i < weights_.size(); ++i) weights_[i] = rounded(load(m_.weights, i));
  }

  void forward() {
    std::vector<A> h = initial(m_.hx, state_), c = initial(m_.cx, hidden_);
    each_row(false, [&](int n, int row) { step(row, &h[at(n, state_)], &c[at(n, hidden_)]); });
    finish(m_.hy, h, state_);
    finish(m_.cy, c, hidden_);
  }

  // dx: gradients of all rows, which are added to.
  void data(std::vector<A>& dx) {
    std::vector<A> dh = initial(m_.dhy, state_), dc = initial(m_.dcy, hidden_);
    each_row(true, [&](int n, int row) {
      step_back(n, row, &dh[at(n, state_)], &dc[at(n, hidden_)], &dx[at(row, rnn_.inputs)]);
    });
    finish(m_.dhx, dh, state_);
    finish(m_.dcx, dc, hidden_);
  }

  void weights() {
    const Piece reduce = find_piece(rnn_, direction_, 2 * gates_);
    for (int k = 0; k < 2 * gates_; ++k) {
      const Piece p = find_piece(rnn_, direction_, k);
      std::vector<A> dw(at(p.rows, p.columns)), db(static_cast<std::size_t>(p.rows));
      std::vector<A> operand(static_cast<std::size_t>(p.columns));
      each_row(false, [&](int n, int row) {
        for (int i = 0; i < p.columns; ++i)
          operand[static_cast<std::size_t>(i)] = rounded(k < gates_ ? input(row, i) : state_before(n, row, i));
        for (int u = 0; u < hidden_; ++u) {
          const A slope = sum_slopes(row, k)[u], factor = rounded(slope);
          db[static_cast<std::size_t>(u)] += slope;
          A* const sums = &dw[at(u, p.columns)];
          for (std::size_t i = 0; i < operand.size(); ++i) sums[i] += factor * operand[i];
        }
      });
      add(p.matrix, dw);
      if (p.has_bias) add(p.bias, db);
    }
    if (!reduce.rows) return;
    std::vector<A> dw(at(state_, hidden_));
    each_row(false, [&](int, int row) {
      for (int i = 0; i < state_; ++i)
        for (int u = 0; u < hidden_; ++u)
          dw[at(i, hidden_) + static_cast<std::size_t>(u)] += rounded(state_slopes(row)[i]) * rounded(units(row)[u]);
    });
    add(reduce.matrix, dw);
  }

 private:
  static std::size_t at(int row, int columns) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns);
  }

  int rows(int t) const {
    return static_cast<int>(std::count_if(lengths_.begin(), lengths_.end(), [t](int length) { return length > t; }));
  }
  int sequences() const { return static_cast<int>(lengths_.size()); }

  // f(sequence, row) in the order of the steps, or in the other.
  template <class F>
  void each_row(bool back, const F& f) {
    const int steps = lengths_.front();
    for (int s = 0; s < steps; ++s) {
      const int t = back != (direction_ == 1) ? steps - 1 - s : s;
      for (int n = 0, many = rows(t); n < many; ++n) f(n, first_[static_cast<std::size_t>(t)] + n);
    }
  }

  A rounded(A x) const { return rounds_to_tf32(rnn_) ? static_cast<A>(round_to_tf32(static_cast<float>(x))) : x; }
  // As it is stored, which is what the next step reads.
  A stored(A x) const {
    alignas(double) char place[sizeof(double)];
    write(rnn_.type, place, 0, static_cast<double>(x));
    return static_cast<A>(read(rnn_.type, place, 0));
  }
  A load(const char* data, std::size_t i) const {
    return static_cast<A>(read(rnn_.type, data, static_cast<std::ptrdiff_t>(i)));
  }
  void store(char* data, std::size_t i, A value) const {
    write(rnn_.type, data, static_cast<std::ptrdiff_t>(i), static_cast<double>(value));
  }

  // A row of a matrix of weights, rounded.
  const A* weights_of(const Piece& p, int row) const { return &weights_[p.matrix + at(row, p.columns)]; }
  A bias(const Piece& p, int row) const {
    return p.has_bias ? load(m_.weights, p.bias + static_cast<std::size_t>(row)) : A(0);
  }
  A input(int row, int i) const { return load(m_.x, at(row, rnn_.inputs) + static_cast<std::size_t>(i)); }

  // A state of each sequence, from memory or zeros.
  std::vector<A> initial(const char* data, int size) const {
    std::vector<A> v(at(sequences(), size));
    if (data)
      for (std::size_t i = 0; i < v.size(); ++i) v[i] = load(data, at(direction_, sequences() * size) + i);
    return v;
  }
  void finish(char* data, const std::vector<A>& v, int size) const {
    if (!data) return;
    for (std::size_t i = 0; i < v.size(); ++i) store(data, at(direction_, sequences() * size) + i, v[i]);
  }
  void add(std::size_t first, const std::vector<A>& v) const {
    for (std::size_t i = 0; i < v.size(); ++i) store(m_.weights, first + i, load(m_.weights, first + i) + v[i]);
  }

  // The row of the step before, in the same sequence; -1: there is none.
  int row_before(int n, int row) const {
    const int t = static_cast<int>(std::upper_bound(first_.begin(), first_.end(), row) - first_.begin()) - 1;
    const int other = direction_ ? t + 1 : t - 1;
    return other >= 0 && other < lengths_[static_cast<std::size_t>(n)] ? first_[static_cast<std::size_t>(other)] + n
                                                                       : -1;
  }
  A state_before(int n, int row, int i) const {
    const int other = row_before(n, row);
    if (other >= 0) return load(m_.y, at(other, wide_) + static_cast<std::size_t>(direction_ * state_ + i));
    return m_.hx ? load(m_.hx, at(direction_ * sequences() + n, state_) + static_cast<std::size_t>(i)) : A(0);
  }
  A cell_before(int n, int row, int u) {
    const int other = row_before(n, row);
    if (other >= 0) return cells(other)[u];
    return m_.cx ? load(m_.cx, at(direction_ * sequences() + n, hidden_) + static_cast<std::size_t>(u)) : A(0);
  }

  // A row's part of the reserve: four numbers of each unit, which are its gates and later the slopes of its sums; its
  // cells; its units before they are reduced; the slopes of its state. In inference there is room for one row.
  A* reserved(int row) {
    if (!m_.reserve) return room_.data();
    const int all = first_.back() + rows(lengths_.front() - 1);
    return reinterpret_cast<A*>(m_.reserve) + at(direction_ * all + row, static_cast<int>(reserved_numbers(rnn_)));
  }
  A* kept(int row, int g) { return reserved(row) + g * hidden_; }
  A* cells(int row) { return kept(row, 4); }
  A* units(int row) { return kept(row, 5); }
  A* state_slopes(int row) { return kept(row, 6); }
  // Of sum k: a gate's product with the inputs, or with the states.
  const A* sum_slopes(int row, int k) {
    const bool own_new = rnn_.cell == CUDNN_GRU && k == 2 * gates_ - 1;  // the reset gate is between its sums
    return kept(row, own_new ? 3 : k % gates_);
  }

  void step(int row, A* h, A* c) {
    std::vector<A> in(at(gates_, hidden_)), own(in.size()), x(static_cast<std::size_t>(rnn_.inputs)),
        before(h, h + state_);
    for (int i = 0; i < rnn_.inputs; ++i) x[static_cast<std::size_t>(i)] = rounded(input(row, i));
    for (A& value : before) value = rounded(value);
    for (int g = 0; g < gates_; ++g) {
      const Piece w = find_piece(rnn_, direction_, g), r = find_piece(rnn_, direction_, gates_ + g);
      for (int u = 0; u < hidden_; ++u) {
        A &a = in[at(g, hidden_) + static_cast<std::size_t>(u)], &b = own[at(g, hidden_) + static_cast<std::size_t>(u)];
        const A *const of_x = weights_of(w, u), *const of_h = weights_of(r, u);
        for (std::size_t i = 0; i < x.size(); ++i) a += of_x[i] * x[i];
        for (std::size_t i = 0; i < before.size(); ++i) b += of_h[i] * before[i];
        a += bias(w, u), b += bias(r, u);
      }
    }
    for (int u = 0; u < hidden_; ++u) {
      const auto sum = [&](int g) {
        return in[at(g, hidden_) + static_cast<std::size_t>(u)] + own[at(g, hidden_) + static_cast<std::size_t>(u)];
      };
      A& unit = units(row)[u];
      if (rnn_.cell == CUDNN_LSTM) {
        const A i = sigmoid(sum(0)), f = sigmoid(sum(1)), g = std::tanh(sum(2)), o = sigmoid(sum(3));
        kept(row, 0)[u] = i, kept(row, 1)[u] = f, kept(row, 2)[u] = g, kept(row, 3)[u] = o;
        cells(row)[u] = c[u] = f * c[u] + i * g;
        unit = o * std::tanh(c[u]);
      } else if (rnn_.cell == CUDNN_GRU) {
        const A r = sigmoid(sum(0)), z = sigmoid(sum(1)), product = own[at(2, hidden_) + static_cast<std::size_t>(u)];
        const A m = std::tanh(in[at(2, hidden_) + static_cast<std::size_t>(u)] + r * product);
        kept(row, 0)[u] = r, kept(row, 1)[u] = z, kept(row, 2)[u] = m, kept(row, 3)[u] = product;
        unit = (1 - z) * m + z * h[u];
      } else {
        unit = kept(row, 0)[u] = std::tanh(sum(0));
      }
    }
    const Piece reduce = find_piece(rnn_, direction_, 2 * gates_);
    for (int i = 0; i < state_; ++i) {
      A value = reduce.rows ? A(0) : units(row)[i];
      if (reduce.rows)
        for (int u = 0; u < hidden_; ++u) value += weights_of(reduce, i)[u] * rounded(units(row)[u]);
      h[i] = stored(value);
      store(m_.y, at(row, wide_) + static_cast<std::size_t>(direction_ * state_ + i), value);
    }
  }

  // dh, dc: the slopes of a sequence's state and cell, from the steps after this one to those before it.
  void step_back(int n, int row, A* dh, A* dc, A* dx) {
    const Piece reduce = find_piece(rnn_, direction_, 2 * gates_);
    std::vector<A> units_slopes(static_cast<std::size_t>(hidden_));
    for (int i = 0; i < state_; ++i) {
      A& d = state_slopes(row)[i];
      d = dh[i] + load(m_.dy, at(row, wide_) + static_cast<std::size_t>(direction_ * state_ + i));
      dh[i] = 0;
      if (!reduce.rows) units_slopes[static_cast<std::size_t>(i)] = d;
      else
        for (int u = 0; u < hidden_; ++u)
          units_slopes[static_cast<std::size_t>(u)] += weights_of(reduce, i)[u] * rounded(d);
    }
    for (int u = 0; u < hidden_; ++u) {
      const A d = units_slopes[static_cast<std::size_t>(u)];
      A &a0 = kept(row, 0)[u], &a1 = kept(row, 1)[u], &a2 = kept(row, 2)[u], &a3 = kept(row, 3)[u];
      if (rnn_.cell == CUDNN_LSTM) {
        const A i = a0, f = a1, g = a2, o = a3, t = std::tanh(cells(row)[u]), e = dc[u] + d * o * (1 - t * t);
        a0 = e * g * i * (1 - i), a1 = e * cell_before(n, row, u) * f * (1 - f), a2 = e * i * (1 - g * g),
        a3 = d * t * o * (1 - o);
        dc[u] = e * f;
      } else if (rnn_.cell == CUDNN_GRU) {
        const A r = a0, z = a1, m = a2, product = a3, dm = d * (1 - z) * (1 - m * m);
        a0 = dm * product * r * (1 - r), a1 = d * (state_before(n, row, u) - m) * z * (1 - z), a2 = dm, a3 = dm * r;
        dh[u] = d * z;
      } else {
        a0 = d * (1 - a0 * a0);
      }
    }
    for (int k = 0; k < 2 * gates_; ++k) {
      const Piece p = find_piece(rnn_, direction_, k);
      A* const sums = k < gates_ ? dx : dh;
      for (int u = 0; u < hidden_; ++u) {
        const A* const w = weights_of(p, u);
        const A slope = rounded(sum_slopes(row, k)[u]);
        for (int i = 0; i < p.columns; ++i) sums[i] += w[i] * slope;
      }
    }
  }

  const Rnn& rnn_;
  const std::vector<int>& lengths_;
  const RnnMemory& m_;
  const int direction_, gates_, hidden_, state_, wide_;
  std::vector<int> first_;  // row of each step
  std::vector<A> weights_;
  std::vector<A> room_ = std::vector<A>(reserved_numbers(rnn_));
};

template <class A>
void compute(const Rnn& rnn, const std::vector<int>& lengths, RnnPass pass, const RnnMemory& m) {
  std::size_t rows = 0;
  for (const int length : lengths) rows += static_cast<std::size_t>(length);
  std::vector<A> dx(pass == RnnPass::data ? rows * static_cast<std::size_t>(rnn.inputs) : 0);
  for (int d = 0; d < rnn.directions; ++d) {
    Direction<A> direction(rnn, d, lengths, m);
    if (pass != RnnPass::weights) direction.load_weights();
    if (pass == RnnPass::forward) direction.forward();
    if (pass == RnnPass::data) direction.data(dx);
    if (pass == RnnPass::weights) direction.weights();
  }
  for (std::size_t i = 0; i < dx.size(); ++i)
    write(rnn.type, m.dx, static_cast<std::ptrdiff_t>(i), static_cast<double>(dx[i]));
}

}  // namespace

void compute_rnn(const Rnn& rnn, const std::vector<int>& lengths, RnnPass pass, const RnnMemory& memory) {
  if (rnn.type == CUDNN_DATA_DOUBLE) compute<double>(rnn, lengths, pass, memory);
  else compute<float>(rnn, lengths, pass, memory);
}

}  // namespace emulator::dnn
