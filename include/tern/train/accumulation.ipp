// The functions of accumulation.hpp that are not templates.
#pragma once
#include <algorithm>

#include "accumulation.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

TERN_COLD Accumulation::Accumulation(Index accumulate, Index batch_size, Index samples, CallSite here)
    : accumulate_(accumulate), batch_size_(batch_size), samples_(samples) {
  const CallScope scope(here);
  if (accumulate < 1) Error::fail("Accumulation", {"accumulate must be at least 1, not ", accumulate});
  if (batch_size < 1) Error::fail("Accumulation", {"batch_size must be at least 1, not ", batch_size});
  if (samples < 0) Error::fail("Accumulation", {"samples must not be negative: ", samples});
  batches_ = samples / batch_size + (samples % batch_size != 0);
  accumulate_ = std::min(accumulate, std::max<Index>(1, batches_));  // so that no product below overflows
}

TERN_NOINLINE Index Accumulation::samples_of(Index first, Index last) const {
  return last < batches_ ? (last - first) * batch_size_ : samples_ - first * batch_size_;
}

TERN_NOINLINE double Accumulation::share(Index batch) const {
  if (batch < 0 || batch >= batches_)
    Error::fail("Accumulation", {"there is no batch ", batch, " in an epoch of ", batches_});
  const Index first = batch - batch % accumulate_;
  return double(samples_of(batch, batch + 1)) / double(samples_of(first, first + accumulate_));
}

TERN_COLD void Accumulation::check_resumes(Index batch) const {
  if (batch < batches_ && !begins(batch))
    Error::fail(
        "Accumulation",
        {"batch ", batch, " is within a group of ", accumulate_,
         " batches: a training goes on where a group begins, with the numbers that its checkpoint was made with"});
}

}}}  // namespace tern::train
