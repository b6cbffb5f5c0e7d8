// The functions of ctc_loss.hpp that are not templates.
#pragma once
#include "ctc_loss.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_NOINLINE CtcBatch ctc_batch(const Array& log_probs, const Array& targets, const Tensor<Cpu, Index>& input_lengths,
                                 const Tensor<Cpu, Index>& target_lengths, Index blank) {
  const char* const op = "ctc_loss";
  if (log_probs.ndim != 3)
    Error::fail(op, {"log_probs must be [steps, samples, classes], not ", log_probs.shape_ref()});
  const Index steps = log_probs.dims[0], samples = log_probs.dims[1], classes = log_probs.dims[2];
  if (log_probs.numel == 0) Error::fail(op, {"log_probs of shape ", log_probs.shape_ref(), " have no elements"});
  if (blank < 0 || blank >= classes) Error::fail(op, {"blank ", blank, " is not one of ", classes, " classes"});
  const bool rows = targets.ndim == 2;
  if (rows ? targets.dims[0] != samples : targets.ndim != 1)
    Error::fail(op, {"targets must be of shape [", samples, ", labels] or [labels], not ", targets.shape_ref()});
  for (const auto* lengths : {&input_lengths, &target_lengths})
    if (lengths->dim() != 1 || lengths->numel() != samples)
      Error::fail(op,
                  {"the lengths of ", samples, " samples must be of shape [", samples, "], not ", lengths->shape()});

  const Tensor<Cpu, Index> heard = contiguous(input_lengths), said = contiguous(target_lengths);
  Index most = 1, all = 0;  // at least one label, so that there is a second next state
  for (Index i = 0; i < samples; ++i) {
    const Index n = said.data()[i], limit = rows ? targets.dims[1] : targets.numel - all;
    if (heard.data()[i] < 0 || heard.data()[i] > steps)
      Error::fail(op, {"input_length ", heard.data()[i], " of sample ", i, " does not fit ", steps, " steps"});
    if (n < 0 || n > limit)
      Error::fail(op, {"target_length ", n, " of sample ", i, " does not fit targets of shape ", targets.shape_ref()});
    all += n;
    if (n > most) most = n;
  }
  if (!rows && all != targets.numel)
    Error::fail(op, {"target_lengths name ", all, " labels, the targets have ", targets.numel});

  const Index states = 2 * most + 1;
  // By plain loops: the compiled library has these ops' kernels for floats only.
  const Tensor<Cpu, Index> places = empty<Cpu, Index>({states, samples}), last_step = empty<Cpu, Index>(samples),
                           last_state = empty<Cpu, Index>(samples);
  std::fill_n(places.data(), places.numel(), 0);
  for (Index i = 0, place = 1; i < samples; ++i) {
    last_step.data()[i] = heard.data()[i] - 1, last_state.data()[i] = 2 * said.data()[i];
    if (rows) place = 1 + i * targets.dims[1];
    for (Index k = 0; k < said.data()[i]; ++k) places.data()[(2 * k + 1) * samples + i] = place++;
  }
  return {steps, samples, states, places, last_step, last_state};
}

}}}  // namespace tern::detail
