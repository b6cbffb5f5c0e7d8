// The functions of grad_scaler.hpp that are not templates.
#pragma once
#include "grad_scaler.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim::detail {

/// The state of a scaler as it was read.
struct ScalerState {
  double scale, growth_factor, backoff_factor;
  Index growth_interval, growth_tracker;
};

TERN_COLD void check_scaler(const CallSite& op, const GradScalerOptions& o) {
  if (!(o.init_scale > 0) || !std::isfinite(float(o.init_scale)))
    Error::fail(op, {"the scale must be a positive float, not ", o.init_scale});
  if (!(o.growth_factor > 1)) Error::fail(op, {"growth_factor must be greater than 1, not ", o.growth_factor});
  if (!(o.backoff_factor > 0 && o.backoff_factor < 1))
    Error::fail(op, {"backoff_factor must be between 0 and 1, not ", o.backoff_factor});
  if (o.growth_interval < 1 || o.growth_interval > Index(1) << 24)
    Error::fail(op, {"growth_interval must be in [1, 2^24], not ", o.growth_interval});
}

TERN_COLD ScalerState read_scaler(const StateDict& dict) {
  const CallSite op("load_state_dict", CallSite::unknown);
  const auto find = [&](const char* name) -> const AnyTensor& {
    for (const NamedTensor& entry : dict)
      if (entry.name == name && entry.tensor.numel() == 1) return entry.tensor;
    Error::fail(op, {"the state of a GradScaler has no number called ", name});
  };
  if (dict.size() != 5) Error::fail(op, {"the state of a GradScaler has 5 numbers, not ", Index(dict.size())});
  const auto number = [&](const char* name) { return *find(name).as<Cpu, double>().data(); };
  const auto count = [&](const char* name) { return *find(name).as<Cpu, Index>().data(); };
  const ScalerState s{number("scale"), number("growth_factor"), number("backoff_factor"), count("growth_interval"),
                      count("_growth_tracker")};
  check_scaler(op, {s.scale, s.growth_factor, s.backoff_factor, s.growth_interval});
  if (s.growth_tracker < 0 || s.growth_tracker >= s.growth_interval)
    Error::fail(op, {"_growth_tracker must be in [0, ", s.growth_interval, "), not ", s.growth_tracker});
  return s;
}

}}}  // namespace tern::optim::detail

namespace tern { inline namespace TERN_BUILD { namespace optim {

TERN_INLINE GradScalerBase::~GradScalerBase() {}

TERN_COLD void GradScalerBase::abandon() {
  for (State& state : states_) state.stage = Stage::ready;
}

TERN_COLD GradScalerBase::GradScalerBase(const GradScalerOptions& options, const CallSite& here) : options_(options) {
  if (options.enabled) detail::check_scaler({"GradScaler", here}, options);
}

TERN_COLD StateDict GradScalerBase::state_dict() const {
  StateDict dict;
  if (!options_.enabled) return dict;
  const Numbers own = numbers();
  const auto add = [&]<class N>(const char* name, N value) {
    tern::detail::append(dict, {name}, full<Cpu, N>({}, value));
  };
  add("scale", own.scale);
  add("growth_factor", options_.growth_factor);
  add("backoff_factor", options_.backoff_factor);
  add("growth_interval", options_.growth_interval);
  add("_growth_tracker", own.growth_tracker);
  return dict;
}

TERN_COLD void GradScalerBase::check(const StateDict& dict) const {
  if (options_.enabled) detail::read_scaler(dict);
}

TERN_COLD void GradScalerBase::load_state_dict(const StateDict& dict, CallSite here) {
  const CallScope scope(here);
  if (!options_.enabled) return;
  const detail::ScalerState s = detail::read_scaler(dict);
  options_.growth_factor = s.growth_factor;
  options_.backoff_factor = s.backoff_factor;
  options_.growth_interval = s.growth_interval;
  set_numbers({s.scale, s.growth_tracker});
}

TERN_INLINE GradScalerBase::State& GradScalerBase::state_of(Optimizer& optimizer) {
  for (State& state : states_)
    if (state.optimizer == &optimizer) return state;
  states_.push_back({&optimizer, Stage::ready, {}});
  return states_.back();
}

TERN_INLINE void GradScalerBase::begin_unscale(const State& state) const {
  if (state.stage == Stage::unscaled)
    Error::fail("unscale_", {"the optimiser's gradients were unscaled since the last update()"});
  if (state.stage == Stage::stepped) Error::fail("unscale_", {"the optimiser was stepped since the last update()"});
}

TERN_INLINE void GradScalerBase::begin_step(const CallSite& op, const State& state) const {
  if (state.stage == Stage::stepped) Error::fail(op, {"the optimiser was stepped since the last update()"});
}

TERN_NOINLINE std::vector<AnyTensor> GradScalerBase::take_found() {
  std::vector<AnyTensor> all;
  for (State& state : states_) {
    if (state.stage != Stage::ready) all.push_back(state.found);
    state.stage = Stage::ready;
  }
  if (all.empty()) Error::fail("update", {"no gradients were unscaled since the last update()"});
  return all;
}

}}}  // namespace tern::optim
