// The functions of checkpoint.hpp that are not templates.
#pragma once
#include <cstring>

#include "checkpoint.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train::detail {

TERN_INLINE StateDict ModelPart::state() const { return nn::state_dict(model_); }

TERN_INLINE void ModelPart::read(const StateDict& state) {
  nn::detail::check_fits(model_, state, true);
  state_ = &state;
}

TERN_INLINE void ModelPart::take() { nn::load_state_dict(model_, *state_); }

TERN_INLINE StateDict OptimizerPart::state() const { return optimizer_.state_dict(); }

TERN_INLINE void OptimizerPart::read(const StateDict& state) { state_ = optimizer_.read(state); }

TERN_INLINE void OptimizerPart::take() { optimizer_.take(std::move(state_)); }

TERN_COLD std::string other_type(DType saved, DType own) {
  return tern::detail::text(
      {" is ", tern::detail::name_of(saved), " in the file, but ", tern::detail::name_of(own), " in the program"});
}

TERN_COLD StateDict extract(const StateDict& from, const std::string& prefix) {
  StateDict dict;
  for (const NamedTensor& entry : from)
    if (entry.name.starts_with(prefix)) tern::detail::append(dict, {entry.name.c_str() + prefix.size()}, entry.tensor);
  return dict;
}

TERN_COLD StateDict loader_dict(Index epoch, Index batch, std::uint64_t seed) {
  StateDict dict;
  const auto add = [&](const char* name, Index value) {
    tern::detail::append(dict, {name}, full<Cpu, Index>({}, value));
  };
  add("epoch", epoch);
  add("batch", batch);
  add("seed", Index(seed));
  return dict;
}

TERN_COLD LoaderNumbers loader_numbers(const StateDict& state) {
  optim::detail::StateReader reader("load_state_dict", state, "loader");
  const LoaderNumbers numbers{reader.count({"epoch"}), reader.count({"batch"}), reader.number<Index>({"seed"})};
  reader.expect_end();
  return numbers;
}

/// The file's tensor `training`; Position's doubles are `receipt`.
struct TrainingState {
  Index epoch, batch;  // as in Position
  Index seed, stream;  // of the random numbers
  Index schedule = 0;  // the number of the schedule's steps, in files that have no other state of one
};

TERN_COLD void check(const char* op, const std::string& path, const TrainingState& state) {
  if (state.epoch < 0 || state.batch < 0 || state.schedule < 0)
    Error::fail(op, {"'", path, "': epochs, batches and steps of the schedule must not be negative: ", state.epoch,
                     ", ", state.batch, " and ", state.schedule});
}

/// What the names of each part's entries begin with: its kind, a number if it is not the first of the kind, and a dot.
TERN_COLD std::vector<std::string> prefixes(const std::vector<Part*>& parts) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Index before = 0;
    for (std::size_t j = 0; j < i; ++j) before += parts[j]->kind() == std::string(parts[i]->kind());
    all.push_back(before ? tern::detail::text({parts[i]->kind(), before, "."})
                         : tern::detail::text({parts[i]->kind(), "."}));
  }
  return all;
}

TERN_COLD void save_parts(const std::string& path, const std::vector<Part*>& parts) {
  StateDict all;
  const std::vector<std::string> names = prefixes(parts);
  const Position none;
  const Position* position = nullptr;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const NamedTensor& entry : parts[i]->state())
      tern::detail::append(all, {names[i], entry.name}, entry.tensor.cpu());
    const bool states_it = parts[i]->kind() == std::string("position");
    if (parts[i]->position() && (!position || states_it)) position = parts[i]->position();
  }
  if (!position) position = &none;
  const RandomState random = random_state();
  const TrainingState state{position->epoch, position->batch, Index(random.seed), Index(random.stream)};
  check("save_checkpoint", path, state);
  const Tensor<Cpu, Index> training = empty<Cpu, Index>({4});
  std::memcpy(training.data(), &state, 4 * sizeof(Index));
  tern::detail::append(all, {"training"}, training);
  const Tensor<Cpu, double> receipt = empty<Cpu, double>({2});
  receipt.data()[0] = position->seconds, receipt.data()[1] = position->best;
  tern::detail::append(all, {"receipt"}, receipt);
  io::save_safetensors(path, all);
}

TERN_COLD Position load_parts(const std::string& path, const std::vector<Part*>& parts) {
  const StateDict all = io::load_safetensors(path);
  const auto numbers = [&](const char* name, DType dtype, Index least, Index most) -> const AnyTensor& {
    for (const NamedTensor& entry : all)
      if (entry.name == name && entry.tensor.dtype() == dtype && entry.tensor.shape().n == 1 &&
          entry.tensor.numel() >= least && entry.tensor.numel() <= most)
        return entry.tensor;
    Error::fail("load_checkpoint", {"'", path, "' is not a checkpoint of a training"});
  };
  TrainingState state;
  double receipt[2];
  const AnyTensor training = numbers("training", DType::int64, 4, 5);
  const bool counts_schedule = training.numel() == 5;  // an older file
  std::memcpy(&state, training.impl()->data, std::size_t(training.numel()) * sizeof(Index));
  std::memcpy(receipt, numbers("receipt", DType::float64, 2, 2).impl()->data, sizeof receipt);
  check("load_checkpoint", path, state);

  const std::vector<std::string> names = prefixes(parts);
  std::vector<StateDict> states(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    states[i] = extract(all, names[i]);
    const bool is_missing = states[i].empty() && !parts[i]->state().empty();
    if (is_missing && counts_schedule && names[i] == "schedule." && parts[i]->state()[0].name == "last_epoch")
      tern::detail::append(states[i], {"last_epoch"}, full<Cpu, Index>({}, state.schedule));
    else if (is_missing)
      Error::fail("load_checkpoint", {"'", path, "' has no ", names[i].substr(0, names[i].size() - 1),
                                      counts_schedule ? ", because an older version of tern has written it"
                                                      : ", because it was saved without one"});
    if (const std::string problem = parts[i]->problem(states[i]); !problem.empty())
      Error::fail("load_checkpoint", {"'", path, "': ", names[i].substr(0, names[i].size() - 1), problem});
    parts[i]->read(states[i]);
  }
  for (const bool models : {true, false})  // an optimiser follows its parameters' values
    for (Part* const part : parts)
      if ((part->kind() == std::string("model")) == models) part->take();
  set_random_state({std::uint64_t(state.seed), std::uint64_t(state.stream)});
  return {state.epoch, state.batch, receipt[0], receipt[1]};
}

}}}  // namespace tern::train::detail
