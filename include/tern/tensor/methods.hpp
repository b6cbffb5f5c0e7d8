// The list of Tensor's methods that are ops: `x.name(args)` is `name(x, args)`. The ops and their documentation are in
// ops/. A method is compiled only if it is used. The file has over 400 lines, because the class needs the whole list in
// one place.
#pragma once
#include <concepts>
#include <initializer_list>
#include <optional>
#include <vector>

#include "../core/here.hpp"
#include "index.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {
template <class D>
struct TensorIndex;
}  // namespace detail
template <class D, class T>
struct ValuesAndIndices;
template <class D, class T>
struct UniqueElements;
struct UniqueOptions;
namespace detail {
template <class D>
struct IndexOperand;
}  // namespace detail
template <class D>
struct TensorIndexAt;
template <class D, class T>
class Selected;

template <Device D, Floating T>
Tensor<D, T> std(const Tensor<D, T>& x, detail::Dims dim = {}, double correction = 1, bool keepdim = false,
                 Here here = {});

namespace detail::adl {

// Inside the class, the method's name hides the function's name. Out here it does not, and the argument finds the
// function.
#define TERN_ADL(name)                               \
  struct name##_caller {                             \
    template <class... A>                            \
    decltype(auto) operator()(const A&... a) const { \
      return name(a...);                             \
    }                                                \
  };                                                 \
  inline constexpr name##_caller call_##name{};

// clang-format off: lists, several names to a line
// Elementwise with one argument. Each has an in-place form.
#define TERN_UNARY_METHODS(X)                                                                                          \
  X(abs) X(neg) X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sqrt) X(rsqrt) X(reciprocal) X(square)      \
  X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(sigmoid) X(erf)    \
  X(erfc) X(erfinv) X(lgamma) X(digamma) X(sign) X(floor) X(ceil) X(round) X(trunc) X(frac) X(relu) X(logit)
// Elementwise with a second tensor or a number. Each has an in-place form.
#define TERN_BINARY_METHODS(X) X(mul) X(div) X(pow) X(fmod) X(remainder) X(floor_divide)
// Elementwise with a second tensor or a number, with a boolean result. Each has an in-place form.
#define TERN_COMPARISON_METHODS(X) X(eq) X(ne) X(lt) X(le) X(gt) X(ge)
// Elementwise with a boolean result.
#define TERN_PREDICATE_METHODS(X) X(isnan) X(isinf) X(isfinite) X(logical_not)
#define TERN_OTHER_METHODS(X)                                                                                          \
  X(add) X(sub) X(add_) X(sub_) X(atan2) X(maximum) X(minimum) X(logical_and) X(logical_or) X(logical_xor)             \
  X(logical_not_) X(logical_and_) X(logical_or_) X(logical_xor_) X(hypot_) X(xlogy_)                                    \
  X(atan2_) X(hypot) X(logaddexp) X(xlogy) X(isclose) X(lerp) X(lerp_) X(addcmul) X(addcmul_) X(addcdiv) X(addcdiv_)   \
  X(bitwise_and) X(bitwise_or) X(bitwise_xor) X(bitwise_not) X(bitwise_left_shift) X(bitwise_right_shift)              \
  X(clamp) X(clamp_) X(clamp_min) X(clamp_min_) X(clamp_max) X(clamp_max_) X(where) X(masked_fill) X(masked_fill_) X(masked_select) X(softmax) X(log_softmax)                                 \
  X(sum) X(mean) X(prod) X(amax) X(amin) X(argmax) X(argmin) X(var) X(logsumexp) X(any) X(all) X(norm)          \
  X(matmul) X(mm) X(bmm) X(mv) X(dot) X(gather) X(index_select) X(index) X(index_put_) X(slice) X(select) X(narrow)    \
  X(transpose) X(t) X(permute) X(expand) X(view) X(reshape) X(flatten) X(squeeze) X(unsqueeze) X(split) X(chunk)       \
  X(unbind) X(contiguous) X(clone) X(copy_) X(fill_) X(to_type) X(to_device) X(cuda_async) X(cpu_async) X(pin_memory) X(rsub) X(rdiv)    \
  X(broadcast_to) X(unflatten) X(movedim) X(diagonal) X(repeat) X(tile) X(flip) X(roll) X(addmm) X(addmv) X(addbmm)    \
  X(baddbmm) X(outer) X(trace) X(aminmax) X(count_nonzero) X(float_power) X(cumsum) X(cumprod) X(sort) X(argsort)       \
  X(msort) X(topk) X(kthvalue) X(tril) X(triu) X(diag) X(rot90) X(unfold) X(take) X(take_along_dim) X(index_add)       \
  X(index_fill) X(scatter) X(scatter_) X(scatter_add) X(repeat_interleave) X(nonzero) X(max) X(min) X(median)         \
  X(quantile) X(equal) X(allclose) X(unique) X(bincount) X(multinomial) X(normal_) X(uniform_) X(bernoulli_)           \
  X(index_add_) X(index_fill_) X(index_copy) X(index_copy_) X(scatter_add_) X(scatter_reduce) X(scatter_reduce_)       \
  X(nansum) X(nanmean) X(nan_to_num) X(nan_to_num_) X(cummax) X(cummin) X(logcumsumexp) X(diff)              \
  X(fmax) X(fmin) X(inner) X(kron) X(cross) X(cov) X(corrcoef) X(diag_embed) X(masked_scatter) X(masked_scatter_) X(histc)
// clang-format on

TERN_UNARY_METHODS(TERN_ADL)
TERN_BINARY_METHODS(TERN_ADL)
TERN_COMPARISON_METHODS(TERN_ADL)
TERN_PREDICATE_METHODS(TERN_ADL)
TERN_OTHER_METHODS(TERN_ADL)
#define TERN_ADL_IN_PLACE(name) TERN_ADL(name##_)
TERN_UNARY_METHODS(TERN_ADL_IN_PLACE)
TERN_BINARY_METHODS(TERN_ADL_IN_PLACE)
TERN_COMPARISON_METHODS(TERN_ADL_IN_PLACE)
#undef TERN_ADL_IN_PLACE
#undef TERN_ADL

// An unqualified `std(x)` would name the namespace std.
struct std_caller {
  template <class D, class T>
  Tensor<D, T> operator()(const Tensor<D, T>& x, const Dims& dim, double correction, bool keepdim, Here here) const {
    return tern::std(x, dim, correction, keepdim, here);
  }
};
inline constexpr std_caller call_std{};

}  // namespace detail::adl

