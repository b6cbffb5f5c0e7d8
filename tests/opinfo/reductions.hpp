// What makes many elements one, and what is made of that.
#pragma once
#include <tern/linalg/matrix_norm.hpp>

#include "table.hpp"

namespace opinfo {

/// A reduction over dim with keepdim.
#define REDUCTION(name) \
  {#name, [](C& c) { return Results{name(c.x(0), c.dims(1, "dim"), c.flag(2, "keepdim", false))}; }}
/// The same, in the type that dtype names.
#define REDUCTION_IN_TYPE(name)                                                        \
  {#name, [](C& c) {                                                                   \
     const bool keepdim = c.flag(2, "keepdim", false);                                 \
     const tern::detail::Dims dim = c.dims(1, "dim");                                  \
     return Results{c.in_dtype([&](const auto& x) { return name(x, dim, keepdim); })}; \
   }}
#define POSITION(name)                                           \
  {#name, [](C& c) {                                             \
     const bool keepdim = c.flag(2, "keepdim", false);           \
     if (!c.has(1, "dim")) return Results{name(c.x(0))};         \
     return Results{name(c.x(0), c.integer(1, "dim"), keepdim)}; \
   }}

/// Of all elements, along a dimension, or of two tensors.
#define EXTREME(name)                                                            \
  {#name, [](C& c) {                                                             \
     const bool keepdim = c.flag(2, "keepdim", false);                           \
     if (c.is_tensor(1, "other")) return Results{name(c.x(0), c.x(1, "other"))}; \
     if (!c.has(1, "dim")) return Results{name(c.x(0))};                         \
     return ordered(name(c.x(0), c.integer(1, "dim"), keepdim));                 \
   }}

#define MEDIAN(name)                                             \
  {#name, [](C& c) {                                             \
     const bool keepdim = c.flag(2, "keepdim", false);           \
     if (!c.has(1, "dim")) return Results{name(c.x(0))};         \
     return ordered(name(c.x(0), c.integer(1, "dim"), keepdim)); \
   }}
#define QUANTILE(name)                                                                                                 \
  {#name, [](C& c) {                                                                                                   \
     const auto dim = c.optional_integer(2, "dim");                                                                    \
     const bool keepdim = c.flag(3, "keepdim", false);                                                                 \
     const std::string interpolation = c.text("interpolation", "linear");                                              \
     if (!c.is_tensor(1, "q")) return Results{name(c.x(0), c.number(1, "q", 0), dim, keepdim, interpolation.c_str())}; \
     return Results{name(c.x(0), c.x(1, "q"), dim, keepdim, interpolation.c_str())};                                   \
   }}
/// Of values dx apart, or at points x.
#define INTEGRAL(name)                                                  \
  {#name, [](C& c) {                                                    \
     const Index dim = c.integer(3, "dim", -1);                         \
     if (c.has(1, "x")) return Results{name(c.x(0), c.x(1, "x"), dim)}; \
     return Results{name(c.x(0), c.number("dx", 1), dim)};              \
   }}

template <class D, class T>
Table<D, T> reductions() {
  using C = Call<D, T>;
  return {
      REDUCTION(all),
      REDUCTION(any),
      REDUCTION(sum),
      REDUCTION(prod),
      REDUCTION(amax),
      REDUCTION(amin),
      EXTREME(max),
      EXTREME(min),
      MEDIAN(median),
      MEDIAN(nanmedian),
      {"mode", [](C& c) { return ordered(mode(c.x(0), c.integer(1, "dim", -1), c.flag(2, "keepdim", false))); }},
      {"equal", [](C& c) { return Results{tern::full<D, bool>({}, equal(c.x(0), c.x(1, "other")))}; }},
      {"allclose",
       [](C& c) {
         const double rtol = c.number(2, "rtol", 1e-5), atol = c.number(3, "atol", 1e-8);
         const bool equal_nan = c.flag(4, "equal_nan", false);
         return Results{tern::full<D, bool>({}, allclose(c.x(0), c.x(1, "other"), rtol, atol, equal_nan))};
       }},
      {"nansum",
       [](C& c) {
         if constexpr (tern::detail::is_floating_v<T>)
           return Results{
               c.in_dtype([&](const auto& x) { return nansum(x, c.dims(1, "dim"), c.flag(2, "keepdim", false)); })};
         else return Results{nansum(c.x(0), c.dims(1, "dim"), c.flag(2, "keepdim", false))};
       }},
      {"cummax", [](C& c) { return ordered(cummax(c.x(0), c.integer(1, "dim"))); }},
      {"cummin", [](C& c) { return ordered(cummin(c.x(0), c.integer(1, "dim"))); }},
      {"diff",
       [](C& c) {
         return Results{diff(c.x(0), c.integer(1, "n", 1), c.integer(2, "dim", -1), c.optional_x(3, "prepend"),
                             c.optional_x(4, "append"))};
       }},
      POSITION(argmax),
      POSITION(argmin),
      {"aminmax",
       [](C& c) {
         const auto [min, max] = aminmax(c.x(0), c.dims(1, "dim"), c.flag(2, "keepdim", false));
         return Results{min, max};
       }},
      {"count_nonzero", [](C& c) { return Results{count_nonzero(c.x(0), c.dims(1, "dim"))}; }},
  };
}

