// Checkpoints: everything that a training needs to go on bit for bit, in one safetensors file.
#pragma once
#include "../core/random.hpp"
#include "../io/safetensors.hpp"
#include "../nn/module.hpp"
#include "../optim/optimizer.hpp"
#include "../optim/schedules.hpp"

namespace tern::train {

/// Where in a training a checkpoint was made.
struct Position {
  Index epoch = 0;  // epochs that are complete
  Index batch = 0;  // batches of the next one that are done
};

namespace detail {

inline Tensor<Cpu, Index> numbers(std::initializer_list<Index> values) {
  Tensor<Cpu, Index> x = empty<Cpu, Index>(Index(values.size()));
  Index* to = x.data();
  for (Index v : values) *to++ = v;
  return x;
}

/// Appends dict with a prefix to each name.
inline void append(StateDict& to, const char* prefix, const StateDict& dict) {
  for (const NamedTensor& entry : dict) to.push_back({prefix + entry.name, entry.tensor.cpu()});
}

/// The entries whose names begin with prefix, without it.
inline StateDict extract(const StateDict& from, const std::string& prefix) {
  StateDict dict;
  for (const NamedTensor& entry : from)
    if (entry.name.starts_with(prefix)) dict.push_back({entry.name.substr(prefix.size()), entry.tensor});
  return dict;
}

[[gnu::noinline]] inline void save_state(const std::string& path, const StateDict& model, const optim::Optimizer& optimizer,
                                         const optim::LRScheduler* schedule, Position position) {
  StateDict all;
  append(all, "model.", model);
  append(all, "optimizer.", optimizer.state_dict());
  const RandomState random = random_state();
  all.push_back({"training", numbers({position.epoch, position.batch, Index(random.seed), Index(random.stream),
                                      schedule ? schedule->epoch() : 0})});
  io::save_safetensors(path, all);
}

/// Seed and stream of the random numbers, epochs the schedule was stepped, and the position.
struct Training {
  RandomState random;
  Index schedule_epoch;
  Position position;
};

[[gnu::noinline]] inline Training training_of(const std::string& path, const StateDict& all) {
  for (const NamedTensor& entry : all) {
    if (entry.name != "training" || !entry.tensor.is<Cpu, Index>() || !(entry.tensor.shape() == Shape{5})) continue;
    const Index* const t = entry.tensor.as<Cpu, Index>().data();
    return {{std::uint64_t(t[2]), std::uint64_t(t[3])}, t[4], {t[0], t[1]}};
  }
  fail("load_checkpoint", {"'", path, "' is no checkpoint of a training"});
}

}  // namespace detail

/// Writes model, optimiser, schedule, random state and position; the file appears whole or not at all.
template <nn::IsModule M>
void save_checkpoint(const std::string& path, const M& model, const optim::Optimizer& optimizer, Position position,
                     const optim::LRScheduler* schedule = nullptr) {
  detail::save_state(path, nn::state_dict(model), optimizer, schedule, position);
}

/// Takes up where save_checkpoint was called. Error if the file is of another model, or damaged.
template <nn::IsModule M>
Position load_checkpoint(const std::string& path, const M& model, optim::Optimizer& optimizer,
                         optim::LRScheduler* schedule = nullptr) {
  const StateDict all = io::load_safetensors(path);
  const detail::Training training = detail::training_of(path, all);
  nn::load_state_dict(model, detail::extract(all, "model."));
  optimizer.load_state_dict(detail::extract(all, "optimizer."));
  if (schedule) schedule->set_epoch(training.schedule_epoch);
  set_random_state(training.random);
  return training.position;
}

}  // namespace tern::train
