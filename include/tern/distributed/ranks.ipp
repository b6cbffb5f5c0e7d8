// The functions of ranks.hpp that are not templates.
#pragma once
#include <algorithm>
#include <cstring>

#include "ranks.hpp"
#include "reduction_of_ranks.hpp"

namespace tern::inline TERN_BUILD::distributed::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE Ranks::Ranks(const Place& at, std::unique_ptr<Segment> segment, std::unique_ptr<Network> network)
    : place(at), segment_(std::move(segment)), network_(std::move(network)), calls_(std::size_t(at.size)) {}

[[gnu::cold]] TERN_INLINE Ranks::~Ranks() {}

TERN_INLINE Array numbers(const Index* x, Index n) {
  Array a{};
  a.data = const_cast<char*>(reinterpret_cast<const char*>(x));
  a.numel = n;
  a.ndim = 1;
  a.dtype = DType::int64;
  a.contiguous = true;
  a.dims[0] = n;
  a.strides[0] = 1;
  return a;
}

/// Waits until all ranks make this call. What they wrote into their buffers before, others see now.
[[gnu::noinline]] TERN_INLINE void Ranks::meet(const Call& call) {
  ++called_;
  if (network_) {
    network_->meet(call, calls_.data(), timeout);
    segment_->meet(call.name, timeout);
  } else {
    segment_->meet(call, calls_.data(), timeout);
  }
  check_same(calls_.data(), place.size);
}

[[gnu::noinline]] TERN_INLINE void Ranks::barrier() { meet(Call("barrier", called_)); }

inline void copy_bytes(char* to, const void* from, Index n) {
  if (n) std::memcpy(to, from, std::size_t(n));
}

/// The part of n elements that a rank of a machine reduces.
struct Part {
  Index begin, end;
  Part(Index n, int seat, int seats) {
    const Index each = ((n + seats - 1) / seats + 63) / 64 * 64;  // no two ranks write into one line of a cache
    begin = std::min(n, seat * each);
    end = std::min(n, begin + each);
  }
  Index size() const { return end - begin; }
};

/// out = the inputs of this machine's ranks joined with those of the other machines.
[[gnu::noinline]] TERN_INLINE void Ranks::reduce_part(ReduceOp op, DType dtype, const void* const* in, void* out, Index n) {
  const int divisor = op == avg ? place.size : 1;
  if (!network_) return reduce_elements(op, dtype, out, dtype, in, place.local_size, n, divisor);
  const DType wide = sum_type(dtype);
  scratch_.resize(std::size_t(n * size_of(wide)));
  const void* const sums = scratch_.data();
  reduce_elements(op, wide, scratch_.data(), dtype, in, place.local_size, n);
  network_->reduce(scratch_.data(), n, wide, op);
  reduce_elements(op, dtype, out, wide, &sums, 1, n, divisor);
}

// In each of these, a rank fills its buffer with a part, meets the others, and takes from their buffers what is for it. The first meeting
// says what is called. The next part goes into the other buffer, because a slow rank may still read this one.

[[gnu::noinline]] TERN_INLINE void Ranks::all_reduce(const Array& in, const Array& out, ReduceOp op) {
  const Call call("all_reduce", called_, in, op);
  const Index bytes = size_of(in.dtype), most = Segment::buffer_bytes / bytes;
  std::vector<const void*> inputs(std::size_t(place.local_size));
  Index begin = 0;
  do {
    const Index n = std::min(most, in.numel - begin);
    const Part mine(n, place.local_rank, place.local_size);
    copy_bytes(segment_->buffer(place.local_rank, turn_), in.data + begin * bytes, n * bytes);
    if (begin == 0) meet(call);
    else segment_->meet(call.name, timeout);
    for (int seat = 0; seat < place.local_size; ++seat) inputs[std::size_t(seat)] = segment_->buffer(seat, turn_) + mine.begin * bytes;
    reduce_part(op, in.dtype, inputs.data(), segment_->buffer(place.local_rank, turn_) + mine.begin * bytes, mine.size());
    segment_->meet(call.name, timeout);
    for (int seat = 0; seat < place.local_size; ++seat) {
      const Part part(n, seat, place.local_size);
      copy_bytes(out.data + (begin + part.begin) * bytes, segment_->buffer(seat, turn_) + part.begin * bytes, part.size() * bytes);
    }
    ++turn_;
    begin += n;
  } while (begin < in.numel);
}

