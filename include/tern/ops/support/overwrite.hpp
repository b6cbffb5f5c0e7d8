// Overwrites a tensor with elements from a file or another network.
#pragma once
#include "../../tensor/convert.hpp"
#include "in_place.hpp"
#include "../transfer.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

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

}}}  // namespace tern::detail
