// PyTorch's other names of ops. Each has the meaning, the gradient and the speed of its op; its errors name the alias.
#pragma once
#include "blas.hpp"
#include "comparison.hpp"
#include "exponential.hpp"
#include "rounding.hpp"
#include "shape.hpp"
#include "special.hpp"
#include "take.hpp"
#include "triangle.hpp"
#include "trigonometric.hpp"
#include "where.hpp"

namespace tern { inline namespace TERN_BUILD {

/// Defines name(x) and name_(x).
#define TERN_UNARY_ALIAS(name, op, Type)                                   \
  template <Device D, Type T>                                              \
  Tensor<D, T> name(const Tensor<D, T>& x, CallSite here = {}) {           \
    const CallScope scope({#name, here});                                  \
    return op(x, here);                                                    \
  }                                                                        \
  template <Device D, Type T>                                              \
  const Tensor<D, T>& name##_(const Tensor<D, T>& x, CallSite here = {}) { \
    const CallScope scope({#name "_", here});                              \
    return op##_(x, here);                                                 \
  }
TERN_UNARY_ALIAS(absolute, abs, Element)
TERN_UNARY_ALIAS(negative, neg, Element)
TERN_UNARY_ALIAS(fix, trunc, Floating)
TERN_UNARY_ALIAS(arccos, acos, Floating)
TERN_UNARY_ALIAS(arccosh, acosh, Floating)
TERN_UNARY_ALIAS(arcsin, asin, Floating)
TERN_UNARY_ALIAS(arcsinh, asinh, Floating)
TERN_UNARY_ALIAS(arctan, atan, Floating)
TERN_UNARY_ALIAS(arctanh, atanh, Floating)
#undef TERN_UNARY_ALIAS

/// Defines name(a, b) and name_(a, b), where b is a tensor or of type Number.
#define TERN_BINARY_ALIAS(name, op, Result, Number)                                               \
  template <Device D, Element T>                                                                  \
  Tensor<D, Result> name(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {      \
    const CallScope scope({#name, here});                                                         \
    return op(a, b, here);                                                                        \
  }                                                                                               \
  template <Device D, Element T>                                                                  \
  Tensor<D, Result> name(const Tensor<D, T>& a, Number b, CallSite here = {}) {                   \
    const CallScope scope({#name, here});                                                         \
    return op(a, b, here);                                                                        \
  }                                                                                               \
  template <Device D, Element T>                                                                  \
  const Tensor<D, T>& name##_(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) { \
    const CallScope scope({#name "_", here});                                                     \
    return op##_(a, b, here);                                                                     \
  }                                                                                               \
  template <Device D, Element T>                                                                  \
  const Tensor<D, T>& name##_(const Tensor<D, T>& a, Number b, CallSite here = {}) {              \
    const CallScope scope({#name "_", here});                                                     \
    return op##_(a, b, here);                                                                     \
  }                                                                                               \
  TERN_SAME_PLACE(name)
TERN_BINARY_ALIAS(multiply, mul, T, detail::operand_t<T>)
TERN_BINARY_ALIAS(divide, div, T, detail::operand_t<T>)
TERN_BINARY_ALIAS(true_divide, div, T, detail::operand_t<T>)
TERN_BINARY_ALIAS(subtract, sub, T, detail::operand_t<T>)
TERN_BINARY_ALIAS(greater, gt, bool, detail::number_t<T>)
TERN_BINARY_ALIAS(greater_equal, ge, bool, detail::number_t<T>)
TERN_BINARY_ALIAS(less, lt, bool, detail::number_t<T>)
TERN_BINARY_ALIAS(less_equal, le, bool, detail::number_t<T>)
TERN_BINARY_ALIAS(not_equal, ne, bool, detail::number_t<T>)
#undef TERN_BINARY_ALIAS

/// atan2.
template <Device D, Floating T>
Tensor<D, T> arctan2(const Tensor<D, T>& y, const Tensor<D, T>& x, CallSite here = {}) {
  const CallScope scope({"arctan2", here});
  return atan2(y, x, here);
}

/// clamp.
template <Device D, Element T>
Tensor<D, T> clip(const Tensor<D, T>& x, std::optional<detail::number_t<T>> min,
                  std::optional<detail::number_t<T>> max = {}, CallSite here = {}) {
  const CallScope scope({"clip", here});
  return clamp(x, min, max, here);
}
template <Device D, Element T>
Tensor<D, T> clip(const Tensor<D, T>& x, const Tensor<D, T>& min, const Tensor<D, T>& max = {}, CallSite here = {}) {
  const CallScope scope({"clip", here});
  return clamp(x, min, max, here);
}
template <Device D, Element T>
const Tensor<D, T>& clip_(const Tensor<D, T>& x, std::optional<detail::number_t<T>> min,
                          std::optional<detail::number_t<T>> max = {}, CallSite here = {}) {
  const CallScope scope({"clip_", here});
  return clamp_(x, min, max, here);
}

/// Defines name(tensors, dim), which is cat.
#define TERN_CAT_ALIAS(name)                                                                          \
  template <Device D, Element T>                                                                      \
  Tensor<D, T> name(const std::vector<Tensor<D, T>>& tensors, Index dim = 0, CallSite here = {}) {    \
    const CallScope scope({#name, here});                                                             \
    return cat(tensors, dim, here);                                                                   \
  }                                                                                                   \
  template <Device D, Element T>                                                                      \
  Tensor<D, T> name(std::initializer_list<Tensor<D, T>> tensors, Index dim = 0, CallSite here = {}) { \
    return name(std::vector<Tensor<D, T>>(tensors), dim, here);                                       \
  }
TERN_CAT_ALIAS(concat)
TERN_CAT_ALIAS(concatenate)
#undef TERN_CAT_ALIAS

/// outer.
template <Device D, Element T>
Tensor<D, T> ger(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  const CallScope scope({"ger", here});
  return outer(a, b, here);
}
TERN_SAME_PLACE(ger)

/// dot.
template <Device D, Element T>
Tensor<D, T> vdot(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  const CallScope scope({"vdot", here});
  return dot(a, b, here);
}
TERN_SAME_PLACE(vdot)

/// transpose.
template <Device D, Element T>
Tensor<D, T> swapaxes(const Tensor<D, T>& x, Index dim0, Index dim1, CallSite here = {}) {
  const CallScope scope({"swapaxes", here});
  return transpose(x, dim0, dim1, here);
}
template <Device D, Element T>
Tensor<D, T> swapdims(const Tensor<D, T>& x, Index dim0, Index dim1, CallSite here = {}) {
  const CallScope scope({"swapdims", here});
  return transpose(x, dim0, dim1, here);
}

/// flip(x, 1), which mirrors the columns of matrices.
template <Device D, Element T>
Tensor<D, T> fliplr(const Tensor<D, T>& x, CallSite here = {}) {
  const CallScope scope({"fliplr", here});
  return flip(x, 1, here);
}
/// flip(x, 0).
template <Device D, Element T>
Tensor<D, T> flipud(const Tensor<D, T>& x, CallSite here = {}) {
  const CallScope scope({"flipud", here});
  return flip(x, 0, here);
}

/// diag of all elements in a row.
template <Device D, Element T>
Tensor<D, T> diagflat(const Tensor<D, T>& x, Index offset = 0, CallSite here = {}) {
  const CallScope scope({"diagflat", here});
  return diag(reshape(x, -1, here), offset, here);
}

/// movedim.
template <Device D, Element T>
Tensor<D, T> moveaxis(const Tensor<D, T>& x, detail::Dims source, detail::Dims destination, CallSite here = {}) {
  const CallScope scope({"moveaxis", here});
  return movedim(x, source, destination, here);
}

/// flatten of all dimensions.
template <Device D, Element T>
Tensor<D, T> ravel(const Tensor<D, T>& x, CallSite here = {}) {
  const CallScope scope({"ravel", here});
  return flatten(x, 0, -1, here);
}

/// nonzero.
template <Device D, Element T>
Tensor<D, Index> argwhere(const Tensor<D, T>& x, CallSite here = {}) {
  const CallScope scope({"argwhere", here});
  return nonzero(x, here);
}

/// narrow, as a copy.
template <Device D, Element T>
Tensor<D, T> narrow_copy(const Tensor<D, T>& x, Index dim, Index start, Index length, CallSite here = {}) {
  const CallScope scope({"narrow_copy", here});
  return clone(narrow(x, dim, start, length, here), here);
}

/// x.numel().
template <Device D, Element T>
Index numel(const Tensor<D, T>& x, CallSite here = {}) {
  return x.checked({"numel", here})->numel;
}

/// x.is_floating_point().
template <Device D, Element T>
bool is_floating_point(const Tensor<D, T>& x, CallSite here = {}) {
  x.checked({"is_floating_point", here});
  return x.is_floating_point();
}

/// x itself.
template <Device D, Element T>
Tensor<D, T> positive(const Tensor<D, T>& x, CallSite here = {}) {
  x.checked({"positive", here});
  return x;
}

/// torch.nn.functional: all ops.
namespace nn::functional {
using namespace tern;
}

/// torch.special: all ops, and its own names of three.
namespace special {
using namespace tern;

/// sigmoid.
template <Device D, Floating T>
Tensor<D, T> expit(const Tensor<D, T>& x, CallSite here = {}) {
  const CallScope scope({"expit", here});
  return sigmoid(x, here);
}

/// lgamma.
template <Device D, Floating T>
Tensor<D, T> gammaln(const Tensor<D, T>& x, CallSite here = {}) {
  const CallScope scope({"gammaln", here});
  return lgamma(x, here);
}

/// digamma.
template <Device D, Floating T>
Tensor<D, T> psi(const Tensor<D, T>& x, CallSite here = {}) {
  const CallScope scope({"psi", here});
  return digamma(x, here);
}
}  // namespace special

}}  // namespace tern
