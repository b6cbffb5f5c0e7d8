// The functions of async_collectives.hpp that are not templates.
#pragma once
#include <cstring>

#include "async_collectives.hpp"

namespace tern::inline TERN_BUILD::distributed::detail {

[[gnu::cold]] TERN_INLINE CollectiveJob::CollectiveJob(const Communicator& communicator, const OpName& op, Run f, TensorImpl* in, TensorImpl* out,
                                                       ReduceOp reduction, int root)
    : ranks_(communicator.ranks_in_background()), name_(op.name, site(op.here)), run_(f), in_(in), out_(out), reduction_(reduction), root_(root) {
  tern::detail::retain(in_);
  tern::detail::retain(out_);
}

[[gnu::cold]] TERN_INLINE CollectiveJob::~CollectiveJob() {
  tern::detail::release(in_);
  tern::detail::release(out_);
}

TERN_INLINE void CollectiveJob::run() {
  const ErrorName name(name_);
  run_(*ranks_, *in_, *out_, reduction_, root_);
}

TERN_INLINE void broadcast_into(Ranks& ranks, const Array& in, const Array& out, ReduceOp, int root) {
  if (out.numel) std::memcpy(out.data, in.data, std::size_t(out.numel * size_of(out.dtype)));
  ranks.broadcast(out, root);
}

}  // namespace tern::distributed::detail
