// The functions of recurrent_direction.hpp that are not templates.
#pragma once
#include "recurrent_direction.hpp"

namespace tern::inline TERN_BUILD::detail {

TERN_INLINE const char* op_name(RecurrentKind kind) {
  switch (kind) {
    case RecurrentKind::rnn_tanh: return "rnn_tanh";
    case RecurrentKind::rnn_relu: return "rnn_relu";
    case RecurrentKind::gru: return "gru";
    case RecurrentKind::lstm: break;
  }
  return "lstm";
}

TERN_INLINE std::vector<Index> last_rows(const Steps& steps) {
  const std::vector<Index> first = steps.first_rows();
  std::vector<Index> rows(std::size_t(steps.sequences()));
  for (std::size_t t = 0; t < first.size(); ++t)
    for (Index n = 0; n < steps.rows[t]; ++n) rows[std::size_t(n)] = first[t] + n;
  return rows;
}

}  // namespace tern::detail
