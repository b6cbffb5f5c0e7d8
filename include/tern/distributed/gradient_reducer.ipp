// The functions of gradient_reducer.hpp that are not templates.
#pragma once
#include <cstring>
#include <numeric>
#include <utility>

#include "../tensor/creation.hpp"
#include "gradient_reducer.hpp"

namespace tern::inline TERN_BUILD::distributed::detail {

/// Joins a tensor in place. Errors have the backward pass's line.
class ReduceJob final : public Job {
 public:
  ReduceJob(std::shared_ptr<Ranks> ranks, const AnyTensor& x, ReduceOp op, Here here) : ranks_(std::move(ranks)), x_(x), op_(op), here_(here) {}
  void run() override {
    const ErrorName name({"backward", here_});
    ranks_->all_reduce(*x_.impl(), *x_.impl(), op_);
  }

 private:
  std::shared_ptr<Ranks> ranks_;
  AnyTensor x_;
  ReduceOp op_;
  Here here_;
};

/// A tensor of host memory, of an element type that the caller's type does not say.
inline AnyTensor any(TensorImpl* impl) { return Tensor<Cpu>(impl); }

/// The elements of x from `begin` on, in the leaf's shape.
inline AnyTensor part_of(const AnyTensor& x, Index begin, const AnyTensor& leaf) {
  TensorImpl* const part = tern::detail::new_alias(x.impl());
  const Array& shape = *leaf.impl();
  part->data += begin * size_of(part->dtype);
  part->numel = shape.numel;
  part->ndim = shape.ndim;
  std::memcpy(part->dims, shape.dims, sizeof part->dims);
  set_contiguous_strides(*part);
  part->contiguous = true;
  return any(part);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE GradientReducer::GradientReducer(std::vector<AnyTensor> leaves, const Communicator& communicator, Index bucket_bytes,
                                                                          Index first_bucket_bytes)
    : GradListener(std::move(leaves)), communicator_(communicator), bucket_bytes_(bucket_bytes), first_bucket_bytes_(first_bucket_bytes),
      bucket_of_(this->leaves().size()), memory_(this->leaves().size()),
      reached_(zeros<Cpu, std::uint8_t>({Index(this->leaves().size())})) {
  std::vector<Index> order(bucket_of_.size());
  std::iota(order.rbegin(), order.rend(), 0);  // the last layer's gradients are complete first
  assign(order);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE GradientReducer::~GradientReducer() {
  for (Bucket& bucket : buckets_) {
    try {
      if (bucket.job) communicator_.background().wait(*bucket.job);
    } catch (...) {
    }
  }
}

/// Puts the leaves into buckets in this order, each bucket of one element type. Gradients that are there move.
[[gnu::noinline, gnu::cold]] TERN_INLINE void GradientReducer::assign(const std::vector<Index>& order) {
  buckets_.clear();
  constexpr Index line = 64;
  std::vector<Index> begins(order.size());  // bytes
  std::vector<Index> sizes;
  for (const Index leaf : order) {
    const Array& x = *leaves()[std::size_t(leaf)].impl();
    const Index bytes = (x.numel * size_of(x.dtype) + line - 1) / line * line;
    std::size_t i = buckets_.size();
    while (i > 0 && leaves()[buckets_[i - 1].leaves[0]].dtype() != x.dtype) --i;
    const Index most = i == 1 ? first_bucket_bytes_ : bucket_bytes_;
    if (i == 0 || sizes[i - 1] + bytes > most) {
      buckets_.emplace_back();
      sizes.push_back(0);
      i = buckets_.size();
    }
    begins[std::size_t(leaf)] = std::exchange(sizes[i - 1], sizes[i - 1] + bytes);
    buckets_[i - 1].leaves.push_back(std::size_t(leaf));
    bucket_of_[std::size_t(leaf)] = i - 1;
  }
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    Bucket& bucket = buckets_[i];
    const DType dtype = leaves()[bucket.leaves[0]].dtype();
    const Index elements = sizes[i] / size_of(dtype);
    bucket.memory = any(tern::detail::new_impl(dtype, {&elements, 1}));
    std::memset(bucket.memory.impl()->data, 0, std::size_t(sizes[i]));  // the gaps between leaves are averaged too
    for (const std::size_t leaf : bucket.leaves) {
      const AnyTensor before = leaves()[leaf].grad();
      memory_[leaf] = part_of(bucket.memory, begins[leaf] / size_of(dtype), leaves()[leaf]);
      accumulate_into(leaf, memory_[leaf]);
      if (!before.defined()) continue;
      backend::run<Cpu>(backend::Copy{*memory_[leaf].impl(), *before.impl()});
      adopt_memory(leaf);
    }
  }
}

TERN_INLINE void GradientReducer::on_start(const std::vector<std::size_t>& unused) {
  averaging_ = active_;
  if (!averaging_) return;
  wait();  // for what a pass that failed has left
  if (known_ == Order::seen) {
    communicator_.ranks().broadcast(numbers(order_.data(), Index(order_.size())), 0);
    assign(order_);
    known_ = Order::followed;
  }
  order_.clear();
  launched_ = 0;
  missing_ = leaves().size();
  for (Bucket& bucket : buckets_) bucket.missing = bucket.leaves.size();
  for (const std::size_t leaf : unused) complete(leaf);
}

[[gnu::noinline]] TERN_INLINE void GradientReducer::on_ready(std::size_t leaf) {
  if (averaging_) complete(leaf);
}

/// The leaf's gradient of this rank is complete. Where it is the last of a bucket, the bucket's turn may have come.
[[gnu::noinline]] TERN_INLINE void GradientReducer::complete(std::size_t leaf) {
  const AnyTensor gradient = leaves()[leaf].grad();
  reached_.impl()->data[leaf] = gradient.defined();
  if (known_ == Order::guessed) order_.push_back(Index(leaf));
  const Array& memory = *memory_[leaf].impl();
  if (!gradient.defined()) std::memset(memory.data, 0, std::size_t(memory.numel * size_of(memory.dtype)));
  else if (gradient.impl()->data != memory.data) backend::run<Cpu>(backend::Copy{memory, *gradient.impl()});
  --buckets_[bucket_of_[leaf]].missing;
  for (; launched_ < buckets_.size() && buckets_[launched_].missing == 0; ++launched_) start(buckets_[launched_].job, buckets_[launched_].memory, ReduceOp::avg);
  if (--missing_ > 0) return;
  std::shared_ptr<Job> flags;
  start(flags, reached_, ReduceOp::max);
  communicator_.background().wait(*flags);
  wait();
  for (std::size_t i = 0; i < leaves().size(); ++i)
    if (reached_.impl()->data[i]) adopt_memory(i);
  if (known_ == Order::guessed) known_ = Order::seen;
}

[[gnu::noinline]] TERN_INLINE void GradientReducer::start(std::shared_ptr<Job>& job, const AnyTensor& x, ReduceOp op) const {
  job = std::make_shared<ReduceJob>(communicator_.ranks_in_background(), x, op, site(Here(nullptr, 0)));
  communicator_.background().give(job);
}

[[gnu::noinline]] TERN_INLINE void GradientReducer::wait() {
  for (Bucket& bucket : buckets_)
    if (const std::shared_ptr<Job> job = std::exchange(bucket.job, nullptr)) communicator_.background().wait(*job);
}

}  // namespace tern::distributed::detail
