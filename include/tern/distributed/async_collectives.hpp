// Collectives that run while the program goes on. Their result cannot be read too early: only wait() gives it. Of
// Tensor<Cuda> they are work of a stream of the communicator's, behind the work of the current stream so far.
#pragma once
#include <utility>

#include "collectives.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed {

namespace detail {

/// A collective of what carries the tensors.
template <class Carrier>
using Collective = void (*)(Carrier& ranks, const Array& in, const Array& out, ReduceOp op, int root);

/// A collective that runs in the background. It holds one reference to each tensor.
class CollectiveJob : public Job {
 public:
  /// Called when it has run: what this thread starts later sees the result.
  virtual void order_later_work() {}
};

/// Construct it on the thread that starts it. `in` and `out` may be the same.
TERN_API std::shared_ptr<CollectiveJob> new_job(const Communicator& communicator, const CallSite& op,
                                                Collective<Ranks> run, tern::detail::TensorImpl* in,
                                                tern::detail::TensorImpl* out, ReduceOp reduction, int root);
TERN_API std::shared_ptr<CollectiveJob> new_job(const Communicator& communicator, const CallSite& op,
                                                Collective<CudaRanks> run, tern::detail::TensorImpl* in,
                                                tern::detail::TensorImpl* out, ReduceOp reduction, int root);

}  // namespace detail

/// The result of a collective under way. Move-only. If it is destroyed without wait(), it waits itself, because the
/// tensors are in use.
template <class X>
class PendingCollective {
 public:
  PendingCollective(const Communicator& communicator, std::shared_ptr<detail::CollectiveJob> job, X result)
      : communicator_(communicator), job_(std::move(job)), result_(std::move(result)) {
    communicator_.background().give(job_);
  }
  PendingCollective(PendingCollective&&) noexcept = default;
  PendingCollective& operator=(PendingCollective&&) = delete;
  ~PendingCollective() {
    try {
      if (job_) finish(*job_);
    } catch (...) {  // wait() would have said it
    }
  }

  /// True if wait() would not block. It blocks until the ranks have started it, and on Cuda no longer.
  bool ready() const { return communicator_.background().is_done(*checked("ready")); }

  /// The result. Throws what the collective threw. Error if it was called before.
  X wait(CallSite here = {}) {
    const CallScope scope(here);
    checked("wait");
    const std::shared_ptr<detail::CollectiveJob> job = std::exchange(job_, nullptr);
    finish(*job);
    return std::move(result_);
  }

 private:
  void finish(detail::CollectiveJob& job) {
    communicator_.background().wait(job);
    job.order_later_work();
  }
  detail::CollectiveJob* checked(const char* op) const {
    if (!job_) Error::fail(op, {"nothing is pending: wait() was called before"});
    return job_.get();
  }

  Communicator communicator_;
  std::shared_ptr<detail::CollectiveJob> job_;
  X result_;
};

namespace detail {

/// Starts a collective from a dense form of x into a new tensor.
template <CarriedDevice D, Element T>
PendingCollective<Tensor<D, T>> started(const CallSite& op, const Tensor<D, T>& x, const Communicator& communicator,
                                        const tern::detail::Shape& shape, Collective<Carrier<D>> run,
                                        ReduceOp reduction = ReduceOp::sum) {
  const Tensor<D, T> in = dense(op, x), out = empty<D, T>(shape, x.device());
  return {communicator, new_job(communicator, op, run, in.impl(), out.impl(), reduction, -1), out};
}

}  // namespace detail

/// all_reduce in the background: no op on the tape. x must not be written before wait(). All ranks start and call
/// collectives in one order.
template <detail::CarriedDevice D, Element T>
PendingCollective<Tensor<D, T>> all_reduce_async(const Tensor<D, T>& x, const Communicator& communicator,
                                                 ReduceOp reduction = ReduceOp::sum, CallSite here = {}) {
  const CallSite op{"all_reduce", here};
  const CallScope scope(op);
  detail::check_reduction(op, reduction, dtype_of<T>, false);
  return detail::started(
      op, x, communicator, tern::detail::Shape(x.checked(op)->dims, x.dim()),
      [](auto& ranks, const detail::Array& in, const detail::Array& out, ReduceOp how, int) {
        ranks.all_reduce(in, out, how);
      },
      reduction);
}

/// broadcast in the background, as all_reduce_async.
template <detail::CarriedDevice D, Element T>
PendingCollective<Tensor<D, T>> broadcast_async(const Tensor<D, T>& x, const Communicator& communicator, int root = 0,
                                                CallSite here = {}) {
  const CallSite op{"broadcast", here};
  const CallScope scope(op);
  detail::check_rank(op, "root", root, communicator.size());
  const Tensor<D, T> y = detail::dense(op, x).clone();
  const detail::Collective<detail::Carrier<D>> run = [](auto& ranks, const detail::Array&, const detail::Array& out,
                                                        ReduceOp, int from) { ranks.broadcast(out, from); };
  return {communicator, detail::new_job(communicator, op, run, y.impl(), y.impl(), ReduceOp::sum, root), y};
}

/// all_gather in the background, as all_reduce_async.
template <detail::CarriedDevice D, Element T>
PendingCollective<Tensor<D, T>> all_gather_async(const Tensor<D, T>& x, const Communicator& communicator,
                                                 CallSite here = {}) {
  const CallSite op{"all_gather", here};
  const CallScope scope(op);
  return detail::started(
      op, x, communicator, detail::resized(x.checked(op)->shape_ref(), communicator.size(), 1),
      [](auto& ranks, const detail::Array& in, const detail::Array& out, ReduceOp, int) { ranks.all_gather(in, out); });
}

/// reduce_scatter in the background, as all_reduce_async.
template <detail::CarriedDevice D, Element T>
PendingCollective<Tensor<D, T>> reduce_scatter_async(const Tensor<D, T>& x, const Communicator& communicator,
                                                     ReduceOp reduction = ReduceOp::sum, CallSite here = {}) {
  const CallSite op{"reduce_scatter", here};
  const CallScope scope(op);
  detail::check_reduction(op, reduction, dtype_of<T>, false);
  detail::check_divides(op, x.checked(op)->shape_ref(), communicator.size());
  return detail::started(
      op, x, communicator, detail::resized(x.impl()->shape_ref(), 1, communicator.size()),
      [](auto& ranks, const detail::Array& in, const detail::Array& out, ReduceOp how, int) {
        ranks.reduce_scatter(in, out, how);
      },
      reduction);
}

/// all_to_all in the background, as all_reduce_async.
template <detail::CarriedDevice D, Element T>
PendingCollective<Tensor<D, T>> all_to_all_async(const Tensor<D, T>& x, const Communicator& communicator,
                                                 CallSite here = {}) {
  const CallSite op{"all_to_all", here};
  const CallScope scope(op);
  detail::check_divides(op, x.checked(op)->shape_ref(), communicator.size());
  return detail::started(
      op, x, communicator, tern::detail::Shape(x.impl()->dims, x.dim()),
      [](auto& ranks, const detail::Array& in, const detail::Array& out, ReduceOp, int) { ranks.all_to_all(in, out); });
}

}}}  // namespace tern::distributed

#ifndef TERN_COMPILED
#include "async_collectives.ipp"
#endif
