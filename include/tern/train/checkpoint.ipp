// The functions of checkpoint.hpp that are not templates.
#pragma once
#include "checkpoint.hpp"

namespace tern::inline TERN_BUILD::train::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE void append(StateDict& to, const char* prefix, const StateDict& dict) {
  for (const NamedTensor& entry : dict) tern::detail::append(to, {prefix, entry.name}, entry.tensor.cpu());
}

[[gnu::noinline, gnu::cold]] TERN_INLINE StateDict extract(const StateDict& from, const std::string& prefix) {
  StateDict dict;
  for (const NamedTensor& entry : from)
    if (entry.name.starts_with(prefix)) tern::detail::append(dict, {entry.name.c_str() + prefix.size()}, entry.tensor);
  return dict;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void check(const char* op, const std::string& path, const TrainingState& state) {
  if (state.epoch < 0 || state.batch < 0 || state.schedule < 0)
    fail(op, {"'", path, "': epochs, batches and steps of the schedule must not be negative: ", state.epoch, ", ", state.batch,
              " and ", state.schedule});
}

}  // namespace tern::train::detail

namespace tern::inline TERN_BUILD::train {

[[gnu::noinline, gnu::cold]] TERN_INLINE void save_checkpoint(const std::string& path, const nn::AnyModule& model,
                                                              const optim::Optimizer& optimizer, Position position,
                                                              const optim::LRScheduler* schedule,
                                                              const optim::GradScalerBase* scaler) {
  StateDict all;
  detail::append(all, "model.", nn::state_dict(model));
  detail::append(all, "optimizer.", optimizer.state_dict());
  if (scaler) detail::append(all, "scaler.", scaler->state_dict());
  const RandomState random = random_state();
  const detail::TrainingState state{position.epoch, position.batch, Index(random.seed), Index(random.stream),
                                schedule ? schedule->epoch() : 0, position.stream};
  detail::check("save_checkpoint", path, state);
  const Tensor<Cpu, Index> training = empty<Cpu, Index>({6});
  std::memcpy(training.data(), &state, sizeof state);
  tern::detail::append(all, {"training"}, training);
  const Tensor<Cpu, double> receipt = empty<Cpu, double>({2});
  receipt.data()[0] = position.seconds, receipt.data()[1] = position.best;
  tern::detail::append(all, {"receipt"}, receipt);
  io::save_safetensors(path, all);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE Position load_checkpoint(const std::string& path, const nn::AnyModule& model,
                                                                  optim::Optimizer& optimizer, optim::LRScheduler* schedule,
                                                                  optim::GradScalerBase* scaler) {
  const StateDict all = io::load_safetensors(path);
  const auto numbers = [&](const char* name, DType dtype, const Shape& shape) {
    for (const NamedTensor& entry : all)
      if (entry.name == name && entry.tensor.dtype() == dtype && entry.tensor.shape() == shape) return entry.tensor.impl()->data;
    fail("load_checkpoint", {"'", path, "' is not a checkpoint of a training"});
  };
  detail::TrainingState state;
  double receipt[2];
  std::memcpy(&state, numbers("training", DType::int64, {6}), sizeof state);
  std::memcpy(receipt, numbers("receipt", DType::float64, {2}), sizeof receipt);
  detail::check("load_checkpoint", path, state);
  const StateDict weights = detail::extract(all, "model.");
  nn::detail::check_fits(model, weights, true);
  const StateDict of_scaler = detail::extract(all, "scaler.");
  if (scaler) scaler->check(of_scaler);
  optim::RestoredState optimizer_state = optimizer.read(detail::extract(all, "optimizer."));
  if (schedule) schedule->set_epoch(state.schedule);  // it may have fewer steps
  nn::load_state_dict(model, weights);
  optimizer.take(std::move(optimizer_state));
  if (scaler) scaler->load_state_dict(of_scaler);
  if (schedule) schedule->set_epoch(state.schedule);  // again, because the optimiser has taken over the file's rates
  set_random_state({std::uint64_t(state.seed), std::uint64_t(state.stream)});
  return {state.epoch, state.batch, receipt[0], receipt[1], state.first_stream};
}

}  // namespace tern::train
