// Recurrent networks, against their formulas written out for numbers.
#include "tern/ops/recurrent.hpp"
#include "support/recorded.hpp"
#include "support/tensors.hpp"
#include "tern/functional/gradcheck.hpp"
#include "tern/ops/reduce.hpp"

namespace ops_recurrent {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;
using detail::RecurrentKind;

namespace {

using Numbers = std::vector<double>;

double sigma(double v) { return 1 / (1 + std::exp(-v)); }

/// One layer in one direction over sequences of these lengths; all of its sizes, its weights, and the states that it
/// starts with.
struct Written {
  RecurrentKind kind;
  Index size, hidden, state;
  Numbers w_ih, w_hh, b_ih, b_hh, w_hr;

  /// The next h and c of one sequence.
  void step(const double* x, Numbers& h, Numbers& c) const {
    const auto product = [&](const Numbers& w, const double* v, Index n, Index row) {
      double sum = 0;
      for (Index i = 0; i < n; ++i) sum += w[std::size_t(row * n + i)] * v[i];
      return sum;
    };
    const auto bias = [](const Numbers& b, Index row) { return b.empty() ? 0 : b[std::size_t(row)]; };
    const auto input = [&](Index gate, Index u) {
      return product(w_ih, x, size, gate * hidden + u) + bias(b_ih, gate * hidden + u);
    };
    const auto own = [&](Index gate, Index u) {
      return product(w_hh, h.data(), state, gate * hidden + u) + bias(b_hh, gate * hidden + u);
    };
    const auto both = [&](Index gate, Index u) { return input(gate, u) + own(gate, u); };
    Numbers next(std::size_t(hidden), 0);
    for (Index u = 0; u < hidden; ++u) {
      double& y = next[std::size_t(u)];
      if (kind == RecurrentKind::rnn_tanh) y = std::tanh(both(0, u));
      if (kind == RecurrentKind::rnn_relu) y = std::max(0., both(0, u));
      if (kind == RecurrentKind::gru) {
        const double r = sigma(both(0, u)), z = sigma(both(1, u)), n = std::tanh(input(2, u) + r * own(2, u));
        y = (1 - z) * n + z * h[std::size_t(u)];
      }
      if (kind == RecurrentKind::lstm) {
        double& cell = c[std::size_t(u)];
        cell = sigma(both(1, u)) * cell + sigma(both(0, u)) * std::tanh(both(2, u));
        y = sigma(both(3, u)) * std::tanh(cell);
      }
    }
    if (w_hr.empty()) h = next;
    else
      for (Index p = 0; p < state; ++p) h[std::size_t(p)] = product(w_hr, next.data(), hidden, p);
  }
};

constexpr RecurrentKind kinds[] = {RecurrentKind::rnn_tanh, RecurrentKind::rnn_relu, RecurrentKind::gru,
                                   RecurrentKind::lstm};

/// The op of a kind, without c_n.
template <class D, class T, class X>
auto run(RecurrentKind kind, const X& x, const Tensor<D, T>& h, const Tensor<D, T>& c,
         const std::vector<Tensor<D, T>>& w, RecurrentOptions options) {
  if (kind == RecurrentKind::lstm) {
    const auto [y, h_n, c_n] = lstm(x, {h, c}, w, options);
    return std::tuple(y, h_n);
  }
  if (kind == RecurrentKind::gru) return gru(x, h, w, options);
  return kind == RecurrentKind::rnn_tanh ? rnn_tanh(x, h, w, options) : rnn_relu(x, h, w, options);
}

/// Weights of one layer and direction.
template <class D, class T = double>
std::vector<Tensor<D, T>> weights_of(RecurrentKind kind, Index size, Index hidden, bool biases, Index proj = 0) {
  const Index wide = detail::backend::gates_of(kind) * hidden, state = proj ? proj : hidden;
  const double bound = 1 / std::sqrt(double(hidden));
  std::vector<Tensor<D, T>> w{spread_tensor<D, T>({wide, size}, -bound, bound),
                              spread_tensor<D, T>({wide, state}, bound, -bound)};
  if (biases) w.push_back(spread_tensor<D, T>({wide}, -1, 1)), w.push_back(spread_tensor<D, T>({wide}, 1, -1));
  if (proj) w.push_back(spread_tensor<D, T>({proj, hidden}, -bound, bound));
  return w;
}

}  // namespace

TEMPLATE_TEST_CASE("recurrent layers of each kind are their formulas", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](RecurrentKind kind, Index length, Index n, Index size, Index hidden, bool biases, Index proj,
                        bool with_state) {
    INFO("kind " << int(kind) << ", " << length << " x " << n << " x " << size << ", " << hidden
                 << " units, projected to " << proj);
    const Index state = proj ? proj : hidden;
    const auto x = spread_tensor<D>({length, n, size}, -1, 1);
    const auto h0 = with_state ? spread_tensor<D>({1, n, state}, -1, 1) : Tensor<D, double>();
    const auto c0 =
        with_state && kind == RecurrentKind::lstm ? spread_tensor<D>({1, n, hidden}, 1, -1) : Tensor<D, double>();
    const auto w = weights_of<D>(kind, size, hidden, biases, proj);
    const Written layer{kind,
                        size,
                        hidden,
                        state,
                        values_of(w[0]),
                        values_of(w[1]),
                        biases ? values_of(w[2]) : Numbers(),
                        biases ? values_of(w[3]) : Numbers(),
                        proj ? values_of(w.back()) : Numbers()};
    const Numbers inputs = values_of(x), h = with_state ? values_of(h0) : Numbers(std::size_t(n * state), 0),
                  c = c0.defined() ? values_of(c0) : Numbers(std::size_t(n * hidden), 0);
    Numbers expected(std::size_t(length * n * state)), last;
    for (Index i = 0; i < n; ++i) {
      Numbers hi(h.begin() + i * state, h.begin() + (i + 1) * state),
          ci(c.begin() + i * hidden, c.begin() + (i + 1) * hidden);
      for (Index t = 0; t < length; ++t) {
        layer.step(inputs.data() + (t * n + i) * size, hi, ci);
        std::copy(hi.begin(), hi.end(), expected.begin() + (t * n + i) * state);
      }
      last.insert(last.end(), hi.begin(), hi.end());
    }
    for (const auto& each : layouts(x)) {
      const auto [y, h_n] = run(kind, each, h0, c0, w, {.has_biases = biases});
      check_close(values_of(y), expected, 1e-9, 1e-9);
      check_close(values_of(h_n), last, 1e-9, 1e-9);
    }
  };
  for (const RecurrentKind kind : kinds) {
    check(kind, 3, 2, 4, 5, true, 0, true);
    check(kind, 2, 15, 3, 37, false, 0, false);
    check(kind, 1, 1, 1, 1, true, 0, true);
  }
  check(RecurrentKind::lstm, 3, 5, 4, 21, true, 18, true);
  check(RecurrentKind::lstm, 2, 1, 4, 3, false, 1, false);
}

