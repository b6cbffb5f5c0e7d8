// The functions of parallel_device.hpp that are not templates.
#pragma once
#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "../tensor/creation.hpp"
#include "async_collectives.hpp"
#include "carrier.hpp"
#include "parallel_device.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

/// An alias of n elements of a dense tensor, from `begin` on, in another's shape.
TERN_COLD tern::detail::TensorImpl* new_part(const AnyTensor& x, Index begin, const Array& shape) {
  tern::detail::TensorImpl* const part = tern::detail::new_alias(x.impl());
  part->data += begin * tern::detail::size_of(part->dtype);
  part->numel = shape.numel;
  part->ndim = shape.ndim;
  std::memcpy(part->dims, shape.dims, sizeof part->dims);
  tern::detail::set_contiguous_strides(*part);
  part->contiguous = true;
  return part;
}

class HostParallel final : public ParallelDevice {
 public:
  explicit HostParallel(const Communicator& communicator) : communicator_(communicator) {}
  ~HostParallel() override {
    for (const std::shared_ptr<Job>& job : jobs_) {
      try {
        communicator_.background().wait(*job);
      } catch (...) {}
    }
  }

  void broadcast(const Array& x) override { ListedRanks(communicator_, "broadcast", x)->broadcast(x, 0); }
  void broadcast_together(const std::vector<TensorFromRoot>& tensors) override {
    Ranks& ranks = communicator_.ranks();
    const Exchange listed(tern::detail::Work::collective, "broadcast", bytes_of(tensors));
    ranks.broadcast_together(tensors);
  }

  /// In memory that the other ranks reach, if there is some.
  AnyTensor zeros(DType dtype, Index n, int) override {
    if (const std::shared_ptr<char> memory = communicator_.ranks().share(n * tern::detail::size_of(dtype)))
      return Tensor<Cpu>(
          tern::detail::new_external(dtype, {&n, 1}, memory.get(), unshare, new std::shared_ptr<char>(memory)));
    const AnyTensor x = Tensor<Cpu>(tern::detail::new_impl(dtype, {&n, 1}));
    clear(*x.impl());
    return x;
  }
  AnyTensor part(const AnyTensor& x, Index begin, const Array& shape) override {
    return Tensor<Cpu>(new_part(x, begin, shape));
  }
  void copy(const Array& to, const Array& from) override {
    tern::detail::backend::run<Cpu>(tern::detail::backend::Copy{to, from});
  }
  void clear(const Array& x) override { std::memset(x.data, 0, std::size_t(bytes_of(x))); }

  void begin(const Array&) override {}
  void average(const AnyTensor& x) override {
    const Collective<Ranks> in_place = [](Ranks& ranks, const Array& in, const Array& out, ReduceOp how, int) {
      ranks.all_reduce(in, out, how);
    };
    const Collective<Ranks> shared = [](Ranks& ranks, const Array& in, const Array&, ReduceOp how, int) {
      ranks.all_reduce_shared(in, how);
    };
    jobs_.push_back(new_job(communicator_, {"all_reduce", CallSite::unknown},
                            x.impl()->deleter == unshare ? shared : in_place, x.impl(), x.impl(), ReduceOp::avg, -1));
    communicator_.background().give(jobs_.back());
  }
  void end(const AnyTensor& flags) override {
    settle();
    communicator_.ranks().all_reduce(*flags.impl(), *flags.impl(), ReduceOp::max);
  }
  void settle() override {
    while (!jobs_.empty()) {
      const std::shared_ptr<Job> job = std::move(jobs_.front());
      jobs_.pop_front();
      communicator_.background().wait(*job);
    }
  }

 private:
  static void unshare(void*, void* memory) { delete static_cast<std::shared_ptr<char>*>(memory); }

  Communicator communicator_;
  std::deque<std::shared_ptr<Job>> jobs_;
};

class CudaParallel final : public ParallelDevice {
 public:
  explicit CudaParallel(const Communicator& communicator) : communicator_(communicator) {}

  void broadcast(const Array& x) override { cuda_ranks(communicator_).broadcast(x, 0); }
  void broadcast_together(const std::vector<TensorFromRoot>& tensors) override {
    cuda_ranks(communicator_).broadcast_together(tensors);
  }

  AnyTensor zeros(DType dtype, Index n, int ordinal) override {
    const AnyTensor x = Tensor<Cuda>(tern::detail::allocate<Cuda>(dtype, {&n, 1}, ordinal));
    clear(*x.impl());
    return x;
  }
  AnyTensor part(const AnyTensor& x, Index begin, const Array& shape) override {
    return Tensor<Cuda>(new_part(x, begin, shape));
  }
  void copy(const Array& to, const Array& from) override {
    tern::detail::backend::run<Cuda>(tern::detail::backend::Copy{to, from});
  }
  void clear(const Array& x) override {
    if (x.numel) cuda::detail::start_filling(x.ordinal, x.data, 0, std::size_t(bytes_of(x)));
  }

  /// All ranks are in the pass before NCCL gets anything, so that no device waits for a rank that has left.
  void begin(const Array& flags) override { communicator_.ranks().agree("cuda backward", flags); }
  void average(const AnyTensor& x) override {
    const Cuda device{x.impl()->ordinal};
    CudaRanks& ranks = cuda_ranks(communicator_);
    const cuda::Stream& stream = ranks.communication_stream(device);
    if (std::find(streams_.begin(), streams_.end(), stream) == streams_.end()) streams_.push_back(stream);
    stream.wait_stream(cuda::current_stream(device));
    const cuda::StreamGuard on(stream);
    ranks.average_agreed(*x.impl());
  }
  void end(const AnyTensor& flags) override {
    communicator_.ranks().all_reduce(*flags.impl(), *flags.impl(), ReduceOp::max);
    settle();
  }
  void settle() override {
    for (const cuda::Stream& stream : streams_) cuda::current_stream(stream.device()).wait_stream(stream);
  }

 private:
  Communicator communicator_;
  std::vector<cuda::Stream> streams_;  // one of each device that has averaged
};

TERN_COLD std::unique_ptr<ParallelDevice> host_parallel(const Communicator& communicator) {
  return std::make_unique<HostParallel>(communicator);
}
TERN_COLD std::unique_ptr<ParallelDevice> cuda_parallel(const Communicator& communicator) {
  return std::make_unique<CudaParallel>(communicator);
}

}}}  // namespace tern::distributed::detail
