// The functions of async_collectives.hpp that are not templates.
#pragma once
#include "../device/cuda/stream.hpp"
#include "async_collectives.hpp"
#include "exchange.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

template <class Carrier>
class JobOf : public CollectiveJob {
 public:
  JobOf(const Communicator& communicator, const CallSite& op, Collective<Carrier> collective,
        tern::detail::TensorImpl* in, tern::detail::TensorImpl* out, ReduceOp reduction, int root)
      : ranks_(communicator.ranks_in_background()), in_(in), out_(out), name_(op.name()),
        site_(tern::detail::outermost_name(op.name()), tern::detail::site(op)), collective_(collective),
        reduction_(reduction), root_(root) {
    tern::detail::retain(in_);
    tern::detail::retain(out_);
  }
  ~JobOf() override {
    tern::detail::release(in_);
    tern::detail::release(out_);
  }

 protected:
  void run_by(Carrier& carrier) { collective_(carrier, *in_, *out_, reduction_, root_); }

  std::shared_ptr<Ranks> ranks_;
  tern::detail::TensorImpl *in_, *out_;
  const char* name_;
  CallSite site_;  // of the thread that has started it, whose line it is

 private:
  Collective<Carrier> collective_;
  ReduceOp reduction_;
  int root_;
};

class HostJob final : public JobOf<Ranks> {
 public:
  using JobOf::JobOf;
  void run() override {
    const CallScope scope(site_);
    const Exchange listed(tern::detail::Work::collective, name_, bytes_of(*in_), caller_);
    run_by(*ranks_);
  }

 private:
  int caller_ = tern::detail::thread_number();
};

/// The thread in the background meets the other ranks' hosts, and gives NCCL the call.
class CudaJob final : public JobOf<CudaRanks> {
 public:
  CudaJob(const Communicator& communicator, const CallSite& op, Collective<CudaRanks> collective,
          tern::detail::TensorImpl* in, tern::detail::TensorImpl* out, ReduceOp reduction, int root)
      : JobOf(communicator, op, collective, in, out, reduction, root),
        stream_(cuda_ranks(*ranks_).communication_stream({in->ordinal})) {
    TERN_CUDA(cuEventRecord, computed_.event, cuda::detail::bind(in->ordinal).compute);
  }
  void run() override {
    const CallScope scope(site_);
    const cuda::StreamGuard on(stream_);
    TERN_CUDA(cuStreamWaitEvent, cuda::detail::bind(in_->ordinal).compute, computed_.event, 0);
    run_by(cuda_ranks(*ranks_));
    TERN_CUDA(cuEventRecord, over_.event, cuda::detail::bind(in_->ordinal).compute);
  }
  void order_later_work() override {
    TERN_CUDA(cuStreamWaitEvent, cuda::detail::bind(in_->ordinal).compute, over_.event, 0);
  }

 private:
  cuda::Stream stream_;
  cuda::detail::ScopedEvent computed_, over_;
};

TERN_COLD std::shared_ptr<CollectiveJob> new_job(const Communicator& communicator, const CallSite& op,
                                                 Collective<Ranks> run, tern::detail::TensorImpl* in,
                                                 tern::detail::TensorImpl* out, ReduceOp reduction, int root) {
  return std::make_shared<HostJob>(communicator, op, run, in, out, reduction, root);
}
TERN_COLD std::shared_ptr<CollectiveJob> new_job(const Communicator& communicator, const CallSite& op,
                                                 Collective<CudaRanks> run, tern::detail::TensorImpl* in,
                                                 tern::detail::TensorImpl* out, ReduceOp reduction, int root) {
  return std::make_shared<CudaJob>(communicator, op, run, in, out, reduction, root);
}

}}}  // namespace tern::distributed::detail
