// The functions of dataset.hpp that are not templates.
#pragma once
#include "dataset.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

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
