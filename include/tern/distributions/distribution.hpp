// What all distributions have: parameters that are tensors or numbers, their checks, shapes, samples.
#pragma once
#include <cmath>
#include <optional>
#include <type_traits>

#include "../ops/exponential.hpp"
#include "../ops/joining.hpp"
#include "../ops/power.hpp"
#include "../ops/random.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributions {

namespace detail {

using tern::detail::Shape;

template <class D, class T>
std::type_identity<Tensor<D, T>> tensor_type(const Tensor<D, T>*);
std::type_identity<void> tensor_type(const void*);

/// The type of the first of the arguments that is a tensor. There is none if none is.
template <class X, class... More>
struct FirstTensor : decltype(tensor_type(static_cast<const X*>(nullptr))){};
template <class X, class... More>
  requires(sizeof...(More) > 0 && std::is_void_v<typename FirstTensor<X>::type>)
struct FirstTensor<X, More...> : FirstTensor<More...> {};
template <class... X>
using device_of = typename FirstTensor<X...>::type::device_type;
template <class... X>
using element_of = typename FirstTensor<X...>::type::value_type;

/// A parameter as it is given: a tensor, a number, or nothing.
template <class D, class T>
class Parameter {
 public:
  Parameter() = default;
  Parameter(const Tensor<D, T>& tensor) : tensor_(tensor) {}
  template <class N>
    requires(std::is_arithmetic_v<N> || tern::detail::is_half_v<N>)
  Parameter(N number) : number_(static_cast<double>(number)) {}
  template <class D2, class T2>
    requires(!std::is_same_v<Tensor<D2, T2>, Tensor<D, T>>)
  Parameter(const Tensor<D2, T2>&) {
    static_assert(std::is_same_v<D2, D>, "parameters on different devices: move one with .cuda() or .cpu()");
    static_assert(std::is_same_v<T2, T>, "parameters of different element types: convert one with .to()");
  }

  bool given() const { return number_ || tensor_.defined(); }
  bool is_number() const { return bool(number_); }
  /// The tensor, or one of the number, on the device of another parameter if that is a tensor.
  Tensor<D, T> tensor(const Parameter& other = {}) const {
    if (!number_) {
      tensor_.checked("distribution");
      return tensor_;
    }
    return full<D, T>({}, *number_,
                      other.tensor_.defined() ? other.tensor_.device() : tern::detail::current_device<D>());
  }

 private:
  Tensor<D, T> tensor_;
  std::optional<double> number_;
};

/// What the elements of a parameter or a value must be.
template <class F>
struct Constraint {
  const char* text;
  F holds;
};
template <class F>
Constraint(const char*, F) -> Constraint<F>;
inline constexpr Constraint real{"a number", [](double v) { return v == v; }};
inline constexpr Constraint positive{"positive", [](double v) { return v > 0; }};
inline constexpr Constraint nonnegative{"0 or more", [](double v) { return v >= 0; }};
inline constexpr Constraint unit_interval{"in [0, 1]", [](double v) { return v >= 0 && v <= 1; }};
inline constexpr Constraint boolean{"0 or 1", [](double v) { return v == 0 || v == 1; }};
inline constexpr Constraint nonnegative_integer{"0, 1, 2 …", [](double v) { return v >= 0 && std::fmod(v, 1) == 0; }};
inline constexpr Constraint one{"1", [](double v) { return v - 1 < 1e-6 && 1 - v < 1e-6; }};

/// Error unless each element is what the constraint says. Only where the host can read the elements: it would have to
/// wait for another device.
template <class D, class T, class F>
void check(const char* name, const Tensor<D, T>& x, const Constraint<F>& constraint) {
  if constexpr (HostDevice<D>) {
    const Tensor<D, T> dense = contiguous(x.detach());
    const T* const values = dense.data();
    const auto holds = [&](Index i) { return constraint.holds(double(compute_t<T>(values[i]))); };
    bool all = true;
    for (Index i = 0; i < dense.numel(); ++i) all &= holds(i);
    if (all) return;
    Index i = 0;
    while (holds(i)) ++i;
    Error::fail("distribution", {name, " must be ", constraint.text, ", not ", double(compute_t<T>(values[i]))});
  }
}

template <class D, class T, class F>
Tensor<D, T> checked(const char* name, const Parameter<D, T>& parameter, const Constraint<F>& constraint,
                     const Parameter<D, T>& other = {}) {
  const Tensor<D, T> x = parameter.tensor(other);
  check(name, x, constraint);
  return x;
}

inline Shape joined(Shape a, const Shape& b) {
  for (const Index size : b) a.push_back(size);
  return a;
}

/// x summed over its last n dimensions.
template <class D, class T>
Tensor<D, T> sum_rightmost(const Tensor<D, T>& x, int n) {
  Shape dims;
  for (int i = 1; i <= n; ++i) dims.push_back(-i);
  return n ? sum(x, dims) : x;
}

/// Error unless the last sizes of x are those of an event.
template <class Distribution, class D, class T>
void check_event_shape(const Distribution& distribution, const Tensor<D, T>& x) {
  const Shape event = distribution.event_shape(), sizes = x.checked("distribution")->shape();
  for (int i = 1; i <= event.n; ++i)
    if (i > sizes.n || sizes[-i] != event[-i])
      Error::fail("distribution", {"a value of shape ", sizes, " does not end with the event's shape ", event});
}

}  // namespace detail

/// The base of the distributions. A distribution has a batch of parameter sets; a sample of one of them has the event's
/// shape.
template <class Self>
class Distribution {
 public:
  detail::Shape batch_shape() const { return batch_shape_; }
  detail::Shape event_shape() const { return event_shape_; }

  /// The square root of variance(). [batch_shape, event_shape]
  auto stddev(CallSite here = {}) const {
    const CallScope scope({"stddev", here});
    return sqrt(self().variance());
  }
  /// A sample of each parameter set for each element of the shape n: [n, batch_shape, event_shape]. It has no gradient.
  auto sample(const detail::Shape& n = {}, CallSite here = {}) const {
    const CallScope scope({"sample", here});
    const NoGradGuard off;
    return self().rsample(n);
  }
  /// The same as a function of the parameters, through which gradients go. It compiles where the distribution has it.
  template <class S = Self>
  void rsample(const detail::Shape& = {}, CallSite = {}) const {
    static_assert(!sizeof(S), "samples of this distribution have no gradient by its parameters: call sample()");
  }

 protected:
  Distribution() = default;
  detail::Shape extended_shape(const detail::Shape& n) const {
    return detail::joined(detail::joined(n, batch_shape_), event_shape_);
  }
  detail::Shape batch_shape_, event_shape_;

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
};

}}}  // namespace tern::distributions
