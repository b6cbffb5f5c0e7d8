// Connectionist temporal classification: the probability that steps say a sequence of labels, whenever they say each.
#pragma once
#include "../core/reduction.hpp"
#include "cat.hpp"
#include "gather.hpp"
#include "shape.hpp"
#include "statistics.hpp"
#include "support/promoted.hpp"
#include "transfer.hpp"
#include "where.hpp"

namespace tern { inline namespace TERN_BUILD {

/// The options of ctc_loss.
struct CtcLossOptions {
  Index blank = 0;                                      // the class that says nothing
  detail::ReductionChoice reduction = Reduction::mean;  // mean: of the losses, each divided by its number of labels
  bool zero_infinity = false;  // a loss of infinity, where the labels do not fit the steps, counts as 0
};

namespace detail {

/// The sizes of a batch, and where its labels lie. A sample goes through states: a blank before, between and after its
/// labels.
struct CtcBatch {
  Index steps, samples, states;
  Tensor<Cpu, Index>
      places;  // [states, samples]: the place of a state's label among the targets, plus 1; 0 for a blank
  Tensor<Cpu, Index> last_step;   // [samples]
  Tensor<Cpu, Index> last_state;  // [samples]
};
/// Error unless the arguments fit.
TERN_API CtcBatch ctc_batch(const Array& log_probs, const Array& targets, const Tensor<Cpu, Index>& input_lengths,
                            const Tensor<Cpu, Index>& target_lengths, Index blank);

/// a[t][s] = l[t][s] + log(e^entry[t][s] + e^a[t-1][s] + e^a[t-1][s-1] + e^(a[t-1][s-2] + skip[s-2])), the logarithm of
/// the probability of all paths to a state. With backward, of all paths from a state to an end: t + 1, s + 1 and s + 2
/// take the place of t - 1, s - 1 and s - 2.
template <class D, class T>
Tensor<D, T> path_sums(const Tensor<D, T>& l, const Tensor<D, T>& entry, const Tensor<D, T>& skip, bool backward) {
  const auto step = [](auto at, auto first, auto stay, auto next, auto second, auto allowed) {
    const auto jump = second + allowed;
    const auto largest = max(max(first, stay), max(next, jump));
    const auto shift = where(largest == -INFINITY, 0, largest);
    const auto sum = exp(first - shift) + exp(stay - shift) + exp(next - shift) + exp(jump - shift);
    return at + where(largest == -INFINITY, largest, shift + log(sum));
  };
  const Index steps = l.size(0), states = l.size(1), samples = l.size(2);
  const Tensor<D, T> edge = full<D, T>({2, samples}, -INFINITY, l.device());
  const auto beyond = [&](const Tensor<D, T>& x) {
    return cat(backward ? std::vector{x, edge} : std::vector{edge, x}, 0);
  };
  const Tensor<D, T> allowed = beyond(skip);
  std::vector<Tensor<D, T>> sums{std::size_t(steps)};
  Tensor<D, T> before = full<D, T>({states, samples}, -INFINITY, l.device());
  for (Index k = 0; k < steps; ++k) {
    const Index t = backward ? steps - 1 - k : k;
    const Tensor<D, T> reach = beyond(before);
    const auto from = [&](Index distance) { return narrow(reach, 0, backward ? distance : 2 - distance, states); };
    before = pointwise({"ctc_loss", CallSite::unknown}, step, select(l, 0, t), select(entry, 0, t), from(0), from(1),
                       from(2), allowed);
    sums[std::size_t(t)] = before;
  }
  return stack(sums, 0);
}

/// The gradient by log_probs, as PyTorch has it: the probability of a class less the probability that a path is in one
/// of its states. That is the gradient only where log_probs are a log_softmax. start and end are 0 at the states where
/// a path may start and end, else -inf; heard is true at the steps of a sample.
template <class D, class T>
Tensor<D, T> ctc_gradient(const Tensor<D, T>& g, const Tensor<D, T>& log_probs, const Tensor<D, Index>& labels,
                          const Tensor<D, T>& skip, const Tensor<D, T>& start, const Tensor<D, T>& end,
                          const Tensor<D, bool>& heard) {
  const Tensor<D, T> by_class = permute(log_probs, {0, 2, 1}), l = gather(by_class, 1, labels);
  const Tensor<D, T> to = path_sums(l, start, skip, false), from = path_sums(l, end, skip, true);
  const auto share = [](auto at, auto a, auto b, auto all) { return where(at == -INFINITY, 0, exp(a + b - at - all)); };
  const Tensor<D, T> all = logsumexp(add(to, end), {0, 1});
  const Tensor<D, T> in_state = pointwise({"ctc_loss", CallSite::unknown}, share, l, to, from, all);
  const Tensor<D, T> in_class = scatter_add(zeros<D, T>(by_class.shape(), g.device()), 1, labels, in_state);
  const Tensor<D, T> scale = unsqueeze(add(g, sub(all, all)), 1);  // NaN for a loss of infinity
  return where(heard, mul(sub(exp(log_probs), permute(in_class, {0, 2, 1})), scale), 0);
}

/// The loss of each sample. Those of infinity are 0 with zero_infinity.
template <class D, class T>
Tensor<D, T> ctc_losses(const CallSite& op, const Tensor<D, T>& log_probs, const Tensor<D, Index>& targets,
                        const CtcBatch& batch, const CtcLossOptions& options) {
  const D device = log_probs.device();
  const Index steps = batch.steps, states = batch.states;
  const auto said = cat(std::vector{full<D, Index>({1}, options.blank, device), reshape(targets, {-1})}, 0);
  const auto label =
      reshape(index_select(said, 0, reshape(to_device(batch.places, device), {-1})), {states, batch.samples});
  backend::run<D>(backend::CheckRange{"ctc_loss", *label.impl(), log_probs.size(2)});
  const auto labels = contiguous(expand(label, {steps, states, batch.samples}));
  const auto later = narrow(label, 0, 2, states - 2);
  const auto may_skip = logical_and(ne(later, options.blank), ne(later, narrow(label, 0, 0, states - 2)));
  const auto step = reshape(arange_like(log_probs, 0, 1, steps), {steps, 1, 1});
  const auto state = reshape(arange_like(log_probs, 0, 1, states), {states, 1});
  const auto last_step = to_device(batch.last_step, device), last_state = to_device(batch.last_state, device);
  const auto is_start = logical_and(eq(step, 0), lt(state, 2));
  const auto is_end =
      logical_and(eq(step, last_step), logical_and(le(state, last_state), ge(state, sub(last_state, 1))));
  const auto log_of = [](const Tensor<D, bool>& allowed) {
    return where(allowed, zeros<D, T>({}, allowed.device()), -INFINITY);
  };
  const auto skip = log_of(may_skip), start = log_of(is_start), end = log_of(is_end);
  Tensor<D, T> losses;
  {
    const NoGradGuard off;
    const auto sums = path_sums(gather(permute(log_probs, {0, 2, 1}), 1, labels), start, skip, false);
    const auto silent = logical_and(lt(last_step, 0), eq(last_state, 0));
    losses = where(silent, 0, neg(logsumexp(add(sums, end), {0, 1})));
  }
  auto heard = reshape(le(step, last_step), {steps, batch.samples, 1});
  if (options.zero_infinity) {
    const auto infinite = isinf(losses);
    heard = logical_and(heard, unsqueeze(logical_not(infinite), 1));
    losses = where(infinite, 0, losses);
  }
  record(op, losses,
         wrt(log_probs, saved(log_probs, labels, skip, start, end, heard),
             [](const auto& g, const auto&... saved) { return ctc_gradient(g, saved...); }));
  return losses;
}

}  // namespace detail

/// -log of the probability that steps with these log-probabilities, [steps, N, classes] or [steps, classes], say the
/// targets. Each step says one class; of equal neighbours all but one are dropped, then the blanks. targets is [N,
/// labels], or the labels of all samples in a row; a sample's labels after its target_length are not read. If the
/// lengths are on a device, the host waits for them. Graves et al., "Connectionist temporal classification", 2006. The
/// gradient assumes that log_probs are a log_softmax, as PyTorch's does.
template <Device D, Floating T, Device L>
Tensor<D, T> ctc_loss(const Tensor<D, T>& log_probs, const Tensor<D, Index>& targets,
                      const Tensor<L, Index>& input_lengths, const Tensor<L, Index>& target_lengths,
                      CtcLossOptions options = {}, CallSite here = {}) {
  const CallScope scope({"ctc_loss", here});
  if (log_probs.checked("ctc_loss")->ndim == 2 && targets.checked("ctc_loss")->ndim == 1) {
    const Tensor<D, T> loss = ctc_loss(unsqueeze(log_probs, 1, here), unsqueeze(targets, 0),
                                       reshape(input_lengths, {1}), reshape(target_lengths, {1}), options, here);
    return reshape(loss, {}, here);
  }
  const Tensor<Cpu, Index> counts = to_device(target_lengths, Cpu{});
  const detail::CtcBatch batch = detail::ctc_batch(*log_probs.impl(), *targets.checked("ctc_loss"),
                                                   to_device(input_lengths, Cpu{}), counts, options.blank);
  const auto loss = [&](const auto& x) {
    const auto losses = detail::ctc_losses({"ctc_loss", here}, x, targets, batch, options);
    if (options.reduction == Reduction::none) return losses;
    if (options.reduction == Reduction::sum) return sum(losses, {}, false, here);
    const auto labels = to_type(to_device(clamp_min(counts, 1), x.device()), detail::Type<compute_t<T>>{});
    return mean(div(losses, labels, here), {}, false, here);
  };
  return detail::rounded_once(loss, log_probs);
}

/// The same with the lengths as numbers: ctc_loss(log_probs, targets, {5, 4}, {2, 1}).
template <Device D, Floating T>
Tensor<D, T> ctc_loss(const Tensor<D, T>& log_probs, const Tensor<D, Index>& targets,
                      const std::vector<Index>& input_lengths, const std::vector<Index>& target_lengths,
                      CtcLossOptions options = {}, CallSite here = {}) {
  const CallScope scope({"ctc_loss", here});
  const auto lengths = [](const std::vector<Index>& n) { return from_vector<Cpu>(n, Index(n.size())); };
  return ctc_loss(log_probs, targets, lengths(input_lengths), lengths(target_lengths), options, here);
}

TERN_SAME_PLACE(ctc_loss)

}}  // namespace tern

#ifndef TERN_COMPILED
#include "ctc_loss.ipp"
#endif
