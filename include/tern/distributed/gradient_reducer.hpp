// Gradients that are averaged over the ranks while the rest of the backward pass computes.
#pragma once
#include <memory>
#include <vector>

#include "../autograd/grad_listener.hpp"
#include "parallel_device.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

/// Gives the leaves' gradients memory in buckets. A bucket is averaged during the pass once the gradients in it are
/// complete, after the buckets before it. When the pass has completed the last gradient, it waits for all buckets. A
/// leaf that this rank's pass does not reach counts as 0, and one that no rank's pass reaches keeps its gradient (Li et
/// al.: "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", 2020).
class TERN_API GradientReducer final : public GradListener {
 public:
  GradientReducer(std::vector<AnyTensor> leaves, const Communicator& communicator, ParallelDevice& device,
                  Index bucket_bytes, Index first_bucket_bytes);

  TERN_KEY void on_start(const std::vector<std::size_t>& unused) override;
  void on_ready(std::size_t leaf) override;

  /// With off, passes only accumulate. The next one with it averages what has come together.
  void set_active(bool on) { active_ = on; }

 private:
  /// Leaves whose gradients lie behind each other in memory.
  struct Bucket {
    AnyTensor memory;
    std::vector<std::size_t> leaves;
    std::size_t missing = 0;  // gradients that are not complete yet
  };

  void assign(const std::vector<Index>& order);
  void complete(std::size_t leaf);

  Communicator communicator_;
  ParallelDevice& device_;
  Index bucket_bytes_, first_bucket_bytes_;
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> bucket_of_;  // each leaf's
  std::vector<AnyTensor> memory_;       // each leaf's, in its bucket
  std::vector<Index> order_;            // in which the leaves of the first pass were complete
  AnyTensor reached_;                   // 1 for each leaf that has a gradient
  std::size_t launched_ = 0, missing_ = 0;
  bool active_ = true, averaging_ = false;
  enum class Order { guessed, seen, followed } known_ = Order::guessed;
};

}}}  // namespace tern::distributed::detail

#ifndef TERN_COMPILED
#include "gradient_reducer.ipp"
#endif
