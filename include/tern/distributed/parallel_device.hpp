// What data-parallel training needs of a device: how its tensors go from rank to rank during the backward pass.
#pragma once
#include <memory>
#include <vector>

#include "../tensor/any_tensor.hpp"
#include "communicator.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

/// All tensors are on devices of one kind. Those that go to other ranks are dense.
class ParallelDevice {
 public:
  virtual ~ParallelDevice() {}

  /// Rank 0's elements, on every rank. Error unless all ranks have one shape and type.
  virtual void broadcast(const Array& x) = 0;
  /// Several tensors from their roots, on every rank. All ranks have the same shapes, types and orders of elements,
  /// which is known.
  virtual void broadcast_together(const std::vector<TensorFromRoot>& tensors) = 0;

  /// A tensor of n elements, all 0, on the device of that number.
  virtual AnyTensor zeros(DType dtype, Index n, int ordinal) = 0;
  /// n elements, from `begin` on, in another's shape.
  virtual AnyTensor part(const AnyTensor& x, Index begin, const Array& shape) = 0;
  virtual void copy(const Array& to, const Array& from) = 0;
  virtual void clear(const Array& x) = 0;

  /// Begins a pass of all ranks, which have `flags`, a tensor in host memory.
  virtual void begin(const Array& flags) = 0;
  /// Begins to average the elements over the ranks, once what is started so far has computed them.
  virtual void average(const AnyTensor& x) = 0;
  /// Ends the pass: each flag becomes the greatest of all ranks, and work that is started later sees the averages.
  /// Errors have the caller's line.
  virtual void end(const AnyTensor& flags) = 0;
  /// Waits for averages that a pass which failed has left.
  virtual void settle() = 0;
};

/// For networks in host memory: by a thread in the background.
TERN_API std::unique_ptr<ParallelDevice> host_parallel(const Communicator& communicator);
/// For networks on Cuda: by NCCL, on another stream than the backward pass's.
TERN_API std::unique_ptr<ParallelDevice> cuda_parallel(const Communicator& communicator);

template <Device D>
std::unique_ptr<ParallelDevice> parallel_device(const Communicator& communicator) {
  if constexpr (HostDevice<D>) return host_parallel(communicator);
  else return cuda_parallel(communicator);
}

}}}  // namespace tern::distributed::detail

#ifndef TERN_COMPILED
#include "parallel_device.ipp"
#endif