TEMPLATE_TEST_CASE("layers and directions of a recurrent network are layers of their own", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({4, 3, 5}, -1, 1);
  for (const RecurrentKind kind : kinds) {
    std::vector<Tensor<D, double>> all, h;
    std::vector<std::vector<Tensor<D, double>>> each;
    for (const Index size : {5, 5, 12, 12}) each.push_back(weights_of<D>(kind, size, 6, true));
    for (const auto& w : each) all.insert(all.end(), w.begin(), w.end());
    const auto [y, h_n] = run(kind, x, {}, {}, all, {.num_layers = 2, .bidirectional = true});
    Tensor<D, double> in = x;
    for (std::size_t layer = 0; layer < 2; ++layer) {
      const auto [forward, last] = run(kind, in, {}, {}, each[2 * layer], {});
      const auto [backward, first] = run(kind, flip(in, {0}), {}, {}, each[2 * layer + 1], {});
      in = cat({forward, flip(backward, {0})}, 2);
      h.push_back(last), h.push_back(first);
    }
    check_close(values_of(y), values_of(in), 1e-10, 1e-10);
    check_close(values_of(h_n), values_of(cat(h)), 1e-10, 1e-10);
    const auto [swapped, same] =
        run(kind, transpose(x, 0, 1), {}, {}, all, {.num_layers = 2, .bidirectional = true, .batch_first = true});
    CHECK(values_of(transpose(swapped, 0, 1)) == values_of(y));
    const auto [alone, h_alone] = run(kind, select(x, 1, 1), {}, {}, all, {.num_layers = 2, .bidirectional = true});
    check_close(values_of(alone), values_of(select(y, 1, 1)), 1e-10, 1e-10);
    check_close(values_of(h_alone), values_of(select(h_n, 1, 1)), 1e-10, 1e-10);
  }
}

