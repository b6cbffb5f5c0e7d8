// The product of several matrices, in the order that needs the fewest multiplications.
#pragma once
#include <cmath>
#include <vector>

#include "../ops/copy.hpp"
#include "../ops/matmul.hpp"

namespace tern { inline namespace TERN_BUILD { namespace linalg {

/// The product of at least two matrices. The first may be a vector, which counts as a row, and the last one, which
/// counts as a column; their dimension is not in the result. The order is found by dynamic programming (Cormen,
/// Leiserson, Rivest, Stein: "Introduction to Algorithms", section 14.2).
template <Device D, Floating T>
Tensor<D, T> multi_dot(const std::vector<Tensor<D, T>>& tensors, CallSite here = {}) {
  const CallSite op{"multi_dot", here};
  const CallScope scope(op);
  if constexpr (tern::detail::is_half_v<T>) {  // rounded once
    std::vector<Tensor<D, float>> wide;
    for (const Tensor<D, T>& x : tensors) wide.push_back(to_type(x, f32, here));
    return to_type(multi_dot(wide, here), tern::detail::Type<T>{}, here);
  }
  const std::size_t n = tensors.size();
  if (n < 2) Error::fail(op, {"at least two tensors are needed, not ", Index(n)});
  std::vector<Tensor<D, T>> factors;
  for (std::size_t i = 0; i < n; ++i) {
    const bool at_end = i == 0 || i + 1 == n, is_vector = tensors[i].checked(op)->ndim == 1;
    if (tensors[i].dim() != 2 && !(at_end && is_vector))
      Error::fail(
          op, {"tensor ", Index(i), " must be a matrix", at_end ? " or a vector" : "", ", not ", tensors[i].shape()});
    factors.push_back(is_vector ? unsqueeze(tensors[i], i == 0 ? 0 : -1, here) : tensors[i]);
    if (i > 0 && factors[i].size(0) != factors[i - 1].size(1))
      Error::fail(op, {"tensors ", Index(i - 1), " and ", Index(i), " do not fit: ", tensors[i - 1].shape(), " and ",
                       tensors[i].shape()});
  }
  // The fewest multiplications for the factors i to j, and the last factor of the left part.
  std::vector<std::vector<double>> fewest(n, std::vector<double>(n, 0));
  std::vector<std::vector<std::size_t>> left(n, std::vector<std::size_t>(n, 0));
  for (std::size_t length = 1; length < n; ++length)
    for (std::size_t i = 0, j = length; j < n; ++i, ++j) {
      fewest[i][j] = HUGE_VAL;
      for (std::size_t k = i; k < j; ++k) {
        const double last = double(factors[i].size(0)) * double(factors[k].size(1)) * double(factors[j].size(1)),
                     all = fewest[i][k] + fewest[k + 1][j] + last;
        if (all < fewest[i][j]) fewest[i][j] = all, left[i][j] = k;
      }
    }
  const auto product = [&](const auto& self, std::size_t i, std::size_t j) -> Tensor<D, T> {
    return i == j ? factors[i] : matmul(self(self, i, left[i][j]), self(self, left[i][j] + 1, j), here);
  };
  Tensor<D, T> y = product(product, 0, n - 1);
  if (tensors[n - 1].dim() == 1) y = squeeze(y, -1, here);
  return tensors[0].dim() == 1 ? squeeze(y, 0, here) : y;
}
template <Device D, Floating T>
Tensor<D, T> multi_dot(std::initializer_list<Tensor<D, T>> tensors, CallSite here = {}) {
  return multi_dot(std::vector<Tensor<D, T>>(tensors), here);
}

}}}  // namespace tern::linalg
