// New tensors, and elementwise kernels applied to tensors.
#pragma once
#include "../backend/copy.hpp"
#include "../backend/map.hpp"
#include "../device/events.hpp"
#include "allocate.hpp"
#include "tensor.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

template <Device D>
void copy_array(const Array& out, const Array& in) {
  count_pass({&out, &in});
  backend::run<D>(backend::Copy{out, in});
}
template <Device D>
inline constexpr DeviceOps device_ops{&allocate<D>, &copy_array<D>};

/// Gives a new dense tensor the memory order of `like`, which has the same shape, if `like` is dense.
TERN_API TensorImpl* take_order(TensorImpl* out, const Array& like);

/// A new tensor of the inputs' broadcast shape, in the memory order of the first input that has this shape. Error that
/// names op if an input is undefined.
TERN_API TensorImpl* new_output(const CallSite& op, DType dtype, const Array* const* in, int n, Allocate allocate);
/// The same for the pass that reads the inputs and writes it, which it counts.
TERN_API TensorImpl* new_map_output(const CallSite& op, DType dtype, const Array* const* in, int n, Allocate allocate);

/// A new tensor of element type Out: f for each element of the inputs, broadcast. Not recorded.
template <class Out, class F, class D, class... T>
Tensor<D, Out> map(const CallSite& op, const F& f, const Tensor<D, T>&... x) {
  const Array* const in[] = {x.impl()...};
  Tensor<D, Out> out(new_map_output(op, dtype_of<Out>, in, sizeof...(T), &allocate<D>));
  backend::run<D, Out, T...>(backend::Map(f, *out.impl(), in));
  return out;
}

/// Counts the pass that writes target. Error unless the inputs broadcast to its shape.
TERN_API void check_target(const CallSite& op, const Array& target, const Array* const* in, int n);

/// x, or a copy of it if a write to target may change elements of x that have not been read yet.
template <class D, class T>
Tensor<D, T> as_before_write(const TensorImpl& target, const Tensor<D, T>& x) {
  return partly_overlaps(target, *x.impl()) ? Tensor<D, T>(copied(device_ops<D>, x.impl())) : x;
}

/// Writes f for each element of the inputs into target. The inputs must broadcast to target's shape. Their elements
/// count as they are before the write.
template <class F, class D, class Out, class... T>
void map_into(const CallSite& op, const Tensor<D, Out>& target, const F& f, const Tensor<D, T>&... x) {
  const Array* const in[] = {x.checked(op)...};
  TensorImpl* const out = target.checked(op);
  check_target(op, *out, in, sizeof...(T));
  if ((... || partly_overlaps(*out, *x.impl()))) [[unlikely]]
    return map_into(op, target, f, as_before_write(*out, x)...);
  backend::run<D, Out, T...>(backend::Map(f, *out, in));
  bump_version(out);
}

}  // namespace detail

/// A tensor whose elements are not initialised.
template <Device D, Element T = float>
Tensor<D, T> empty(const detail::Shape& shape, D device = detail::current_device<D>(), CallSite here = {}) {
  const CallScope scope({"empty", here});
  return Tensor<D, T>(detail::allocate<D>(dtype_of<T>, shape, detail::ordinal_of(device)));
}

/// The same, with the dimensions in the memory order of a format.
template <Device D, Element T = float>
Tensor<D, T> empty(const detail::Shape& shape, MemoryFormat format, D device = detail::current_device<D>(),
                   CallSite here = {}) {
  Tensor<D, T> x = empty<D, T>(shape, device, here);
  if (format == channels_last) detail::set_channels_last_strides(*x.impl());
  return x;
}

/// A tensor of one value. Error if T does not hold it.
template <Device D, Element T = float>
Tensor<D, T> full(const detail::Shape& shape, detail::number_t<T> value, D device = detail::current_device<D>(),
                  CallSite here = {}) {
  const CallScope scope({"full", here});
  const detail::scalar_t<T> element = detail::element<T>({"full", CallSite::unknown}, value);
  Tensor<D, T> out = empty<D, T>(shape, device);
  detail::count_pass({out.impl()});
  detail::backend::run<D>(detail::backend::Fill<T>{*out.impl(), element});
  return out;
}

/// The same with the element type as an argument.
template <Device D, Element T>
Tensor<D, T> full(const detail::Shape& shape, detail::number_t<T> value, detail::Type<T>,
                  D device = detail::current_device<D>(), CallSite here = {}) {
  return full<D, T>(shape, value, device, here);
}

