// The functions of communicator.hpp that are not templates.
#pragma once
#include "communicator.hpp"
#include "exchange.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed {

TERN_COLD Communicator::Communicator(std::shared_ptr<detail::Ranks> ranks)
    : ranks_(std::move(ranks)), background_(std::make_shared<detail::Background>()) {}

TERN_COLD Communicator Communicator::split(int color, int key, CallSite here) const {
  const CallScope scope({"split", here});
  if (color < 0) Error::fail("split", {"a colour must not be negative: ", color});
  std::shared_ptr<detail::Ranks> part = ranks().split(color, key);
  part->timeout = ranks_->timeout;
  return Communicator(std::move(part));
}

TERN_COLD void Communicator::set_timeout(double seconds, CallSite here) const {
  if (!(seconds > 0)) Error::fail({"set_timeout", here}, {"seconds must be positive, not ", seconds});
  ranks().timeout = seconds;
}

TERN_NOINLINE void Communicator::barrier(CallSite here) const {
  const CallScope scope({"barrier", here});
  detail::Ranks& all = ranks();
  const detail::Exchange listed(tern::detail::Work::wait, "barrier");
  all.barrier();
}

}}}  // namespace tern::distributed
