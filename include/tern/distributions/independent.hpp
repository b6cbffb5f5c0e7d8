// Dimensions of a batch as dimensions of an event.
#pragma once
#include "distribution.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributions {

/// The distribution base, whose last n dimensions of the batch are dimensions of the event: log_prob, entropy and
/// kl_divergence are sums over them. Error unless the batch has n dimensions.
template <class Base>
class Independent : public Distribution<Independent<Base>> {
 public:
  Independent(const Base& base, int reinterpreted_batch_ndims, CallSite here = {})
      : base_(base), n_(reinterpreted_batch_ndims) {
    const detail::Shape batch = base.batch_shape();
    if (n_ < 0 || n_ > batch.n)
      Error::fail({"Independent", here}, {n_, " dimensions of a batch of shape ", batch, " cannot be the event's"});
    this->batch_shape_ = detail::Shape(batch.d, batch.n - n_);
    this->event_shape_ = detail::joined(detail::Shape(batch.d + batch.n - n_, n_), base.event_shape());
  }

  const Base& base_dist() const { return base_; }
  auto mean(CallSite here = {}) const { return base_.mean(here); }
  auto variance(CallSite here = {}) const { return base_.variance(here); }
  auto sample(const detail::Shape& n = {}, CallSite here = {}) const { return base_.sample(n, here); }
  auto rsample(const detail::Shape& n = {}, CallSite here = {}) const { return base_.rsample(n, here); }
  template <class X>
  auto log_prob(const X& x, CallSite here = {}) const {
    const CallScope call({"Independent.log_prob", here});
    return detail::sum_rightmost(base_.log_prob(x), n_);
  }
  auto entropy(CallSite here = {}) const {
    const CallScope call({"Independent.entropy", here});
    return detail::sum_rightmost(base_.entropy(), n_);
  }

  /// That of the bases, summed. Error unless as many dimensions of both are the event's.
  friend auto kl_divergence(const Independent& p, const Independent& q, CallSite here = {}) {
    const CallScope call({"kl_divergence", here});
    if (p.n_ != q.n_)
      Error::fail("kl_divergence", {"the events have ", p.n_, " and ", q.n_, " dimensions of the batch"});
    return detail::sum_rightmost(kl_divergence(p.base_, q.base_), p.n_);
  }

 private:
  Base base_;
  int n_;
};

}}}  // namespace tern::distributions
