// The functions of ranks.hpp that are not templates.
#pragma once
#include <algorithm>
#include <cstring>

#include "../backend/cpu/loops/copy.hpp"
#include "exchange.hpp"
#include "ranks.hpp"
#include "reduction_of_ranks.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

TERN_COLD Ranks::Ranks(const Place& at, std::unique_ptr<Segment> segment, std::unique_ptr<Network> network)
    : place(at), segment_(std::move(segment)), network_(std::move(network)), calls_(std::size_t(at.size)) {}

TERN_COLD Ranks::~Ranks() {}

inline Array row(DType dtype, const void* x, Index n) {
  Array a{};
  a.data = const_cast<char*>(static_cast<const char*>(x));
  a.numel = n;
  a.ndim = 1;
  a.dtype = dtype;
  a.contiguous = true;
  a.dims[0] = n;
  a.strides[0] = 1;
  return a;
}
TERN_INLINE Array numbers(const Index* x, Index n) { return row(DType::int64, x, n); }
TERN_INLINE Array doubles(const double* x, Index n) { return row(DType::float64, x, n); }

/// Waits until all ranks make this call. What they wrote into their buffers before, others see now.
TERN_NOINLINE void Ranks::meet(const Call& call) {
  ++called_;
  if (network_) {
    network_->meet(call, calls_.data(), timeout);
    segment_->meet(call.name, timeout);
  } else {
    segment_->meet(call, calls_.data(), timeout);
  }
  check_same(calls_.data(), place.size);
}

TERN_NOINLINE void Ranks::barrier() { meet(Call("barrier", called_)); }

TERN_NOINLINE Index bytes_of(const std::vector<TensorFromRoot>& tensors) {
  Index bytes = 0;
  for (const TensorFromRoot& tensor : tensors) bytes += bytes_of(*tensor.x);
  return bytes;
}

inline void copy_bytes(char* to, const void* from, Index n) {
  if (n) std::memcpy(to, from, std::size_t(n));
}

/// The part of n elements that a rank of a machine reduces.
struct Share {
  Index begin, end;
  Share(Index n, int seat, int seats) {
    const Index each = ((n + seats - 1) / seats + 63) / 64 * 64;  // no two ranks write into one line of a cache
    begin = std::min(n, seat * each);
    end = std::min(n, begin + each);
  }
  Index size() const { return end - begin; }
};

/// out = the inputs of this machine's ranks joined with those of the other machines.
TERN_NOINLINE void Ranks::reduce_part(ReduceOp op, DType dtype, const void* const* in, void* out, Index n) {
  const int divisor = op == avg ? place.size : 1;
  if (!network_) return reduce_elements(op, dtype, out, dtype, in, place.local_size, n, divisor);
  const DType accumulator = sum_type(dtype);
  scratch_.resize(std::size_t(n * tern::detail::size_of(accumulator)));
  const void* const sums = scratch_.data();
  reduce_elements(op, accumulator, scratch_.data(), dtype, in, place.local_size, n);
  network_->reduce(scratch_.data(), n, accumulator, op);
  reduce_elements(op, dtype, out, accumulator, &sums, 1, n, divisor);
}

// In each of these, a rank fills its buffer with a part, meets the others, and takes from their buffers what is for it.
// The first meeting says what is called. The next part goes into the next buffer, because a slow rank may still read
// this one.

/// Bytes that stay in a core's first cache.
inline constexpr Index bytes_at_once = 4 << 10;

