// The functions of moving_average.hpp that are not templates.
#pragma once
#include "moving_average.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

TERN_NOINLINE void ExponentialMovingAverage::update(CallSite here) {
  const CallScope scope(here);
  if (entries_[0].saved.defined())
    Error::fail(name, {"update() between apply() and restore(): the weights are the averages"});
  if (updates_ == 0 && tern::detail::capture)
    Error::fail(name, {"the first update copies the weights: run one before the capture"});
  for (const Entry& e : entries_) e.ops->blend(e.average, e.parameter, updates_ == 0 ? 1 : 1 - decay_);
  ++updates_;
}

TERN_COLD void ExponentialMovingAverage::apply(CallSite here) {
  const CallScope scope(here);
  if (entries_[0].saved.defined()) Error::fail(name, {"apply() twice without restore()"});
  if (updates_ == 0) Error::fail(name, {"apply() before the first update()"});
  for (Entry& e : entries_) {
    e.saved = e.ops->zeros(e.parameter);
    e.ops->blend(e.saved, e.parameter, 1);
    e.ops->put(e.parameter, e.average);
    tern::detail::bump_version(e.parameter.impl());
  }
}

TERN_COLD void ExponentialMovingAverage::restore(CallSite here) {
  const CallScope scope(here);
  if (!entries_[0].saved.defined()) Error::fail(name, {"restore() without apply()"});
  for (Entry& e : entries_) {
    e.ops->put(e.parameter, e.saved);
    tern::detail::bump_version(e.parameter.impl());
    e.saved = {};
  }
}

TERN_COLD StateDict ExponentialMovingAverage::averages() const {
  StateDict dict;
  for (const Entry& e : entries_) tern::detail::append(dict, {e.name}, e.average);
  return dict;
}

TERN_COLD StateDict ExponentialMovingAverage::state_dict() const {
  StateDict dict = averages();
  const Tensor<Cpu, Index> updates = empty<Cpu, Index>({});
  *updates.data() = updates_;
  tern::detail::append(dict, {"n_averaged"}, updates);
  return dict;
}

TERN_COLD ExponentialMovingAverage::State ExponentialMovingAverage::read(const StateDict& dict) const {
  detail::StateReader reader("load_state_dict", dict, "average");
  State state;
  for (const Entry& e : entries_) {
    state.averages.push_back(reader.find({e.name}, e.parameter));
    if (!state.averages.back()) Error::fail("load_state_dict", {"the average ", e.name, " is missing"});
  }
  state.updates = reader.count({"n_averaged"});
  reader.expect_end();
  return state;
}

TERN_COLD void ExponentialMovingAverage::check(const StateDict& dict) const { read(dict); }

TERN_COLD void ExponentialMovingAverage::load_state_dict(const StateDict& dict, CallSite here) {
  const CallScope scope(here);
  const State state = read(dict);
  for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].ops->overwrite(entries_[i].average, *state.averages[i]);
  updates_ = state.updates;
}

TERN_COLD void ExponentialMovingAverage::add(const NamedTensor& p, const Ops* ops) {
  if (!tern::detail::is_dense(*p.tensor.impl())) Error::fail(name, {"parameter ", p.name, " has gaps in memory"});
  entries_.push_back({p.name, p.tensor, ops->zeros(p.tensor), {}, ops});
}

}}}  // namespace tern::optim
