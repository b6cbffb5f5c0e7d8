// The functions of recurrent.hpp that are not templates.
#pragma once
#include "recurrent.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE bool same_sizes(ShapeRef a, ShapeRef b) { return a.n == b.n && std::equal(a.d, a.d + a.n, b.d); }

TERN_INLINE void check_state(const CallSite& op, const char* name, ShapeRef got, ShapeRef want) {
  if (!same_sizes(got, want)) Error::fail(op, {name, " has shape ", got, ", not ", want});
}

TERN_INLINE void check_recurrent_options(const CallSite& op, const RecurrentOptions& o, Index weights,
                                         Index weights_of_layer) {
  if (o.num_layers < 1) Error::fail(op, {"num_layers must be positive, not ", o.num_layers});
  if (!(o.dropout >= 0 && o.dropout <= 1)) Error::fail(op, {"dropout must be between 0 and 1, not ", o.dropout});
  const Index want = o.num_layers * (o.bidirectional ? 2 : 1) * weights_of_layer;
  if (weights != want) Error::fail(op, {weights, " weights where ", want, " are needed"});
}

TERN_INLINE void check_recurrent_weights(const CallSite& op, RecurrentKind kind, Index layer, Index size,
                                         const Array& w_ih, const Array& w_hh, const Array* b_ih, const Array* b_hh,
                                         const Array* w_hr) {
  const Index groups = backend::gates_of(kind);
  if (w_hh.ndim != 2 || w_hh.dims[0] % groups)
    Error::fail(op, {"w_hh of layer ", layer, " must be a matrix of ", groups, " hidden_size rows, but has shape ",
                     w_hh.shape_ref()});
  const Index gate_rows = w_hh.dims[0], hidden = gate_rows / groups,
              state = w_hr && w_hr->ndim == 2 ? w_hr->dims[0] : hidden;
  const auto check = [&](const char* name, const Array* w, const Shape& want) {
    if (w && !same_sizes(w->shape_ref(), want))
      Error::fail(op, {name, " of layer ", layer, " has shape ", w->shape_ref(), ", not ", want});
  };
  if (w_ih.ndim == 2 && w_ih.dims[0] == gate_rows && w_ih.dims[1] != size)
    Error::fail(op, {"layer ", layer, " takes inputs of ", w_ih.dims[1], " numbers, not of ", size});
  check("w_ih", &w_ih, {gate_rows, size});
  check("w_hh", &w_hh, {gate_rows, state});
  check("b_ih", b_ih, {gate_rows});
  check("b_hh", b_hh, {gate_rows});
  check("w_hr", w_hr, {state, hidden});
}

}}}  // namespace tern::detail