/// A rank offers the others its elements of their parts. It leaves the sums of its own part where the others' elements
/// lay, in lines of memory that its core already has. One meeting shows the sums of a part and the elements of the
/// next. A large result goes past the caches.
TERN_NOINLINE void Ranks::all_reduce(const Array& in, const Array& out, ReduceOp op) {
  const Call call("all_reduce", called_, in, op);
  const Index bytes = tern::detail::size_of(in.dtype), most = Segment::buffer_bytes / bytes;
  const int me = place.local_rank, seats = place.local_size;
  const bool streamed = seats > 1 && tern::detail::backend::cpu_kernels::can_stream_to(out);
  std::vector<const void*> inputs(std::size_t(place.local_size));
  const auto offer = [&](Index begin, std::uint64_t turn) {
    for (int seat = 0; seat < seats; ++seat) {
      const Share part(std::min(most, in.numel - begin), seat, seats);
      if (seat != me)
        copy_bytes(segment_->buffer(me, turn) + part.begin * bytes, in.data + (begin + part.begin) * bytes,
                   part.size() * bytes);
    }
  };
  const auto deliver = [&](Index begin, const char* from, Index n) {
    if (streamed) tern::detail::backend::cpu_kernels::stream_run(out.data + begin * bytes, from, n * bytes);
    else copy_bytes(out.data + begin * bytes, from, n * bytes);
  };
  offer(0, turn_);
  meet(call);
  Index begin = 0;
  do {
    const Index n = std::min(most, in.numel - begin);
    const Share mine(n, me, seats);
    const Index step = network_ ? n : bytes_at_once / bytes;  // a network is asked once
    for (Index i = mine.begin; i < mine.end; i += step) {
      const Index m = std::min(step, mine.end - i);
      const auto theirs = [&](int seat) { return segment_->buffer(seat, turn_) + i * bytes; };
      for (int seat = 0; seat < seats; ++seat)
        inputs[std::size_t(seat)] = seat == me ? in.data + (begin + i) * bytes : theirs(seat);
      char* const sums = streamed ? theirs(me == 0) : out.data + (begin + i) * bytes;
      reduce_part(op, in.dtype, inputs.data(), sums, m);
      for (int seat = 0; seat < seats; ++seat)
        if (seat != me && theirs(seat) != sums) copy_bytes(theirs(seat), sums, m * bytes);
      if (streamed) deliver(begin + i, sums, m);
    }
    if (begin + n < in.numel) offer(begin + n, turn_ + 1);
    segment_->meet(call.name, timeout);
    for (int seat = 0; seat < seats; ++seat) {
      const Share part(n, seat, seats);
      if (seat != me) deliver(begin + part.begin, segment_->buffer(me, turn_) + part.begin * bytes, part.size());
    }
    ++turn_;
    begin += n;
  } while (begin < in.numel);
  if (streamed) tern::detail::backend::cpu_kernels::end_stream();
}

/// How far apart the ranks' parts of shared memory are.
inline Index shared_stride(Index bytes) { return (bytes + 4095) / 4096 * 4096; }

/// The first rank of the machine creates the memory, and the others open it; then each says whether it has it.
TERN_COLD std::shared_ptr<char> Ranks::share(Index bytes) {
  struct Offer {
    char name[64];                                // for processes
    const std::shared_ptr<SharedMemory>* memory;  // for threads
    bool has_it;
  };
  if (network_ || place.size == 1 || bytes == 0) return nullptr;
  const auto offer_of = [&](int seat) { return reinterpret_cast<Offer*>(segment_->buffer(seat, turn_)); };
  const int me = place.local_rank;
  const std::size_t all = std::size_t(place.local_size) * std::size_t(shared_stride(bytes));
  std::shared_ptr<SharedMemory> memory;
  const std::string name = SharedMemory::new_name();
  Offer& mine = *offer_of(me);
  mine = {};
  const auto take = [&](bool first) {
    if ((me == 0) != first) return;
    try {
      if (!are_processes()) memory = first ? std::make_shared<SharedMemory>(all) : *offer_of(0)->memory;
      else memory = std::make_shared<SharedMemory>(first ? name : offer_of(0)->name, all, first);
      mine.has_it = memory != nullptr;
    } catch (const Error&) {}
  };
  take(true);
  name.copy(mine.name, sizeof mine.name - 1);
  mine.memory = &memory;
  meet(Call("share", called_, numbers(nullptr, bytes)));
  take(false);
  segment_->meet("share", timeout);
  if (me == 0 && memory && are_processes()) memory->unlink();
  for (int seat = 0; seat < place.local_size; ++seat)
    if (!offer_of(seat)->has_it) memory = nullptr;
  ++turn_;
  return memory ? std::shared_ptr<char>(memory, memory->data() + me * shared_stride(bytes)) : nullptr;
}

