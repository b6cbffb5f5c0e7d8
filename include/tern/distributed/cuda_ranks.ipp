// The functions of cuda_ranks.hpp that are not templates.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "../device/cuda/copy.hpp"
#include "cuda_ranks.hpp"
#include "exchange.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

constexpr cuda::NcclType nccl_type(DType dtype) {
  switch (dtype) {
    case DType::float32: return cuda::nccl_float32;
    case DType::float64: return cuda::nccl_float64;
    case DType::bfloat16: return cuda::nccl_bfloat16;
    case DType::float16: return cuda::nccl_float16;
    case DType::int64: return cuda::nccl_int64;
    case DType::int32: return cuda::nccl_int32;
    default: return cuda::nccl_uint8;
  }
}

/// Of bool, whose bytes are 0 and 1, "or" is the maximum and "and" the minimum.
constexpr cuda::NcclOp nccl_op(ReduceOp op, DType dtype) {
  const bool logical = dtype == DType::bool_;
  switch (op) {
    case ReduceOp::sum: return logical ? cuda::nccl_max : cuda::nccl_sum;
    case ReduceOp::avg: return cuda::nccl_avg;
    case ReduceOp::min: return cuda::nccl_min;
    case ReduceOp::max: return cuda::nccl_max;
    default: return logical ? cuda::nccl_min : cuda::nccl_product;
  }
}

TERN_COLD CudaRanks& cuda_ranks(const Communicator& communicator) { return cuda_ranks(communicator.ranks()); }

TERN_COLD CudaRanks& cuda_ranks(Ranks& ranks) {
  if (!ranks.cuda()) ranks.cuda() = std::make_shared<CudaRanks>(ranks);
  return *ranks.cuda();
}

inline void refuse_graph() { cuda::detail::refuse_capture("Communicator", "ranks do not replay a graph together"); }

TERN_NOINLINE const cuda::Stream& CudaRanks::communication_stream(Cuda device) {
  refuse_graph();
  for (const cuda::Stream& stream : streams_)
    if (stream.device().ordinal == device.ordinal) return stream;
  return streams_.emplace_back(device);
}

/// What ranks tell each other before NCCL connects them. Host collectives carry it as numbers.
struct Greeting {
  cuda::NcclId id;  // the first rank's is used
  Index process, devices, ordinal;

  Greeting() {}
  explicit Greeting(int own)
      : id{}, process(getpid()), devices(reinterpret_cast<Index>(&cuda::detail::system())), ordinal(own) {}
  bool is_of_process(const Greeting& other) const { return process == other.process && devices == other.devices; }
};

inline Array as_numbers(const Greeting* greetings, std::size_t n) {
  return numbers(reinterpret_cast<const Index*>(greetings), Index(n * sizeof(Greeting) / sizeof(Index)));
}

/// This rank's end of the communicator for the tensor's device. Where ranks use one for the first time and others do
/// not, they find that their calls differ.
TERN_NOINLINE cuda::detail::NcclEnd& CudaRanks::connected(const Array& x, int peer) {
  refuse_graph();
  for (const Connection& known : connections_)
    if (known.ordinal == x.ordinal && known.peer == peer) return *known.end;
  cuda::nccl();
  cuda::detail::bind(x.ordinal);
  const int me = ranks_.place.rank;
  const int rank = peer < 0 ? me : me > peer;
  std::vector<Greeting> all(peer < 0 ? std::size_t(ranks_.place.size) : 2);
  Greeting mine(x.ordinal);
  if (rank == 0) mine.id = cuda::detail::new_nccl_id();
  if (peer < 0) {
    ranks_.all_gather(as_numbers(&mine, 1), as_numbers(all.data(), all.size()));
  } else {
    all[std::size_t(rank)] = mine;
    const Array theirs = as_numbers(&all[std::size_t(1 - rank)], 1);
    if (rank == 0) ranks_.send(as_numbers(&mine, 1), peer);
    ranks_.receive(theirs, peer);
    if (rank == 1) ranks_.send(as_numbers(&mine, 1), peer);
  }
  // Devices of one process reach each other's tensors directly. NCCL lets them, but not into the driver's pool.
  for (const Greeting& other : all)
    if (mine.is_of_process(other) && other.ordinal != mine.ordinal)
      cuda::detail::let_reach(int(other.ordinal), x.ordinal);
  auto end = std::make_unique<cuda::detail::NcclEnd>(all[0].id, int(all.size()), rank);
  const std::lock_guard lock(mutex_);
  connections_.push_back({x.ordinal, peer, std::move(end)});
  return *connections_.back().end;
}

