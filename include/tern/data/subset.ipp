// The functions of subset.hpp that are not templates.
#pragma once
#include "subset.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

TERN_COLD std::vector<Index> split_lengths(const std::vector<double>& lengths, Index size) {
  double sum = 0;
  std::vector<Index> out;
  for (const double length : lengths) {
    if (!(length >= 0)) Error::fail("random_split", {"a length must not be negative: ", length});
    sum += length;
  }
  const bool fractions = std::abs(sum - 1) < 1e-9;
  if (!fractions && sum != double(size))
    Error::fail("random_split", {"the lengths sum to ", sum, ", not to the ", size, " samples, nor to 1 as fractions"});
  Index left = size;
  for (const double length : lengths) {
    out.push_back(fractions && size != 1 ? Index(std::floor(length * double(size))) : Index(length));
    left -= out.back();
  }
  for (std::size_t i = 0; left > 0; i = (i + 1) % out.size(), --left) ++out[i];
  return out;
}

TERN_NOINLINE void scatter_rows(const tern::detail::Array& out, const tern::detail::Array& x,
                                std::span<const Index> rows) {
  if (x.ndim != out.ndim || !std::equal(x.dims + 1, x.dims + x.ndim, out.dims + 1))
    Error::fail("ConcatDataset", {"samples differ in shape: batches are ", out.shape_ref(), " and ", x.shape_ref()});
  if (out.numel == 0) return;
  const std::size_t bytes = std::size_t(out.numel / out.dims[0] * tern::detail::size_of(out.dtype));
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::memcpy(out.data + std::size_t(rows[i]) * bytes, x.data + i * bytes, bytes);
}

}}}  // namespace tern::data::detail
