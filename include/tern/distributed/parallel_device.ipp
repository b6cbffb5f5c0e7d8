// The functions of parallel_device.hpp that are not templates.
#pragma once
#include <cstring>
#include <deque>
#include <utility>

#include "../device/cuda/stream.hpp"
#include "../tensor/creation.hpp"
#include "async_collectives.hpp"
#include "cuda_ranks.hpp"
#include "parallel_device.hpp"

namespace tern::inline TERN_BUILD::distributed::detail {

/// An alias of n elements of a dense tensor, from `begin` on, in another's shape.
[[gnu::cold]] TERN_INLINE TensorImpl* new_part(const AnyTensor& x, Index begin, const Array& shape) {
  TensorImpl* const part = tern::detail::new_alias(x.impl());
  part->data += begin * size_of(part->dtype);
  part->numel = shape.numel;
  part->ndim = shape.ndim;
  std::memcpy(part->dims, shape.dims, sizeof part->dims);
  set_contiguous_strides(*part);
  part->contiguous = true;
  return part;
}

inline Index bytes_of(const Array& x) { return x.numel * size_of(x.dtype); }

class HostParallel final : public ParallelDevice {
 public:
  explicit HostParallel(const Communicator& communicator) : communicator_(communicator) {}
  ~HostParallel() override {
    for (const std::shared_ptr<Job>& job : jobs_) {
      try {
        communicator_.background().wait(*job);
      } catch (...) {
      }
    }
  }

  void broadcast(const Array& x) override { communicator_.ranks().broadcast(x, 0); }
  void broadcast_together(const std::vector<AnyTensor>& tensors) override {
    for (const AnyTensor& x : tensors) broadcast(*x.impl());
  }

  AnyTensor zeros(DType dtype, Index n, int) override {
    const AnyTensor x = Tensor<Cpu>(tern::detail::new_impl(dtype, {&n, 1}));
    clear(*x.impl());
    return x;
  }
  AnyTensor part(const AnyTensor& x, Index begin, const Array& shape) override { return Tensor<Cpu>(new_part(x, begin, shape)); }
  void copy(const Array& to, const Array& from) override { backend::run<Cpu>(backend::Copy{to, from}); }
  void clear(const Array& x) override { std::memset(x.data, 0, std::size_t(bytes_of(x))); }

  void begin(const Array&) override {}
  void average(const AnyTensor& x) override { start(x, ReduceOp::avg); }
  void end(const AnyTensor& flags) override {
    start(flags, ReduceOp::max);
    settle();
  }
  void settle() override {
    while (!jobs_.empty()) {
      const std::shared_ptr<Job> job = std::move(jobs_.front());
      jobs_.pop_front();
      communicator_.background().wait(*job);
    }
  }

 private:
  void start(const AnyTensor& x, ReduceOp op) {
    const CollectiveJob::Run in_place = [](Ranks& ranks, const Array& in, const Array& out, ReduceOp how, int) { ranks.all_reduce(in, out, how); };
    jobs_.push_back(std::make_shared<CollectiveJob>(communicator_, "backward", in_place, x.impl(), x.impl(), op, -1));
    communicator_.background().give(jobs_.back());
  }

  Communicator communicator_;
  std::deque<std::shared_ptr<Job>> jobs_;
};

class CudaParallel final : public ParallelDevice {
 public:
  explicit CudaParallel(const Communicator& communicator) : communicator_(communicator) {}

  void broadcast(const Array& x) override { cuda_ranks(communicator_).broadcast(x, 0); }
  void broadcast_together(const std::vector<AnyTensor>& tensors) override { cuda_ranks(communicator_).broadcast_together(tensors); }

  AnyTensor zeros(DType dtype, Index n, int ordinal) override {
    const AnyTensor x = Tensor<Cuda>(tern::detail::allocate<Cuda>(dtype, {&n, 1}, ordinal));
    clear(*x.impl());
    return x;
  }
  AnyTensor part(const AnyTensor& x, Index begin, const Array& shape) override { return Tensor<Cuda>(new_part(x, begin, shape)); }
  void copy(const Array& to, const Array& from) override { backend::run<Cuda>(backend::Copy{to, from}); }
  void clear(const Array& x) override {
    if (x.numel) cuda::detail::start_filling(x.ordinal, x.data, 0, std::size_t(bytes_of(x)));
  }

  /// All ranks are in the pass before NCCL gets anything, so that no device waits for a rank that has left.
  void begin(const Array& flags) override { communicator_.ranks().agree("cuda backward", flags); }
  void average(const AnyTensor& x) override {
    const Cuda device{x.impl()->ordinal};
    const cuda::Stream& beside = stream_beside(device);
    beside.wait_stream(cuda::current_stream(device));
    const cuda::StreamGuard on(beside);
    cuda_ranks(communicator_).average_agreed(*x.impl());
  }
  void end(const AnyTensor& flags) override {
    communicator_.ranks().all_reduce(*flags.impl(), *flags.impl(), ReduceOp::max);
    settle();
  }
  void settle() override {
    for (const cuda::Stream& beside : streams_) cuda::current_stream(beside.device()).wait_stream(beside);
  }

 private:
  const cuda::Stream& stream_beside(Cuda device) {
    for (const cuda::Stream& stream : streams_)
      if (stream.device().ordinal == device.ordinal) return stream;
    return streams_.emplace_back(device);
  }

  Communicator communicator_;
  std::vector<cuda::Stream> streams_;  // one of each device in use
};

[[gnu::noinline, gnu::cold]] TERN_INLINE std::unique_ptr<ParallelDevice> host_parallel(const Communicator& communicator) {
  return std::make_unique<HostParallel>(communicator);
}
[[gnu::noinline, gnu::cold]] TERN_INLINE std::unique_ptr<ParallelDevice> cuda_parallel(const Communicator& communicator) {
  return std::make_unique<CudaParallel>(communicator);
}

}  // namespace tern::distributed::detail