/// Each rank sums its part where the inputs lie, and writes the sums there too.
TERN_NOINLINE void Ranks::all_reduce_shared(const Array& x, ReduceOp op) {
  const Call call("all_reduce", called_, x, op);
  const int me = place.local_rank, seats = place.local_size;
  const Index bytes = tern::detail::size_of(x.dtype), stride = shared_stride(x.numel * bytes);
  const Share mine(x.numel, me, seats);
  std::vector<const void*> inputs(std::size_t(place.local_size));
  meet(call);
  for (Index begin = mine.begin; begin < mine.end; begin += bytes_at_once / bytes) {
    const Index n = std::min(bytes_at_once / bytes, mine.end - begin);
    char* const sums = x.data + begin * bytes;
    for (int seat = 0; seat < seats; ++seat) inputs[std::size_t(seat)] = sums + (seat - me) * stride;
    reduce_part(op, x.dtype, inputs.data(), sums, n);
    for (int seat = 0; seat < seats; ++seat)
      if (seat != me) copy_bytes(sums + (seat - me) * stride, sums, n * bytes);
  }
  segment_->meet(call.name, timeout);
}

TERN_NOINLINE void Ranks::broadcast(const Array& x, int root) {
  const Call call("broadcast", called_, x, sum, root);
  const Index bytes = x.numel * tern::detail::size_of(x.dtype);
  if (network_) {
    meet(call);
    return network_->broadcast(x.data, bytes, root);
  }
  Index begin = 0;
  do {
    const Index n = std::min(Segment::buffer_bytes, bytes - begin);
    if (place.rank == root) copy_bytes(segment_->buffer(root, turn_), x.data + begin, n);
    if (begin == 0) meet(call);
    else segment_->meet(call.name, timeout);
    if (place.rank != root) copy_bytes(x.data + begin, segment_->buffer(root, turn_), n);
    ++turn_;
    begin += n;
  } while (begin < bytes);
}

/// Copies n bytes of a root's tensors, as they lie behind each other, from byte `begin` on: into the block on the root,
/// out of it elsewhere.
TERN_NOINLINE void Ranks::carry(const std::vector<TensorFromRoot>& tensors, int root, Index begin, Index n,
                                char* block) {
  Index start = 0;
  for (const TensorFromRoot& tensor : tensors) {
    if (tensor.root != root) continue;
    const Index end = start + bytes_of(*tensor.x), from = std::max(begin, start), to = std::min(begin + n, end);
    if (from < to) {
      char *const elements = tensor.x->data + (from - start), *const in_block = block + (from - begin);
      if (root == place.rank) std::memcpy(in_block, elements, std::size_t(to - from));
      else std::memcpy(elements, in_block, std::size_t(to - from));
    }
    start = end;
  }
}

TERN_NOINLINE void Ranks::broadcast_together(const std::vector<TensorFromRoot>& tensors) {
  if (tensors.empty()) return;
  std::vector<Index> bytes(std::size_t(place.size));
  for (const TensorFromRoot& tensor : tensors) bytes[std::size_t(tensor.root)] += bytes_of(*tensor.x);
  const Index most = *std::max_element(bytes.begin(), bytes.end());
  const Call call("broadcasts", called_, numbers(nullptr, most));
  if (network_) {
    meet(call);
    for (int root = 0; root < place.size; ++root) {
      for (Index n, begin = 0; begin < bytes[std::size_t(root)]; begin += n) {
        n = std::min(Segment::buffer_bytes, bytes[std::size_t(root)] - begin);
        scratch_.resize(std::size_t(n));
        if (root == place.rank) carry(tensors, root, begin, n, scratch_.data());
        network_->broadcast(scratch_.data(), n, root);
        if (root != place.rank) carry(tensors, root, begin, n, scratch_.data());
      }
    }
    return;
  }
  Index begin = 0;
  do {
    const Index n = std::min(Segment::buffer_bytes, most - begin);
    carry(tensors, place.rank, begin, n, segment_->buffer(place.rank, turn_));
    if (begin == 0) meet(call);
    else segment_->meet(call.name, timeout);
    for (int root = 0; root < place.size; ++root)
      if (root != place.rank) carry(tensors, root, begin, n, segment_->buffer(root, turn_));
    ++turn_;
    begin += n;
  } while (begin < most);
}

