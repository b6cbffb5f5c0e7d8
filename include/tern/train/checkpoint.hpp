// Checkpoints: everything that a training needs to go on bit for bit, in one safetensors file.
#pragma once
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
TERN_API void append(StateDict& to, const char* prefix, const StateDict& dict);

/// The entries whose names begin with prefix, without it.
TERN_API StateDict extract(const StateDict& from, const std::string& prefix);

/// What a training keeps beside its network and optimiser, as the file's tensor `training`.
struct TrainingState {
  Index epoch, batch;   // Position
  Index seed, stream;   // of the random numbers
  Index schedule;       // how often it was stepped
};

}  // namespace detail

/// Writes model, optimiser, schedule, random state and position; the file appears whole or not at all.
TERN_API void save_checkpoint(const std::string& path, const nn::AnyModule& model, const optim::Optimizer& optimizer, Position position,
                              const optim::LRScheduler* schedule = nullptr);

/// Takes up where save_checkpoint was called. Error if the file is of another model, or damaged.
TERN_API Position load_checkpoint(const std::string& path, const nn::AnyModule& model, optim::Optimizer& optimizer,
                                  optim::LRScheduler* schedule = nullptr);

}  // namespace tern::train

#ifndef TERN_COMPILED
#include "checkpoint.ipp"
#endif
