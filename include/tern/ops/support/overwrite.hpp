// Overwrites a tensor with elements from a file or another network, whose floating-point type is known only at run
// time.
#pragma once
#include "../../tensor/any_tensor.hpp"
#include "../transfer.hpp"
#include "in_place.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// Element i as a double, which holds every floating-point type's values.
TERN_API double floating_at(const Array& x, Index i);

TERN_API void set_floating(const Array& x, Index i, double value);

/// x in host memory with elements of another floating-point type. x itself if it has that type already.
TERN_API AnyTensor convert_on_host(const AnyTensor& x, DType type);

/// to = from, not recorded. `to` is a Tensor<D, T>; `from` has its shape and any device and floating-point type.
template <class D, class T>
[[gnu::noinline, gnu::cold]] void overwrite(const AnyTensor& to, const AnyTensor& from) {
  const NoGradGuard off;
  const Tensor<D, T> x = to.as<D, T>();
  const Tensor<D, T> y = to_device(convert_on_host(from, dtype_of<T>).template as<Cpu, T>(), x.device());
  check_writable({"copy_", CallSite::unknown}, x.impl());
  backend::run<D>(backend::Copy{*x.impl(), *as_before_write(*x.impl(), y).impl()});
  bump_version(x.impl());
}

TERN_INSTANCE(void overwrite<Cpu, float>(const AnyTensor&, const AnyTensor&))
TERN_CUDA_INSTANCE(void overwrite<Cuda, float>(const AnyTensor&, const AnyTensor&))

}}}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "overwrite.ipp"
#endif
