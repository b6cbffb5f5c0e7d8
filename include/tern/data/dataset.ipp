// The functions of dataset.hpp that are not templates.
#pragma once
#include "dataset.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

TERN_COLD void refuse_sample(CallSite set, Index sample, Index size) {
  Error::fail(set, {"there is no sample ", sample, " of ", size});
}

TERN_COLD void check_rows(const char* op, const tern::detail::Array* x, Index n, Index set) {
  if (x && x->ndim > 0 && x->dims[0] == n) return;
  const std::string name = set < 0 ? "the set" : tern::detail::text({"set ", set});
  if (!x) Error::fail(op, {"batch() of ", name, " returns an undefined tensor"});
  Error::fail(op,
              {"batch() of ", name, " was asked for ", n, " samples, but returns a tensor of shape ", x->shape_ref()});
}

TERN_NOINLINE void gather_rows(const tern::detail::Array& out, const tern::detail::Array& x,
                               std::span<const Index> rows) {
  if (out.numel == 0) return;
  const std::size_t bytes = std::size_t(out.numel / out.dims[0] * tern::detail::size_of(x.dtype));
  char* to = out.data;
  for (const Index row : rows) {
    std::memcpy(to, x.data + std::size_t(row) * bytes, bytes);
    to += bytes;
  }
}

}}}  // namespace tern::data::detail
