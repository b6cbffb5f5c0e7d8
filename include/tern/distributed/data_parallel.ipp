// The functions of data_parallel.hpp that are not templates.
#pragma once
#include "data_parallel.hpp"
#include "gradient_reducer.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

TERN_COLD ParallelTensors::ParallelTensors(const nn::AnyModule& network, const Communicator& communicator,
                                           std::unique_ptr<ParallelDevice> device, const DataParallelOptions& options)
    : communicator_(communicator), device_(std::move(device)) {
  if (!(options.bucket_cap_mb > 0))
    Error::fail("DistributedDataParallel", {"bucket_cap_mb must be positive, not ", options.bucket_cap_mb});
  if (size() == 1) return;
  if (communicator.ranks().are_processes()) tern::detail::set_random_rank(rank());
  StateDict parameters;
  nn::detail::list_parameters(network, parameters);
  std::vector<AnyTensor> leaves, all;
  for (const NamedTensor& p : parameters) {
    all.push_back(p.tensor);
    if (p.tensor.impl()->node) leaves.push_back(p.tensor);
  }
  network.each([&](const nn::detail::Member& m) {
    if (m.type) return;
    for (const AnyTensor& known : all)
      if (known.impl() == m.tensor.impl()) return;
    all.push_back(m.tensor);
    if (options.broadcast_buffers) buffers_.push_back(m.tensor);
  });
  for (const AnyTensor& x : all) {
    device_->broadcast(*x.impl());
    tern::detail::bump_version(x.impl());
  }
  constexpr double mebibyte = 1 << 20;
  const Index cap = Index(options.bucket_cap_mb * mebibyte);
  gradients_ =
      std::make_unique<GradientReducer>(std::move(leaves), communicator, *device_, cap, std::min(cap, Index(mebibyte)));
}

TERN_INLINE ParallelTensors::~ParallelTensors() {}

TERN_INLINE void ParallelTensors::set_synchronized(bool on) {
  synchronized_ = on;
  if (gradients_) gradients_->set_active(on);
}

TERN_NOINLINE void ParallelTensors::sum(double* x, Index n) {
  if (size() == 1) return;
  const Array values = doubles(x, n);
  communicator_.ranks().all_reduce(values, values, ReduceOp::sum);
}

TERN_NOINLINE void ParallelTensors::before_forward(bool training) {
  if (!gradients_ || !training || !tern::detail::tape.grad_mode || !synchronized_) return;
  std::vector<TensorFromRoot> from_first;
  for (const AnyTensor& x : buffers_) from_first.push_back({x.impl(), 0});
  device_->broadcast_together(from_first);
  for (const AnyTensor& x : buffers_) tern::detail::bump_version(x.impl());
}

}}}  // namespace tern::distributed::detail
