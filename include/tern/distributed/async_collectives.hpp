// Collectives that run while the program goes on. Their result cannot be read too early: only wait() gives it.
#pragma once
#include <utility>

#include "collectives.hpp"

namespace tern::inline TERN_BUILD::distributed {

namespace detail {

/// A collective of Ranks, with its arguments.
class TERN_API CollectiveJob final : public Job {
 public:
  using Run = void (*)(Ranks& ranks, const Array& in, const Array& out, ReduceOp op, int root);

  /// Holds one reference to each tensor.
  CollectiveJob(const Communicator& communicator, const OpName& op, Run f, TensorImpl* in, TensorImpl* out, ReduceOp reduction, int root);
  TERN_KEY ~CollectiveJob() override;
  void run() override;

 private:
  std::shared_ptr<Ranks> ranks_;
  OpName name_;
  Run run_;
  TensorImpl *in_, *out_;
  ReduceOp reduction_;
  int root_;
};

}  // namespace detail

/// The result of a collective under way. Move-only. If it is destroyed without wait(), it waits itself, because the tensors are in use.
template <class X>
class PendingCollective {
 public:
  PendingCollective(const Communicator& communicator, std::shared_ptr<detail::Job> job, X result)
      : communicator_(communicator), job_(std::move(job)), result_(std::move(result)) {
    communicator_.background().give(job_);
  }
  PendingCollective(PendingCollective&&) noexcept = default;
  PendingCollective& operator=(PendingCollective&&) = delete;
  ~PendingCollective() {
    try {
      if (job_) communicator_.background().wait(*job_);
    } catch (...) {  // wait() would have said it
    }
  }

  /// True if wait() would not block.
  bool ready() const { return communicator_.background().is_done(*checked("ready")); }

  /// The result. Throws what the collective threw. Error if it was called before.
  X wait() {
    checked("wait");
    const std::shared_ptr<detail::Job> job = std::exchange(job_, nullptr);
    communicator_.background().wait(*job);
    return std::move(result_);
  }

 private:
  detail::Job* checked(const char* op) const {
    if (!job_) fail(op, {"nothing is pending: wait() was called before"});
    return job_.get();
  }

  Communicator communicator_;
  std::shared_ptr<detail::Job> job_;
  X result_;
};

namespace detail {

/// The root's x, in out.
TERN_API void broadcast_into(Ranks& ranks, const Array& in, const Array& out, ReduceOp, int root);

/// Starts a collective from a dense form of x into a new tensor.
template <class D, class T>
PendingCollective<Tensor<D, T>> started(const OpName& op, const Tensor<D, T>& x, const Communicator& communicator, const Shape& shape, CollectiveJob::Run run,
                                        ReduceOp reduction = ReduceOp::sum, int root = -1) {
  const Tensor<D, T> in = dense(op, x), out = empty<D, T>(shape);
  return {communicator, std::make_shared<CollectiveJob>(communicator, op, run, in.impl(), out.impl(), reduction, root), out};
}

}  // namespace detail

/// all_reduce in the background: no op on the tape. x must not be written before wait(). All ranks start and call collectives in one order.
template <HostDevice D, Element T>
PendingCollective<Tensor<D, T>> all_reduce_async(const Tensor<D, T>& x, const Communicator& communicator, ReduceOp reduction = ReduceOp::sum, Here here = {}) {
  const OpName op{"all_reduce", here};
  const ErrorName name(op);
  detail::check_reduction(op, reduction, dtype_of<T>, false);
  return detail::started(op, x, communicator, Shape(x.checked(op)->dims, x.dim()),
                         [](detail::Ranks& ranks, const Array& in, const Array& out, ReduceOp how, int) { ranks.all_reduce(in, out, how); }, reduction);
}

/// broadcast in the background, as all_reduce_async.
template <HostDevice D, Element T>
PendingCollective<Tensor<D, T>> broadcast_async(const Tensor<D, T>& x, const Communicator& communicator, int root = 0, Here here = {}) {
  const OpName op{"broadcast", here};
  const ErrorName name(op);
  detail::check_rank(op, "root", root, communicator.size());
  return detail::started(op, x, communicator, Shape(x.checked(op)->dims, x.dim()), &detail::broadcast_into, ReduceOp::sum, root);
}

/// all_gather in the background, as all_reduce_async.
template <HostDevice D, Element T>
PendingCollective<Tensor<D, T>> all_gather_async(const Tensor<D, T>& x, const Communicator& communicator, Here here = {}) {
  const OpName op{"all_gather", here};
  const ErrorName name(op);
  return detail::started(op, x, communicator, detail::resized(x.checked(op)->shape_ref(), communicator.size(), 1),
                         [](detail::Ranks& ranks, const Array& in, const Array& out, ReduceOp, int) { ranks.all_gather(in, out); });
}

/// reduce_scatter in the background, as all_reduce_async.
template <HostDevice D, Element T>
PendingCollective<Tensor<D, T>> reduce_scatter_async(const Tensor<D, T>& x, const Communicator& communicator, ReduceOp reduction = ReduceOp::sum, Here here = {}) {
  const OpName op{"reduce_scatter", here};
  const ErrorName name(op);
  detail::check_reduction(op, reduction, dtype_of<T>, false);
  detail::check_divides(op, x.checked(op)->shape_ref(), communicator.size());
  return detail::started(op, x, communicator, detail::resized(x.impl()->shape_ref(), 1, communicator.size()),
                         [](detail::Ranks& ranks, const Array& in, const Array& out, ReduceOp how, int) { ranks.reduce_scatter(in, out, how); }, reduction);
}

/// all_to_all in the background, as all_reduce_async.
template <HostDevice D, Element T>
PendingCollective<Tensor<D, T>> all_to_all_async(const Tensor<D, T>& x, const Communicator& communicator, Here here = {}) {
  const OpName op{"all_to_all", here};
  const ErrorName name(op);
  detail::check_divides(op, x.checked(op)->shape_ref(), communicator.size());
  return detail::started(op, x, communicator, Shape(x.impl()->dims, x.dim()),
                         [](detail::Ranks& ranks, const Array& in, const Array& out, ReduceOp, int) { ranks.all_to_all(in, out); });
}

}  // namespace tern::distributed

#ifndef TERN_COMPILED
#include "async_collectives.ipp"
#endif
