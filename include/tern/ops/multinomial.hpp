// Positions drawn with given weights, by number or as 1 in a row of zeros.
#pragma once
#include "cumulative.hpp"
#include "extrema.hpp"
#include "random.hpp"
#include "softmax.hpp"
#include "sort.hpp"

namespace tern { inline namespace TERN_BUILD {

/// num_samples positions from each row of weights, p [n] or [m, n]. A position is drawn with a probability proportional
/// to its weight; without replacement each is drawn once at most. A weight of 0 is never drawn. The host waits for the
/// check of the weights: they are finite and not negative, and enough of them are positive.
template <Device D, Floating T>
Tensor<D, Index> multinomial(const Tensor<D, T>& p, Index num_samples, bool replacement = false, CallSite here = {}) {
  const CallScope scope({"multinomial", here});
  const int dims = p.checked("multinomial")->ndim;
  if (dims < 1 || dims > 2) Error::fail("multinomial", {"one or two dimensions are needed, not ", p.shape()});
  if (num_samples < 1) Error::fail("multinomial", {"the number of samples must be positive, not ", num_samples});
  const auto weights = to_type(p.detach(), f64);
  detail::Shape to = p.shape();
  to[dims - 1] = num_samples;
  if (to.numel() == 0) return empty<D, Index>(to, p.device());
  // 1 for each positive weight of a row, and not a number where a weight is not allowed.
  const auto valid = [](auto w) { return where(w == 0, 0, where((w > 0) & isfinite(w), 1, 0 / (w - w))); };
  const double fewest =
      amin(sum(detail::map<double>({"multinomial", CallSite::unknown}, valid, weights), -1)).item(here);
  if (fewest != fewest) Error::fail("multinomial", {"a weight is negative, infinite or NaN"});
  if (fewest < 1) Error::fail("multinomial", {"the weights of a row are all 0"});
  if (!replacement && fewest < double(num_samples))
    Error::fail("multinomial",
                {num_samples, " samples without replacement from a row of ", Index(fewest), " positive weights"});
  if (replacement) {
    const auto sums =
        cumsum(div(weights, amax(weights, -1, true)), -1, here);  // weights up to 1, so that no sum overflows
    const auto total = narrow(sums, -1, sums.size(-1) - 1, 1, here);
    return searchsorted(sums, mul(uniform<D, double>(to, 0, 1, p.device()), total), true);
  }
  // The first to arrive, where position i arrives after an exponential time of rate w_i. Weights of 0 come last.
  const auto speed = [](auto w, auto u) { return where(w > 0, w / abs(log1p(-u)), -1); };
  const auto speeds = detail::map<double>({"multinomial", CallSite::unknown}, speed, weights,
                                          uniform<D, double>(p.shape(), 0, 1, p.device()));
  return topk(speeds, num_samples, -1, true, true, here).indices;
}

/// softmax((logits + noise) / tau) along dim, whose largest element is drawn with the probability softmax(logits). If
/// hard, 1 at the largest element and 0 elsewhere, with the gradient of the softmax. Error unless tau > 0.
template <Device D, Floating T>
Tensor<D, T> gumbel_softmax(const Tensor<D, T>& logits, detail::RealNumber tau = 1, bool hard = false, Index dim = -1,
                            CallSite here = {}) {
  const CallScope scope({"gumbel_softmax", here});
  const int d = detail::wrap_dim({"gumbel_softmax", CallSite::unknown}, dim, logits.checked("gumbel_softmax")->ndim);
  if (!(tau > 0)) Error::fail("gumbel_softmax", {"tau must be positive, not ", tau.value()});
  const auto noise = uniform<D, compute_t<T>>(logits.shape(), 0, 1, logits.device());
  const auto disturbed = [tau = tau.value()](auto v, auto u) { return (v - log(-log1p(-u))) / tau; };
  const Tensor<D, T> soft = detail::rounded_once(
      [&](const auto& v) { return softmax(detail::pointwise({"gumbel_softmax", here}, disturbed, v, noise), d, here); },
      logits);
  if (!hard || soft.numel() == 0) return soft;
  const Tensor<D, Index> largest = argmax(soft.detach(), d, true, here);
  const Tensor<D, T> chosen = scatter(zeros_like(soft.detach()), d, largest, 1, here);
  record({"gumbel_softmax", here}, chosen, wrt(soft, [](const auto& g) { return g; }));
  return chosen;
}

}}  // namespace tern
