// Options by name, as in `max_pool2d(x, 2, {.stride = 1})`, beside PyTorch's positional arguments, as in
// `max_pool2d(x, 2, 1)`: a function that takes both has an overload for each. A layer that takes a list alone, as
// MaxPool2d({2, 2}), has a constructor for that list: to the others it could also be a layer to move from, MaxPool2d(2,
// 2).
#pragma once
#include "shape.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// The first member of such options. Nothing converts to it, so that they are given by name: `{2, 2}` is one positional
/// argument, the stride of two dimensions, and not the first two options.
class ByName {
 public:
  explicit constexpr ByName() {}
};

template <class A, class X>
concept MeansPositional =
    std::same_as<A, X> || (std::convertible_to<A, X> && !std::floating_point<A> && !std::same_as<X, bool>);

/// A positional argument of type X. Other than with X, `{}` is none, so that it means options; a number is no bool, and
/// a fraction no integer. RealNumber is the same for a double.
template <class X>
class Positional {
 public:
  template <MeansPositional<X> A>
  constexpr Positional(const A& x) : value_(static_cast<X>(x)) {}
  template <std::integral... I>
    requires(std::same_as<X, Dims> && sizeof...(I) > 1)
  Positional(I... each) : value_{{static_cast<Index>(each)...}, CallSite::unknown} {}

  constexpr operator const X&() const { return value_; }

 private:
  X value_;
};

}}}  // namespace tern::detail
