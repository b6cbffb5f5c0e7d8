// The functions of convolution.hpp that are not templates.
#pragma once
#include "convolution.hpp"

namespace tern::inline TERN_BUILD::nn::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE tern::detail::Shape filter_shape(const char* layer, int dims, Index first, Index second, tern::detail::Dims kernel,
                                                            Index groups) {
  if (first < 1 || second < 1 || groups < 1 || first % groups != 0 || second % groups != 0)
    fail(layer, {"channels ", second, " and ", first, " do not divide into ", groups, " groups"});
  if (kernel.n == 1)
    for (int i = 1; i < dims; ++i) kernel.push_back(kernel[0]);
  tern::detail::Shape shape{first, second / groups};
  for (Index size : kernel) shape.push_back(size);
  if (kernel.n != dims || *std::min_element(kernel.begin(), kernel.end()) < 1)
    fail(layer, {"kernel_size ", kernel, " does not name ", Index(dims), " sizes"});
  tern::detail::checked_numel(layer, shape);
  return shape;
}

}  // namespace tern::nn::detail
