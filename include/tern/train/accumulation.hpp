// Gradient accumulation: several batches for one step of the optimiser.
#pragma once
#include "../core/error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

/// The groups of batches whose gradients are added for one step: `accumulate` batches each, in the epoch's last group
/// what is left. The sum over a group of share() times a batch's mean loss is the mean over all samples of the group.
/// So its gradient is that of the group as one batch, also where the last group or the last batch is smaller:
///
///   const train::Accumulation groups(4, batch_size, samples);
///   if (groups.begins(i)) optimizer.zero_grad();
///   (loss * groups.share(i)).backward();  // loss: the mean over the samples of batch i
///   if (groups.ends(i)) optimizer.step();
class TERN_API Accumulation {
 public:
  /// Of an epoch with so many samples, in batches of batch_size of which the last may be smaller. Error if accumulate
  /// or batch_size is less than 1, or samples negative.
  Accumulation(Index accumulate, Index batch_size, Index samples, CallSite here = {});

  /// The number of groups, which is the number of steps.
  Index size() const { return batches_ / accumulate_ + (batches_ % accumulate_ != 0); }
  Index batches() const { return batches_; }
  bool begins(Index batch) const { return batch % accumulate_ == 0; }
  bool ends(Index batch) const { return begins(batch + 1) || batch + 1 == batches_; }

  /// The batch's part of its group's samples. Error if there is no such batch.
  double share(Index batch) const;

  /// Error if a training cannot go on with this batch, because the batches before it in its group are missing.
  void check_resumes(Index batch) const;

 private:
  /// The samples of batches [first, last), of which the last ones may be beyond the end.
  Index samples_of(Index first, Index last) const;

  Index accumulate_, batch_size_, samples_, batches_;
};

}}}  // namespace tern::train

#ifndef TERN_COMPILED
#include "accumulation.ipp"
#endif
