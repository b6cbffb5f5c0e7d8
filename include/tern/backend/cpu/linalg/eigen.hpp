// Eigen, where its headers are: in the compiler's path, or in the folder that Debian puts there. Only .ipp files include
// this, so a program with the compiled library parses none of it.
#pragma once
#include "batch.hpp"
#if __has_include(<Eigen/Dense>)
#include <Eigen/Dense>
#elif __has_include(<eigen3/Eigen/Dense>)
#include <eigen3/Eigen/Dense>
#else
#error "tern/linalg computes with Eigen, which is not installed: apt install libeigen3-dev"
#endif

namespace tern::inline TERN_BUILD::backend::linalg_detail {

/// Eigen's matrix, column-major. Its columns are the rows of ours.
template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
/// A matrix of ours as it is.
template <class T>
using RowMajor = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

/// Matrix i of a batch, transposed.
template <class T>
Eigen::Map<Matrix<T>> transposed(const Array& a, Index i) {
  return {matrix<T>(a, i), columns(a), rows(a)};
}

}  // namespace tern::backend::linalg_detail
