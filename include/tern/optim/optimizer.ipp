// The functions of optimizer.hpp that are not templates.
#pragma once
#include "optimizer.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim::detail {

TERN_COLD void check(const char* name, const char* option, double value, double limit) {
  if (!(value >= 0))
    Error::fail(name, {option, value != value ? " must be a number, not " : " must not be negative: ", value});
  if (!(value < limit)) Error::fail(name, {option, " must be less than ", limit, ", not ", value});
}

/// True for a state that is a mean or a sum of squares.
TERN_COLD bool is_second_moment(const std::string& name) {
  for (const char* const known : {"exp_avg_sq", "max_exp_avg_sq", "square_avg", "acc_delta", "sum"})
    if (name == known) return true;
  return false;
}

/// How many of a slot's steps were skipped unseen by the host.
TERN_COLD Index skipped_steps(const Slot& slot) {
  return slot.skipped.defined() ? Index(*slot.skipped.cpu().as<Cpu>().data()) : 0;
}

/// Takes the skipped steps out of the slot's count. The host waits for them.
TERN_COLD void settle(Slot& slot) {
  slot.steps -= skipped_steps(slot);
  slot.skipped = {};
}

/// Error if an element is negative. `state` has any device and floating-point type.
TERN_COLD void check_not_negative(const char* op, std::initializer_list<tern::detail::Piece> name,
                                  const AnyTensor& state) {
  AnyTensor x = state.cpu();
  if (!x.impl()->contiguous) x = Tensor<Cpu>(tern::detail::copy_on_host(x.impl()));
  for (Index i = 0; i < x.numel(); ++i)
    if (const double value = tern::detail::floating_at(*x.impl(), i); value < 0)
      Error::fail(op, {"the optimiser's ", tern::detail::text(name), " has a negative element: ", value});
}

}}}  // namespace tern::optim::detail