template <Device D, Element T = float>
Tensor<D, T> zeros(const detail::Shape& shape, D device = detail::current_device<D>(), CallSite here = {}) {
  const CallScope scope({"zeros", here});
  return full<D, T>(shape, 0, device);
}
template <Device D, Element T = float>
Tensor<D, T> ones(const detail::Shape& shape, D device = detail::current_device<D>(), CallSite here = {}) {
  const CallScope scope({"ones", here});
  return full<D, T>(shape, 1, device);
}

// Other forms of a function of a shape: zeros<D>(2, 3) is zeros<D>({2, 3}), and zeros<D>({2, 3}, f64) is
// zeros<D, double>({2, 3}).
#define TERN_FORMS_OF_SHAPE(name)                                                                                    \
  template <Device D, Element T = float, std::convertible_to<Index>... I>                                            \
  Tensor<D, T> name(detail::At<Index> first, Index second, I... rest) {                                              \
    return name<D, T>(detail::Shape{first.tensor, second, Index(rest)...}, detail::current_device<D>(), first.here); \
  }                                                                                                                  \
  template <Device D, Element T>                                                                                     \
  Tensor<D, T> name(const detail::Shape& shape, detail::Type<T>, D device = detail::current_device<D>(),             \
                    CallSite here = {}) {                                                                            \
    return name<D, T>(shape, device, here);                                                                          \
  }
TERN_FORMS_OF_SHAPE(empty)
TERN_FORMS_OF_SHAPE(zeros)
TERN_FORMS_OF_SHAPE(ones)

/// x's shape and memory order, and its element type unless another is given; elements not initialised.
template <class D, class T, Element U = T>
Tensor<D, U> empty_like(const Tensor<D, T>& x, detail::Type<U> = {}, CallSite here = {}) {
  const CallScope scope({"empty_like", here});
  const detail::Array* const in[] = {x.impl()};
  return Tensor<D, U>(detail::new_output({"empty_like", CallSite::unknown}, dtype_of<U>, in, 1, &detail::allocate<D>));
}
template <class D, class T, Element U = T>
Tensor<D, U> full_like(const Tensor<D, T>& x, detail::number_t<U> value, detail::Type<U> type = {},
                       CallSite here = {}) {
  const CallScope scope({"full_like", here});
  const detail::scalar_t<U> element = detail::element<U>({"full_like", CallSite::unknown}, value);
  Tensor<D, U> out = empty_like(x, type);
  detail::backend::run<D>(detail::backend::Fill<U>{*out.impl(), element});
  return out;
}
template <class D, class T, Element U = T>
Tensor<D, U> zeros_like(const Tensor<D, T>& x, detail::Type<U> type = {}, CallSite here = {}) {
  const CallScope scope({"zeros_like", here});
  return full_like(x, 0, type);
}
template <class D, class T, Element U = T>
Tensor<D, U> ones_like(const Tensor<D, T>& x, detail::Type<U> type = {}, CallSite here = {}) {
  const CallScope scope({"ones_like", here});
  return full_like(x, 1, type);
}

template <Device D, Element T>
template <Element U>
Tensor<D, U> Tensor<D, T>::new_empty(const detail::Shape& size, detail::Type<U>, CallSite here) const {
  const CallScope scope({"new_empty", here});
  return empty<D, U>(size, device());
}
template <Device D, Element T>
template <Element U>
Tensor<D, U> Tensor<D, T>::new_full(const detail::Shape& size, detail::number_t<U> value, detail::Type<U>,
                                    CallSite here) const {
  const CallScope scope({"new_full", here});
  return full<D, U>(size, value, device());
}
template <Device D, Element T>
template <Element U>
Tensor<D, U> Tensor<D, T>::new_zeros(const detail::Shape& size, detail::Type<U>, CallSite here) const {
  const CallScope scope({"new_zeros", here});
  return zeros<D, U>(size, device());
}
template <Device D, Element T>
template <Element U>
Tensor<D, U> Tensor<D, T>::new_ones(const detail::Shape& size, detail::Type<U>, CallSite here) const {
  const CallScope scope({"new_ones", here});
  return ones<D, U>(size, device());
}

}}  // namespace tern

#ifndef TERN_COMPILED
#include "map.ipp"
#endif
