// Probabilities: numbers in [0, 1].
#pragma once
#include "../../backend/refuse.hpp"
#include "../reduce.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// Error if an element of p is no probability. On Cuda it is thrown when the host next waits for the device. op must
/// outlive the kernel.
template <class D, class T>
void refuse_improbable(const char* op, const Tensor<D, T>& p) {
  const auto improbable = [](auto v) { return where(abs(v - 0.5) <= 0.5, decltype(v)(0), decltype(v)(1)); };
  const Tensor<D, bool> found =
      reduce<backend::Maximum, T, bool>({op, CallSite::unknown}, improbable, is_positive, {}, false, p);
  backend::run<D>(backend::RefuseIf{op, BadElement::probability, *found.impl()});
}

}}}  // namespace tern::detail