namespace tern { inline namespace TERN_BUILD { namespace optim {

TERN_INLINE Optimizer::~Optimizer() { forget_graphs(); }

TERN_COLD void Optimizer::set_momentum(double momentum) {
  for (std::size_t group = 0; group < group_count(); ++group) {
    double* const own = checked_rates(group).momentum;
    if (own) *own = momentum;
    else refuse_momentum(momentum);
  }
}

TERN_NOINLINE double Optimizer::initial_lr(std::size_t group) {
  const double now = lr(group);
  double& initial = initial_lr_[group];
  if (initial < 0) initial = now;
  return initial;
}

TERN_INLINE void Optimizer::step(CallSite here) {
  const CallScope scope(here);
  step_each({});
}

TERN_INLINE void Optimizer::step_unless(const AnyTensor& found, CallSite here) {
  const CallScope scope(here);
  bool on_host = false;
  for (const Slot& slot : slots_) on_host = on_host || slot.ops->counts_on_host;
  if (!on_host) return step_each(found);
  if (*found.cpu().as<Cpu>().data() == 0) step_each({});
}

TERN_INLINE void Optimizer::step_each(const AnyTensor& found) {
  const NoGradGuard off;
  if (shards_) shards_->before_step(slots_);
  const auto step = [this](const ParameterStep& one) {
    if (tern::detail::capture) [[unlikely]]
      capture_step(one);
    else take_step(one);
  };
  std::vector<Slot*> waiting;  // for others to take the step with
  for (Slot& slot : slots_) {
    const tern::detail::Node* const node = slot.parameter.impl()->node;
    if (!node || !node->gradient || !is_here(slot)) continue;
    if (!found.defined() && slot.skipped.defined()) [[unlikely]]
      detail::settle(slot);
    slot.found = found;
    if (slot.ops->one_by_one) {
      Slot* const one = &slot;
      step({&one, 1});
    } else {
      waiting.push_back(&slot);
    }
  }
  while (!waiting.empty()) {
    const Slot& first = *waiting[0];
    std::vector<Slot*> together;
    std::size_t others = 0;
    for (Slot* const slot : waiting) {
      const bool alike = slot->ops == first.ops && slot->group == first.group && slot->steps == first.steps &&
                         slot->parameter.impl()->ordinal == first.parameter.impl()->ordinal;
      if (alike) together.push_back(slot);
      else waiting[others++] = slot;
    }
    waiting.resize(others);
    step({together.data(), together.size()});
  }
  if (shards_) shards_->after_step(slots_);
}

TERN_COLD StateDict Optimizer::state_dict() const {
  StateDict dict;
  for (std::size_t group = 0; group < group_count(); ++group) {
    tern::detail::append(dict, {prefix(group), "lr"}, number(lr(group)));
    if (initial_lr_[group] >= 0) tern::detail::append(dict, {prefix(group), "initial_lr"}, number(initial_lr_[group]));
    tern::detail::append(dict, {prefix(group), "momentum"}, number(momentum(group)));
  }
  std::vector<Slot> gathered;
  if (shards_) gathered = shards_->gathered(slots_);
  for (const Slot& slot : shards_ ? gathered : slots_) {
    tern::detail::append(dict, {slot.name, ".step"}, number(slot.steps - detail::skipped_steps(slot)));
    if (slot.master.defined()) tern::detail::append(dict, {slot.name, ".master"}, slot.master);
    for (std::size_t i = 0; i < slot.state.size(); ++i)
      tern::detail::append(dict, {slot.name, ".", state_names_.begin()[i]}, slot.state[i]);
  }
  return dict;
}

TERN_COLD RestoredState Optimizer::read(const StateDict& dict) {
  std::vector<Slot> state_slots(slots_.size());
  for (std::size_t i = 0; i < state_slots.size(); ++i) {
    const Slot& slot = slots_[i];
    set(state_slots[i], slot.name, slot.group, slot.parameter, slot.ops);
    state_slots[i].owner = slot.owner;
  }
  return restored("load_state_dict", std::move(state_slots), dict);
}

TERN_COLD Optimizer::Optimizer(const char* name, std::initializer_list<const char*> state_names)
    : name_(name), state_names_(state_names) {}

TERN_COLD void Optimizer::add(const detail::ParameterList& list) {
  if (list.parameters.empty()) Error::fail(name_, {"there are no parameters"});
  for (const NamedTensor& p : list.parameters) {
    if (!p.tensor.defined()) Error::fail(name_, {"parameter ", p.name, " is undefined"});
    const tern::detail::TensorImpl& x = *p.tensor.impl();
    if (x.node && !x.node->leaf)
      Error::fail(name_, {"parameter ", p.name, " was computed from others; only leaves can be optimised"});
    if (x.read_only)
      Error::fail(name_, {"parameter ", p.name, " is read only: from_blob() was given a pointer to const"});
  }
  for (const Slot& other : slots_)
    for (const NamedTensor& p : list.parameters)
      if (other.parameter.impl() == p.tensor.impl())
        Error::fail(name_, {"parameter ", p.name, " is in another group, as ", other.name});
  const std::size_t groups = group_count(), before = slots_.size();
  std::vector<Slot> state_slots = slots_;
  state_slots.resize(before + list.parameters.size());
  fill(&state_slots[before], groups, list);
  std::vector<double> rates(groups + 1, -1);
  for (std::size_t i = 0; i < groups; ++i) rates[i] = initial_lr_[i];
  if (shards_) shards_->assign(state_slots, before);
  forget_graphs();
  slots_.swap(state_slots);
  initial_lr_.swap(rates);
}

TERN_COLD void Optimizer::share(std::unique_ptr<detail::Shards> shards) {
  shards->assign(slots_, 0);
  shards_ = std::move(shards);
}

TERN_COLD void Optimizer::follow(const detail::ParameterList* lists, std::size_t groups) {
  if (groups != group_count())
    Error::fail("to", {Index(groups), " lists of parameters for ", Index(group_count()), " groups"});
  std::size_t count = 0;
  for (std::size_t group = 0; group < groups; ++group) count += lists[group].parameters.size();
  std::vector<Slot> state_slots(count);
  Slot* next = state_slots.data();
  for (std::size_t group = 0; group < groups; ++group) next = fill(next, group, lists[group]);
  const StateDict dict = state_dict();
  if (shards_) shards_->assign(state_slots, 0);
  take(restored("to", std::move(state_slots), dict));
}

TERN_INLINE void Optimizer::take_step(const ParameterStep& step) {
  const auto count = [&](Index by) {
    for (std::size_t i = 0; i < step.count; ++i) step.state_slots[i]->steps += by;
  };
  count(1);
  try {
    step.state_slots[0]->ops->update(*this, step);
  } catch (...) {
    count(-1);
    throw;
  }
  for (std::size_t i = 0; i < step.count; ++i) {
    Slot& slot = *step.state_slots[i];
    tern::detail::bump_version(slot.parameter.impl());
    slot.version = slot.parameter.impl()->owner->version;
  }
}

TERN_COLD void Optimizer::capture_step(const ParameterStep& step) {
  take_step(step);
  std::vector<Index> items;
  for (std::size_t i = 0; i < step.count; ++i) {
    --step.state_slots[i]->steps;
    items.push_back(step.state_slots[i] - slots_.data());
  }
  const auto again = [](void* self, const Index* at, Index count) {
    auto& optimizer = *static_cast<Optimizer*>(self);
    std::vector<Slot*> state_slots;
    for (Index i = 0; i < count; ++i) state_slots.push_back(&optimizer.slots_[std::size_t(at[i])]);
    optimizer.take_step({state_slots.data(), state_slots.size()});
  };
  tern::detail::capture->repeat(this, again, items.data(), Index(items.size()));
}

TERN_COLD void Optimizer::forget_graphs() const {
  if (tern::detail::CapturedGraphs* const graphs = tern::detail::captured_graphs) graphs->forget(this);
}

TERN_COLD void Optimizer::refuse_group(std::size_t group) const {
  Error::fail(name_, {"there is no group ", Index(group), " among ", Index(group_count())});
}

TERN_COLD std::string Optimizer::prefix(std::size_t group) {
  return group ? tern::detail::text({"group", Index(group), "/"}) : std::string();
}

TERN_COLD void Optimizer::set(Slot& slot, const std::string& name, std::size_t group, const AnyTensor& parameter,
                              const SlotOps* ops) {
  slot.name = name;
  slot.group = group;
  if (!ops)
    Error::fail("parameters", {name, " is of ", tern::detail::name_of(parameter.dtype()),
                               ", which the type of the list does not name"});
  slot.parameter = parameter;
  slot.ops = ops;
}

TERN_COLD Slot* Optimizer::fill(Slot* slot, std::size_t group, const detail::ParameterList& list) {
  for (const NamedTensor& p : list.parameters)
    set(*slot++, prefix(group) + p.name, group, p.tensor, list.ops_for(p.tensor));
  return slot;
}

TERN_COLD RestoredState Optimizer::restored(const char* op, std::vector<Slot> state_slots, const StateDict& dict) {
  detail::StateReader reader(op, dict);
  for (Slot& slot : state_slots) {
    slot.steps = reader.count({slot.name, ".step"});
    const AnyTensor* const master = reader.find({slot.name, ".master"}, slot.parameter);
    if (master && tern::detail::size_of(slot.parameter.dtype()) == 2) slot.master = detail::state_from(slot, *master);
    for (const char* const name : state_names_) {
      const AnyTensor* const state = reader.find({slot.name, ".", name}, slot.parameter);
      if (!state) break;
      if (detail::is_second_moment(name)) detail::check_not_negative(op, {slot.name, ".", name}, *state);
      detail::add_state(slot, detail::state_from(slot, *state));
    }
    if (!is_here(slot)) {
      slot.steps = 0;
      slot.master = {};
      slot.state.clear();
    }
  }
  std::vector<RestoredState::Group> groups;
  for (std::size_t group = 0; group < group_count(); ++group) {
    const std::string name = prefix(group);
    groups.push_back({reader.number<double>({name, "lr"}), reader.number_or({name, "initial_lr"}, -1),
                      reader.number<double>({name, "momentum"})});
    if (!rates(group).momentum) refuse_momentum(groups.back().momentum);
  }
  reader.expect_end();
  return {std::move(state_slots), std::move(groups)};
}

TERN_COLD void Optimizer::load_state_dict(const StateDict& dict, CallSite here) {
  const CallScope scope(here);
  take(read(dict));
}

TERN_COLD void Optimizer::take(RestoredState&& state) {
  forget_graphs();
  slots_ = std::move(state.state_slots);
  for (Slot& slot : slots_) slot.version = slot.parameter.impl()->owner->version;
  for (std::size_t group = 0; group < group_count(); ++group) {
    const Rates own = rates(group);
    const RestoredState::Group& read = state.groups[group];
    *own.lr = read.lr;
    if (read.initial_lr >= 0) initial_lr_[group] = read.initial_lr;
    if (own.momentum) *own.momentum = read.momentum;
  }
}

}}}  // namespace tern::optim
