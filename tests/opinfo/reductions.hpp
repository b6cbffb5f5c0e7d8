// What makes many elements one, and what is made of that.
#pragma once
#include "table.hpp"

namespace opinfo {

/// A reduction over dim with keepdim.
#define REDUCTION(name) \
  {#name, [](C& c) { return Results{name(c.x(0), c.dims(1, "dim"), c.flag(2, "keepdim", false))}; }}
/// The same, in the type that dtype names.
#define REDUCTION_IN_TYPE(name)                                                                                         \
  {#name, [](C& c) {                                                                                                    \
     return Results{c.in_dtype([&](const auto& x) { return name(x, c.dims(1, "dim"), c.flag(2, "keepdim", false)); })}; \
   }}
#define POSITION(name)                                                                                \
  {#name, [](C& c) {                                                                                  \
     const bool keepdim = c.flag(2, "keepdim", false);                                                \
     if (!c.has(1, "dim")) return Results{name(c.x(0))};                                              \
     return Results{name(c.x(0), c.integer(1, "dim"), keepdim)};                                      \
   }}

template <class D, class T>
Table<D, T> reductions() {
  using C = Call<D, T>;
  return {
      REDUCTION(all), REDUCTION(any), REDUCTION(sum), REDUCTION(prod), REDUCTION(amax), REDUCTION(amin),
      POSITION(argmax), POSITION(argmin),
  };
}

/// What var and std are called with: (dim, correction or unbiased, keepdim) or (unbiased).
template <class D, class T>
struct Spread {
  Dims dim;
  double correction;
  bool keepdim;
  explicit Spread(Call<D, T>& c) {
    const bool short_form = c.variant() == "unbiased";
    if (!short_form) dim = c.dims(1, "dim");
    const bool unbiased = c.flag(short_form ? 1 : 2, "unbiased", true);
    correction = c.number("correction", unbiased ? 1 : 0);
    keepdim = c.flag(3, "keepdim", false);
  }
};

template <class D, class T>
Table<D, T> floating_reductions() {
  using C = Call<D, T>;
  return {
      REDUCTION_IN_TYPE(sum), REDUCTION_IN_TYPE(mean), REDUCTION_IN_TYPE(prod), REDUCTION(logsumexp),
      {"norm",
       [](C& c) {
         const bool named = c.arg(1, "p").is_string();
         if (named && c.text(1, "p", "") != "fro") throw Skip{"no norm " + c.text(1, "p", "")};
         return Results{norm(c.x(0), named ? 2 : c.number(1, "p", 2), c.dims(2, "dim"), c.flag(3, "keepdim", false))};
       }},
      {"std",
       [](C& c) {
         const Spread<D, T> s(c);
         return Results{tern::std(c.x(0), s.dim, s.correction, s.keepdim)};
       }},
      {"var",
       [](C& c) {
         const Spread<D, T> s(c);
         return Results{var(c.x(0), s.dim, s.correction, s.keepdim)};
       }},
      {"softmax",
       [](C& c) { return Results{c.in_dtype([&](const auto& x) { return softmax(x, c.integer(1, "dim")); })}; }},
      {"log_softmax",
       [](C& c) { return Results{c.in_dtype([&](const auto& x) { return log_softmax(x, c.integer(1, "dim")); })}; }},
  };
}

#undef REDUCTION
#undef REDUCTION_IN_TYPE
#undef POSITION

}  // namespace opinfo
