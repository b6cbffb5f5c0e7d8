// The functions of call.hpp that are not templates.
#pragma once
#include <cstring>

#include "call.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

TERN_COLD Call::Call(const char* collective, Index calls_before)
    : op(sum), dtype(DType::float32), ndim(-1), root(-1), number(calls_before) {
  std::memset(name, 0, sizeof name);
  std::strncpy(name, collective, sizeof name - 1);
  std::memset(dims, 0, sizeof dims);
}

TERN_COLD Call::Call(const char* collective, Index calls_before, const Array& x, ReduceOp reduction, int root_rank)
    : Call(collective, calls_before) {
  op = reduction;
  dtype = x.dtype;
  ndim = std::int8_t(x.ndim);
  root = root_rank;
  std::memcpy(dims, x.dims, std::size_t(ndim) * sizeof(Index));
}

TERN_COLD std::string described(const Call& call) {
  constexpr const char* ops[] = {"sum", "avg", "min", "max", "product"};
  std::string words = call.name;
  if (call.ndim >= 0)
    words += tern::detail::text(
        {" of ", tern::detail::name_of(call.dtype), " ", tern::detail::ShapeRef{call.dims, call.ndim}});
  if (call.number == Call::alone) return words;
  if (call.ndim >= 0) words += tern::detail::text({", ", ops[int(call.op)]});
  if (call.root >= 0) words += tern::detail::text({", root ", Index(call.root)});
  return words + tern::detail::text({", after ", call.number, " others"});
}

TERN_INLINE bool same(const Call& a, const Call& b) {
  return std::strcmp(a.name, b.name) == 0 && a.op == b.op && a.dtype == b.dtype && a.ndim == b.ndim &&
         a.root == b.root && a.number == b.number && std::memcmp(a.dims, b.dims, sizeof a.dims) == 0;
}

TERN_COLD void refuse_different(const Call& a, int rank_a, const Call& b, int rank_b) {
  std::string second = described(b);
  if (b.number == Call::alone) second.replace(second.find("send"), 4, "recv");
  Error::fail(a.name,
              {"the ranks do not call the same: rank ", rank_a, " ", described(a), "; rank ", rank_b, " ", second});
}

TERN_NOINLINE void check_same(const Call* calls, int ranks) {
  for (int rank = 1; rank < ranks; ++rank)
    if (!same(calls[0], calls[rank])) refuse_different(calls[0], 0, calls[rank], rank);
}

}}}  // namespace tern::distributed::detail
