// The functions of recurrent_direction.hpp that are not templates.
#pragma once
#include "recurrent_direction.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE const char* op_name(RecurrentKind kind) {
  switch (kind) {
    case RecurrentKind::rnn_tanh: return "rnn_tanh";
    case RecurrentKind::rnn_relu: return "rnn_relu";
    case RecurrentKind::gru: return "gru";
    case RecurrentKind::lstm: break;
  }
  return "lstm";
}

}}}  // namespace tern::detail