TEMPLATE_TEST_CASE("packed sequences are sequences by themselves", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({5, 4, 3}, -1, 1);
  const std::vector<Index> lengths{2, 5, 1, 3};
  for (const RecurrentKind kind : kinds) {
    const auto one = weights_of<D>(kind, 3, 6, true);
    auto w = one;
    w.insert(w.end(), one.begin(), one.end());
    const auto h0 = spread_tensor<D>({2, 4, 6}, -1, 1),
               c0 = kind == RecurrentKind::lstm ? h0 * 0.5 : Tensor<D, double>();
    const RecurrentOptions options{.bidirectional = true};
    const auto [packed, h_n] =
        run(kind, pack_padded_sequence(x, lengths, {.enforce_sorted = false}), h0, c0, w, options);
    const auto [y, back] = pad_packed_sequence(packed);
    CHECK(back == lengths);
    for (Index i = 0; i < 4; ++i) {
      const auto state = [&](const auto& s) { return s.defined() ? select(s, 1, i) : s; };
      const Index length = lengths[std::size_t(i)];
      const auto [alone, last] = run(kind, narrow(select(x, 1, i), 0, 0, length), state(h0), state(c0), w, options);
      check_close(values_of(narrow(select(y, 1, i), 0, 0, length)), values_of(alone), 1e-10, 1e-10);
      check_close(values_of(select(h_n, 1, i)), values_of(last), 1e-10, 1e-10);
    }
  }
}

TEMPLATE_TEST_CASE("recurrent networks have first and second derivatives", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  using X = Tensor<D, double>;
  const std::vector<Index> lengths{3, 2};
  for (const RecurrentKind kind : kinds) {
    for (const Index proj : {0, 2}) {
      if (proj && kind != RecurrentKind::lstm) continue;
      INFO("kind " << int(kind) << ", projected to " << proj);
      const Index state = proj ? proj : 3;
      std::vector<X> at{spread_tensor<D>({3, 2, 2}, -1, 1), spread_tensor<D>({1, 2, state}, -1, 1)};
      if (kind == RecurrentKind::lstm) at.push_back(spread_tensor<D>({1, 2, 3}, 1, -1));
      const std::size_t first = at.size();
      for (const X& w : weights_of<D>(kind, 2, 3, true, proj)) at.push_back(w * 1.3);
      for (X& each : at) each.requires_grad_();
      const auto f = [&](const std::vector<X>& v) {
        const std::vector<X> w(v.begin() + Index(first), v.end());
        const auto packed = pack_padded_sequence(v[0], lengths);
        const X c = kind == RecurrentKind::lstm ? v[2] : X();
        if (kind != RecurrentKind::lstm) {
          const auto [y, h] = run(kind, packed, v[1], c, w, {});
          return cat({flatten(y.data), flatten(h)});
        }
        const auto [y, h, c_n] = lstm(packed, {v[1], c}, w);
        return cat({flatten(y.data), flatten(h), flatten(c_n)});
      };
      CHECK(gradcheck(f, at));
      // Second derivatives along two directions of each input, and of two sums of the result: element by element they
      // take many times as long on a device.
      std::vector<X> steps, directions;
      for (const X& each : at) {
        steps.push_back(zeros<D, double>({2}).requires_grad_());
        directions.push_back(spread_tensor<D>({2, each.numel()}, -1, 1));
      }
      const X sums = spread_tensor<D>({2, f(at).numel()}, -1, 1);
      const auto along = [&](const std::vector<X>& t) {
        std::vector<X> v;
        for (std::size_t i = 0; i < t.size(); ++i)
          v.push_back(at[i].detach() + reshape(matmul(t[i], directions[i]), at[i].shape()));
        return matmul(sums, f(v));
      };
      CHECK(gradgradcheck(along, steps));
    }
  }
}

