// The functions of collectives.hpp that are not templates.
#pragma once
#include "collectives.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

TERN_COLD void check_reduction(const CallSite& op, ReduceOp reduction, DType dtype, bool needs_gradient) {
  if (reduction == avg && !tern::detail::is_floating(dtype))
    Error::fail(op, {"the average of ", tern::detail::name_of(dtype), " is no ", tern::detail::name_of(dtype),
                     "; sum and divide"});
  if (needs_gradient && reduction != sum && reduction != avg)
    Error::fail(op, {"min, max and product have no gradient; detach() the input"});
}

TERN_COLD void check_divides(const CallSite& op, tern::detail::ShapeRef shape, int ranks) {
  if (shape.n < 1 || shape.d[0] % ranks)
    Error::fail(op, {"dimension 0 of ", shape, " has no equal parts for ", ranks, " ranks"});
}

TERN_COLD void check_rank(const CallSite& op, const char* what, int rank, int ranks) {
  if (rank < 0 || rank >= ranks) Error::fail(op, {what, " must be one of ", ranks, " ranks, not ", rank});
}

TERN_NOINLINE tern::detail::Shape resized(tern::detail::ShapeRef shape, Index factor, Index divisor) {
  if (shape.n == 0) return {factor};
  tern::detail::Shape out(shape.d, shape.n);
  out.d[0] = tern::detail::checked_product({"Communicator", CallSite::unknown}, {shape.d[0], factor}) / divisor;
  return out;
}

}}}  // namespace tern::distributed::detail
