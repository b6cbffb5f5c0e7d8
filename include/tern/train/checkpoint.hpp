// Checkpoints: the whole state of a training in one safetensors file. A training that resumes from it continues bit for
// bit.
#pragma once
#include <cmath>
#include <cstring>

#include "../core/random.hpp"
#include "../io/safetensors.hpp"
#include "../nn/module.hpp"
#include "../optim/grad_scaler.hpp"
#include "../optim/optimizer.hpp"
#include "../optim/schedules.hpp"

namespace tern::inline TERN_BUILD::train {

/// The position in a training at which a checkpoint was made.
struct Position {
  Index epoch = 0;             // complete epochs
  Index batch = 0;             // batches of the next epoch that are done
  double seconds = 0;          // of training
  double best = std::nan("");  // the best figure on held-out data
  Index stream = 0;            // random_state().stream where that epoch began: a loader without a seed drew its order there
};

namespace detail {

/// Appends dict's entries in host memory, with a prefix to each name.
TERN_API void append(StateDict& to, const char* prefix, const StateDict& dict);

/// The entries whose names begin with prefix, without the prefix.
TERN_API StateDict extract(const StateDict& from, const std::string& prefix);

/// The state of a training besides its network and optimiser. It is the file's tensor `training`; Position's doubles are `receipt`.
struct TrainingState {
  Index epoch, batch;   // as in Position
  Index seed, stream;   // of the random numbers
  Index schedule;       // the number of the schedule's steps
  Index first_stream;   // Position's
};

}  // namespace detail

/// Writes model, optimiser, schedule, scaler, random state and position. The file appears complete or not at all.
TERN_API void save_checkpoint(const std::string& path, const nn::AnyModule& model, const optim::Optimizer& optimizer, Position position,
                              const optim::LRScheduler* schedule = nullptr, const optim::GradScalerBase* scaler = nullptr);

/// Restores what save_checkpoint wrote. Error, and nothing changed, if the file belongs to another model or optimiser, has no
/// state for an enabled scaler, or is damaged.
TERN_API Position load_checkpoint(const std::string& path, const nn::AnyModule& model, optim::Optimizer& optimizer,
                                  optim::LRScheduler* schedule = nullptr, optim::GradScalerBase* scaler = nullptr);

}  // namespace tern::train

#ifndef TERN_COMPILED
#include "checkpoint.ipp"
#endif
