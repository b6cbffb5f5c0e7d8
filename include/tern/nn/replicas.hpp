// The copies of a network on several ranks, as a training loop sees them. distributed::DistributedDataParallel has
// them.
#pragma once
#include "../core/error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

/// All ranks call its functions alike.
class Replicas {
 public:
  virtual ~Replicas() {}
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Whether the passes from here on leave the mean of all ranks' gradients, or add up this rank's.
  virtual void set_synchronized(bool on) = 0;
  /// Each of n numbers becomes its sum over the ranks.
  virtual void sum(double* x, Index n) = 0;
};

}}}  // namespace tern::nn