/// Of a thread that waits for the device. While another one is in NCCL, it comes again.
TERN_NOINLINE void CudaRanks::check(int ordinal) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  const char* lost = nullptr;
  bool waits = false;
  for (const Connection& known : connections_) {
    if (known.ordinal != ordinal || known.end->has_failed()) continue;
    waits = true;
    if (!lost) lost = known.end->lost();
  }
  if (!waits) return;
  std::string problem = ranks_.lost_devices();
  if (problem.empty() && lost) problem = tern::detail::text({"the device waits for a rank that NCCL has lost: ", lost});
  if (problem.empty()) return;
  for (const Connection& known : connections_)
    if (known.ordinal == ordinal) known.end->abort();
  Error::fail("cuda", {problem});
}

/// NCCL's arguments other than the elements.
struct NcclCall {
  const cuda::NcclFunctions& nccl;
  cuda::NcclType type;
  cuda::NcclComm comm;
  cuda::StreamHandle stream;
};

/// A collective of x, in the current stream of its device, on the ledger.
inline cuda::detail::Span listed(const char* name, const Array& x, Index bytes) {
  return {tern::detail::Work::collective, name, x.ordinal, cuda::detail::bind(x.ordinal).compute, std::size_t(bytes)};
}
inline cuda::detail::Span listed(const char* name, const Array& x) { return listed(name, x, bytes_of(x)); }

/// Gives NCCL a call, whose status start() returns.
template <class Start>
void CudaRanks::begin(const char* function, cuda::detail::NcclEnd& end, const Start& start) {
  const std::lock_guard lock(mutex_);
  end.handle();  // Error if it has failed in an earlier call
  try {
    end.check(function, start());
  } catch (...) {
    const std::string before = ranks_.lost_devices();
    ranks_.fail_devices();  // the others have met this rank, and their devices wait for its; they hear it before NCCL
                            // tells of a lost connection
    end.abort();
    if (!before.empty()) Error::fail("cuda", {before});  // and NCCL has refused the call because of it
    throw;
  }
}

/// The same of a call on the current stream of the tensor's device.
template <class Start>
void CudaRanks::run(const char* function, const Array& x, cuda::detail::NcclEnd& end, const Start& start) {
  if (x.numel == 0) return;
  const cuda::StreamHandle stream = cuda::detail::bind(x.ordinal).compute;
  begin(function, end,
        [&] { return start(NcclCall{cuda::nccl().functions, nccl_type(x.dtype), end.handle(), stream}); });
}

TERN_NOINLINE void CudaRanks::all_reduce(const Array& in, const Array& out, ReduceOp op) {
  cuda::detail::NcclEnd& end = connected(in);
  ranks_.agree("cuda all_reduce", in, op);
  const auto span = listed("all_reduce", in);
  run_all_reduce(in, out, op, end);
}

TERN_NOINLINE void CudaRanks::average_agreed(const Array& x) {
  cuda::detail::NcclEnd& end = connected(x);
  const auto span = listed("all_reduce", x);
  run_all_reduce(x, x, avg, end);
}

TERN_INLINE void CudaRanks::run_all_reduce(const Array& in, const Array& out, ReduceOp op, cuda::detail::NcclEnd& end) {
  run("ncclAllReduce", in, end, [&](const NcclCall& by) {
    return by.nccl.ncclAllReduce(in.data, out.data, std::size_t(in.numel), by.type, nccl_op(op, in.dtype), by.comm,
                                 by.stream);
  });
}

TERN_NOINLINE void CudaRanks::broadcast(const Array& x, int root) {
  cuda::detail::NcclEnd& end = connected(x);
  ranks_.agree("cuda broadcast", x, sum, root);
  const auto span = listed("broadcast", x);
  run_broadcast(x, root, end);
}

