// Checkpoints: everything that a training needs to go on bit for bit, in one safetensors file.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <cstring>

#include "../core/random.hpp"
#include "../io/safetensors.hpp"
#include "../nn/module.hpp"
#include "../optim/optimizer.hpp"
#include "../optim/schedules.hpp"

namespace tern::inline TERN_BUILD::train {

/// Where in a training a checkpoint was made.
struct Position {
  Index epoch = 0;  // epochs that are complete
  Index batch = 0;  // batches of the next one that are done
};

namespace detail {

/// Appends what dict holds to another, in host memory, with a prefix to each name.
[[gnu::noinline, gnu::cold]] inline void append(StateDict& to, const char* prefix, const StateDict& dict) {
  for (const NamedTensor& entry : dict) tern::detail::append(to, {prefix, entry.name}, entry.tensor.cpu());
}

/// The entries whose names begin with prefix, without it.
[[gnu::noinline, gnu::cold]] inline StateDict extract(const StateDict& from, const std::string& prefix) {
  StateDict dict;
  for (const NamedTensor& entry : from)
    if (entry.name.starts_with(prefix)) tern::detail::append(dict, {entry.name.c_str() + prefix.size()}, entry.tensor);
  return dict;
}

/// What a training keeps beside its network and optimiser, as the file's tensor `training`.
struct Numbers {
  Index epoch, batch;   // Position
  Index seed, stream;   // of the random numbers
  Index schedule;       // how often it was stepped
};

}  // namespace detail

/// Writes model, optimiser, schedule, random state and position; the file appears whole or not at all.
[[gnu::noinline, gnu::cold]] inline void save_checkpoint(const std::string& path, const nn::AnyModule& model,
                                                         const optim::Optimizer& optimizer, Position position,
                                                         const optim::LRScheduler* schedule = nullptr) {
  StateDict all;
  detail::append(all, "model.", nn::state_dict(model));
  detail::append(all, "optimizer.", optimizer.state_dict());
  const RandomState random = random_state();
  const detail::Numbers numbers{position.epoch, position.batch, Index(random.seed), Index(random.stream),
                                schedule ? schedule->epoch() : 0};
  const Tensor<Cpu, Index> training = empty<Cpu, Index>({5});
  std::memcpy(training.data(), &numbers, sizeof numbers);
  tern::detail::append(all, {"training"}, training);
  io::save_safetensors(path, all);
}

/// Takes up where save_checkpoint was called. Error if the file is of another model, or damaged.
[[gnu::noinline, gnu::cold]] inline Position load_checkpoint(const std::string& path, const nn::AnyModule& model,
                                                             optim::Optimizer& optimizer,
                                                             optim::LRScheduler* schedule = nullptr) {
  const StateDict all = io::load_safetensors(path);
  const TensorImpl* training = nullptr;
  for (const NamedTensor& entry : all)
    if (entry.name == "training") training = entry.tensor.impl();
  if (!training || training->dtype != DType::int64 || !(training->shape() == Shape{5}))
    fail("load_checkpoint", {"'", path, "' is no checkpoint of a training"});
  detail::Numbers numbers;
  std::memcpy(&numbers, training->data, sizeof numbers);
  nn::load_state_dict(model, detail::extract(all, "model."));
  optimizer.load_state_dict(detail::extract(all, "optimizer."));
  if (schedule) schedule->set_epoch(numbers.schedule);
  set_random_state({std::uint64_t(numbers.seed), std::uint64_t(numbers.stream)});
  return {numbers.epoch, numbers.batch};
}

}  // namespace tern::train
