// Eigen's factorisation that finds the rank. Eigen's names are the same in objects compiled for different processors,
// so the linker would let one object run another's instructions. Here they stand in tern's namespace of this build.
// Eigen can be included once in a file: one that also uses it for itself includes it first, and tern takes that.
#pragma once
#include "../../../core/config.hpp"

#if defined(EIGEN_WORLD_VERSION)
namespace tern { inline namespace TERN_BUILD { namespace detail::backend::linalg_detail {
namespace eigen = ::Eigen;
}}}  // namespace tern::detail::backend::linalg_detail
#else
#define EIGEN_DONT_PARALLELIZE 1  // one matrix is one thread's work
#define EIGEN_NO_DEBUG 1
#define Eigen tern::TERN_BUILD::detail::backend::linalg_detail::eigen
#endif
#if __has_include(<Eigen/QR>)
#include <Eigen/QR>
#elif __has_include(<eigen3/Eigen/QR>)
#include <eigen3/Eigen/QR>
#else
#error "tern/linalg/lstsq.hpp needs Eigen (Debian: libeigen3-dev)"
#endif
#undef Eigen