/// What var and std are called with: (dim, correction or unbiased, keepdim) or (unbiased).
template <class D, class T>
struct Spread {
  tern::detail::Dims dim;
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

/// The norm of vectors or of matrices, as torch.norm and torch.linalg.norm choose by `ord` and the dimensions.
template <class D, class T>
Tensor<D, T> any_norm(Call<D, T>& c, const char* name, bool numbers_of_matrices) {
  const auto x = c.x(0);
  const tern::detail::Dims dim = c.dims(2, "dim"), matrix = dim.empty() ? tern::detail::Dims{-2, -1} : dim;
  const bool keepdim = c.flag(3, "keepdim", false), of_matrix = dim.n == 2 || (dim.empty() && x.dim() == 2);
  const bool singular = c.arg(1, name).is_string() ? c.text(1, name, "") == "nuc" : std::abs(c.number(1, name, 1)) == 2;
  if (singular && of_matrix && !std::is_same_v<D, tern::Cpu>) throw Skip{"singular values are computed on the CPU"};
  if (c.arg(1, name).is_string() && (of_matrix || singular))
    return tern::linalg::matrix_norm(x, c.text(1, name, "").c_str(), matrix, keepdim);
  if (numbers_of_matrices && !c.arg(1, name).is_string()) {
    const std::optional<double> ord = c.has(1, name) ? std::optional(c.number(1, name, 2)) : std::nullopt;
    return tern::linalg::norm(x, ord, dim, keepdim);
  }
  return norm(x, c.arg(1, name).is_string() ? 2 : c.number(1, name, 2), dim, keepdim);
}

template <class D, class T>
Table<D, T> floating_reductions() {
  using C = Call<D, T>;
  return {
      {"cumsum",
       [](C& c) { return Results{c.in_dtype([&](const auto& x) { return cumsum(x, c.integer(1, "dim")); })}; }},
      {"cumprod",
       [](C& c) { return Results{c.in_dtype([&](const auto& x) { return cumprod(x, c.integer(1, "dim")); })}; }},
      REDUCTION_IN_TYPE(sum),
      REDUCTION_IN_TYPE(mean),
      REDUCTION_IN_TYPE(prod),
      REDUCTION_IN_TYPE(nanmean),
      {"cov", [](C& c) { return Results{cov(c.x(0), c.number("correction", 1))}; }},
      {"corrcoef", [](C& c) { return Results{corrcoef(c.x(0))}; }},
      {"histc",
       [](C& c) {
         return Results{histc(c.x(0), c.integer(1, "bins", 100), c.number(2, "min", 0), c.number(3, "max", 0))};
       }},
      REDUCTION(logsumexp),
      {"logcumsumexp", [](C& c) { return Results{logcumsumexp(c.x(0), c.integer(1, "dim"))}; }},
      {"cdist",
       [](C& c) {
         c.text(3, "compute_mode", "");  // whether by products
         return Results{cdist(c.x(0), c.x(1), c.number(2, "p", 2))};
       }},
      {"nn.functional.pdist", [](C& c) { return Results{pdist(c.x(0), c.number(1, "p", 2))}; }},
      QUANTILE(quantile),
      QUANTILE(nanquantile),
      INTEGRAL(trapezoid),
      INTEGRAL(cumulative_trapezoid),
      {"dist", [](C& c) { return Results{dist(c.x(0), c.x(1, "other"), c.number(2, "p", 2))}; }},
      {"renorm",
       [](C& c) {
         return Results{renorm(c.x(0), c.number(1, "p", 2), c.integer(2, "dim"), c.number(3, "maxnorm", 0))};
       }},
      {"linalg.norm", [](C& c) { return Results{any_norm(c, "ord", true)}; }},
      {"linalg.vector_norm",
       [](C& c) {
         const bool keepdim = c.flag(3, "keepdim", false);
         return Results{tern::linalg::vector_norm(c.x(0), c.number(1, "ord", 2), c.dims(2, "dim"), keepdim)};
       }},
      {"norm", [](C& c) { return Results{any_norm(c, "p", false)}; }},
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
      {"std_mean",
       [](C& c) {
         const Spread<D, T> s(c);
         const auto [spread, middle] = std_mean(c.x(0), s.dim, s.correction, s.keepdim);
         return Results{spread, middle};
       }},
      {"var_mean",
       [](C& c) {
         const Spread<D, T> s(c);
         const auto [spread, middle] = var_mean(c.x(0), s.dim, s.correction, s.keepdim);
         return Results{spread, middle};
       }},
      {"nn.functional.softmin",
       [](C& c) { return Results{c.in_dtype([&](const auto& x) { return softmin(x, c.integer(1, "dim")); })}; }},
      {"softmax",
       [](C& c) { return Results{c.in_dtype([&](const auto& x) { return softmax(x, c.integer(1, "dim")); })}; }},
      {"log_softmax",
       [](C& c) { return Results{c.in_dtype([&](const auto& x) { return log_softmax(x, c.integer(1, "dim")); })}; }},
  };
}

#undef REDUCTION
#undef REDUCTION_IN_TYPE
#undef POSITION
#undef EXTREME
#undef MEDIAN
#undef QUANTILE
#undef INTEGRAL

}  // namespace opinfo