// The following macros are used inside the class.
#define TERN_CALL(name, ...) detail::adl::call_##name(*this __VA_OPT__(, ) __VA_ARGS__)
#define TERN_UNARY_METHOD(name)                                       \
  Tensor name(Here here = {}) const { return TERN_CALL(name, here); } \
  const Tensor& name##_(Here here = {}) const { return TERN_CALL(name##_, here); }
#define TERN_BINARY_METHOD(name)                                                                               \
  Tensor name(const Tensor& other, Here here = {}) const { return TERN_CALL(name, other, here); }              \
  Tensor name(Scalar other, Here here = {}) const { return TERN_CALL(name, other, here); }                     \
  const Tensor& name##_(const Tensor& other, Here here = {}) const { return TERN_CALL(name##_, other, here); } \
  const Tensor& name##_(Scalar other, Here here = {}) const { return TERN_CALL(name##_, other, here); }
#define TERN_COMPARISON_METHOD(name)                                                                             \
  Tensor<D, bool> name(const Tensor& other, Here here = {}) const { return TERN_CALL(name, other, here); }       \
  Tensor<D, bool> name(detail::number_t<T> other, Here here = {}) const { return TERN_CALL(name, other, here); } \
  const Tensor& name##_(const Tensor& other, Here here = {}) const { return TERN_CALL(name##_, other, here); }   \
  const Tensor& name##_(detail::number_t<T> other, Here here = {}) const { return TERN_CALL(name##_, other, here); }
#define TERN_PREDICATE_METHOD(name) \
  Tensor<D, bool> name(Here here = {}) const { return TERN_CALL(name, here); }
#define TERN_REDUCTION_METHOD(name)                                                \
  Tensor name(detail::Dims dim = {}, bool keepdim = false, Here here = {}) const { \
    return TERN_CALL(name, dim, keepdim, here);                                    \
  }
// Sizes or dimensions, in braces or not: x.view({2, -1}) is x.view(2, -1).
#define TERN_SIZES_METHOD(name)                                                                   \
  Tensor name(detail::Shape sizes, Here here = {}) const { return TERN_CALL(name, sizes, here); } \
  template <std::convertible_to<Index>... I>                                                      \
  Tensor name(detail::At<Index> first, Index second, I... rest) const {                           \
    return TERN_CALL(name, detail::Shape{first.tensor, second, Index(rest)...}, first.here);      \
  }
#define TERN_REFUSED_OPERATOR(symbol)                                                                  \
  template <class D2, class T2>                                                                        \
    requires(!std::is_same_v<Tensor<D2, T2>, Tensor>)                                                  \
  friend detail::Refusal<Tensor, Tensor<D2, T2>> operator symbol(const Tensor&, const Tensor<D2, T2>&) \
      TERN_REFUSED(D, D2);
// A comparison takes both operands as At. Otherwise C++20's reversed candidate would match equally well.
#define TERN_OPERATOR_(symbol, name, Result, Right, right, number) \
  friend Result operator symbol(detail::At<Tensor> a, Right b) {   \
    return detail::adl::call_##name(a.tensor, right, a.here);      \
  }                                                                \
  friend Result operator symbol(detail::At<Tensor> a, number b) {  \
    return detail::adl::call_##name(a.tensor, b, a.here);          \
  }                                                                \
  TERN_REFUSED_OPERATOR(symbol)
#define TERN_OPERATOR(symbol, name) TERN_OPERATOR_(symbol, name, Tensor, const Tensor&, b, Scalar)
#define TERN_COMPARISON_OPERATOR(symbol, name) \
  TERN_OPERATOR_(symbol, name, BoolTensor, detail::At<Tensor>, b.tensor, detail::number_t<T>)
#define TERN_COMPOUND_OPERATOR(symbol, name)                                     \
  friend const Tensor& operator symbol(detail::At<Tensor> a, const Tensor & b) { \
    return detail::adl::call_##name(a.tensor, b, a.here);                        \
  }                                                                              \
  friend const Tensor& operator symbol(detail::At<Tensor> a, Scalar b) {         \
    return detail::adl::call_##name(a.tensor, b, a.here);                        \
  }                                                                              \
  TERN_REFUSED_OPERATOR(symbol)

