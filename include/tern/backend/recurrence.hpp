// The contract: one layer of a recurrent network, in one direction, over all steps of a batch of sequences. A device need not
// implement it; then the op is a loop of products over the steps.
//
// Sequences are packed: step t has rows[t] rows, those of the first rows[t] sequences, and rows[t] >= rows[t + 1]. Step t's rows lie
// behind those of the steps before it. With N = rows[0] sequences, R rows, H hidden units of G gates, and P numbers in a state
// (P = H, or fewer if a product reduces them): all arrays are dense.
#pragma once
#include <vector>

#include "../core/array.hpp"
#include "run.hpp"

namespace tern::inline TERN_BUILD::backend {

enum class RecurrentKind { rnn_tanh, rnn_relu, gru, lstm };

/// G, in the order that the rows of weights have: input, forget, cell, output for LSTM; reset, update, new for GRU.
constexpr Index gates_of(RecurrentKind kind) {
  return kind == RecurrentKind::lstm ? 4 : kind == RecurrentKind::gru ? 3 : 1;
}
/// The numbers that the backward pass needs of each unit: its gates, and GRU's product that the reset gate multiplies.
constexpr Index kept_of(RecurrentKind kind) { return kind == RecurrentKind::gru ? 4 : gates_of(kind); }

/// How many sequences each step has, and which step comes first.
struct Steps {
  std::vector<Index> rows;
  bool reverse = false;

  Index count() const { return Index(rows.size()); }
  Index sequences() const { return rows.empty() ? 0 : rows.front(); }
  Index total() const {
    Index sum = 0;
    for (const Index n : rows) sum += n;
    return sum;
  }
  /// The first row of each step.
  std::vector<Index> first_rows() const {
    std::vector<Index> first;
    Index sum = 0;
    for (const Index n : rows) first.push_back(sum), sum += n;
    return first;
  }
};

/// run<D, T>: the states and what the backward pass needs. Absent initial states are zeros.
struct Recurrence {
  RecurrentKind kind;
  const Steps& steps;
  const Array& out;    // the states [R, P], then LSTM's last cells [N, H]
  const Array& kept;   // compute_t<T> [R, kept_of(kind), H]
  const Array* cells;  // LSTM's, compute_t<T> [R, H]
  const Array& x;      // the inputs' products with their weights, and their bias [R, G H]
  const Array* h0;     // [N, P]
  const Array* c0;     // [N, H]
  const Array& w_hh;   // [G H, P]
  const Array* b_hh;   // [G H]
  const Array* w_hr;   // [P, H]: the product that reduces the states
};

/// run<D, T>: the gradients from out's gradient g. All but dx may be null.
struct RecurrenceGradient {
  RecurrentKind kind;
  const Steps& steps;
  const Array& dx;
  const Array* dh0;
  const Array* dc0;
  const Array* dw_hh;
  const Array* db_hh;
  const Array* dw_hr;
  const Array& g;
  const Array& out;
  const Array& kept;
  const Array* cells;
  const Array* h0;
  const Array* c0;
  const Array& w_hh;
  const Array* w_hr;
};

}  // namespace tern::backend
