// The ranks that compute together, as one of them sees them. Tensors in host memory go from rank to rank here: through
// shared memory within a machine, over the network between machines.
#pragma once
#include <memory>
#include <vector>

#include "segment.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

/// What connects machines. All ranks call each of these alike.
class Network {
 public:
  virtual ~Network() {}
  /// Waits until all ranks are here, within so many seconds, and gives their calls.
  virtual void meet(const Call& mine, Call* all, double timeout) = 0;
  /// Joins elements with those of the ranks that have the same place on their machines.
  virtual void reduce(void* x, Index n, DType dtype, ReduceOp op) = 0;
  /// A block of each rank, in the order of their ranks. Blocks are at most Segment::buffer_bytes long.
  virtual void all_gather(const void* mine, void* all, Index bytes) = 0;
  /// Block k of `mine` goes to rank k; block k of `all` comes from rank k.
  virtual void all_to_all(const void* mine, void* all, Index bytes) = 0;
  virtual void broadcast(void* x, Index bytes, int root) = 0;
  virtual void send(const Call& call, int to, const void* data, Index bytes, double timeout) = 0;
  virtual void receive(const Call& call, int from, void* data, Index bytes, double timeout) = 0;
};

struct Place {
  int rank, size, local_rank, local_size;
};

/// n numbers as what a collective takes. It does not change what `in` of one points to.
TERN_API Array numbers(const Index* x, Index n);
TERN_API Array doubles(const double* x, Index n);

/// A tensor, and the rank whose elements the others get.
struct TensorFromRoot {
  const Array* x;
  int root;
};

TERN_API Index bytes_of(const std::vector<TensorFromRoot>& tensors);

class CudaRanks;

class TERN_API Ranks {
 public:
  /// Without a network, all ranks share the segment.
  Ranks(const Place& place, std::unique_ptr<Segment> segment, std::unique_ptr<Network> network);
  virtual ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  /// The ranks with the same colour, ordered by key, then by rank. Null where the colour is negative.
  virtual std::shared_ptr<Ranks> split(int color, int key) = 0;
  /// False for threads of one process.
  virtual bool are_processes() const = 0;

  // The collectives, on dense tensors in host memory. `in` and `out` may be the same where both have one shape.
  void barrier();
  void all_reduce(const Array& in, const Array& out, ReduceOp op);
  void broadcast(const Array& x, int root);
  /// Several tensors from their roots. The ranks have agreed on shapes, types and roots before.
  void broadcast_together(const std::vector<TensorFromRoot>& tensors);
  void all_gather(const Array& in, const Array& out);
  void reduce_scatter(const Array& in, const Array& out, ReduceOp op);
  void all_to_all(const Array& in, const Array& out);
  void send(const Array& x, int to);
  void receive(const Array& x, int from);

  /// Memory of so many bytes, zeroed, of which the others of this machine have as much each. Null on all ranks where
  /// one of them cannot have it, or where a network is between them.
  std::shared_ptr<char> share(Index bytes);
  /// all_reduce of elements that fill memory from share(), in place.
  void all_reduce_shared(const Array& x, ReduceOp op);

  // For tensors that go from rank to rank in another way. Error on all ranks unless they make the same call.
  void agree(const char* name, const Array& x, ReduceOp op = sum, int root = -1);
  void agree_to_send(const Array& x, int to);
  void agree_to_receive(const Array& x, int from);

  // Ranks of this machine whose devices may wait for each other's, as the segment knows it.
  void fail_devices() { segment_->fail_devices(); }
  std::string lost_devices() const { return segment_->lost_devices(); }

  /// What carries tensors of Cuda; null until it is used. It ends before this rank leaves.
  std::shared_ptr<CudaRanks>& cuda() { return cuda_; }

  const Place place;
  double timeout = 1800;  // seconds that a rank waits for another

 private:
  void meet(const Call& call);
  void reduce_part(ReduceOp op, DType dtype, const void* const* in, void* out, Index n);
  void carry(const std::vector<TensorFromRoot>& tensors, int root, Index begin, Index n, char* block);
  template <class Take>
  void exchange(const Call& call, const Array& in, const Take& take);

  std::unique_ptr<Segment> segment_;
  std::unique_ptr<Network> network_;
  std::vector<Call> calls_;
  std::vector<char> scratch_;
  Index called_ = 0;
  std::uint64_t turn_ = 0;
  std::shared_ptr<CudaRanks> cuda_;
};

}}}  // namespace tern::distributed::detail

#ifndef TERN_COMPILED
#include "ranks.ipp"
#endif
