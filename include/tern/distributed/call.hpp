// What a rank says of the collective that it calls, so that all ranks find out whether they call the same one.
#pragma once
#include "../core/array.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed {

/// How a collective joins the elements of all ranks.
enum class ReduceOp : std::uint8_t { sum, avg, min, max, product };

namespace detail {

using enum ReduceOp;
using tern::detail::Array;

/// A collective as one rank calls it. Ranks exchange it as bytes.
struct Call {
  char name[20];  // with its end
  ReduceOp op;
  DType dtype;
  std::int8_t ndim;   // -1: the collective takes no tensor
  std::int32_t root;  // -1: it has none
  Index number;       // of the collectives that this rank called before; alone: no matter, two ranks meet
  Index dims[tern::detail::max_dims];

  static constexpr Index alone = -1;

  Call(const char* collective, Index calls_before);
  Call(const char* collective, Index calls_before, const Array& x, ReduceOp reduction = sum, int root_rank = -1);
  Call() {}
};

/// True for the same collective, after as many others, of tensors of one type and shape.
TERN_API bool same(const Call& a, const Call& b);

/// Error that says what two ranks call. Of two that meet alone, b receives.
[[noreturn]] TERN_API void refuse_different(const Call& a, int rank_a, const Call& b, int rank_b);

/// Error unless all ranks make the same call.
TERN_API void check_same(const Call* calls, int ranks);

}  // namespace detail
}}}  // namespace tern::distributed

#ifndef TERN_COMPILED
#include "call.ipp"
#endif
