// The ranks as NCCL connects their devices: tensors of Cuda go from rank to rank here.
#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "../backend/cuda/kernels.hpp"
#include "../device/cuda/nccl.hpp"
#include "../device/cuda/stream.hpp"
#include "../device/cuda/traits.hpp"
#include "../device/cuda/watch.hpp"
#include "communicator.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

/// The collectives of Ranks for dense tensors of one Cuda device a rank. They are work of its current stream: the host
/// waits for the other ranks' hosts, which tell what they call, and not for the devices. NCCL's communicators are made
/// at first use: one of all ranks for each device, and one for each two ranks that send.
///
/// A host that waits for its device sees there whether another rank has failed after all have begun.
class TERN_API CudaRanks {
 public:
  explicit CudaRanks(Ranks& ranks) : ranks_(ranks) {}

  void all_reduce(const Array& in, const Array& out, ReduceOp op);
  /// The mean over the ranks, in place. The ranks have agreed on it before.
  void average_agreed(const Array& x);
  void broadcast(const Array& x, int root);
  void broadcast_together(const std::vector<TensorFromRoot>& tensors);
  void all_gather(const Array& in, const Array& out);
  void reduce_scatter(const Array& in, const Array& out, ReduceOp op);
  void all_to_all(const Array& in, const Array& out);
  void send(const Array& x, int to);
  void receive(const Array& x, int from);

  /// The communicator's own stream of a device, for work that overlaps with the program's. Error during a capture.
  const cuda::Stream& communication_stream(Cuda device);

 private:
  struct Connection {
    int ordinal, peer;  // peer: -1 of all ranks
    std::unique_ptr<cuda::detail::NcclEnd> end;
  };

  void check(int ordinal);
  cuda::detail::NcclEnd& connected(const Array& x, int peer = -1);
  void run_broadcast(const Array& x, int root, cuda::detail::NcclEnd& end);
  void run_all_reduce(const Array& in, const Array& out, ReduceOp op, cuda::detail::NcclEnd& end);
  template <class Start>
  void run(const char* function, const Array& x, cuda::detail::NcclEnd& end, const Start& start);
  template <class Start>
  void begin(const char* function, cuda::detail::NcclEnd& end, const Start& start);

  Ranks& ranks_;
  std::vector<Connection> connections_;
  std::mutex mutex_;                  // of the ends: one thread calls collectives, another may wait for the device
  std::deque<cuda::Stream> streams_;  // one of each device
  cuda::detail::Watch watch_{[this](int ordinal) { check(ordinal); }};  // ends before the connections do
};

/// Those of a communicator, once nothing runs in the background.
TERN_API CudaRanks& cuda_ranks(const Communicator& communicator);
TERN_API CudaRanks& cuda_ranks(Ranks& ranks);

}}}  // namespace tern::distributed::detail

#ifndef TERN_COMPILED
#include "cuda_ranks.ipp"
#endif