TERN_NOINLINE void CudaRanks::broadcast_together(const std::vector<TensorFromRoot>& tensors) {
  if (tensors.empty()) return;
  for (const TensorFromRoot& tensor : tensors) connected(*tensor.x);
  ranks_.agree("cuda broadcasts", numbers(nullptr, Index(tensors.size())));
  const auto span = listed("broadcast", *tensors[0].x, bytes_of(tensors));
  cuda::detail::NcclGroup group;
  for (const TensorFromRoot& tensor : tensors) run_broadcast(*tensor.x, tensor.root, connected(*tensor.x));
  begin("ncclGroupEnd", connected(*tensors[0].x), [&] { return group.end(); });
}

TERN_INLINE void CudaRanks::run_broadcast(const Array& x, int root, cuda::detail::NcclEnd& end) {
  run("ncclBroadcast", x, end, [&](const NcclCall& by) {
    return by.nccl.ncclBroadcast(x.data, x.data, std::size_t(x.numel), by.type, root, by.comm, by.stream);
  });
}

TERN_NOINLINE void CudaRanks::all_gather(const Array& in, const Array& out) {
  cuda::detail::NcclEnd& end = connected(in);
  ranks_.agree("cuda all_gather", in);
  const auto span = listed("all_gather", in);
  run("ncclAllGather", in, end, [&](const NcclCall& by) {
    return by.nccl.ncclAllGather(in.data, out.data, std::size_t(in.numel), by.type, by.comm, by.stream);
  });
}

TERN_NOINLINE void CudaRanks::reduce_scatter(const Array& in, const Array& out, ReduceOp op) {
  cuda::detail::NcclEnd& end = connected(in);
  ranks_.agree("cuda reduce_scatter", in, op);
  const auto span = listed("reduce_scatter", in);
  run("ncclReduceScatter", in, end, [&](const NcclCall& by) {
    return by.nccl.ncclReduceScatter(in.data, out.data, std::size_t(out.numel), by.type, nccl_op(op, in.dtype), by.comm,
                                     by.stream);
  });
}

TERN_NOINLINE void CudaRanks::all_to_all(const Array& in, const Array& out) {
  cuda::detail::NcclEnd& end = connected(in);
  ranks_.agree("cuda all_to_all", in);
  const auto span = listed("all_to_all", in);
  run("ncclSend and ncclRecv", in, end, [&](const NcclCall& by) {
    const int ranks = ranks_.place.size;
    const std::size_t count = std::size_t(in.numel / ranks);
    cuda::detail::NcclGroup group;
    for (int rank = 0; rank < ranks; ++rank) {
      const Index offset = rank * Index(count) * tern::detail::size_of(in.dtype);
      if (const int status = by.nccl.ncclSend(in.data + offset, count, by.type, rank, by.comm, by.stream))
        return status;
      if (const int status = by.nccl.ncclRecv(out.data + offset, count, by.type, rank, by.comm, by.stream))
        return status;
    }
    return group.end();
  });
}

/// In a communicator of two ranks the other is number 1 of the lower rank, and 0 of the higher one.
TERN_NOINLINE void CudaRanks::send(const Array& x, int to) {
  cuda::detail::NcclEnd& end = connected(x, to);
  ranks_.agree_to_send(x, to);
  const auto span = listed("send", x);
  run("ncclSend", x, end, [&](const NcclCall& by) {
    return by.nccl.ncclSend(x.data, std::size_t(x.numel), by.type, to > ranks_.place.rank, by.comm, by.stream);
  });
}

TERN_NOINLINE void CudaRanks::receive(const Array& x, int from) {
  cuda::detail::NcclEnd& end = connected(x, from);
  ranks_.agree_to_receive(x, from);
  const auto span = listed("recv", x);
  run("ncclRecv", x, end, [&](const NcclCall& by) {
    return by.nccl.ncclRecv(x.data, std::size_t(x.numel), by.type, from > ranks_.place.rank, by.comm, by.stream);
  });
}

}}}  // namespace tern::distributed::detail