TEMPLATE_TEST_CASE("16-bit recurrent networks calculate their states in float", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = []<class T>(RecurrentKind kind, detail::Type<T> type, double tolerance) {
    const auto rounded = [&](const Tensor<D, double>& v) { return v.to(type).to(f64); };
    auto x = rounded(spread_tensor<D>({6, 3, 9}, -1, 1));
    std::vector<Tensor<D, double>> wide = weights_of<D>(kind, 9, 33, true);
    std::vector<Tensor<D, T>> w;
    for (auto& each : wide) each = rounded(each).requires_grad_(), w.push_back(each.detach().to(type).requires_grad_());
    x.requires_grad_();
    auto z = x.detach().to(type);
    z.requires_grad_();
    const auto [y, h] = run(kind, x, {}, {}, wide, {});
    const auto [got, got_h] = run(kind, z, {}, {}, w, {});
    check_close(values_of(got), values_of(y), tolerance, tolerance);
    const auto g = spread_tensor<D>({6, 3, 33}, -1, 1);
    y.backward(rounded(g)), got.backward(g.to(type));
    check_close(values_of(z.grad()), values_of(x.grad()), 4 * tolerance, 4 * tolerance);
    for (std::size_t i = 0; i < w.size(); ++i)
      check_close(values_of(w[i].grad()), values_of(wide[i].grad()), 8 * tolerance, 8 * tolerance);
  };
  for (const RecurrentKind kind : kinds) check(kind, bf16, 1e-2), check(kind, f16, 1.5e-3);
}

TEST_CASE("a recurrent network does not depend on the number of threads", "[ops][threads]") {
  const int before =
      get_num_threads();  // in double, because oneDNN's products of floats may depend on it with AVX2 alone
  for (const RecurrentKind kind : kinds) {
    std::vector<std::vector<double>> results[2];
    for (const int threads : {1, 3}) {
      set_num_threads(threads);
      auto x = spread_tensor<Cpu>({7, 13, 40}, -1, 1);
      auto w = weights_of<Cpu>(kind, 40, 70, true);
      for (auto& each : w) each.requires_grad_();
      const auto [y, h] = run(kind, x.requires_grad_(), {}, {}, w, {});
      y.backward(spread_tensor<Cpu>({7, 13, 70}, -1, 1));
      auto& result = results[threads == 3];
      result = {values_of(y), values_of(h), values_of(x.grad()), values_of(w[1].grad()), values_of(w[3].grad())};
    }
    CHECK(results[0] == results[1]);
  }
  set_num_threads(before);
}

TEMPLATE_TEST_CASE("a recurrent network of no sequences has no states", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const RecurrentKind kind : kinds) {
    const auto [y, h] = run(kind, zeros<D, double>({3, 0, 4}), {}, {}, weights_of<D>(kind, 4, 5, true), {});
    CHECK(y.shape() == detail::Shape{3, 0, 5});
    CHECK(h.shape() == detail::Shape{1, 0, 5});
  }
}