// a op= b of integers or bool, which have no gradients.
#define TERN_BITWISE_COMPOUND_OPERATOR(symbol, name)                                                 \
  friend const Tensor& operator symbol(detail::At<Tensor> a, const Tensor & b) {                     \
    return detail::adl::call_copy_(a.tensor, detail::adl::call_##name(a.tensor, b, a.here), a.here); \
  }

#define TERN_TENSOR_METHODS                                                                                            \
  TERN_UNARY_METHODS(TERN_UNARY_METHOD)                                                                                \
  TERN_BINARY_METHODS(TERN_BINARY_METHOD)                                                                              \
  TERN_COMPARISON_METHODS(TERN_COMPARISON_METHOD)                                                                      \
  TERN_PREDICATE_METHODS(TERN_PREDICATE_METHOD)                                                                        \
  Tensor<D, detail::sum_t<T>> sum(detail::Dims dim = {}, bool keepdim = false, Here here = {}) const {                 \
    return TERN_CALL(sum, dim, keepdim, here);                                                                         \
  }                                                                                                                    \
  Tensor<D, detail::sum_t<T>> prod(detail::Dims dim = {}, bool keepdim = false, Here here = {}) const {                \
    return TERN_CALL(prod, dim, keepdim, here);                                                                        \
  }                                                                                                                    \
  TERN_REDUCTION_METHOD(mean)                                                                                          \
  TERN_REDUCTION_METHOD(amax)                                                                                          \
  TERN_REDUCTION_METHOD(amin)                                                                                          \
  TERN_REDUCTION_METHOD(logsumexp)                                                                                     \
  Tensor add(const Tensor& other, Scalar alpha = 1, Here here = {}) const {                                            \
    return TERN_CALL(add, other, alpha, here);                                                                         \
  }                                                                                                                    \
  Tensor add(Scalar other, Here here = {}) const { return TERN_CALL(add, other, here); }                               \
  Tensor sub(const Tensor& other, Scalar alpha = 1, Here here = {}) const {                                            \
    return TERN_CALL(sub, other, alpha, here);                                                                         \
  }                                                                                                                    \
  Tensor sub(Scalar other, Here here = {}) const { return TERN_CALL(sub, other, here); }                               \
  const Tensor& add_(const Tensor& other, Scalar alpha = 1, Here here = {}) const {                                    \
    return TERN_CALL(add_, other, alpha, here);                                                                        \
  }                                                                                                                    \
  const Tensor& add_(Scalar other, Here here = {}) const { return TERN_CALL(add_, other, here); }                      \
  const Tensor& sub_(const Tensor& other, Scalar alpha = 1, Here here = {}) const {                                    \
    return TERN_CALL(sub_, other, alpha, here);                                                                        \
  }                                                                                                                    \
  const Tensor& sub_(Scalar other, Here here = {}) const { return TERN_CALL(sub_, other, here); }                      \
  Tensor atan2(const Tensor& other, Here here = {}) const { return TERN_CALL(atan2, other, here); }                    \
  Tensor maximum(const Tensor& other, Here here = {}) const { return TERN_CALL(maximum, other, here); }                \
  Tensor minimum(const Tensor& other, Here here = {}) const { return TERN_CALL(minimum, other, here); }                \
  Tensor<D, bool> logical_and(const Tensor& other, Here here = {}) const {                                             \
    return TERN_CALL(logical_and, other, here);                                                                        \
  }                                                                                                                    \
  Tensor<D, bool> logical_or(const Tensor& other, Here here = {}) const { return TERN_CALL(logical_or, other, here); } \
  Tensor<D, bool> logical_xor(const Tensor& other, Here here = {}) const {                                             \
    return TERN_CALL(logical_xor, other, here);                                                                        \
  }                                                                                                                    \
  Tensor clamp(std::optional<detail::number_t<T>> min, std::optional<detail::number_t<T>> max = {}, Here here = {})    \
      const {                                                                                                          \
    return TERN_CALL(clamp, min, max, here);                                                                           \
  }                                                                                                                    \
  const Tensor& clamp_(std::optional<detail::number_t<T>> min, std::optional<detail::number_t<T>> max = {},            \
                       Here here = {}) const {                                                                         \
    return TERN_CALL(clamp_, min, max, here);                                                                          \
  }                                                                                                                    \
  Tensor clamp(const Tensor& min, const Tensor& max = {}, Here here = {}) const {                                      \
    return TERN_CALL(clamp, min, max, here);                                                                           \
  }                                                                                                                    \
  Tensor clamp_min(detail::number_t<T> min, Here here = {}) const { return TERN_CALL(clamp_min, min, here); }          \
  Tensor clamp_min(const Tensor& min, Here here = {}) const { return TERN_CALL(clamp_min, min, here); }                \
  Tensor clamp_max(detail::number_t<T> max, Here here = {}) const { return TERN_CALL(clamp_max, max, here); }          \
  Tensor clamp_max(const Tensor& max, Here here = {}) const { return TERN_CALL(clamp_max, max, here); }                \
  const Tensor& clamp_min_(detail::number_t<T> min, Here here = {}) const { return TERN_CALL(clamp_min_, min, here); } \
  const Tensor& clamp_max_(detail::number_t<T> max, Here here = {}) const { return TERN_CALL(clamp_max_, max, here); } \
  Tensor div(const Tensor& other, const char* rounding_mode, Here here = {}) const {                                   \
    return TERN_CALL(div, other, rounding_mode, here);                                                                 \
  }                                                                                                                    \
  Tensor round(int decimals, Here here = {}) const { return TERN_CALL(round, decimals, here); }                        \
  Tensor logit(double eps, Here here = {}) const { return TERN_CALL(logit, eps, here); }                               \
  const Tensor& atan2_(const Tensor& other, Here here = {}) const { return TERN_CALL(atan2_, other, here); }           \
  const Tensor& logical_not_(Here here = {}) const { return TERN_CALL(logical_not_, here); }                           \
  const Tensor& logical_and_(const Tensor& other, Here here = {}) const {                                              \
    return TERN_CALL(logical_and_, other, here);                                                                       \
  }                                                                                                                    \
  const Tensor& logical_or_(const Tensor& other, Here here = {}) const { return TERN_CALL(logical_or_, other, here); } \
  const Tensor& logical_xor_(const Tensor& other, Here here = {}) const {                                              \
    return TERN_CALL(logical_xor_, other, here);                                                                       \
  }                                                                                                                    \
  Tensor hypot(const Tensor& other, Here here = {}) const { return TERN_CALL(hypot, other, here); }                    \
  const Tensor& hypot_(const Tensor& other, Here here = {}) const { return TERN_CALL(hypot_, other, here); }           \
  Tensor logaddexp(const Tensor& other, Here here = {}) const { return TERN_CALL(logaddexp, other, here); }            \
  Tensor xlogy(const Tensor& other, Here here = {}) const { return TERN_CALL(xlogy, other, here); }                    \
  const Tensor& xlogy_(const Tensor& other, Here here = {}) const { return TERN_CALL(xlogy_, other, here); }           \
  Tensor<D, bool> isclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false,         \
                          Here here = {}) const {                                                                      \
    return TERN_CALL(isclose, other, rtol, atol, equal_nan, here);                                                     \
  }                                                                                                                    \
  Tensor lerp(const Tensor& end, Scalar weight, Here here = {}) const { return TERN_CALL(lerp, end, weight, here); }   \
  Tensor lerp(const Tensor& end, const Tensor& weight, Here here = {}) const {                                         \
    return TERN_CALL(lerp, end, weight, here);                                                                         \
  }                                                                                                                    \
  const Tensor& lerp_(const Tensor& end, Scalar weight, Here here = {}) const {                                        \
    return TERN_CALL(lerp_, end, weight, here);                                                                        \
  }                                                                                                                    \
  const Tensor& lerp_(const Tensor& end, const Tensor& weight, Here here = {}) const {                                 \
    return TERN_CALL(lerp_, end, weight, here);                                                                        \
  }                                                                                                                    \
  Tensor addcmul(const Tensor& a, const Tensor& b, Scalar value = 1, Here here = {}) const {                           \
    return TERN_CALL(addcmul, a, b, value, here);                                                                      \
  }                                                                                                                    \
  const Tensor& addcmul_(const Tensor& a, const Tensor& b, Scalar value = 1, Here here = {}) const {                   \
    return TERN_CALL(addcmul_, a, b, value, here);                                                                     \
  }                                                                                                                    \
  Tensor addcdiv(const Tensor& a, const Tensor& b, Scalar value = 1, Here here = {}) const {                           \
    return TERN_CALL(addcdiv, a, b, value, here);                                                                      \
  }                                                                                                                    \
  const Tensor& addcdiv_(const Tensor& a, const Tensor& b, Scalar value = 1, Here here = {}) const {                   \
    return TERN_CALL(addcdiv_, a, b, value, here);                                                                     \
  }                                                                                                                    \
  Tensor where(const Tensor<D, bool>& condition, const Tensor& other, Here here = {}) const {                          \
    return detail::adl::call_where(condition, *this, other, here);                                                     \
  }                                                                                                                    \
  Tensor where(const Tensor<D, bool>& condition, detail::number_t<T> other, Here here = {}) const {                    \
    return detail::adl::call_where(condition, *this, other, here);                                                     \
  }                                                                                                                    \
  Tensor masked_fill(const Tensor<D, bool>& mask, detail::number_t<T> value, Here here = {}) const {                   \
    return TERN_CALL(masked_fill, mask, value, here);                                                                  \
  }                                                                                                                    \
  const Tensor& masked_fill_(const Tensor<D, bool>& mask, detail::number_t<T> value, Here here = {}) const {           \
    return TERN_CALL(masked_fill_, mask, value, here);                                                                 \
  }                                                                                                                    \
  Tensor masked_fill(const Tensor<D, bool>& mask, const Tensor& value, Here here = {}) const {                         \
    return TERN_CALL(masked_fill, mask, value, here);                                                                  \
  }                                                                                                                    \
  const Tensor& masked_fill_(const Tensor<D, bool>& mask, const Tensor& value, Here here = {}) const {                 \
    return TERN_CALL(masked_fill_, mask, value, here);                                                                 \
  }                                                                                                                    \
  Tensor softmax(Index dim, Here here = {}) const { return TERN_CALL(softmax, dim, here); }                            \
  Tensor log_softmax(Index dim, Here here = {}) const { return TERN_CALL(log_softmax, dim, here); }                    \
  Tensor<D, Index> argmax(Here here = {}) const { return TERN_CALL(argmax, here); }                                    \
  Tensor<D, Index> argmax(Index dim, bool keepdim = false, Here here = {}) const {                                     \
    return TERN_CALL(argmax, dim, keepdim, here);                                                                      \
  }                                                                                                                    \
  Tensor<D, Index> argmin(Here here = {}) const { return TERN_CALL(argmin, here); }                                    \
  Tensor<D, Index> argmin(Index dim, bool keepdim = false, Here here = {}) const {                                     \
    return TERN_CALL(argmin, dim, keepdim, here);                                                                      \
  }                                                                                                                    \
  Tensor var(detail::Dims dim = {}, double correction = 1, bool keepdim = false, Here here = {}) const {               \
    return TERN_CALL(var, dim, correction, keepdim, here);                                                             \
  }                                                                                                                    \
  Tensor std(detail::Dims dim = {}, double correction = 1, bool keepdim = false, Here here = {}) const {               \
    return TERN_CALL(std, dim, correction, keepdim, here);                                                             \
  }                                                                                                                    \
  Tensor max(Here here = {}) const { return TERN_CALL(max, here); }                                                    \
  ValuesAndIndices<D, T> max(Index dim, bool keepdim = false, Here here = {}) const {                                  \
    return TERN_CALL(max, dim, keepdim, here);                                                                         \
  }                                                                                                                    \
  Tensor max(const Tensor& other, Here here = {}) const { return TERN_CALL(max, other, here); }                        \
  Tensor min(Here here = {}) const { return TERN_CALL(min, here); }                                                    \
  ValuesAndIndices<D, T> min(Index dim, bool keepdim = false, Here here = {}) const {                                  \
    return TERN_CALL(min, dim, keepdim, here);                                                                         \
  }                                                                                                                    \
  Tensor min(const Tensor& other, Here here = {}) const { return TERN_CALL(min, other, here); }                        \
  Tensor median(Here here = {}) const { return TERN_CALL(median, here); }                                              \
  ValuesAndIndices<D, T> median(Index dim, bool keepdim = false, Here here = {}) const {                               \
    return TERN_CALL(median, dim, keepdim, here);                                                                      \
  }                                                                                                                    \
  Tensor quantile(double q, std::optional<Index> dim = {}, bool keepdim = false, const char* interpolation = "linear", \
                  Here here = {}) const {                                                                              \
    return TERN_CALL(quantile, q, dim, keepdim, interpolation, here);                                                  \
  }                                                                                                                    \
  Tensor quantile(const Tensor& q, std::optional<Index> dim = {}, bool keepdim = false,                                \
                  const char* interpolation = "linear", Here here = {}) const {                                        \
    return TERN_CALL(quantile, q, dim, keepdim, interpolation, here);                                                  \
  }                                                                                                                    \
  bool equal(const Tensor& other, Here here = {}) const { return TERN_CALL(equal, other, here); }                      \
  bool allclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false, Here here = {})   \
      const {                                                                                                          \
    return TERN_CALL(allclose, other, rtol, atol, equal_nan, here);                                                    \
  }                                                                                                                    \
  Tensor unique(Here here = {}) const { return TERN_CALL(unique, here); }                                              \
  UniqueElements<D, T> unique(const UniqueOptions& options, Here here = {}) const {                                    \
    return TERN_CALL(unique, options, here);                                                                           \
  }                                                                                                                    \
  Tensor<D, Index> bincount(Index minlength = 0, Here here = {}) const {                                               \
    return TERN_CALL(bincount, minlength, here);                                                                       \
  }                                                                                                                    \
  template <Element W>                                                                                                 \
  auto bincount(const Tensor<D, W>& weights, Index minlength = 0, Here here = {}) const {                              \
    return TERN_CALL(bincount, weights, minlength, here);                                                              \
  }                                                                                                                    \
  Tensor<D, Index> multinomial(Index num_samples, bool replacement = false, Here here = {}) const {                    \
    return TERN_CALL(multinomial, num_samples, replacement, here);                                                     \
  }                                                                                                                    \
  const Tensor& normal_(double mean = 0, double std = 1, Here here = {}) const {                                       \
    return TERN_CALL(normal_, mean, std, here);                                                                        \
  }                                                                                                                    \
  const Tensor& uniform_(double low = 0, double high = 1, Here here = {}) const {                                      \
    return TERN_CALL(uniform_, low, high, here);                                                                       \
  }                                                                                                                    \
  const Tensor& bernoulli_(double p = 0.5, Here here = {}) const { return TERN_CALL(bernoulli_, p, here); }            \
  Tensor<D, detail::sum_t<T>> cumsum(Index dim, Here here = {}) const { return TERN_CALL(cumsum, dim, here); }         \
  Tensor<D, detail::sum_t<T>> cumprod(Index dim, Here here = {}) const { return TERN_CALL(cumprod, dim, here); }       \
  ValuesAndIndices<D, T> sort(Index dim = -1, bool descending = false, Here here = {}) const {                         \
    return TERN_CALL(sort, dim, descending, here);                                                                     \
  }                                                                                                                    \
  Tensor<D, Index> argsort(Index dim = -1, bool descending = false, Here here = {}) const {                            \
    return TERN_CALL(argsort, dim, descending, here);                                                                  \
  }                                                                                                                    \
  Tensor msort(Here here = {}) const { return TERN_CALL(msort, here); }                                                \
  ValuesAndIndices<D, T> topk(Index k, Index dim = -1, bool largest = true, Here here = {}) const {                    \
    return TERN_CALL(topk, k, dim, largest, here);                                                                     \
  }                                                                                                                    \
  ValuesAndIndices<D, T> kthvalue(Index k, Index dim = -1, bool keepdim = false, Here here = {}) const {               \
    return TERN_CALL(kthvalue, k, dim, keepdim, here);                                                                 \
  }                                                                                                                    \
  Tensor tril(Index diagonal = 0, Here here = {}) const { return TERN_CALL(tril, diagonal, here); }                    \
  Tensor triu(Index diagonal = 0, Here here = {}) const { return TERN_CALL(triu, diagonal, here); }                    \
  Tensor diag(Index diagonal = 0, Here here = {}) const { return TERN_CALL(diag, diagonal, here); }                    \
  Tensor rot90(Index k = 1, detail::Dims dims = {0, 1}, Here here = {}) const {                                        \
    return TERN_CALL(rot90, k, dims, here);                                                                            \
  }                                                                                                                    \
  Tensor unfold(Index dim, Index size, Index step, Here here = {}) const {                                             \
    return TERN_CALL(unfold, dim, size, step, here);                                                                   \
  }                                                                                                                    \
  Tensor take(const Tensor<D, Index>& index, Here here = {}) const { return TERN_CALL(take, index, here); }            \
  Tensor take_along_dim(const Tensor<D, Index>& index, std::optional<Index> dim = {}, Here here = {}) const {          \
    return TERN_CALL(take_along_dim, index, dim, here);                                                                \
  }                                                                                                                    \
  Tensor index_add(Index dim, const Tensor<D, Index>& index, const Tensor& source, Scalar alpha = 1, Here here = {})   \
      const {                                                                                                          \
    return TERN_CALL(index_add, dim, index, source, alpha, here);                                                      \
  }                                                                                                                    \
  Tensor index_fill(Index dim, const Tensor<D, Index>& index, detail::number_t<T> value, Here here = {}) const {       \
    return TERN_CALL(index_fill, dim, index, value, here);                                                             \
  }                                                                                                                    \
  Tensor index_fill(Index dim, const Tensor<D, Index>& index, const Tensor& value, Here here = {}) const {             \
    return TERN_CALL(index_fill, dim, index, value, here);                                                             \
  }                                                                                                                    \
  const Tensor& index_fill_(Index dim, const Tensor<D, Index>& index, const Tensor& value, Here here = {}) const {     \
    return TERN_CALL(index_fill_, dim, index, value, here);                                                            \
  }                                                                                                                    \
  Tensor scatter(Index dim, const detail::IndexOperand<D>& index, const Tensor& source, Here here = {}) const {        \
    return TERN_CALL(scatter, dim, index, source, here);                                                               \
  }                                                                                                                    \
  Tensor scatter(Index dim, const detail::IndexOperand<D>& index, detail::number_t<T> value, Here here = {}) const {   \
    return TERN_CALL(scatter, dim, index, value, here);                                                                \
  }                                                                                                                    \
  Tensor scatter(Index dim, const detail::IndexOperand<D>& index, const Tensor& source, const char* reduce,            \
                 Here here = {}) const {                                                                               \
    return TERN_CALL(scatter, dim, index, source, reduce, here);                                                       \
  }                                                                                                                    \
  const Tensor& scatter_(Index dim, const detail::IndexOperand<D>& index, const Tensor& source, Here here = {})        \
      const {                                                                                                          \
    return TERN_CALL(scatter_, dim, index, source, here);                                                              \
  }                                                                                                                    \
  const Tensor& scatter_(Index dim, const detail::IndexOperand<D>& index, const Tensor& source, const char* reduce,    \
                         Here here = {}) const {                                                                       \
    return TERN_CALL(scatter_, dim, index, source, reduce, here);                                                      \
  }                                                                                                                    \
  Tensor scatter(Index dim, const detail::IndexOperand<D>& index, detail::number_t<T> value, const char* reduce,       \
                 Here here = {}) const {                                                                               \
    return TERN_CALL(scatter, dim, index, value, reduce, here);                                                        \
  }                                                                                                                    \
  const Tensor& scatter_(Index dim, const detail::IndexOperand<D>& index, detail::number_t<T> value, Here here = {})   \
      const {                                                                                                          \
    return TERN_CALL(scatter_, dim, index, value, here);                                                               \
  }                                                                                                                    \
  const Tensor& scatter_(Index dim, const detail::IndexOperand<D>& index, detail::number_t<T> value,                   \
                         const char* reduce, Here here = {}) const {                                                   \
    return TERN_CALL(scatter_, dim, index, value, reduce, here);                                                       \
  }                                                                                                                    \
  Tensor scatter_add(Index dim, const detail::IndexOperand<D>& index, const Tensor& source, Here here = {}) const {    \
    return TERN_CALL(scatter_add, dim, index, source, here);                                                           \
  }                                                                                                                    \
  const Tensor& scatter_add_(Index dim, const detail::IndexOperand<D>& index, const Tensor& source, Here here = {})    \
      const {                                                                                                          \
    return TERN_CALL(scatter_add_, dim, index, source, here);                                                          \
  }                                                                                                                    \
  Tensor scatter_reduce(Index dim, const detail::IndexOperand<D>& index, const Tensor& source, const char* reduce,     \
                        bool include_self = true, Here here = {}) const {                                              \
    return TERN_CALL(scatter_reduce, dim, index, source, reduce, include_self, here);                                  \
  }                                                                                                                    \
  const Tensor& scatter_reduce_(Index dim, const detail::IndexOperand<D>& index, const Tensor& source,                 \
                                const char* reduce, bool include_self = true, Here here = {}) const {                  \
    return TERN_CALL(scatter_reduce_, dim, index, source, reduce, include_self, here);                                 \
  }                                                                                                                    \
  const Tensor& index_add_(Index dim, const Tensor<D, Index>& index, const Tensor& source, Scalar alpha = 1,           \
                           Here here = {}) const {                                                                     \
    return TERN_CALL(index_add_, dim, index, source, alpha, here);                                                     \
  }                                                                                                                    \
  const Tensor& index_fill_(Index dim, const Tensor<D, Index>& index, detail::number_t<T> value, Here here = {})       \
      const {                                                                                                          \
    return TERN_CALL(index_fill_, dim, index, value, here);                                                            \
  }                                                                                                                    \
  Tensor index_copy(Index dim, const Tensor<D, Index>& index, const Tensor& source, Here here = {}) const {            \
    return TERN_CALL(index_copy, dim, index, source, here);                                                            \
  }                                                                                                                    \
  const Tensor& index_copy_(Index dim, const Tensor<D, Index>& index, const Tensor& source, Here here = {}) const {    \
    return TERN_CALL(index_copy_, dim, index, source, here);                                                           \
  }                                                                                                                    \
  Tensor<D, detail::sum_t<T>> nansum(detail::Dims dim = {}, bool keepdim = false, Here here = {}) const {              \
    return TERN_CALL(nansum, dim, keepdim, here);                                                                      \
  }                                                                                                                    \
  Tensor nanmean(detail::Dims dim = {}, bool keepdim = false, Here here = {}) const {                                  \
    return TERN_CALL(nanmean, dim, keepdim, here);                                                                     \
  }                                                                                                                    \
  Tensor nan_to_num(double nan = 0, std::optional<double> posinf = {}, std::optional<double> neginf = {},              \
                    Here here = {}) const {                                                                            \
    return TERN_CALL(nan_to_num, nan, posinf, neginf, here);                                                           \
  }                                                                                                                    \
  const Tensor& nan_to_num_(double nan = 0, std::optional<double> posinf = {}, std::optional<double> neginf = {},      \
                            Here here = {}) const {                                                                    \
    return TERN_CALL(nan_to_num_, nan, posinf, neginf, here);                                                          \
  }                                                                                                                    \
  ValuesAndIndices<D, T> cummax(Index dim, Here here = {}) const { return TERN_CALL(cummax, dim, here); }              \
  ValuesAndIndices<D, T> cummin(Index dim, Here here = {}) const { return TERN_CALL(cummin, dim, here); }              \
  Tensor logcumsumexp(Index dim, Here here = {}) const { return TERN_CALL(logcumsumexp, dim, here); }                  \
  Tensor diff(Index n = 1, Index dim = -1, const Tensor& prepend = {}, const Tensor& append = {}, Here here = {})      \
      const {                                                                                                          \
    return TERN_CALL(diff, n, dim, prepend, append, here);                                                             \
  }                                                                                                                    \
  Tensor fmax(const Tensor& other, Here here = {}) const { return TERN_CALL(fmax, other, here); }                      \
  Tensor fmin(const Tensor& other, Here here = {}) const { return TERN_CALL(fmin, other, here); }                      \
  Tensor inner(const Tensor& other, Here here = {}) const { return TERN_CALL(inner, other, here); }                    \
  Tensor kron(const Tensor& other, Here here = {}) const { return TERN_CALL(kron, other, here); }                      \
  Tensor cross(const Tensor& other, Index dim = -1, Here here = {}) const {                                            \
    return TERN_CALL(cross, other, dim, here);                                                                         \
  }                                                                                                                    \
  Tensor cov(double correction = 1, Here here = {}) const { return TERN_CALL(cov, correction, here); }                 \
  Tensor corrcoef(Here here = {}) const { return TERN_CALL(corrcoef, here); }                                          \
  Tensor diag_embed(Index diagonal = 0, Index dim1 = -2, Index dim2 = -1, Here here = {}) const {                      \
    return TERN_CALL(diag_embed, diagonal, dim1, dim2, here);                                                          \
  }                                                                                                                    \
  Tensor masked_scatter(const Tensor<D, bool>& mask, const Tensor& source, Here here = {}) const {                     \
    return TERN_CALL(masked_scatter, mask, source, here);                                                              \
  }                                                                                                                    \
  const Tensor& masked_scatter_(const Tensor<D, bool>& mask, const Tensor& source, Here here = {}) const {             \
    return TERN_CALL(masked_scatter_, mask, source, here);                                                             \
  }                                                                                                                    \
  Tensor histc(Index bins = 100, double min = 0, double max = 0, Here here = {}) const {                               \
    return TERN_CALL(histc, bins, min, max, here);                                                                     \
  }                                                                                                                    \
  Tensor repeat_interleave(Index repeats, std::optional<Index> dim = {}, Here here = {}) const {                       \
    return TERN_CALL(repeat_interleave, repeats, dim, here);                                                           \
  }                                                                                                                    \
  Tensor repeat_interleave(const Tensor<D, Index>& repeats, std::optional<Index> dim = {}, Here here = {}) const {     \
    return TERN_CALL(repeat_interleave, repeats, dim, here);                                                           \
  }                                                                                                                    \
  Tensor<D, Index> nonzero(Here here = {}) const { return TERN_CALL(nonzero, here); }                                  \
  Tensor<D, bool> any(detail::Dims dim = {}, bool keepdim = false, Here here = {}) const {                             \
    return TERN_CALL(any, dim, keepdim, here);                                                                         \
  }                                                                                                                    \
  Tensor<D, bool> all(detail::Dims dim = {}, bool keepdim = false, Here here = {}) const {                             \
    return TERN_CALL(all, dim, keepdim, here);                                                                         \
  }                                                                                                                    \
  Tensor norm(double p = 2, detail::Dims dim = {}, bool keepdim = false, Here here = {}) const {                       \
    return TERN_CALL(norm, p, dim, keepdim, here);                                                                     \
  }                                                                                                                    \
  Tensor matmul(const Tensor& other, Here here = {}) const { return TERN_CALL(matmul, other, here); }                  \
  Tensor mm(const Tensor& other, Here here = {}) const { return TERN_CALL(mm, other, here); }                          \
  Tensor bmm(const Tensor& other, Here here = {}) const { return TERN_CALL(bmm, other, here); }                        \
  Tensor mv(const Tensor& other, Here here = {}) const { return TERN_CALL(mv, other, here); }                          \
  Tensor dot(const Tensor& other, Here here = {}) const { return TERN_CALL(dot, other, here); }                        \
  Tensor gather(Index dim, const detail::IndexOperand<D>& index, Here here = {}) const {                               \
    return TERN_CALL(gather, dim, index, here);                                                                        \
  }                                                                                                                    \
  Tensor index_select(Index dim, const Tensor<D, Index>& index, Here here = {}) const {                                \
    return TERN_CALL(index_select, dim, index, here);                                                                  \
  }                                                                                                                    \
  Tensor index(std::initializer_list<detail::TensorIndex<D>> indices, Here here = {}) const {                          \
    return TERN_CALL(index, indices, here);                                                                            \
  }                                                                                                                    \
  const Tensor& index_put_(std::initializer_list<detail::TensorIndex<D>> indices, const Tensor& value,                 \
                           bool accumulate = false, Here here = {}) const {                                            \
    return TERN_CALL(index_put_, indices, value, accumulate, here);                                                    \
  }                                                                                                                    \
  const Tensor& index_put_(std::initializer_list<detail::TensorIndex<D>> indices, detail::number_t<T> value,           \
                           bool accumulate = false, Here here = {}) const {                                            \
    return TERN_CALL(index_put_, indices, value, accumulate, here);                                                    \
  }                                                                                                                    \
  Tensor masked_select(const Tensor<D, bool>& mask, Here here = {}) const {                                            \
    return TERN_CALL(masked_select, mask, here);                                                                       \
  }                                                                                                                    \
  Tensor operator[](detail::At<Index> i) const { return TERN_CALL(select, Index(0), i.tensor, i.here); }               \
  Selected<D, T> operator[](const TensorIndexAt<D>& entry) const { return {*this, &entry.entry, 1, entry.here}; }      \
  /* A template, so that x[{0}] is x[0]. */                                                                            \
  template <int = 0>                                                                                                   \
  Selected<D, T> operator[](detail::IndicesAt<D> indices) const {                                                      \
    return {*this, indices.entries.begin(), indices.entries.size(), indices.here};                                     \
  }                                                                                                                    \
  Tensor slice(Index dim, Slice range, Here here = {}) const { return TERN_CALL(slice, dim, range, here); }            \
  Tensor slice(Index dim, std::optional<Index> start, std::optional<Index> end, Index step = 1, Here here = {})        \
      const {                                                                                                          \
    return TERN_CALL(slice, dim, Slice(start, end, step), here);                                                       \
  }                                                                                                                    \
  Tensor select(Index dim, Index position, Here here = {}) const { return TERN_CALL(select, dim, position, here); }    \
  Tensor narrow(Index dim, Index start, Index length, Here here = {}) const {                                          \
    return TERN_CALL(narrow, dim, start, length, here);                                                                \
  }                                                                                                                    \
  Tensor transpose(Index dim0, Index dim1, Here here = {}) const { return TERN_CALL(transpose, dim0, dim1, here); }    \
  Tensor t(Here here = {}) const { return TERN_CALL(t, here); }                                                        \
  Tensor mT(Here here = {}) const { return TERN_CALL(transpose, Index(-2), Index(-1), here); }                         \
  TERN_SIZES_METHOD(permute)                                                                                           \
  TERN_SIZES_METHOD(expand)                                                                                            \
  template <Element U>                                                                                                 \
  Tensor expand_as(const Tensor<D, U>& other, Here here = {}) const {                                                  \
    return TERN_CALL(expand, other.shape(), here);                                                                     \
  }                                                                                                                    \
  template <Element U>                                                                                                 \
  Tensor view_as(const Tensor<D, U>& other, Here here = {}) const {                                                    \
    return TERN_CALL(view, other.shape(), here);                                                                       \
  }                                                                                                                    \
  template <Element U>                                                                                                 \
  Tensor reshape_as(const Tensor<D, U>& other, Here here = {}) const {                                                 \
    return TERN_CALL(reshape, other.shape(), here);                                                                    \
  }                                                                                                                    \
  TERN_SIZES_METHOD(view)                                                                                              \
  TERN_SIZES_METHOD(reshape)                                                                                           \
  Tensor flatten(Index start = 0, Index end = -1, Here here = {}) const {                                              \
    return TERN_CALL(flatten, start, end, here);                                                                       \
  }                                                                                                                    \
  Tensor squeeze(detail::Dims dims = {}, Here here = {}) const { return TERN_CALL(squeeze, dims, here); }              \
  Tensor unsqueeze(Index dim, Here here = {}) const { return TERN_CALL(unsqueeze, dim, here); }                        \
  std::vector<Tensor> split(Index size, Index dim = 0, Here here = {}) const {                                         \
    return TERN_CALL(split, size, dim, here);                                                                          \
  }                                                                                                                    \
  std::vector<Tensor> split(std::vector<Index> sizes, Index dim = 0, Here here = {}) const {                           \
    return TERN_CALL(split, sizes, dim, here);                                                                         \
  }                                                                                                                    \
  std::vector<Tensor> chunk(Index chunks, Index dim = 0, Here here = {}) const {                                       \
    return TERN_CALL(chunk, chunks, dim, here);                                                                        \
  }                                                                                                                    \
  std::vector<Tensor> unbind(Index dim = 0, Here here = {}) const { return TERN_CALL(unbind, dim, here); }             \
  Tensor broadcast_to(detail::Shape to, Here here = {}) const { return TERN_CALL(broadcast_to, to, here); }            \
  Tensor unflatten(Index dim, detail::Shape sizes, Here here = {}) const {                                             \
    return TERN_CALL(unflatten, dim, sizes, here);                                                                     \
  }                                                                                                                    \
  Tensor movedim(detail::Dims source, detail::Dims destination, Here here = {}) const {                                \
    return TERN_CALL(movedim, source, destination, here);                                                              \
  }                                                                                                                    \
  Tensor diagonal(Index offset = 0, Index dim1 = 0, Index dim2 = 1, Here here = {}) const {                            \
    return TERN_CALL(diagonal, offset, dim1, dim2, here);                                                              \
  }                                                                                                                    \
  TERN_SIZES_METHOD(repeat)                                                                                            \
  TERN_SIZES_METHOD(tile)                                                                                              \
  TERN_SIZES_METHOD(flip)                                                                                              \
  Tensor roll(detail::Dims shifts, detail::Dims dims = {}, Here here = {}) const {                                     \
    return TERN_CALL(roll, shifts, dims, here);                                                                        \
  }                                                                                                                    \
  Tensor addmm(const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1, Here here = {}) const {            \
    return TERN_CALL(addmm, a, b, beta, alpha, here);                                                                  \
  }                                                                                                                    \
  Tensor addmv(const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1, Here here = {}) const {            \
    return TERN_CALL(addmv, a, b, beta, alpha, here);                                                                  \
  }                                                                                                                    \
  Tensor addbmm(const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1, Here here = {}) const {           \
    return TERN_CALL(addbmm, a, b, beta, alpha, here);                                                                 \
  }                                                                                                                    \
  Tensor baddbmm(const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1, Here here = {}) const {          \
    return TERN_CALL(baddbmm, a, b, beta, alpha, here);                                                                \
  }                                                                                                                    \
  Tensor outer(const Tensor& other, Here here = {}) const { return TERN_CALL(outer, other, here); }                    \
  Tensor<D, detail::sum_t<T>> trace(Here here = {}) const { return TERN_CALL(trace, here); }                           \
  auto aminmax(detail::Dims dim = {}, bool keepdim = false, Here here = {}) const {                                    \
    return TERN_CALL(aminmax, dim, keepdim, here);                                                                     \
  }                                                                                                                    \
  Tensor<D, Index> count_nonzero(detail::Dims dim = {}, Here here = {}) const {                                        \
    return TERN_CALL(count_nonzero, dim, here);                                                                        \
  }                                                                                                                    \
  Tensor<D, double> float_power(const Tensor& other, Here here = {}) const {                                           \
    return TERN_CALL(float_power, other, here);                                                                        \
  }                                                                                                                    \
  Tensor<D, double> float_power(double exponent, Here here = {}) const {                                               \
    return TERN_CALL(float_power, exponent, here);                                                                     \
  }                                                                                                                    \
  Tensor contiguous(MemoryFormat format, Here here = {}) const { return TERN_CALL(contiguous, format, here); }         \
  Tensor contiguous(Here here = {}) const { return TERN_CALL(contiguous, here); }                                      \
  Tensor clone(Here here = {}) const { return TERN_CALL(clone, here); }                                                \
  const Tensor& copy_(const Tensor& source, Here here = {}) const { return TERN_CALL(copy_, source, here); }           \
  const Tensor& fill_(detail::number_t<T> value, Here here = {}) const { return TERN_CALL(fill_, value, here); }       \
  const Tensor& zero_(Here here = {}) const { return TERN_CALL(fill_, 0, here); }                                      \
  template <Element U>                                                                                                 \
  Tensor<D, U> to(detail::Type<U> type, Here here = {}) const {                                                        \
    return TERN_CALL(to_type, type, here);                                                                             \
  }                                                                                                                    \
  template <Device D2>                                                                                                 \
  Tensor<D2, T> to(D2 device, Here here = {}) const {                                                                  \
    return TERN_CALL(to_device, device, here);                                                                         \
  }                                                                                                                    \
  /* On the other tensor's device, with its element type. */                                                           \
  template <Device D2, Element U>                                                                                      \
  Tensor<D2, U> to(const Tensor<D2, U>& other, Here here = {}) const {                                                 \
    return detail::adl::call_to_device(to(detail::Type<U>{}, here), other.device(), here);                             \
  }                                                                                                                    \
  Tensor<Cpu, T> cpu(Here here = {}) const { return TERN_CALL(to_device, Cpu{}, here); }                               \
  /* Templates, because tern/cuda.hpp alone says what Cuda is. */                                                      \
  template <class C = Cuda>                                                                                            \
  Tensor<detail::included<C>, T> cuda(int ordinal = detail::current_device<C>().ordinal, Here here = {}) const {       \
    return TERN_CALL(to_device, C{ordinal}, here);                                                                     \
  }                                                                                                                    \
  template <class C = Cuda>                                                                                            \
  auto cuda_async(int ordinal = detail::current_device<detail::included<C>>().ordinal, Here here = {}) const {         \
    return TERN_CALL(cuda_async, ordinal, here);                                                                       \
  }                                                                                                                    \
  auto cpu_async(Here here = {}) const { return TERN_CALL(cpu_async, here); }                                          \
  Tensor pin_memory(Here here = {}) const { return TERN_CALL(pin_memory, here); }                                      \
  friend Tensor operator-(detail::At<Tensor> a) { return detail::adl::call_neg(a.tensor, a.here); }                    \
  friend Tensor operator+(Scalar a, detail::At<Tensor> b) { return detail::adl::call_add(b.tensor, a, b.here); }       \
  friend Tensor operator*(Scalar a, detail::At<Tensor> b) { return detail::adl::call_mul(b.tensor, a, b.here); }       \
  friend Tensor operator-(Scalar a, detail::At<Tensor> b) { return detail::adl::call_rsub(b.tensor, a, b.here); }      \
  friend Tensor operator/(Scalar a, detail::At<Tensor> b) { return detail::adl::call_rdiv(b.tensor, a, b.here); }      \
  TERN_OPERATOR(+, add)                                                                                                \
  TERN_OPERATOR(-, sub)                                                                                                \
  TERN_OPERATOR(*, mul)                                                                                                \
  TERN_OPERATOR(/, div)                                                                                                \
  TERN_OPERATOR(%, remainder)                                                                                          \
  TERN_OPERATOR(&, bitwise_and)                                                                                        \
  TERN_OPERATOR(|, bitwise_or)                                                                                         \
  TERN_OPERATOR(^, bitwise_xor)                                                                                        \
  TERN_OPERATOR(<<, bitwise_left_shift)                                                                                \
  TERN_OPERATOR(>>, bitwise_right_shift)                                                                               \
  friend Tensor operator~(detail::At<Tensor> a) { return detail::adl::call_bitwise_not(a.tensor, a.here); }            \
  TERN_COMPARISON_OPERATOR(==, eq)                                                                                     \
  TERN_COMPARISON_OPERATOR(!=, ne)                                                                                     \
  TERN_COMPARISON_OPERATOR(<, lt)                                                                                      \
  TERN_COMPARISON_OPERATOR(<=, le)                                                                                     \
  TERN_COMPARISON_OPERATOR(>, gt)                                                                                      \
  TERN_COMPARISON_OPERATOR(>=, ge)                                                                                     \
  TERN_COMPOUND_OPERATOR(+=, add_)                                                                                     \
  TERN_COMPOUND_OPERATOR(-=, sub_)                                                                                     \
  TERN_COMPOUND_OPERATOR(*=, mul_)                                                                                     \
  TERN_COMPOUND_OPERATOR(/=, div_)                                                                                     \
  TERN_COMPOUND_OPERATOR(%=, remainder_)                                                                               \
  TERN_BITWISE_COMPOUND_OPERATOR(&=, bitwise_and)                                                                      \
  TERN_BITWISE_COMPOUND_OPERATOR(|=, bitwise_or)                                                                       \
  TERN_BITWISE_COMPOUND_OPERATOR(^=, bitwise_xor)

}}  // namespace tern
