// The functions of slot.hpp that are not templates.
#pragma once
#include "slot.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim::detail {

TERN_COLD AnyTensor state_from(const Slot& slot, const AnyTensor& value) {
  const AnyTensor state = slot.ops->zeros(slot.parameter);
  slot.ops->overwrite(state, value);
  return state;
}

TERN_COLD void add_state(Slot& slot, const AnyTensor& state) { slot.state.push_back(state); }

TERN_COLD bool wants_numbers(const Slot& slot, std::size_t states) {
  const bool is_new = tern::detail::size_of(slot.parameter.dtype()) == 2 &&
                      (!slot.master.defined() || slot.version != slot.parameter.impl()->owner->version);
  if (slot.state.size() < states || is_new || (slot.found.defined() && !slot.skipped.defined()))
    Error::fail("step", {"an optimiser allocates its state in its first step: run one before the capture"});
  return tern::detail::capture->is_replay();
}

}}}  // namespace tern::optim::detail
