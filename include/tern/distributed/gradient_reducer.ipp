// The functions of gradient_reducer.hpp that are not templates.
#pragma once
#include <numeric>
#include <utility>

#include "../tensor/creation.hpp"
#include "gradient_reducer.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

TERN_COLD GradientReducer::GradientReducer(std::vector<AnyTensor> leaves, const Communicator& communicator,
                                           ParallelDevice& device, Index bucket_bytes, Index first_bucket_bytes)
    : GradListener(std::move(leaves)), communicator_(communicator), device_(device), bucket_bytes_(bucket_bytes),
      first_bucket_bytes_(first_bucket_bytes), bucket_of_(this->leaves().size()), memory_(this->leaves().size()),
      reached_(zeros<Cpu, std::uint8_t>({Index(this->leaves().size())})) {
  std::vector<Index> order(bucket_of_.size());
  std::iota(order.rbegin(), order.rend(), 0);  // the last layer's gradients are complete first
  assign(order);
}

/// Puts the leaves into buckets in this order, each bucket of one element type and device. Gradients that are there
/// move.
TERN_COLD void GradientReducer::assign(const std::vector<Index>& order) {
  buckets_.clear();
  constexpr Index line = 64;
  std::vector<Index> begins(order.size());  // bytes
  std::vector<Index> sizes;
  for (const Index leaf : order) {
    const Array& x = *leaves()[std::size_t(leaf)].impl();
    const Index bytes = (x.numel * tern::detail::size_of(x.dtype) + line - 1) / line * line;
    std::size_t i = buckets_.size();
    const auto suits = [&](const Array& first) { return first.dtype == x.dtype && first.ordinal == x.ordinal; };
    while (i > 0 && !suits(*leaves()[buckets_[i - 1].leaves[0]].impl())) --i;
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
    const Array& first = *leaves()[bucket.leaves[0]].impl();
    const DType dtype = first.dtype;
    bucket.memory = device_.zeros(dtype, sizes[i] / tern::detail::size_of(dtype),
                                  first.ordinal);  // the gaps between leaves are averaged too
    for (const std::size_t leaf : bucket.leaves) {
      const AnyTensor before = leaves()[leaf].grad();
      memory_[leaf] = device_.part(bucket.memory, begins[leaf] / tern::detail::size_of(dtype), *leaves()[leaf].impl());
      accumulate_into(leaf, memory_[leaf]);
      if (!before.defined()) continue;
      device_.copy(*memory_[leaf].impl(), *before.impl());
      adopt_memory(leaf);
    }
  }
}

TERN_INLINE void GradientReducer::on_start(const std::vector<std::size_t>& unused) {
  averaging_ = active_;
  if (!averaging_) return;
  const CallScope scope({"backward", CallSite::unknown});
  device_.settle();
  device_.begin(*reached_.impl());
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

TERN_NOINLINE void GradientReducer::on_ready(std::size_t leaf) {
  if (!averaging_) return;
  const CallScope scope({"backward", CallSite::unknown});
  complete(leaf);
}

/// The leaf's gradient of this rank is complete. Where it is the last of a bucket, the bucket's turn may have come.
TERN_NOINLINE void GradientReducer::complete(std::size_t leaf) {
  const AnyTensor gradient = leaves()[leaf].grad();
  reached_.impl()->data[leaf] = gradient.defined();
  if (known_ == Order::guessed) order_.push_back(Index(leaf));
  const Array& memory = *memory_[leaf].impl();
  if (!gradient.defined()) device_.clear(memory);
  else if (gradient.impl()->data != memory.data) device_.copy(memory, *gradient.impl());
  --buckets_[bucket_of_[leaf]].missing;
  for (; launched_ < buckets_.size() && buckets_[launched_].missing == 0; ++launched_)
    device_.average(buckets_[launched_].memory);
  if (--missing_ > 0) return;
  device_.end(reached_);
  for (std::size_t i = 0; i < leaves().size(); ++i)
    if (reached_.impl()->data[i]) adopt_memory(i);
  if (known_ == Order::guessed) known_ = Order::seen;
}

}}}  // namespace tern::distributed::detail