TEMPLATE_TEST_CASE("cells are one step", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3, 4}, -1, 1), h = spread_tensor<D>({3, 5}, -1, 1), c = h * 0.3;
  const auto row = [](const auto& v) { return unsqueeze(v, 0); };
  const auto w = [](RecurrentKind kind) { return weights_of<D>(kind, 4, 5, true); };
  const auto compare = [&](const auto& cell, RecurrentKind kind) {
    const auto of = w(kind);
    const auto [y, h_n] = run(kind, row(x), row(h), kind == RecurrentKind::lstm ? row(c) : Tensor<D, double>(), of, {});
    check_close(values_of(cell(x, h, of)), values_of(h_n), 1e-12, 1e-12);
    check_close(values_of(cell(x[1], h[1], of)), values_of(h_n[0][1]), 1e-12, 1e-12);
  };
  compare([](const auto& a, const auto& s, const auto& v) { return rnn_tanh_cell(a, s, v[0], v[1], v[2], v[3]); },
          RecurrentKind::rnn_tanh);
  compare([](const auto& a, const auto& s, const auto& v) { return rnn_relu_cell(a, s, v[0], v[1], v[2], v[3]); },
          RecurrentKind::rnn_relu);
  compare([](const auto& a, const auto& s, const auto& v) { return gru_cell(a, s, v[0], v[1], v[2], v[3]); },
          RecurrentKind::gru);
  compare([](const auto& a, const auto& s,
             const auto& v) { return std::get<0>(lstm_cell(a, {s, s * 0.3}, v[0], v[1], v[2], v[3])); },
          RecurrentKind::lstm);
}

TEMPLATE_TEST_CASE("recurrent networks refuse sizes that do not fit", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = ones<D, double>({3, 2, 4});
  const auto w = weights_of<D>(RecurrentKind::lstm, 4, 5, true);
  const auto error = [&](const auto& in, const auto& h, const auto& c, const auto& weights,
                         RecurrentOptions options = {}) {
    return error_of([&] { lstm(in, {h, c}, weights, options); });
  };
  const Tensor<D, double> none;
  CHECK_THAT(error(ones<D, double>({3, 2, 3}), none, none, w),
             ContainsSubstring("lstm: layer 0 takes inputs of 4 numbers, not of 3"));
  CHECK_THAT(error(x, ones<D, double>({1, 2, 4}), none, w),
             ContainsSubstring("lstm: h0 has shape [1, 2, 4], not [1, 2, 5]"));
  CHECK_THAT(error(x, none, ones<D, double>({2, 5}), w), ContainsSubstring("lstm: c0 has shape [2, 5], not [1, 2, 5]"));
  CHECK_THAT(error(x, none, none, w, {.num_layers = 2}), ContainsSubstring("lstm: 4 weights where 8 are needed"));
  CHECK_THAT(error(x, none, none, w, {.dropout = 2}),
             ContainsSubstring("lstm: dropout must be between 0 and 1, not 2"));
  CHECK_THAT(error(zeros<D, double>({0, 2, 4}), none, none, w),
             ContainsSubstring("lstm: a sequence of shape [0, 2, 4] has no step"));
  CHECK_THAT(error(zeros<D, double>({4}), none, none, w),
             ContainsSubstring("lstm: sequences have two or three dimensions, not shape [4]"));
  CHECK_THAT(error(x[0], ones<D, double>({1, 1, 5}), none, w),
             ContainsSubstring("lstm: a state of shape [1, 1, 5] for a sequence without a batch, [2, 4]"));
  CHECK_THAT(
      error_of([&] { gru_cell(x[0], ones<D, double>({1, 5}), ones<D, double>({15, 4}), ones<D, double>({15, 5})); }),
      ContainsSubstring("gru_cell: h has shape [1, 5], not [2, 5]"));
}

}  // namespace ops_recurrent