[[gnu::noinline]] TERN_INLINE void Ranks::broadcast(const Array& x, int root) {
  const Call call("broadcast", called_, x, sum, root);
  const Index bytes = x.numel * size_of(x.dtype);
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

[[gnu::noinline]] TERN_INLINE void Ranks::all_gather(const Array& in, const Array& out) {
  const Call call("all_gather", called_, in);
  const Index bytes = in.numel * size_of(in.dtype);
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
      copy_bytes(out.data + rank * bytes + begin, network_ ? scratch_.data() + rank * n : segment_->buffer(rank, turn_), n);
    ++turn_;
    begin += n;
  } while (begin < bytes);
}

/// Block k of `in` goes to rank k. take(begin, n, blocks) gets n bytes of those for this rank, from the block's byte `begin` on.
template <class Take>
[[gnu::noinline]] void Ranks::exchange(const Call& call, const Array& in, const Take& take) {
  const Index bytes = in.numel * size_of(in.dtype) / place.size;
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
      blocks[std::size_t(rank)] = network_ ? mine + (place.size + rank) * n : segment_->buffer(rank, turn_) + place.rank * n;
    take(begin, n, blocks.data());
    ++turn_;
    begin += n;
  } while (begin < bytes);
}

[[gnu::noinline]] TERN_INLINE void Ranks::reduce_scatter(const Array& in, const Array& out, ReduceOp op) {
  exchange(Call("reduce_scatter", called_, in, op), in, [&](Index begin, Index n, const void* const* blocks) {
    reduce_elements(op, in.dtype, out.data + begin, in.dtype, blocks, place.size, n / size_of(in.dtype), op == avg ? place.size : 1);
  });
}

[[gnu::noinline]] TERN_INLINE void Ranks::all_to_all(const Array& in, const Array& out) {
  const Index bytes = in.numel * size_of(in.dtype) / place.size;
  exchange(Call("all_to_all", called_, in), in, [&](Index begin, Index n, const void* const* blocks) {
    for (int rank = 0; rank < place.size; ++rank) copy_bytes(out.data + rank * bytes + begin, blocks[rank], n);
  });
}

/// Two ranks meet alone, so the number of their other collectives does not matter.
[[gnu::noinline]] TERN_INLINE void Ranks::send(const Array& x, int to) {
  const Call call("send", 0, x);
  const Index bytes = x.numel * size_of(x.dtype);
  if (network_) network_->send(call, to, x.data, bytes, timeout);
  else segment_->send(call, to, x.data, bytes, timeout);
}

[[gnu::noinline]] TERN_INLINE void Ranks::receive(const Array& x, int from) {
  const Call call("send", 0, x);
  const Index bytes = x.numel * size_of(x.dtype);
  if (network_) network_->receive(call, from, x.data, bytes, timeout);
  else segment_->receive(call, from, x.data, bytes, timeout);
}

[[gnu::noinline]] TERN_INLINE void Ranks::agree(const char* name, const Array& x, ReduceOp op, int root) { meet(Call(name, called_, x, op, root)); }

[[gnu::noinline]] TERN_INLINE void Ranks::agree_to_send(const Array& x, int to) {
  const Call call("cuda send", 0, x);
  if (network_) network_->send(call, to, nullptr, 0, timeout);
  else segment_->send(call, to, nullptr, 0, timeout);
}

[[gnu::noinline]] TERN_INLINE void Ranks::agree_to_receive(const Array& x, int from) {
  const Call call("cuda send", 0, x);
  if (network_) network_->receive(call, from, nullptr, 0, timeout);
  else segment_->receive(call, from, nullptr, 0, timeout);
}

}  // namespace tern::distributed::detail