TERN_NOINLINE void Ranks::all_gather(const Array& in, const Array& out) {
  const Call call("all_gather", called_, in);
  const Index bytes = in.numel * tern::detail::size_of(in.dtype);
  Index begin = 0;
  do {
    const Index n = std::min(Segment::buffer_bytes, bytes - begin);
    if (network_) {
      if (begin == 0) meet(call);
      scratch_.resize(std::size_t(place.size * n));
      network_->all_gather(in.data + begin, scratch_.data(), n);
    } else {
      copy_bytes(segment_->buffer(place.rank, turn_), in.data + begin, n);
      if (begin == 0) meet(call);
      else segment_->meet(call.name, timeout);
    }
    for (int rank = 0; rank < place.size; ++rank)
      copy_bytes(out.data + rank * bytes + begin, network_ ? scratch_.data() + rank * n : segment_->buffer(rank, turn_),
                 n);
    ++turn_;
    begin += n;
  } while (begin < bytes);
}

/// Block k of `in` goes to rank k. take(begin, n, blocks) gets n bytes of those for this rank, from the block's byte
/// `begin` on.
template <class Take>
[[gnu::noinline]] void Ranks::exchange(const Call& call, const Array& in, const Take& take) {
  const Index bytes = in.numel * tern::detail::size_of(in.dtype) / place.size;
  const Index most = std::max<Index>(64, Segment::buffer_bytes / place.size / 64 * 64);
  std::vector<const void*> blocks(std::size_t(place.size));
  Index begin = 0;
  do {
    const Index n = std::min(most, bytes - begin);
    if (network_) scratch_.resize(std::size_t(2 * place.size * n));
    char* const mine = network_ ? scratch_.data() : segment_->buffer(place.rank, turn_);
    for (int rank = 0; rank < place.size; ++rank) copy_bytes(mine + rank * n, in.data + rank * bytes + begin, n);
    if (begin == 0) meet(call);
    else if (!network_) segment_->meet(call.name, timeout);
    if (network_) network_->all_to_all(mine, mine + place.size * n, n);
    for (int rank = 0; rank < place.size; ++rank)
      blocks[std::size_t(rank)] =
          network_ ? mine + (place.size + rank) * n : segment_->buffer(rank, turn_) + place.rank * n;
    take(begin, n, blocks.data());
    ++turn_;
    begin += n;
  } while (begin < bytes);
}

TERN_NOINLINE void Ranks::reduce_scatter(const Array& in, const Array& out, ReduceOp op) {
  exchange(Call("reduce_scatter", called_, in, op), in, [&](Index begin, Index n, const void* const* blocks) {
    reduce_elements(op, in.dtype, out.data + begin, in.dtype, blocks, place.size, n / tern::detail::size_of(in.dtype),
                    op == avg ? place.size : 1);
  });
}

TERN_NOINLINE void Ranks::all_to_all(const Array& in, const Array& out) {
  const Index bytes = in.numel * tern::detail::size_of(in.dtype) / place.size;
  exchange(Call("all_to_all", called_, in), in, [&](Index begin, Index n, const void* const* blocks) {
    for (int rank = 0; rank < place.size; ++rank) copy_bytes(out.data + rank * bytes + begin, blocks[rank], n);
  });
}

/// Two ranks meet alone, so the number of their other collectives does not matter.
TERN_NOINLINE void Ranks::send(const Array& x, int to) {
  const Call call("send", Call::alone, x);
  const Index bytes = x.numel * tern::detail::size_of(x.dtype);
  if (network_) network_->send(call, to, x.data, bytes, timeout);
  else segment_->send(call, to, x.data, bytes, timeout);
}

TERN_NOINLINE void Ranks::receive(const Array& x, int from) {
  const Call call("send", Call::alone, x);
  const Index bytes = x.numel * tern::detail::size_of(x.dtype);
  if (network_) network_->receive(call, from, x.data, bytes, timeout);
  else segment_->receive(call, from, x.data, bytes, timeout);
}

TERN_NOINLINE void Ranks::agree(const char* name, const Array& x, ReduceOp op, int root) {
  meet(Call(name, called_, x, op, root));
}

TERN_NOINLINE void Ranks::agree_to_send(const Array& x, int to) {
  const Call call("cuda send", Call::alone, x);
  if (network_) network_->send(call, to, nullptr, 0, timeout);
  else segment_->send(call, to, nullptr, 0, timeout);
}

TERN_NOINLINE void Ranks::agree_to_receive(const Array& x, int from) {
  const Call call("cuda send", Call::alone, x);
  if (network_) network_->receive(call, from, nullptr, 0, timeout);
  else segment_->receive(call, from, nullptr, 0, timeout);
}

}}}  // namespace tern::distributed::detail
