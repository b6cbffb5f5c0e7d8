// The contract: one layer of a recurrent network over all steps of a batch of sequences, either from its inputs'
// products (Recurrence), or from its inputs (RecurrentLayer). A device need not implement either; then the op is a loop
// of products over the steps.
//
// Sequences are packed: step t has rows[t] rows, those of the first rows[t] sequences, and rows[t] >= rows[t + 1]. Step
// t's rows lie behind those of the steps before it. With N = rows[0] sequences, R rows, D directions, H hidden units of
// G gates, and P numbers in a state (P = H, or fewer if a product reduces them): all arrays are dense.
#pragma once
#include <vector>

#include "recurrent_cells.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// How many sequences each step has, and whether the last step comes first. A second direction goes the other way.
struct Steps {
  std::vector<Index> rows;
  bool reverse = false;

  Index count() const { return Index(rows.size()); }
  /// How many steps each sequence has, the longest first.
  std::vector<int> lengths() const {
    std::vector<int> all(std::size_t(sequences()), 0);
    for (const Index n : rows)
      for (Index i = 0; i < n; ++i) ++all[std::size_t(i)];
    return all;
  }
  Index sequences() const { return rows.empty() ? 0 : rows.front(); }
  Index total() const {
    Index sum = 0;
    for (const Index n : rows) sum += n;
    return sum;
  }
  /// f(first row, rows) for each step, the last one first if `backwards`.
  template <class F>
  void for_each(bool backwards, const F& f) const {
    Index first = backwards ? total() : 0;
    for (Index s = 0; s < count(); ++s) {
      const Index n = rows[std::size_t(backwards ? count() - 1 - s : s)];
      f(backwards ? first - n : first, n);
      first += backwards ? -n : n;
    }
  }
};

// A device that implements it says by takes_both_directions(On<D>) whether D may be 2; otherwise each direction is a
// call. Where it does not for 16 bits, they are calculated in float.

/// run<D, T>: the states and what the backward pass needs. Absent initial states are zeros.
struct Recurrence {
  RecurrentKind kind;
  const Steps& steps;
  Index directions;
  const Array& out;    // the states [R, D, P], then LSTM's last cells [D, N, H]
  const Array& saved;  // compute_t<T> [R, D, saved_of(kind), H]
  const Array* units;  // null unless there is w_hr: what it reduces, [R, D, H]
  const Array& x;      // the inputs' products with their weights, and their bias [R, D G H]
  const Array* h0;     // [D, N, P]
  const Array* c0;     // [D, N, H]
  const Array& w_hh;   // [D G H, P]
  const Array* b_hh;   // [D G H]
  const Array* w_hr;   // [D P, H]: the product that reduces the states
};

/// run<D, T>: the gradients from out's gradient g. Those of weights are products of these.
struct RecurrenceGradient {
  RecurrentKind kind;
  const Steps& steps;
  Index directions;
  const Array& dx;
  const Array* dproduct;  // of the states' products, [R, D G H]; null if it is dx
  const Array* dstates;   // null unless there is w_hr: of the states, [R, D, P]
  const Array* dh0;       // or null
  const Array* dc0;       // or null
  const Array& g;
  const Array& saved;
  const Array& w_hh;
  const Array* w_hr;
};

/// A layer of one direction, or of two, of which the second is reversed.
struct RecurrentSizes {
  RecurrentKind kind;
  Index directions;
  Index inputs, hidden, state;  // I, H, P
  bool has_biases;
};

/// A layer's weights in one array, in an order of the device's own: where each of them begins, and the size of that
/// array.
struct RecurrentLayout {
  struct Direction {
    Index w_ih, w_hh, b_ih, b_hh, w_hr;
  };
  Direction directions[2];
  Index size;
  Index reserve;       // bytes of what the backward pass needs
  bool may_be_shared;  // weights that one call has packed may serve others: they run one after the other
};

// A device that implements a layer says by find_layout(On<D>, const RecurrentSizes&, const Steps&, const Array& x,
// RecurrentLayout&) whether it computes this one, and how its weights lie. Should it find out only while running that
// it does not, it sets `refused`, and the results have no meaning.

/// run<D, T>: all steps from the inputs x. Absent initial states are zeros. `steps` is not reversed.
struct RecurrentLayer {
  const RecurrentSizes& sizes;
  const Steps& steps;
  const Array&
      out;  // the states [R, directions P], the last ones [directions, N, P], LSTM's last cells [directions, N, H]
  const Array* reserve;  // bytes for the backward pass; null: there will be none
  const Array& x;        // [R, I]
  const Array* h0;       // [directions, N, P]
  const Array* c0;       // [directions, N, H]
  const Array& weights;
  bool& refused;
};

/// run<D, T>: the gradients from out's gradient g. All but dx may be null. dweights is zeros before.
struct RecurrentLayerGradient {
  const RecurrentSizes& sizes;
  const Steps& steps;
  const Array& dx;
  const Array* dh0;
  const Array* dc0;
  const Array* dweights;
  const Array& g;
  const Array& out;
  const Array& reserve;
  const Array& x;
  const Array* h0;
  const Array* c0;
  const Array& weights;
  bool& refused;
};

}}}  // namespace tern::detail::backend
