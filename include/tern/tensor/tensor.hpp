// Tensor<D, T>: a handle of one pointer. Its type says where the elements live. This file has the interface; the ops'
// meaning is documented in ops/, gradients in autograd/. It has over 400 lines, because all methods are members of one
// class.
#pragma once
#include <concepts>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "../backend/cpu/kernels.hpp"
#include "../core/call_site.hpp"
#include "../core/number.hpp"
#include "../device/device.hpp"
#include "accessor.hpp"
#include "impl.hpp"
#include "pinned.hpp"
#include "index.hpp"
#include "operators.hpp"

namespace tern { inline namespace TERN_BUILD {

template <class D, class T>
struct ValuesAndIndices;
template <class D, class T>
struct UniqueElements;
struct UniqueOptions;
template <class D, class T>
class Selected;

/// The options of backward().
struct BackwardOptions {
  bool retain_graph = false;
  bool create_graph = false;
};

namespace detail {
struct RemovableHook;
}  // namespace detail

/// A hook of a tensor, which stays registered when this is gone.
class TERN_API TensorHook {
 public:
  TensorHook() = default;
  explicit TensorHook(std::shared_ptr<detail::RemovableHook> hook) : hook_(std::move(hook)) {}
  /// The hook is never called again, and what it holds is freed: once it has returned, if it is running.
  void remove() const;

 private:
  std::shared_ptr<detail::RemovableHook> hook_;
};

/// The square root of var(x), with the same defaults. Where it is 0, the gradient is 0.
template <Device D, Floating T>
Tensor<D, T> std(const Tensor<D, T>& x, detail::Dims dim = {}, detail::RealNumber correction = 1, bool keepdim = false,
                 CallSite here = {});

namespace detail {
class NestedList;
template <class D>
struct IndexOperand;
template <class D>
struct TensorIndexAt;
template <class D>
struct IndexListAt;

namespace call {
// The names of the methods that are ops. In the class a method hides the op of its name, and with it the lookup by the
// arguments. TERN_CALL takes the name from here instead, and the arguments' namespace has the op.
void abs(), abs_(), absolute(), absolute_(), acos(), acos_(), acosh(), acosh_(), add(), add_(), addbmm(), addcdiv(),
    addcdiv_(), addcmul(), addcmul_(), addmm(), addmv(), addr(), all(), allclose(), amax(), amin(), aminmax(), any(),
    arccos(), arccos_(), arccosh(), arccosh_(), arcsin(), arcsin_(), arcsinh(), arcsinh_(), arctan(), arctan2(),
    arctan_(), arctanh(), arctanh_(), argmax(), argmin(), argsort(), argwhere(), asin(), asin_(), asinh(), asinh_(),
    atan(), atan2(), atan2_(), atan_(), atanh(), atanh_(), baddbmm(), bernoulli(), bernoulli_(), bincount(),
    bitwise_not(), bmm(), broadcast_to(), ceil(), ceil_(), chunk(), clamp(), clamp_(), clamp_max(), clamp_max_(),
    clamp_min(), clamp_min_(), clip(), clip_(), clone(), contiguous(), copy_(), copysign(), corrcoef(), cos(), cos_(),
    cosh(), cosh_(), count_nonzero(), cov(), cpu_async(), cross(), cuda_async(), cummax(), cummin(), cumprod(),
    cumprod_(), cumsum(), cumsum_(), deg2rad(), deg2rad_(), diag(), diag_embed(), diagflat(), diagonal(),
    diagonal_scatter(), diff(), digamma(), digamma_(), dist(), div(), div_(), divide(), divide_(), dot(), dsplit(),
    eq(), eq_(), equal(), erf(), erf_(), erfc(), erfc_(), erfinv(), erfinv_(), exp(), exp2(), exp2_(), exp_(), expand(),
    exponential_(), expm1(), expm1_(), fill_(), fill_diagonal_(), fix(), fix_(), flatten(), flip(), fliplr(), flipud(),
    float_power(), floor(), floor_(), floor_divide(), floor_divide_(), fmax(), fmin(), fmod(), fmod_(), frac(), frac_(),
    frexp(), gather(), gcd(), ge(), ge_(), greater(), greater_(), greater_equal(), greater_equal_(), gt(), gt_(),
    heaviside(), histc(), hsplit(), hypot(), hypot_(), index(), index_add(), index_add_(), index_copy(), index_copy_(),
    index_fill(), index_fill_(), index_put_(), index_reduce(), index_select(), inner(), isclose(), isfinite(), isin(),
    isinf(), isnan(), isneginf(), isposinf(), kron(), kthvalue(), lcm(), ldexp(), le(), le_(), lerp(), lerp_(), less(),
    less_(), less_equal(), less_equal_(), lgamma(), lgamma_(), log(), log10(), log10_(), log1p(), log1p_(), log2(),
    log2_(), log_(), log_softmax(), logaddexp(), logaddexp2(), logcumsumexp(), logical_and(), logical_and_(),
    logical_not(), logical_not_(), logical_or(), logical_or_(), logical_xor(), logical_xor_(), logit(), logit_(),
    logsumexp(), lt(), lt_(), masked_fill(), masked_fill_(), masked_scatter(), masked_scatter_(), masked_select(),
    matmul(), max(), maximum(), mean(), median(), min(), minimum(), mm(), mode(), moveaxis(), movedim(), msort(), mul(),
    mul_(), multinomial(), multiply(), multiply_(), mv(), nan_to_num(), nan_to_num_(), nanmean(), nanmedian(),
    nanquantile(), nansum(), narrow(), narrow_copy(), ne(), ne_(), neg(), neg_(), negative(), negative_(), nextafter(),
    nonzero(), norm(), normal_(), not_equal(), not_equal_(), outer(), permute(), pin_memory(), positive(), pow(),
    pow_(), prod(), put(), put_(), quantile(), rad2deg(), rad2deg_(), random_(), ravel(), reciprocal(), reciprocal_(),
    relu(), relu_(), remainder(), remainder_(), renorm(), repeat(), repeat_interleave(), reshape(), roll(), rot90(),
    round(), round_(), rsqrt(), rsqrt_(), scatter(), scatter_(), scatter_add(), scatter_add_(), scatter_reduce(),
    scatter_reduce_(), select(), select_scatter(), sigmoid(), sigmoid_(), sign(), sign_(), signbit(), sin(), sin_(),
    sinc(), sinc_(), sinh(), sinh_(), slice(), slice_scatter(), softmax(), sort(), split(), sqrt(), sqrt_(), square(),
    square_(), squeeze(), sub(), sub_(), subtract(), subtract_(), sum(), swapaxes(), swapdims(), t(), take(),
    take_along_dim(), tan(), tan_(), tanh(), tanh_(), tensor_split(), tile(), to_device(), to_type(), topk(), trace(),
    transpose(), tril(), tril_(), triu(), triu_(), true_divide(), true_divide_(), trunc(), trunc_(), unbind(),
    unflatten(), unfold(), uniform_(), unique(), unique_consecutive(), unsqueeze(), var(), vdot(), view(), vsplit(),
    where(), xlogy(), xlogy_();
void cholesky(), det(), inverse(), logdet(), matrix_exp(), matrix_power(), pinverse(), slogdet();  // of linalg/
}  // namespace call
}  // namespace detail

// In a method: returns f(*this, …).
#define TERN_CALL(f, ...) \
  using detail::call::f;  \
  return f(*this __VA_OPT__(, ) __VA_ARGS__)

namespace detail {

/// An iterator over the positions of a tensor's first dimension.
template <class D, class T>
struct Rows {
  using value_type = Tensor<D, T>;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;

  Tensor<D, T> of;
  Index i;

  Tensor<D, T> operator*() const { return of[i]; }
  Rows& operator++() {
    ++i;
    return *this;
  }
  Rows operator++(int) { return {of, i++}; }
  bool operator==(const Rows& other) const { return i == other.i; }
};

}  // namespace detail

/// A tensor of elements T on device D. It is a handle: copies share the elements and the node on the tape. PyTorch's
/// methods are methods here: x.sum(1) is sum(x, 1), x.relu_() is relu_(x). The functions are documented in the headers
/// that the groups of methods name. A method is compiled only if it is used. x.T() is x.t(): its name is the element
/// type's in this class, so a base has it.
template <Device D, Element T>
class Tensor : detail::Operators<D, T>, public detail::Transposed<Tensor<D, T>> {
  mutable detail::TensorImpl* impl_ = nullptr;  // impl() replaces one that has not been read

 protected:
  /// What is assigned here loses leading dimensions of size 1 that there is no place for, as by PyTorch.
  Tensor without_leading_ones(const Tensor& source) const {
    Tensor x = source;
    while (x.defined() && x.impl()->ndim > impl()->ndim && x.impl()->dims[0] == 1) x = x.select(0, 0);
    return x;
  }

 public:
  using device_type = D;
  using value_type = T;
  using Scalar = detail::operand_t<T>;
  using BoolTensor = Tensor<D, bool>;

  Tensor() = default;
  /// Takes over one reference to impl.
  explicit Tensor(detail::TensorImpl* impl) noexcept : impl_(impl) {}
  Tensor(const Tensor& other) noexcept : impl_(other.impl_) { detail::retain(impl_); }
  Tensor(Tensor&& other) noexcept : impl_(other.impl_) { other.impl_ = nullptr; }
  /// Makes this handle one of other's tensor.
  Tensor& operator=(Tensor other) & noexcept {
    detail::TensorImpl* const mine = impl_;
    impl_ = other.impl_;
    other.impl_ = mine;
    return *this;
  }
  /// What an expression returns is written, as by copy_ and fill_: x[0] = y, x.slice(1, {0, 2}) = 3. Error if no other
  /// tensor has the elements, as in (x + y) = z, because they would be lost.
  Tensor operator=(detail::At<Tensor> source) && {
    detail::check_assigned(impl(), source.here);
    return copy_(without_leading_ones(source.tensor), source.here);
  }
  Tensor operator=(detail::NumberAt<T> value) && {
    detail::check_assigned(impl(), value.here);
    return fill_(value.number, value.here);
  }
  template <class D2, class T2>
    requires(!std::is_same_v<Tensor<D2, T2>, Tensor>)
  detail::Refusal<Tensor, Tensor<D2, T2>> operator=(const Tensor<D2, T2>&) TERN_REFUSED(D, D2);
  ~Tensor() { detail::release(impl_); }

  detail::TensorImpl* impl() const {
    if (impl_ && impl_->ndim == detail::unread) [[unlikely]]
      impl_ = detail::read_once(impl_);
    return impl_;
  }
  /// Gives up the handle's reference.
  detail::TensorImpl* release() && {
    detail::TensorImpl* const released = impl();
    impl_ = nullptr;
    return released;
  }
  /// The impl. Error that names op if this handle is empty.
  detail::TensorImpl* checked(CallSite op) const {
    detail::TensorImpl* const p = impl();
    if (!p) [[unlikely]]
      detail::refuse_undefined(op);
    return p;
  }
  detail::TensorImpl* checked(const char* op) const { return checked({op, CallSite::unknown}); }

  /// False for a default-constructed handle.
  bool defined() const { return impl_; }
  explicit operator bool() const = delete;

  detail::Shape shape(CallSite here = {}) const { return checked({"shape", here})->shape(); }
  detail::Shape sizes(CallSite here = {}) const { return checked({"sizes", here})->shape(); }
  /// The size of dimension i. A negative i counts from the last.
  Index size(Index i, CallSite here = {}) const {
    const detail::TensorImpl* const p = checked({"size", here});
    return p->dims[detail::existing_dim({"size", here}, i, p->ndim)];
  }
  detail::Shape strides(CallSite here = {}) const {
    const detail::TensorImpl* const p = checked({"strides", here});
    return {p->strides, p->ndim};
  }
  detail::Shape stride(CallSite here = {}) const { return strides(here); }
  Index stride(Index i, CallSite here = {}) const {
    const detail::TensorImpl* const p = checked({"stride", here});
    return p->strides[detail::existing_dim({"stride", here}, i, p->ndim)];
  }
  int dim(CallSite here = {}) const { return checked({"dim", here})->ndim; }
  int ndimension(CallSite here = {}) const { return dim(here); }
  Index numel(CallSite here = {}) const { return checked({"numel", here})->numel; }
  Index nelement(CallSite here = {}) const { return numel(here); }
  bool is_contiguous(CallSite here = {}) const { return checked({"is_contiguous", here})->contiguous; }
  bool is_contiguous(MemoryFormat format, CallSite here = {}) const {
    const detail::TensorImpl* const p = checked({"is_contiguous", here});
    return format == channels_last ? detail::is_channels_last(*p) : p->contiguous;
  }
  /// f32, f64 and so on, as x.to() takes it.
  static constexpr detail::Type<T> dtype() { return {}; }
  static constexpr detail::Type<T> scalar_type() { return {}; }
  /// True for the element types that can require a gradient.
  static constexpr bool is_floating_point() { return detail::is_floating_v<T>; }
  static constexpr bool is_cpu() { return std::is_same_v<D, Cpu>; }
  static constexpr bool is_cuda() { return std::is_same_v<D, Cuda>; }
  D device(CallSite here = {}) const { return detail::device_at<D>(checked({"device", here})->ordinal); }

  /// The first element's address. The tape's checks do not see writes through it. If a copy still uses pinned memory,
  /// this waits for it.
  T* data(CallSite here = {}) const
    requires HostDevice<D>
  {
    if (checked({"data", here})->pinned) [[unlikely]]
      detail::finish_copies(impl_);
    return impl_->template as<T>();
  }
  /// data(). The element type may be named, as in LibTorch.
  template <class U = T>
  U* data_ptr(CallSite here = {}) const
    requires HostDevice<D>
  {
    static_assert(std::is_same_v<std::remove_const_t<U>, T>,
                  "data_ptr<U>() of a tensor whose elements are of another type: convert it, as in x.to(f64)");
    return data(here);
  }
  /// data() of const elements.
  template <class U = T>
  const U* const_data_ptr(CallSite here = {}) const
    requires HostDevice<D>
  {
    return data_ptr<U>(here);
  }
  /// True if the tensor was made in InferenceMode.
  bool is_inference(CallSite here = {}) const { return checked({"is_inference", here})->inference; }
  /// a[i][j] for element (i, j), not checked, where a = x.accessor<float, 2>() (tensor/accessor.hpp). Error unless the
  /// tensor has N dimensions.
  template <class U, int N>
  TensorAccessor<U, N> accessor(CallSite here = {}) const&
    requires HostDevice<D>
  {
    static_assert(std::is_same_v<std::remove_const_t<U>, T>,
                  "accessor<U, N>() of a tensor whose elements are of another type: convert it, as in x.to(f64)");
    const CallSite op{"accessor", here};
    const detail::Array& a = *checked(op);
    if (a.ndim != N) Error::fail(op, {"the tensor has ", int(a.ndim), " dimensions, not ", N});
    return {data(op), a.dims, a.strides};
  }
  template <class U, int N>
  void accessor(CallSite = {}) && = delete;  // it would refer to a tensor that is gone
  /// True if the elements are in page-locked host memory.
  bool is_pinned(CallSite here = {}) const { return checked({"is_pinned", here})->pinned; }
  /// The element at a full index, for reading or writing.
  template <std::convertible_to<Index>... I>
  T& operator()(detail::At<Index> first, I... rest) const
    requires HostDevice<D>
  {
    const CallSite op{"operator()", first.here};
    const Index offset = detail::element_offset(op, *checked(op), {first.tensor, Index(rest)...});
    return data(op)[offset];
  }
  T& operator()(CallSite here = {}) const
    requires HostDevice<D>
  {
    const CallSite op{"operator()", here};
    const Index offset = detail::element_offset(op, *checked(op), {});
    return data(op)[offset];
  }
  /// The value of a one-element tensor. The host waits for it.
  T item(CallSite here = {}) const;
  /// The same, converted to U.
  template <class U>
    requires(std::is_arithmetic_v<U> || detail::is_half_v<U>)
  U item(CallSite here = {}) const {
    return static_cast<U>(item(here));
  }
  /// The elements in row-major order. The host waits for them.
  std::vector<T> to_vector(CallSite here = {}) const;

  /// @name New tensors on the same device, of T or another type: tensor/map.hpp, tensor/creation.hpp
  /// @{
  template <Element U = T>
  Tensor<D, U> new_empty(const detail::Shape& size, detail::Type<U> type = {}, CallSite here = {}) const;
  template <Element U = T>
  Tensor<D, U> new_full(const detail::Shape& size, detail::number_t<U> value, detail::Type<U> type = {},
                        CallSite here = {}) const;
  template <Element U = T>
  Tensor<D, U> new_zeros(const detail::Shape& size, detail::Type<U> type = {}, CallSite here = {}) const;
  template <Element U = T>
  Tensor<D, U> new_ones(const detail::Shape& size, detail::Type<U> type = {}, CallSite here = {}) const;
  /// What tensor() makes of a list, of containers or of a number.
  template <Element U = T>
  Tensor<D, U> new_tensor(std::initializer_list<detail::NestedList> list, detail::Type<U> type = {},
                          CallSite here = {}) const;
  template <Element U = T, class X>
  Tensor<D, U> new_tensor(const X& values, detail::Type<U> type = {}, CallSite here = {}) const;
  /// @}

  /// @name Autograd: autograd/
  /// @{
  bool requires_grad() const { return impl() && impl_->node; }
  Tensor& requires_grad_(bool on = true, CallSite here = {});
  Tensor& set_requires_grad(bool on, CallSite here = {}) { return requires_grad_(on, here); }
  bool is_leaf(CallSite here = {}) const;
  /// The accumulated gradient; undefined if there is none.
  Tensor grad(CallSite here = {}) const;
  void set_grad(const Tensor& gradient, CallSite here = {}) const;
  /// Makes a non-leaf keep its gradient in grad().
  void retain_grad(CallSite here = {}) const;
  /// Whether a non-leaf does.
  bool retains_grad(CallSite here = {}) const;
  /// Adds d(this)/d(leaf) to each leaf's grad(). This tensor must have one element, unless a gradient is given.
  void backward(const Tensor& gradient = {}, bool retain_graph = false, bool create_graph = false,
                CallSite here = {}) const;
  /// The same with options by name: loss.backward({.retain_graph = true}).
  template <std::same_as<BackwardOptions> Options = BackwardOptions>
  void backward(const Tensor& gradient, const Options& options, CallSite here = {}) const;
  template <std::same_as<BackwardOptions> Options = BackwardOptions>
  void backward(const Options& options, CallSite here = {}) const;
  /// The same elements, not on the tape. Each tensor sees writes to the other, and so does the version check.
  Tensor detach(CallSite here = {}) const { return Tensor(detail::new_detached(checked({"detach", here}))); }
  /// x = x.detach(). Other handles of the tensor stay on the tape.
  Tensor& detach_(CallSite here = {}) { return *this = detach(here); }
  /// f(gradient) runs when this tensor's gradient is complete; a tensor that it returns replaces the gradient.
  /// `auto hook = x.register_hook(f); hook.remove();`
  template <class F>
  TensorHook register_hook(F f, CallSite here = {}) const;
  /// f(leaf) runs after a backward has added to this leaf's grad().
  template <class F>
  TensorHook register_post_accumulate_grad_hook(F f, CallSite here = {}) const;
  /// hook.remove().
  void remove_hook(const TensorHook& hook) const { hook.remove(); }
  /// How often the elements were written.
  std::uint32_t version(CallSite here = {}) const { return checked({"version", here})->owner->version; }
  /// @}

  /// @name Arithmetic: ops/arithmetic.hpp, ops/blend.hpp
  /// @{
  Tensor neg(CallSite here = {}) const { TERN_CALL(neg, here); }
  const Tensor& neg_(CallSite here = {}) const { TERN_CALL(neg_, here); }
  Tensor mul(const Tensor& other, CallSite here = {}) const { TERN_CALL(mul, other, here); }
  Tensor mul(Scalar other, CallSite here = {}) const { TERN_CALL(mul, other, here); }
  const Tensor& mul_(const Tensor& other, CallSite here = {}) const { TERN_CALL(mul_, other, here); }
  const Tensor& mul_(Scalar other, CallSite here = {}) const { TERN_CALL(mul_, other, here); }
  Tensor div(const Tensor& other, CallSite here = {}) const { TERN_CALL(div, other, here); }
  Tensor div(Scalar other, CallSite here = {}) const { TERN_CALL(div, other, here); }
  const Tensor& div_(const Tensor& other, CallSite here = {}) const { TERN_CALL(div_, other, here); }
  const Tensor& div_(Scalar other, CallSite here = {}) const { TERN_CALL(div_, other, here); }
  Tensor fmod(const Tensor& other, CallSite here = {}) const { TERN_CALL(fmod, other, here); }
  Tensor fmod(Scalar other, CallSite here = {}) const { TERN_CALL(fmod, other, here); }
  const Tensor& fmod_(const Tensor& other, CallSite here = {}) const { TERN_CALL(fmod_, other, here); }
  const Tensor& fmod_(Scalar other, CallSite here = {}) const { TERN_CALL(fmod_, other, here); }
  Tensor remainder(const Tensor& other, CallSite here = {}) const { TERN_CALL(remainder, other, here); }
  Tensor remainder(Scalar other, CallSite here = {}) const { TERN_CALL(remainder, other, here); }
  const Tensor& remainder_(const Tensor& other, CallSite here = {}) const { TERN_CALL(remainder_, other, here); }
  const Tensor& remainder_(Scalar other, CallSite here = {}) const { TERN_CALL(remainder_, other, here); }
  Tensor floor_divide(const Tensor& other, CallSite here = {}) const { TERN_CALL(floor_divide, other, here); }
  Tensor floor_divide(Scalar other, CallSite here = {}) const { TERN_CALL(floor_divide, other, here); }
  Tensor div(const Tensor& other, const char* rounding_mode, CallSite here = {}) const {
    TERN_CALL(div, other, rounding_mode, here);
  }
  Tensor div(Scalar other, const char* rounding_mode, CallSite here = {}) const {
    TERN_CALL(div, other, rounding_mode, here);
  }
  const Tensor& floor_divide_(const Tensor& other, CallSite here = {}) const { TERN_CALL(floor_divide_, other, here); }
  const Tensor& floor_divide_(Scalar other, CallSite here = {}) const { TERN_CALL(floor_divide_, other, here); }
  Tensor add(const Tensor& other, Scalar alpha = 1, CallSite here = {}) const { TERN_CALL(add, other, alpha, here); }
  Tensor add(Scalar other, CallSite here = {}) const { TERN_CALL(add, other, here); }
  const Tensor& add_(const Tensor& other, Scalar alpha = 1, CallSite here = {}) const {
    TERN_CALL(add_, other, alpha, here);
  }
  const Tensor& add_(Scalar other, CallSite here = {}) const { TERN_CALL(add_, other, here); }
  Tensor sub(const Tensor& other, Scalar alpha = 1, CallSite here = {}) const { TERN_CALL(sub, other, alpha, here); }
  Tensor sub(Scalar other, CallSite here = {}) const { TERN_CALL(sub, other, here); }
  const Tensor& sub_(const Tensor& other, Scalar alpha = 1, CallSite here = {}) const {
    TERN_CALL(sub_, other, alpha, here);
  }
  const Tensor& sub_(Scalar other, CallSite here = {}) const { TERN_CALL(sub_, other, here); }
  Tensor lerp(const Tensor& end, Scalar weight, CallSite here = {}) const { TERN_CALL(lerp, end, weight, here); }
  Tensor lerp(const Tensor& end, const Tensor& weight, CallSite here = {}) const { TERN_CALL(lerp, end, weight, here); }
  const Tensor& lerp_(const Tensor& end, Scalar weight, CallSite here = {}) const {
    TERN_CALL(lerp_, end, weight, here);
  }
  const Tensor& lerp_(const Tensor& end, const Tensor& weight, CallSite here = {}) const {
    TERN_CALL(lerp_, end, weight, here);
  }
  Tensor addcmul(const Tensor& a, const Tensor& b, Scalar value = 1, CallSite here = {}) const {
    TERN_CALL(addcmul, a, b, value, here);
  }
  const Tensor& addcmul_(const Tensor& a, const Tensor& b, Scalar value = 1, CallSite here = {}) const {
    TERN_CALL(addcmul_, a, b, value, here);
  }
  Tensor addcdiv(const Tensor& a, const Tensor& b, Scalar value = 1, CallSite here = {}) const {
    TERN_CALL(addcdiv, a, b, value, here);
  }
  const Tensor& addcdiv_(const Tensor& a, const Tensor& b, Scalar value = 1, CallSite here = {}) const {
    TERN_CALL(addcdiv_, a, b, value, here);
  }
  /// @}

  /// @name Powers, exponentials, logarithms: ops/power.hpp, ops/exponential.hpp
  /// @{
  Tensor sqrt(CallSite here = {}) const { TERN_CALL(sqrt, here); }
  const Tensor& sqrt_(CallSite here = {}) const { TERN_CALL(sqrt_, here); }
  Tensor rsqrt(CallSite here = {}) const { TERN_CALL(rsqrt, here); }
  const Tensor& rsqrt_(CallSite here = {}) const { TERN_CALL(rsqrt_, here); }
  Tensor reciprocal(CallSite here = {}) const { TERN_CALL(reciprocal, here); }
  const Tensor& reciprocal_(CallSite here = {}) const { TERN_CALL(reciprocal_, here); }
  Tensor square(CallSite here = {}) const { TERN_CALL(square, here); }
  const Tensor& square_(CallSite here = {}) const { TERN_CALL(square_, here); }
  Tensor pow(const Tensor& other, CallSite here = {}) const { TERN_CALL(pow, other, here); }
  Tensor pow(Scalar other, CallSite here = {}) const { TERN_CALL(pow, other, here); }
  const Tensor& pow_(const Tensor& other, CallSite here = {}) const { TERN_CALL(pow_, other, here); }
  const Tensor& pow_(Scalar other, CallSite here = {}) const { TERN_CALL(pow_, other, here); }
  Tensor<D, double> float_power(const Tensor& other, CallSite here = {}) const { TERN_CALL(float_power, other, here); }
  Tensor<D, double> float_power(detail::RealNumber exponent, CallSite here = {}) const {
    TERN_CALL(float_power, exponent, here);
  }
  Tensor exp(CallSite here = {}) const { TERN_CALL(exp, here); }
  const Tensor& exp_(CallSite here = {}) const { TERN_CALL(exp_, here); }
  Tensor exp2(CallSite here = {}) const { TERN_CALL(exp2, here); }
  const Tensor& exp2_(CallSite here = {}) const { TERN_CALL(exp2_, here); }
  Tensor expm1(CallSite here = {}) const { TERN_CALL(expm1, here); }
  const Tensor& expm1_(CallSite here = {}) const { TERN_CALL(expm1_, here); }
  Tensor log(CallSite here = {}) const { TERN_CALL(log, here); }
  const Tensor& log_(CallSite here = {}) const { TERN_CALL(log_, here); }
  Tensor log2(CallSite here = {}) const { TERN_CALL(log2, here); }
  const Tensor& log2_(CallSite here = {}) const { TERN_CALL(log2_, here); }
  Tensor log10(CallSite here = {}) const { TERN_CALL(log10, here); }
  const Tensor& log10_(CallSite here = {}) const { TERN_CALL(log10_, here); }
  Tensor log1p(CallSite here = {}) const { TERN_CALL(log1p, here); }
  const Tensor& log1p_(CallSite here = {}) const { TERN_CALL(log1p_, here); }
  Tensor sigmoid(CallSite here = {}) const { TERN_CALL(sigmoid, here); }
  const Tensor& sigmoid_(CallSite here = {}) const { TERN_CALL(sigmoid_, here); }
  Tensor logit(CallSite here = {}) const { TERN_CALL(logit, here); }
  Tensor logit(detail::RealNumber eps, CallSite here = {}) const { TERN_CALL(logit, eps, here); }
  const Tensor& logit_(CallSite here = {}) const { TERN_CALL(logit_, here); }
  Tensor logaddexp(const Tensor& other, CallSite here = {}) const { TERN_CALL(logaddexp, other, here); }
  Tensor xlogy(const Tensor& other, CallSite here = {}) const { TERN_CALL(xlogy, other, here); }
  const Tensor& xlogy_(const Tensor& other, CallSite here = {}) const { TERN_CALL(xlogy_, other, here); }
  /// @}

  /// @name Trigonometry: ops/trigonometric.hpp
  /// @{
  Tensor sin(CallSite here = {}) const { TERN_CALL(sin, here); }
  const Tensor& sin_(CallSite here = {}) const { TERN_CALL(sin_, here); }
  Tensor cos(CallSite here = {}) const { TERN_CALL(cos, here); }
  const Tensor& cos_(CallSite here = {}) const { TERN_CALL(cos_, here); }
  Tensor tan(CallSite here = {}) const { TERN_CALL(tan, here); }
  const Tensor& tan_(CallSite here = {}) const { TERN_CALL(tan_, here); }
  Tensor asin(CallSite here = {}) const { TERN_CALL(asin, here); }
  const Tensor& asin_(CallSite here = {}) const { TERN_CALL(asin_, here); }
  Tensor acos(CallSite here = {}) const { TERN_CALL(acos, here); }
  const Tensor& acos_(CallSite here = {}) const { TERN_CALL(acos_, here); }
  Tensor atan(CallSite here = {}) const { TERN_CALL(atan, here); }
  const Tensor& atan_(CallSite here = {}) const { TERN_CALL(atan_, here); }
  Tensor sinh(CallSite here = {}) const { TERN_CALL(sinh, here); }
  const Tensor& sinh_(CallSite here = {}) const { TERN_CALL(sinh_, here); }
  Tensor cosh(CallSite here = {}) const { TERN_CALL(cosh, here); }
  const Tensor& cosh_(CallSite here = {}) const { TERN_CALL(cosh_, here); }
  Tensor tanh(CallSite here = {}) const { TERN_CALL(tanh, here); }
  const Tensor& tanh_(CallSite here = {}) const { TERN_CALL(tanh_, here); }
  Tensor asinh(CallSite here = {}) const { TERN_CALL(asinh, here); }
  const Tensor& asinh_(CallSite here = {}) const { TERN_CALL(asinh_, here); }
  Tensor acosh(CallSite here = {}) const { TERN_CALL(acosh, here); }
  const Tensor& acosh_(CallSite here = {}) const { TERN_CALL(acosh_, here); }
  Tensor atanh(CallSite here = {}) const { TERN_CALL(atanh, here); }
  const Tensor& atanh_(CallSite here = {}) const { TERN_CALL(atanh_, here); }
  Tensor atan2(const Tensor& other, CallSite here = {}) const { TERN_CALL(atan2, other, here); }
  const Tensor& atan2_(const Tensor& other, CallSite here = {}) const { TERN_CALL(atan2_, other, here); }
  Tensor hypot(const Tensor& other, CallSite here = {}) const { TERN_CALL(hypot, other, here); }
  const Tensor& hypot_(const Tensor& other, CallSite here = {}) const { TERN_CALL(hypot_, other, here); }
  /// @}

  /// @name Rounding, special functions, relu: ops/rounding.hpp, ops/special.hpp, ops/activations.hpp
  /// @{
  Tensor abs(CallSite here = {}) const { TERN_CALL(abs, here); }
  const Tensor& abs_(CallSite here = {}) const { TERN_CALL(abs_, here); }
  Tensor sign(CallSite here = {}) const { TERN_CALL(sign, here); }
  const Tensor& sign_(CallSite here = {}) const { TERN_CALL(sign_, here); }
  Tensor floor(CallSite here = {}) const { TERN_CALL(floor, here); }
  const Tensor& floor_(CallSite here = {}) const { TERN_CALL(floor_, here); }
  Tensor ceil(CallSite here = {}) const { TERN_CALL(ceil, here); }
  const Tensor& ceil_(CallSite here = {}) const { TERN_CALL(ceil_, here); }
  Tensor round(CallSite here = {}) const { TERN_CALL(round, here); }
  Tensor round(int decimals, CallSite here = {}) const { TERN_CALL(round, decimals, here); }
  const Tensor& round_(CallSite here = {}) const { TERN_CALL(round_, here); }
  Tensor trunc(CallSite here = {}) const { TERN_CALL(trunc, here); }
  const Tensor& trunc_(CallSite here = {}) const { TERN_CALL(trunc_, here); }
  Tensor frac(CallSite here = {}) const { TERN_CALL(frac, here); }
  const Tensor& frac_(CallSite here = {}) const { TERN_CALL(frac_, here); }
  Tensor erf(CallSite here = {}) const { TERN_CALL(erf, here); }
  const Tensor& erf_(CallSite here = {}) const { TERN_CALL(erf_, here); }
  Tensor erfc(CallSite here = {}) const { TERN_CALL(erfc, here); }
  const Tensor& erfc_(CallSite here = {}) const { TERN_CALL(erfc_, here); }
  Tensor erfinv(CallSite here = {}) const { TERN_CALL(erfinv, here); }
  const Tensor& erfinv_(CallSite here = {}) const { TERN_CALL(erfinv_, here); }
  Tensor lgamma(CallSite here = {}) const { TERN_CALL(lgamma, here); }
  const Tensor& lgamma_(CallSite here = {}) const { TERN_CALL(lgamma_, here); }
  Tensor digamma(CallSite here = {}) const { TERN_CALL(digamma, here); }
  const Tensor& digamma_(CallSite here = {}) const { TERN_CALL(digamma_, here); }
  Tensor relu(CallSite here = {}) const { TERN_CALL(relu, here); }
  const Tensor& relu_(CallSite here = {}) const { TERN_CALL(relu_, here); }
  /// @}

  /// @name Comparisons and logic: ops/comparison.hpp, ops/equality.hpp
  /// @{
  Tensor<D, bool> eq(const Tensor& other, CallSite here = {}) const { TERN_CALL(eq, other, here); }
  Tensor<D, bool> eq(detail::number_t<T> other, CallSite here = {}) const { TERN_CALL(eq, other, here); }
  const Tensor& eq_(const Tensor& other, CallSite here = {}) const { TERN_CALL(eq_, other, here); }
  const Tensor& eq_(detail::number_t<T> other, CallSite here = {}) const { TERN_CALL(eq_, other, here); }
  Tensor<D, bool> ne(const Tensor& other, CallSite here = {}) const { TERN_CALL(ne, other, here); }
  Tensor<D, bool> ne(detail::number_t<T> other, CallSite here = {}) const { TERN_CALL(ne, other, here); }
  const Tensor& ne_(const Tensor& other, CallSite here = {}) const { TERN_CALL(ne_, other, here); }
  const Tensor& ne_(detail::number_t<T> other, CallSite here = {}) const { TERN_CALL(ne_, other, here); }
  Tensor<D, bool> lt(const Tensor& other, CallSite here = {}) const { TERN_CALL(lt, other, here); }
  Tensor<D, bool> lt(detail::number_t<T> other, CallSite here = {}) const { TERN_CALL(lt, other, here); }
  const Tensor& lt_(const Tensor& other, CallSite here = {}) const { TERN_CALL(lt_, other, here); }
  const Tensor& lt_(detail::number_t<T> other, CallSite here = {}) const { TERN_CALL(lt_, other, here); }
  Tensor<D, bool> le(const Tensor& other, CallSite here = {}) const { TERN_CALL(le, other, here); }
  Tensor<D, bool> le(detail::number_t<T> other, CallSite here = {}) const { TERN_CALL(le, other, here); }
  const Tensor& le_(const Tensor& other, CallSite here = {}) const { TERN_CALL(le_, other, here); }
  const Tensor& le_(detail::number_t<T> other, CallSite here = {}) const { TERN_CALL(le_, other, here); }
  Tensor<D, bool> gt(const Tensor& other, CallSite here = {}) const { TERN_CALL(gt, other, here); }
  Tensor<D, bool> gt(detail::number_t<T> other, CallSite here = {}) const { TERN_CALL(gt, other, here); }
  const Tensor& gt_(const Tensor& other, CallSite here = {}) const { TERN_CALL(gt_, other, here); }
  const Tensor& gt_(detail::number_t<T> other, CallSite here = {}) const { TERN_CALL(gt_, other, here); }
  Tensor<D, bool> ge(const Tensor& other, CallSite here = {}) const { TERN_CALL(ge, other, here); }
  Tensor<D, bool> ge(detail::number_t<T> other, CallSite here = {}) const { TERN_CALL(ge, other, here); }
  const Tensor& ge_(const Tensor& other, CallSite here = {}) const { TERN_CALL(ge_, other, here); }
  const Tensor& ge_(detail::number_t<T> other, CallSite here = {}) const { TERN_CALL(ge_, other, here); }
  Tensor<D, bool> isnan(CallSite here = {}) const { TERN_CALL(isnan, here); }
  Tensor<D, bool> isinf(CallSite here = {}) const { TERN_CALL(isinf, here); }
  Tensor<D, bool> isposinf(CallSite here = {}) const { TERN_CALL(isposinf, here); }
  Tensor<D, bool> isneginf(CallSite here = {}) const { TERN_CALL(isneginf, here); }
  Tensor bitwise_not(CallSite here = {}) const { TERN_CALL(bitwise_not, here); }
  Tensor<D, bool> isin(const Tensor& test_elements, bool invert = false, CallSite here = {}) const {
    TERN_CALL(isin, test_elements, invert, here);
  }
  Tensor<D, bool> isfinite(CallSite here = {}) const { TERN_CALL(isfinite, here); }
  Tensor<D, bool> logical_not(CallSite here = {}) const { TERN_CALL(logical_not, here); }
  const Tensor& logical_not_(CallSite here = {}) const { TERN_CALL(logical_not_, here); }
  Tensor<D, bool> logical_and(const Tensor& other, CallSite here = {}) const { TERN_CALL(logical_and, other, here); }
  const Tensor& logical_and_(const Tensor& other, CallSite here = {}) const { TERN_CALL(logical_and_, other, here); }
  Tensor<D, bool> logical_or(const Tensor& other, CallSite here = {}) const { TERN_CALL(logical_or, other, here); }
  const Tensor& logical_or_(const Tensor& other, CallSite here = {}) const { TERN_CALL(logical_or_, other, here); }
  Tensor<D, bool> logical_xor(const Tensor& other, CallSite here = {}) const { TERN_CALL(logical_xor, other, here); }
  const Tensor& logical_xor_(const Tensor& other, CallSite here = {}) const { TERN_CALL(logical_xor_, other, here); }
  Tensor<D, bool> isclose(const Tensor& other, detail::RealNumber rtol = 1e-5, detail::RealNumber atol = 1e-8,
                          bool equal_nan = false, CallSite here = {}) const {
    TERN_CALL(isclose, other, rtol, atol, equal_nan, here);
  }
  bool equal(const Tensor& other, CallSite here = {}) const { TERN_CALL(equal, other, here); }
  bool allclose(const Tensor& other, detail::RealNumber rtol = 1e-5, detail::RealNumber atol = 1e-8,
                bool equal_nan = false, CallSite here = {}) const {
    TERN_CALL(allclose, other, rtol, atol, equal_nan, here);
  }
  /// @}

  /// @name Choices between elements: ops/where.hpp, ops/nan.hpp
  /// @{
  Tensor maximum(const Tensor& other, CallSite here = {}) const { TERN_CALL(maximum, other, here); }
  Tensor minimum(const Tensor& other, CallSite here = {}) const { TERN_CALL(minimum, other, here); }
  Tensor clamp(std::optional<detail::number_t<T>> min, std::optional<detail::number_t<T>> max = {},
               CallSite here = {}) const {
    TERN_CALL(clamp, min, max, here);
  }
  Tensor clamp(const Tensor& min, const Tensor& max = {}, CallSite here = {}) const {
    TERN_CALL(clamp, min, max, here);
  }
  template <std::same_as<detail::NoneType> Missing>
  Tensor clamp(Missing min, const Tensor& max, CallSite here = {}) const {
    TERN_CALL(clamp, min, max, here);
  }
  const Tensor& clamp_(std::optional<detail::number_t<T>> min, std::optional<detail::number_t<T>> max = {},
                       CallSite here = {}) const {
    TERN_CALL(clamp_, min, max, here);
  }
  Tensor clamp_min(detail::number_t<T> min, CallSite here = {}) const { TERN_CALL(clamp_min, min, here); }
  Tensor clamp_min(const Tensor& min, CallSite here = {}) const { TERN_CALL(clamp_min, min, here); }
  const Tensor& clamp_min_(detail::number_t<T> min, CallSite here = {}) const { TERN_CALL(clamp_min_, min, here); }
  Tensor clamp_max(detail::number_t<T> max, CallSite here = {}) const { TERN_CALL(clamp_max, max, here); }
  Tensor clamp_max(const Tensor& max, CallSite here = {}) const { TERN_CALL(clamp_max, max, here); }
  const Tensor& clamp_max_(detail::number_t<T> max, CallSite here = {}) const { TERN_CALL(clamp_max_, max, here); }
  Tensor where(const Tensor<D, bool>& condition, const Tensor& other, CallSite here = {}) const {
    using detail::call::where;
    return where(condition, *this, other, here);
  }
  Tensor where(const Tensor<D, bool>& condition, detail::number_t<T> other, CallSite here = {}) const {
    using detail::call::where;
    return where(condition, *this, other, here);
  }
  Tensor fmax(const Tensor& other, CallSite here = {}) const { TERN_CALL(fmax, other, here); }
  Tensor fmin(const Tensor& other, CallSite here = {}) const { TERN_CALL(fmin, other, here); }
  Tensor nan_to_num(detail::RealNumber nan = 0, std::optional<double> posinf = {}, std::optional<double> neginf = {},
                    CallSite here = {}) const {
    TERN_CALL(nan_to_num, nan, posinf, neginf, here);
  }
  const Tensor& nan_to_num_(detail::RealNumber nan = 0, std::optional<double> posinf = {},
                            std::optional<double> neginf = {}, CallSite here = {}) const {
    TERN_CALL(nan_to_num_, nan, posinf, neginf, here);
  }
  /// @}

  /// @name Reductions: ops/ with reduce.hpp, prod.hpp, extrema.hpp, statistics.hpp, norm.hpp, quantile.hpp,
  /// covariance.hpp
  /// @{
  Tensor<D, detail::sum_t<T>> sum(detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(sum, dim, keepdim, here);
  }
  template <Element U>
  Tensor<D, detail::sum_t<U>> sum(detail::Type<U> dtype, CallSite here = {}) const {
    TERN_CALL(sum, dtype, here);
  }
  template <Element U>
  Tensor<D, detail::sum_t<U>> sum(detail::Dims dim, bool keepdim, detail::Type<U> dtype, CallSite here = {}) const {
    TERN_CALL(sum, dim, keepdim, dtype, here);
  }
  template <Floating U>
  Tensor<D, U> mean(detail::Type<U> dtype, CallSite here = {}) const {
    TERN_CALL(mean, dtype, here);
  }
  template <Floating U>
  Tensor<D, U> mean(detail::Dims dim, bool keepdim, detail::Type<U> dtype, CallSite here = {}) const {
    TERN_CALL(mean, dim, keepdim, dtype, here);
  }
  Tensor mean(detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(mean, dim, keepdim, here);
  }
  Tensor<D, detail::sum_t<T>> nansum(detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(nansum, dim, keepdim, here);
  }
  Tensor nanmean(detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(nanmean, dim, keepdim, here);
  }
  Tensor<D, bool> any(detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(any, dim, keepdim, here);
  }
  Tensor<D, bool> all(detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(all, dim, keepdim, here);
  }
  Tensor<D, Index> count_nonzero(detail::Dims dim = {}, CallSite here = {}) const {
    TERN_CALL(count_nonzero, dim, here);
  }
  Tensor<D, detail::sum_t<T>> prod(detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(prod, dim, keepdim, here);
  }
  template <Element U>
  Tensor<D, detail::sum_t<U>> prod(detail::Dims dim, bool keepdim, detail::Type<U> dtype, CallSite here = {}) const {
    TERN_CALL(prod, dim, keepdim, dtype, here);
  }
  Tensor amax(detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(amax, dim, keepdim, here);
  }
  Tensor amin(detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(amin, dim, keepdim, here);
  }
  Tensor<D, Index> argmax(detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(argmax, dim, keepdim, here);
  }
  Tensor<D, Index> argmin(detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(argmin, dim, keepdim, here);
  }
  Tensor max(CallSite here = {}) const { TERN_CALL(max, here); }
  ValuesAndIndices<D, T> max(Index dim, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(max, dim, keepdim, here);
  }
  Tensor max(const Tensor& other, CallSite here = {}) const { TERN_CALL(max, other, here); }
  Tensor min(CallSite here = {}) const { TERN_CALL(min, here); }
  ValuesAndIndices<D, T> min(Index dim, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(min, dim, keepdim, here);
  }
  Tensor min(const Tensor& other, CallSite here = {}) const { TERN_CALL(min, other, here); }
  auto aminmax(detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(aminmax, dim, keepdim, here);
  }
  Tensor logsumexp(detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(logsumexp, dim, keepdim, here);
  }
  Tensor var(detail::Dims dim = {}, detail::RealNumber correction = 1, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(var, dim, correction, keepdim, here);
  }
  Tensor std(detail::Dims dim = {}, detail::RealNumber correction = 1, bool keepdim = false, CallSite here = {}) const {
    return tern::std(*this, dim, correction, keepdim, here);
  }
  /// LibTorch's var(unbiased) and std(unbiased), over all elements.
  template <std::same_as<bool> B>
  Tensor var(B unbiased, CallSite here = {}) const {
    return var({}, unbiased, false, here);
  }
  template <std::same_as<bool> B>
  Tensor std(B unbiased, CallSite here = {}) const {
    return std({}, unbiased, false, here);
  }
  Tensor norm(detail::RealNumber p = 2, detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(norm, p, dim, keepdim, here);
  }
  template <std::size_t N>
  Tensor norm(const char (&p)[N], detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(norm, p, dim, keepdim, here);
  }
  Tensor median(CallSite here = {}) const { TERN_CALL(median, here); }
  ValuesAndIndices<D, T> median(Index dim, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(median, dim, keepdim, here);
  }
  Tensor quantile(detail::RealNumber q, std::optional<Index> dim = {}, bool keepdim = false,
                  const char* interpolation = "linear", CallSite here = {}) const {
    TERN_CALL(quantile, q, dim, keepdim, interpolation, here);
  }
  Tensor quantile(const Tensor& q, std::optional<Index> dim = {}, bool keepdim = false,
                  const char* interpolation = "linear", CallSite here = {}) const {
    TERN_CALL(quantile, q, dim, keepdim, interpolation, here);
  }
  Tensor cov(detail::RealNumber correction = 1, CallSite here = {}) const { TERN_CALL(cov, correction, here); }
  Tensor corrcoef(CallSite here = {}) const { TERN_CALL(corrcoef, here); }
  /// @}

  /// @name Along a dimension: ops/softmax.hpp, ops/cumulative.hpp, ops/sort.hpp, ops/counting.hpp
  /// @{
  Tensor softmax(Index dim, CallSite here = {}) const { TERN_CALL(softmax, dim, here); }
  template <Floating U>
  Tensor<D, U> softmax(Index dim, detail::Type<U> dtype, CallSite here = {}) const {
    TERN_CALL(softmax, dim, dtype, here);
  }
  Tensor log_softmax(Index dim, CallSite here = {}) const { TERN_CALL(log_softmax, dim, here); }
  template <Floating U>
  Tensor<D, U> log_softmax(Index dim, detail::Type<U> dtype, CallSite here = {}) const {
    TERN_CALL(log_softmax, dim, dtype, here);
  }
  Tensor<D, detail::sum_t<T>> cumsum(Index dim, CallSite here = {}) const { TERN_CALL(cumsum, dim, here); }
  template <Element U>
  Tensor<D, detail::sum_t<U>> cumsum(Index dim, detail::Type<U> dtype, CallSite here = {}) const {
    TERN_CALL(cumsum, dim, dtype, here);
  }
  Tensor<D, detail::sum_t<T>> cumprod(Index dim, CallSite here = {}) const { TERN_CALL(cumprod, dim, here); }
  template <Element U>
  Tensor<D, detail::sum_t<U>> cumprod(Index dim, detail::Type<U> dtype, CallSite here = {}) const {
    TERN_CALL(cumprod, dim, dtype, here);
  }
  ValuesAndIndices<D, T> cummax(Index dim, CallSite here = {}) const { TERN_CALL(cummax, dim, here); }
  ValuesAndIndices<D, T> cummin(Index dim, CallSite here = {}) const { TERN_CALL(cummin, dim, here); }
  Tensor logcumsumexp(Index dim, CallSite here = {}) const { TERN_CALL(logcumsumexp, dim, here); }
  Tensor diff(Index n = 1, Index dim = -1, const Tensor& prepend = {}, const Tensor& append = {},
              CallSite here = {}) const {
    TERN_CALL(diff, n, dim, prepend, append, here);
  }
  ValuesAndIndices<D, T> sort(Index dim = -1, bool descending = false, CallSite here = {}) const {
    TERN_CALL(sort, dim, descending, here);
  }
  Tensor<D, Index> argsort(Index dim = -1, bool descending = false, CallSite here = {}) const {
    TERN_CALL(argsort, dim, descending, here);
  }
  template <std::same_as<bool> Stable>
  ValuesAndIndices<D, T> sort(Stable stable, Index dim = -1, bool descending = false, CallSite here = {}) const {
    TERN_CALL(sort, stable, dim, descending, here);
  }
  template <std::same_as<bool> Stable>
  Tensor<D, Index> argsort(Stable stable, Index dim = -1, bool descending = false, CallSite here = {}) const {
    TERN_CALL(argsort, stable, dim, descending, here);
  }
  Tensor msort(CallSite here = {}) const { TERN_CALL(msort, here); }
  ValuesAndIndices<D, T> topk(Index k, Index dim = -1, bool largest = true, bool sorted = true,
                              CallSite here = {}) const {
    TERN_CALL(topk, k, dim, largest, sorted, here);
  }
  ValuesAndIndices<D, T> kthvalue(Index k, Index dim = -1, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(kthvalue, k, dim, keepdim, here);
  }
  Tensor unique(CallSite here = {}) const { TERN_CALL(unique, here); }
  template <std::same_as<bool> Sorted>
  UniqueElements<D, T> unique(Sorted sorted, bool return_inverse = false, bool return_counts = false,
                              std::optional<Index> dim = {}, CallSite here = {}) const {
    TERN_CALL(unique, sorted, return_inverse, return_counts, dim, here);
  }
  UniqueElements<D, T> unique(const UniqueOptions& options, CallSite here = {}) const {
    TERN_CALL(unique, options, here);
  }
  Tensor<D, Index> bincount(Index minlength = 0, CallSite here = {}) const { TERN_CALL(bincount, minlength, here); }
  Tensor<D, Index> bincount(detail::NoneType weights, Index minlength, CallSite here = {}) const {
    TERN_CALL(bincount, weights, minlength, here);
  }
  template <Element W>
  auto bincount(const Tensor<D, W>& weights, Index minlength = 0, CallSite here = {}) const {
    TERN_CALL(bincount, weights, minlength, here);
  }
  Tensor histc(Index bins = 100, detail::RealNumber min = 0, detail::RealNumber max = 0, CallSite here = {}) const {
    TERN_CALL(histc, bins, min, max, here);
  }
  /// @}

  /// @name Linear algebra: linalg/linalg.hpp, which a program that calls these includes
  /// @{
  Tensor cholesky(bool upper = false, CallSite here = {}) const { TERN_CALL(cholesky, upper, here); }
  Tensor det(CallSite here = {}) const { TERN_CALL(det, here); }
  Tensor inverse(CallSite here = {}) const { TERN_CALL(inverse, here); }
  Tensor logdet(CallSite here = {}) const { TERN_CALL(logdet, here); }
  Tensor matrix_exp(CallSite here = {}) const { TERN_CALL(matrix_exp, here); }
  Tensor matrix_power(Index n, CallSite here = {}) const { TERN_CALL(matrix_power, n, here); }
  Tensor pinverse(double rcond = 1e-15, CallSite here = {}) const { TERN_CALL(pinverse, rcond, here); }
  auto slogdet(CallSite here = {}) const { TERN_CALL(slogdet, here); }
  /// @}

  /// @name Products of matrices: ops/matmul.hpp, ops/blas.hpp
  /// @{
  Tensor matmul(const Tensor& other, CallSite here = {}) const { TERN_CALL(matmul, other, here); }
  Tensor mm(const Tensor& other, CallSite here = {}) const { TERN_CALL(mm, other, here); }
  Tensor bmm(const Tensor& other, CallSite here = {}) const { TERN_CALL(bmm, other, here); }
  Tensor mv(const Tensor& other, CallSite here = {}) const { TERN_CALL(mv, other, here); }
  Tensor dot(const Tensor& other, CallSite here = {}) const { TERN_CALL(dot, other, here); }
  Tensor vdot(const Tensor& other, CallSite here = {}) const { TERN_CALL(vdot, other, here); }
  Tensor inner(const Tensor& other, CallSite here = {}) const { TERN_CALL(inner, other, here); }
  Tensor kron(const Tensor& other, CallSite here = {}) const { TERN_CALL(kron, other, here); }
  Tensor cross(const Tensor& other, Index dim = -1, CallSite here = {}) const { TERN_CALL(cross, other, dim, here); }
  Tensor addmm(const Tensor& a, const Tensor& b, detail::RealNumber beta = 1, detail::RealNumber alpha = 1,
               CallSite here = {}) const {
    TERN_CALL(addmm, a, b, beta, alpha, here);
  }
  Tensor addmv(const Tensor& a, const Tensor& b, detail::RealNumber beta = 1, detail::RealNumber alpha = 1,
               CallSite here = {}) const {
    TERN_CALL(addmv, a, b, beta, alpha, here);
  }
  Tensor addbmm(const Tensor& a, const Tensor& b, detail::RealNumber beta = 1, detail::RealNumber alpha = 1,
                CallSite here = {}) const {
    TERN_CALL(addbmm, a, b, beta, alpha, here);
  }
  Tensor baddbmm(const Tensor& a, const Tensor& b, detail::RealNumber beta = 1, detail::RealNumber alpha = 1,
                 CallSite here = {}) const {
    TERN_CALL(baddbmm, a, b, beta, alpha, here);
  }
  Tensor outer(const Tensor& other, CallSite here = {}) const { TERN_CALL(outer, other, here); }
  Tensor<D, detail::sum_t<T>> trace(CallSite here = {}) const { TERN_CALL(trace, here); }
  /// @}

  /// @name Shapes and views: ops/views.hpp, ops/shape.hpp, ops/triangle.hpp
  /// @{
  Tensor slice(Index dim, Slice range, CallSite here = {}) const { TERN_CALL(slice, dim, range, here); }
  Tensor slice(Index dim, std::optional<Index> start, std::optional<Index> end, Index step = 1,
               CallSite here = {}) const {
    TERN_CALL(slice, dim, Slice(start, end, step), here);
  }
  Tensor select(Index dim, Index position, CallSite here = {}) const { TERN_CALL(select, dim, position, here); }
  Tensor narrow(Index dim, Index start, Index length, CallSite here = {}) const {
    TERN_CALL(narrow, dim, start, length, here);
  }
  Tensor transpose(Index dim0, Index dim1, CallSite here = {}) const { TERN_CALL(transpose, dim0, dim1, here); }
  Tensor t(CallSite here = {}) const { TERN_CALL(t, here); }
  Tensor mT(CallSite here = {}) const { TERN_CALL(transpose, Index(-2), Index(-1), here); }
  Tensor permute(detail::Shape sizes, CallSite here = {}) const { TERN_CALL(permute, sizes, here); }
  template <std::convertible_to<Index>... I>
  Tensor permute(detail::At<Index> first, Index second, I... rest) const {
    return permute(detail::Shape{first.tensor, second, Index(rest)...}, first.here);
  }
  Tensor expand(detail::Shape sizes, CallSite here = {}) const { TERN_CALL(expand, sizes, here); }
  template <std::convertible_to<Index>... I>
  Tensor expand(detail::At<Index> first, Index second, I... rest) const {
    return expand(detail::Shape{first.tensor, second, Index(rest)...}, first.here);
  }
  template <Element U>
  Tensor expand_as(const Tensor<D, U>& other, CallSite here = {}) const {
    TERN_CALL(expand, other.shape(here), here);
  }
  template <Element U>
  Tensor view_as(const Tensor<D, U>& other, CallSite here = {}) const {
    TERN_CALL(view, other.shape(here), here);
  }
  template <Element U>
  Tensor reshape_as(const Tensor<D, U>& other, CallSite here = {}) const {
    TERN_CALL(reshape, other.shape(here), here);
  }
  Tensor view(detail::Shape sizes, CallSite here = {}) const { TERN_CALL(view, sizes, here); }
  template <std::convertible_to<Index>... I>
  Tensor view(detail::At<Index> first, Index second, I... rest) const {
    return view(detail::Shape{first.tensor, second, Index(rest)...}, first.here);
  }
  Tensor reshape(detail::Shape sizes, CallSite here = {}) const { TERN_CALL(reshape, sizes, here); }
  template <std::convertible_to<Index>... I>
  Tensor reshape(detail::At<Index> first, Index second, I... rest) const {
    return reshape(detail::Shape{first.tensor, second, Index(rest)...}, first.here);
  }
  Tensor flatten(Index start = 0, Index end = -1, CallSite here = {}) const { TERN_CALL(flatten, start, end, here); }
  Tensor squeeze(detail::Dims dims = {}, CallSite here = {}) const { TERN_CALL(squeeze, dims, here); }
  Tensor unsqueeze(Index dim, CallSite here = {}) const { TERN_CALL(unsqueeze, dim, here); }
  std::vector<Tensor> split(Index size, Index dim = 0, CallSite here = {}) const { TERN_CALL(split, size, dim, here); }
  std::vector<Tensor> split(std::vector<Index> sizes, Index dim = 0, CallSite here = {}) const {
    TERN_CALL(split, sizes, dim, here);
  }
  std::vector<Tensor> chunk(Index chunks, Index dim = 0, CallSite here = {}) const {
    TERN_CALL(chunk, chunks, dim, here);
  }
  std::vector<Tensor> unbind(Index dim = 0, CallSite here = {}) const { TERN_CALL(unbind, dim, here); }
  Tensor rot90(Index k = 1, detail::Dims dims = {0, 1}, CallSite here = {}) const { TERN_CALL(rot90, k, dims, here); }
  Tensor unfold(Index dim, Index size, Index step, CallSite here = {}) const {
    TERN_CALL(unfold, dim, size, step, here);
  }
  Tensor broadcast_to(detail::Shape to, CallSite here = {}) const { TERN_CALL(broadcast_to, to, here); }
  Tensor unflatten(Index dim, detail::Shape sizes, CallSite here = {}) const { TERN_CALL(unflatten, dim, sizes, here); }
  Tensor movedim(detail::Dims source, detail::Dims destination, CallSite here = {}) const {
    TERN_CALL(movedim, source, destination, here);
  }
  Tensor diagonal(Index offset = 0, Index dim1 = 0, Index dim2 = 1, CallSite here = {}) const {
    TERN_CALL(diagonal, offset, dim1, dim2, here);
  }
  Tensor repeat(detail::Shape sizes, CallSite here = {}) const { TERN_CALL(repeat, sizes, here); }
  template <std::convertible_to<Index>... I>
  Tensor repeat(detail::At<Index> first, Index second, I... rest) const {
    return repeat(detail::Shape{first.tensor, second, Index(rest)...}, first.here);
  }
  Tensor tile(detail::Shape sizes, CallSite here = {}) const { TERN_CALL(tile, sizes, here); }
  template <std::convertible_to<Index>... I>
  Tensor tile(detail::At<Index> first, Index second, I... rest) const {
    return tile(detail::Shape{first.tensor, second, Index(rest)...}, first.here);
  }
  Tensor flip(detail::Shape sizes, CallSite here = {}) const { TERN_CALL(flip, sizes, here); }
  template <std::convertible_to<Index>... I>
  Tensor flip(detail::At<Index> first, Index second, I... rest) const {
    return flip(detail::Shape{first.tensor, second, Index(rest)...}, first.here);
  }
  Tensor roll(detail::Dims shifts, detail::Dims dims = {}, CallSite here = {}) const {
    TERN_CALL(roll, shifts, dims, here);
  }
  Tensor tril(Index diagonal = 0, CallSite here = {}) const { TERN_CALL(tril, diagonal, here); }
  Tensor triu(Index diagonal = 0, CallSite here = {}) const { TERN_CALL(triu, diagonal, here); }
  Tensor diag(Index diagonal = 0, CallSite here = {}) const { TERN_CALL(diag, diagonal, here); }
  Tensor diagflat(Index offset = 0, CallSite here = {}) const { TERN_CALL(diagflat, offset, here); }
  Tensor fliplr(CallSite here = {}) const { TERN_CALL(fliplr, here); }
  Tensor flipud(CallSite here = {}) const { TERN_CALL(flipud, here); }
  Tensor diag_embed(Index diagonal = 0, Index dim1 = -2, Index dim2 = -1, CallSite here = {}) const {
    TERN_CALL(diag_embed, diagonal, dim1, dim2, here);
  }
  /// @}

  /// @name Other names of ops: ops/aliases.hpp
  /// @{
  Tensor absolute(CallSite here = {}) const { TERN_CALL(absolute, here); }
  const Tensor& absolute_(CallSite here = {}) const { TERN_CALL(absolute_, here); }
  Tensor negative(CallSite here = {}) const { TERN_CALL(negative, here); }
  const Tensor& negative_(CallSite here = {}) const { TERN_CALL(negative_, here); }
  Tensor fix(CallSite here = {}) const { TERN_CALL(fix, here); }
  const Tensor& fix_(CallSite here = {}) const { TERN_CALL(fix_, here); }
  Tensor arccos(CallSite here = {}) const { TERN_CALL(arccos, here); }
  const Tensor& arccos_(CallSite here = {}) const { TERN_CALL(arccos_, here); }
  Tensor arccosh(CallSite here = {}) const { TERN_CALL(arccosh, here); }
  const Tensor& arccosh_(CallSite here = {}) const { TERN_CALL(arccosh_, here); }
  Tensor arcsin(CallSite here = {}) const { TERN_CALL(arcsin, here); }
  const Tensor& arcsin_(CallSite here = {}) const { TERN_CALL(arcsin_, here); }
  Tensor arcsinh(CallSite here = {}) const { TERN_CALL(arcsinh, here); }
  const Tensor& arcsinh_(CallSite here = {}) const { TERN_CALL(arcsinh_, here); }
  Tensor arctan(CallSite here = {}) const { TERN_CALL(arctan, here); }
  const Tensor& arctan_(CallSite here = {}) const { TERN_CALL(arctan_, here); }
  Tensor arctanh(CallSite here = {}) const { TERN_CALL(arctanh, here); }
  const Tensor& arctanh_(CallSite here = {}) const { TERN_CALL(arctanh_, here); }
  Tensor multiply(const Tensor& other, CallSite here = {}) const { TERN_CALL(multiply, other, here); }
  Tensor multiply(Scalar other, CallSite here = {}) const { TERN_CALL(multiply, other, here); }
  const Tensor& multiply_(const Tensor& other, CallSite here = {}) const { TERN_CALL(multiply_, other, here); }
  const Tensor& multiply_(Scalar other, CallSite here = {}) const { TERN_CALL(multiply_, other, here); }
  Tensor divide(const Tensor& other, CallSite here = {}) const { TERN_CALL(divide, other, here); }
  Tensor divide(Scalar other, CallSite here = {}) const { TERN_CALL(divide, other, here); }
  const Tensor& divide_(const Tensor& other, CallSite here = {}) const { TERN_CALL(divide_, other, here); }
  const Tensor& divide_(Scalar other, CallSite here = {}) const { TERN_CALL(divide_, other, here); }
  Tensor true_divide(const Tensor& other, CallSite here = {}) const { TERN_CALL(true_divide, other, here); }
  Tensor true_divide(Scalar other, CallSite here = {}) const { TERN_CALL(true_divide, other, here); }
  const Tensor& true_divide_(const Tensor& other, CallSite here = {}) const { TERN_CALL(true_divide_, other, here); }
  const Tensor& true_divide_(Scalar other, CallSite here = {}) const { TERN_CALL(true_divide_, other, here); }
  Tensor subtract(const Tensor& other, CallSite here = {}) const { TERN_CALL(subtract, other, here); }
  Tensor subtract(Scalar other, CallSite here = {}) const { TERN_CALL(subtract, other, here); }
  const Tensor& subtract_(const Tensor& other, CallSite here = {}) const { TERN_CALL(subtract_, other, here); }
  const Tensor& subtract_(Scalar other, CallSite here = {}) const { TERN_CALL(subtract_, other, here); }
  Tensor<D, bool> greater(const Tensor& other, CallSite here = {}) const { TERN_CALL(greater, other, here); }
  Tensor<D, bool> greater(detail::number_t<T> other, CallSite here = {}) const { TERN_CALL(greater, other, here); }
  const Tensor& greater_(const Tensor& other, CallSite here = {}) const { TERN_CALL(greater_, other, here); }
  const Tensor& greater_(detail::number_t<T> other, CallSite here = {}) const { TERN_CALL(greater_, other, here); }
  Tensor<D, bool> greater_equal(const Tensor& other, CallSite here = {}) const {
    TERN_CALL(greater_equal, other, here);
  }
  Tensor<D, bool> greater_equal(detail::number_t<T> other, CallSite here = {}) const {
    TERN_CALL(greater_equal, other, here);
  }
  const Tensor& greater_equal_(const Tensor& other, CallSite here = {}) const {
    TERN_CALL(greater_equal_, other, here);
  }
  const Tensor& greater_equal_(detail::number_t<T> other, CallSite here = {}) const {
    TERN_CALL(greater_equal_, other, here);
  }
  Tensor<D, bool> less(const Tensor& other, CallSite here = {}) const { TERN_CALL(less, other, here); }
  Tensor<D, bool> less(detail::number_t<T> other, CallSite here = {}) const { TERN_CALL(less, other, here); }
  const Tensor& less_(const Tensor& other, CallSite here = {}) const { TERN_CALL(less_, other, here); }
  const Tensor& less_(detail::number_t<T> other, CallSite here = {}) const { TERN_CALL(less_, other, here); }
  Tensor<D, bool> less_equal(const Tensor& other, CallSite here = {}) const { TERN_CALL(less_equal, other, here); }
  Tensor<D, bool> less_equal(detail::number_t<T> other, CallSite here = {}) const {
    TERN_CALL(less_equal, other, here);
  }
  const Tensor& less_equal_(const Tensor& other, CallSite here = {}) const { TERN_CALL(less_equal_, other, here); }
  const Tensor& less_equal_(detail::number_t<T> other, CallSite here = {}) const {
    TERN_CALL(less_equal_, other, here);
  }
  Tensor<D, bool> not_equal(const Tensor& other, CallSite here = {}) const { TERN_CALL(not_equal, other, here); }
  Tensor<D, bool> not_equal(detail::number_t<T> other, CallSite here = {}) const { TERN_CALL(not_equal, other, here); }
  const Tensor& not_equal_(const Tensor& other, CallSite here = {}) const { TERN_CALL(not_equal_, other, here); }
  const Tensor& not_equal_(detail::number_t<T> other, CallSite here = {}) const { TERN_CALL(not_equal_, other, here); }
  /// @}

  /// @name More ops of these kinds: ops/signs.hpp, ops/joining.hpp, ops/splitting.hpp, ops/divisors.hpp,
  /// ops/view_scatter.hpp
  /// @{
  Tensor sinc(CallSite here = {}) const { TERN_CALL(sinc, here); }
  const Tensor& sinc_(CallSite here = {}) const { TERN_CALL(sinc_, here); }
  Tensor rad2deg(CallSite here = {}) const { TERN_CALL(rad2deg, here); }
  const Tensor& rad2deg_(CallSite here = {}) const { TERN_CALL(rad2deg_, here); }
  Tensor deg2rad(CallSite here = {}) const { TERN_CALL(deg2rad, here); }
  const Tensor& deg2rad_(CallSite here = {}) const { TERN_CALL(deg2rad_, here); }
  Tensor<D, bool> signbit(CallSite here = {}) const { TERN_CALL(signbit, here); }
  Tensor arctan2(const Tensor& other, CallSite here = {}) const { TERN_CALL(arctan2, other, here); }
  Tensor logaddexp2(const Tensor& other, CallSite here = {}) const { TERN_CALL(logaddexp2, other, here); }
  Tensor copysign(const Tensor& other, CallSite here = {}) const { TERN_CALL(copysign, other, here); }
  Tensor heaviside(const Tensor& other, CallSite here = {}) const { TERN_CALL(heaviside, other, here); }
  auto frexp(CallSite here = {}) const { TERN_CALL(frexp, here); }
  Tensor nextafter(const Tensor& other, CallSite here = {}) const { TERN_CALL(nextafter, other, here); }
  Tensor gcd(const Tensor& other, CallSite here = {}) const { TERN_CALL(gcd, other, here); }
  Tensor lcm(const Tensor& other, CallSite here = {}) const { TERN_CALL(lcm, other, here); }
  Tensor copysign(detail::RealNumber other, CallSite here = {}) const { TERN_CALL(copysign, other, here); }
  template <Element U>
  Tensor ldexp(const Tensor<D, U>& exponent, CallSite here = {}) const {
    TERN_CALL(ldexp, exponent, here);
  }
  Tensor clip(std::optional<detail::number_t<T>> min, std::optional<detail::number_t<T>> max = {},
              CallSite here = {}) const {
    TERN_CALL(clip, min, max, here);
  }
  Tensor clip(const Tensor& min, const Tensor& max = {}, CallSite here = {}) const { TERN_CALL(clip, min, max, here); }
  const Tensor& clip_(std::optional<detail::number_t<T>> min, std::optional<detail::number_t<T>> max = {},
                      CallSite here = {}) const {
    TERN_CALL(clip_, min, max, here);
  }
  Tensor swapaxes(Index dim0, Index dim1, CallSite here = {}) const { TERN_CALL(swapaxes, dim0, dim1, here); }
  Tensor swapdims(Index dim0, Index dim1, CallSite here = {}) const { TERN_CALL(swapdims, dim0, dim1, here); }
  Tensor moveaxis(detail::Dims source, detail::Dims destination, CallSite here = {}) const {
    TERN_CALL(moveaxis, source, destination, here);
  }
  Tensor ravel(CallSite here = {}) const { TERN_CALL(ravel, here); }
  Tensor positive(CallSite here = {}) const { TERN_CALL(positive, here); }
  Tensor<D, Index> argwhere(CallSite here = {}) const { TERN_CALL(argwhere, here); }
  Tensor narrow_copy(Index dim, Index start, Index length, CallSite here = {}) const {
    TERN_CALL(narrow_copy, dim, start, length, here);
  }
  std::vector<Tensor> tensor_split(Index sections, Index dim = 0, CallSite here = {}) const {
    TERN_CALL(tensor_split, sections, dim, here);
  }
  std::vector<Tensor> tensor_split(std::vector<Index> positions, Index dim = 0, CallSite here = {}) const {
    TERN_CALL(tensor_split, positions, dim, here);
  }
  std::vector<Tensor> hsplit(Index sections, CallSite here = {}) const { TERN_CALL(hsplit, sections, here); }
  std::vector<Tensor> hsplit(std::vector<Index> positions, CallSite here = {}) const {
    TERN_CALL(hsplit, positions, here);
  }
  std::vector<Tensor> vsplit(Index sections, CallSite here = {}) const { TERN_CALL(vsplit, sections, here); }
  std::vector<Tensor> vsplit(std::vector<Index> positions, CallSite here = {}) const {
    TERN_CALL(vsplit, positions, here);
  }
  std::vector<Tensor> dsplit(Index sections, CallSite here = {}) const { TERN_CALL(dsplit, sections, here); }
  std::vector<Tensor> dsplit(std::vector<Index> positions, CallSite here = {}) const {
    TERN_CALL(dsplit, positions, here);
  }
  Tensor nanmedian(CallSite here = {}) const { TERN_CALL(nanmedian, here); }
  ValuesAndIndices<D, T> nanmedian(Index dim, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(nanmedian, dim, keepdim, here);
  }
  Tensor nanquantile(detail::RealNumber q, std::optional<Index> dim = {}, bool keepdim = false,
                     const char* interpolation = "linear", CallSite here = {}) const {
    TERN_CALL(nanquantile, q, dim, keepdim, interpolation, here);
  }
  Tensor nanquantile(const Tensor& q, std::optional<Index> dim = {}, bool keepdim = false,
                     const char* interpolation = "linear", CallSite here = {}) const {
    TERN_CALL(nanquantile, q, dim, keepdim, interpolation, here);
  }
  ValuesAndIndices<D, T> mode(Index dim = -1, bool keepdim = false, CallSite here = {}) const {
    TERN_CALL(mode, dim, keepdim, here);
  }
  const Tensor& cumsum_(Index dim, CallSite here = {}) const { TERN_CALL(cumsum_, dim, here); }
  const Tensor& cumprod_(Index dim, CallSite here = {}) const { TERN_CALL(cumprod_, dim, here); }
  const Tensor& tril_(Index diagonal = 0, CallSite here = {}) const { TERN_CALL(tril_, diagonal, here); }
  const Tensor& triu_(Index diagonal = 0, CallSite here = {}) const { TERN_CALL(triu_, diagonal, here); }
  Tensor addr(const Tensor& a, const Tensor& b, detail::RealNumber beta = 1, detail::RealNumber alpha = 1,
              CallSite here = {}) const {
    TERN_CALL(addr, a, b, beta, alpha, here);
  }
  Tensor dist(const Tensor& other, detail::RealNumber p = 2, CallSite here = {}) const {
    TERN_CALL(dist, other, p, here);
  }
  Tensor renorm(detail::RealNumber p, Index dim, detail::RealNumber maxnorm, CallSite here = {}) const {
    TERN_CALL(renorm, p, dim, maxnorm, here);
  }
  Tensor put(const Tensor<D, Index>& index, const Tensor& source, bool accumulate = false, CallSite here = {}) const {
    TERN_CALL(put, index, source, accumulate, here);
  }
  const Tensor& put_(const Tensor<D, Index>& index, const Tensor& source, bool accumulate = false,
                     CallSite here = {}) const {
    TERN_CALL(put_, index, source, accumulate, here);
  }
  Tensor index_reduce(Index dim, const Tensor<D, Index>& index, const Tensor& source, const char* reduce,
                      bool include_self = true, CallSite here = {}) const {
    TERN_CALL(index_reduce, dim, index, source, reduce, include_self, here);
  }
  Tensor select_scatter(const Tensor& source, Index dim, Index position, CallSite here = {}) const {
    TERN_CALL(select_scatter, source, dim, position, here);
  }
  Tensor slice_scatter(const Tensor& source, Index dim = 0, Slice range = {}, CallSite here = {}) const {
    TERN_CALL(slice_scatter, source, dim, range, here);
  }
  Tensor diagonal_scatter(const Tensor& source, Index offset = 0, Index dim1 = 0, Index dim2 = 1,
                          CallSite here = {}) const {
    TERN_CALL(diagonal_scatter, source, offset, dim1, dim2, here);
  }
  Tensor unique_consecutive(CallSite here = {}) const { TERN_CALL(unique_consecutive, here); }
  UniqueElements<D, T> unique_consecutive(const UniqueOptions& options, CallSite here = {}) const {
    TERN_CALL(unique_consecutive, options, here);
  }
  template <Device D2, Element U>
  Tensor<D2, U> type_as(const Tensor<D2, U>& other, CallSite here = {}) const {
    return to(other, here);
  }
  static constexpr Index element_size() { return sizeof(T); }
  Index nbytes() const { return element_size() * numel(); }
  /// @}

  /// @name Elements at positions: ops/indexing.hpp, ops/gather.hpp, ops/take.hpp, ops/scatter_reduce.hpp
  /// @{
  Tensor masked_fill(const Tensor<D, bool>& mask, detail::number_t<T> value, CallSite here = {}) const {
    TERN_CALL(masked_fill, mask, value, here);
  }
  Tensor masked_fill(const Tensor<D, bool>& mask, const Tensor& value, CallSite here = {}) const {
    TERN_CALL(masked_fill, mask, value, here);
  }
  const Tensor& masked_fill_(const Tensor<D, bool>& mask, detail::number_t<T> value, CallSite here = {}) const {
    TERN_CALL(masked_fill_, mask, value, here);
  }
  const Tensor& masked_fill_(const Tensor<D, bool>& mask, const Tensor& value, CallSite here = {}) const {
    TERN_CALL(masked_fill_, mask, value, here);
  }
  Tensor masked_scatter(const Tensor<D, bool>& mask, const Tensor& source, CallSite here = {}) const {
    TERN_CALL(masked_scatter, mask, source, here);
  }
  const Tensor& masked_scatter_(const Tensor<D, bool>& mask, const Tensor& source, CallSite here = {}) const {
    TERN_CALL(masked_scatter_, mask, source, here);
  }
  Tensor index(std::initializer_list<detail::TensorIndex<D>> indices, CallSite here = {}) const {
    TERN_CALL(index, indices, here);
  }
  Tensor index(const detail::IndexListAt<D>& indices, CallSite here = {}) const {
    TERN_CALL(index, indices.entries, here);
  }
  const Tensor& index_put_(std::initializer_list<detail::TensorIndex<D>> indices, const Tensor& value,
                           bool accumulate = false, CallSite here = {}) const {
    TERN_CALL(index_put_, indices, value, accumulate, here);
  }
  const Tensor& index_put_(std::initializer_list<detail::TensorIndex<D>> indices, detail::number_t<T> value,
                           bool accumulate = false, CallSite here = {}) const {
    TERN_CALL(index_put_, indices, value, accumulate, here);
  }
  const Tensor& index_put_(const detail::IndexListAt<D>& indices, const Tensor& value, bool accumulate = false,
                           CallSite here = {}) const {
    TERN_CALL(index_put_, indices.entries, value, accumulate, here);
  }
  Tensor masked_select(const Tensor<D, bool>& mask, CallSite here = {}) const { TERN_CALL(masked_select, mask, here); }
  Tensor operator[](detail::PositionAt i) const { TERN_CALL(select, Index(0), i.position, i.here); }
  /// x[0], x[1], …: `for (const auto& row : x)`. Error if x has no dimension.
  detail::Rows<D, T> begin() const { return {*this, 0}; }
  detail::Rows<D, T> end(CallSite here = {}) const {
    if (checked({"begin", here})->ndim == 0) Error::fail({"begin", here}, {"a 0-d tensor has no rows to loop over"});
    return {*this, size(0, here)};
  }
  Selected<D, T> operator[](const detail::TensorIndexAt<D>& entry) const {
    return {*this, &entry.entry, 1, entry.here, entry.end};
  }
  Selected<D, T> operator[](const detail::IndexListAt<D>& indices) const {
    return {*this, indices.entries.data(), indices.entries.size(), indices.here, indices.end};
  }
  // A template, so that x[{0}] is x[0].
  template <int = 0>
  Selected<D, T> operator[](const detail::IndicesAt<D>& indices) const {
    return {*this, indices.entries.begin(), indices.entries.size(), indices.here, indices.end};
  }
  Tensor index_add(Index dim, const Tensor<D, Index>& index, const Tensor& source, Scalar alpha = 1,
                   CallSite here = {}) const {
    TERN_CALL(index_add, dim, index, source, alpha, here);
  }
  const Tensor& index_add_(Index dim, const Tensor<D, Index>& index, const Tensor& source, Scalar alpha = 1,
                           CallSite here = {}) const {
    TERN_CALL(index_add_, dim, index, source, alpha, here);
  }
  Tensor scatter_add(Index dim, const detail::IndexOperand<D>& index, const Tensor& source, CallSite here = {}) const {
    TERN_CALL(scatter_add, dim, index, source, here);
  }
  const Tensor& scatter_add_(Index dim, const detail::IndexOperand<D>& index, const Tensor& source,
                             CallSite here = {}) const {
    TERN_CALL(scatter_add_, dim, index, source, here);
  }
  Tensor gather(Index dim, const detail::IndexOperand<D>& index, CallSite here = {}) const {
    TERN_CALL(gather, dim, index, here);
  }
  template <std::same_as<std::int32_t> I>
  Tensor index_select(Index dim, const tern::Tensor<D, I>& index, CallSite here = {}) const {
    TERN_CALL(index_select, dim, index, here);
  }
  Tensor index_select(Index dim, const Tensor<D, Index>& index, CallSite here = {}) const {
    TERN_CALL(index_select, dim, index, here);
  }
  Tensor take(const Tensor<D, Index>& index, CallSite here = {}) const { TERN_CALL(take, index, here); }
  Tensor take_along_dim(const Tensor<D, Index>& index, std::optional<Index> dim = {}, CallSite here = {}) const {
    TERN_CALL(take_along_dim, index, dim, here);
  }
  Tensor index_fill(Index dim, const Tensor<D, Index>& index, detail::number_t<T> value, CallSite here = {}) const {
    TERN_CALL(index_fill, dim, index, value, here);
  }
  Tensor index_fill(Index dim, const Tensor<D, Index>& index, const Tensor& value, CallSite here = {}) const {
    TERN_CALL(index_fill, dim, index, value, here);
  }
  const Tensor& index_fill_(Index dim, const Tensor<D, Index>& index, const Tensor& value, CallSite here = {}) const {
    TERN_CALL(index_fill_, dim, index, value, here);
  }
  const Tensor& index_fill_(Index dim, const Tensor<D, Index>& index, detail::number_t<T> value,
                            CallSite here = {}) const {
    TERN_CALL(index_fill_, dim, index, value, here);
  }
  Tensor scatter(Index dim, const detail::IndexOperand<D>& index, const Tensor& source, CallSite here = {}) const {
    TERN_CALL(scatter, dim, index, source, here);
  }
  Tensor scatter(Index dim, const detail::IndexOperand<D>& index, detail::number_t<T> value, CallSite here = {}) const {
    TERN_CALL(scatter, dim, index, value, here);
  }
  Tensor scatter(Index dim, const detail::IndexOperand<D>& index, const Tensor& source, const char* reduce,
                 CallSite here = {}) const {
    TERN_CALL(scatter, dim, index, source, reduce, here);
  }
  Tensor scatter(Index dim, const detail::IndexOperand<D>& index, detail::number_t<T> value, const char* reduce,
                 CallSite here = {}) const {
    TERN_CALL(scatter, dim, index, value, reduce, here);
  }
  const Tensor& scatter_(Index dim, const detail::IndexOperand<D>& index, const Tensor& source,
                         CallSite here = {}) const {
    TERN_CALL(scatter_, dim, index, source, here);
  }
  const Tensor& scatter_(Index dim, const detail::IndexOperand<D>& index, const Tensor& source, const char* reduce,
                         CallSite here = {}) const {
    TERN_CALL(scatter_, dim, index, source, reduce, here);
  }
  const Tensor& scatter_(Index dim, const detail::IndexOperand<D>& index, detail::number_t<T> value,
                         CallSite here = {}) const {
    TERN_CALL(scatter_, dim, index, value, here);
  }
  const Tensor& scatter_(Index dim, const detail::IndexOperand<D>& index, detail::number_t<T> value, const char* reduce,
                         CallSite here = {}) const {
    TERN_CALL(scatter_, dim, index, value, reduce, here);
  }
  Tensor index_copy(Index dim, const Tensor<D, Index>& index, const Tensor& source, CallSite here = {}) const {
    TERN_CALL(index_copy, dim, index, source, here);
  }
  const Tensor& index_copy_(Index dim, const Tensor<D, Index>& index, const Tensor& source, CallSite here = {}) const {
    TERN_CALL(index_copy_, dim, index, source, here);
  }
  Tensor repeat_interleave(Index repeats, std::optional<Index> dim = {}, CallSite here = {}) const {
    TERN_CALL(repeat_interleave, repeats, dim, here);
  }
  Tensor repeat_interleave(const Tensor<D, Index>& repeats, std::optional<Index> dim = {}, CallSite here = {}) const {
    TERN_CALL(repeat_interleave, repeats, dim, here);
  }
  Tensor<D, Index> nonzero(CallSite here = {}) const { TERN_CALL(nonzero, here); }
  Tensor scatter_reduce(Index dim, const detail::IndexOperand<D>& index, const Tensor& source, const char* reduce,
                        bool include_self = true, CallSite here = {}) const {
    TERN_CALL(scatter_reduce, dim, index, source, reduce, include_self, here);
  }
  const Tensor& scatter_reduce_(Index dim, const detail::IndexOperand<D>& index, const Tensor& source,
                                const char* reduce, bool include_self = true, CallSite here = {}) const {
    TERN_CALL(scatter_reduce_, dim, index, source, reduce, include_self, here);
  }
  /// @}

  /// @name Random elements: ops/random.hpp, ops/multinomial.hpp
  /// @{
  const Tensor& normal_(detail::RealNumber mean = 0, detail::RealNumber std = 1, CallSite here = {}) const {
    TERN_CALL(normal_, mean, std, here);
  }
  const Tensor& uniform_(detail::RealNumber low = 0, detail::RealNumber high = 1, CallSite here = {}) const {
    TERN_CALL(uniform_, low, high, here);
  }
  const Tensor& random_(Index low, Index high, CallSite here = {}) const { TERN_CALL(random_, low, high, here); }
  const Tensor& random_(Index high, CallSite here = {}) const { TERN_CALL(random_, high, here); }
  Tensor bernoulli(CallSite here = {}) const { TERN_CALL(bernoulli, here); }
  const Tensor& bernoulli_(detail::RealNumber p = 0.5, CallSite here = {}) const { TERN_CALL(bernoulli_, p, here); }
  const Tensor& exponential_(double lambda = 1, CallSite here = {}) const { TERN_CALL(exponential_, lambda, here); }
  Tensor<D, Index> multinomial(Index num_samples, bool replacement = false, CallSite here = {}) const {
    TERN_CALL(multinomial, num_samples, replacement, here);
  }
  /// @}

  /// @name Copies, element types, devices: ops/copy.hpp, ops/transfer.hpp
  /// @{
  Tensor contiguous(MemoryFormat format, CallSite here = {}) const { TERN_CALL(contiguous, format, here); }
  Tensor contiguous(CallSite here = {}) const { TERN_CALL(contiguous, here); }
  Tensor clone(CallSite here = {}) const { TERN_CALL(clone, here); }
  const Tensor& copy_(const Tensor& source, CallSite here = {}) const { TERN_CALL(copy_, source, here); }
  /// The same of another element type or device.
  template <Device D2, Element U>
    requires(!std::is_same_v<Tensor, tern::Tensor<D2, U>>)
  const Tensor& copy_(const tern::Tensor<D2, U>& source, CallSite here = {}) const {
    TERN_CALL(copy_, source, here);
  }
  const Tensor& fill_(detail::number_t<T> value, CallSite here = {}) const { TERN_CALL(fill_, value, here); }
  const Tensor& zero_(CallSite here = {}) const { TERN_CALL(fill_, 0, here); }
  const Tensor& fill_diagonal_(detail::number_t<T> value, bool wrap = false, CallSite here = {}) const {
    TERN_CALL(fill_diagonal_, value, wrap, here);
  }
  /// Of another element type: x.to(f64) or x.to<double>().
  template <Element U>
  Tensor<D, U> to(detail::Type<U> type = {}, CallSite here = {}) const {
    TERN_CALL(to_type, type, here);
  }
  template <Element U>
  Tensor<D, U> toType(detail::Type<U> type, CallSite here = {}) const {
    TERN_CALL(to_type, type, here);
  }
  // double(), float(), int(), long() and bool() are no names in C++: to(f64).
  Tensor<D, tern::half> half(CallSite here = {}) const { TERN_CALL(to_type, f16, here); }
  Tensor<D, tern::bfloat16> bfloat16(CallSite here = {}) const { TERN_CALL(to_type, bf16, here); }
  /// On another device: x.to(Cuda(1)), or x.to<Cuda>(), which is the current one.
  template <Device D2>
  Tensor<D2, T> to(D2 device = detail::current_device<D2>(), CallSite here = {}) const {
    TERN_CALL(to_device, device, here);
  }
  /// Refused: the result's type says where it lives.
  template <std::convertible_to<std::string_view> Text>
  auto to(const Text&) const {
    static_assert(!std::convertible_to<Text, std::string_view>,
                  "a device is part of a tensor's type, not a text: write x.cpu() or x.cuda()");
  }
  /// On the other tensor's device, with its element type.
  template <Device D2, Element U>
  Tensor<D2, U> to(const Tensor<D2, U>& other, CallSite here = {}) const {
    return to(detail::Type<U>{}, here).to(other.device(), here);
  }
  Tensor<Cpu, T> cpu(CallSite here = {}) const { TERN_CALL(to_device, Cpu{}, here); }
  // Templates, because tern/cuda.hpp alone says what Cuda is.
  template <class C = Cuda>
  Tensor<detail::included<C>, T> cuda(int ordinal = detail::current_device<C>().ordinal, CallSite here = {}) const {
    TERN_CALL(to_device, C{ordinal}, here);
  }
  template <class C = Cuda>
  auto cuda_async(int ordinal = detail::current_device<detail::included<C>>().ordinal, CallSite here = {}) const {
    TERN_CALL(cuda_async, ordinal, here);
  }
  auto cpu_async(CallSite here = {}) const { TERN_CALL(cpu_async, here); }
  Tensor pin_memory(CallSite here = {}) const { TERN_CALL(pin_memory, here); }
  /// @}
};

#undef TERN_CALL

namespace detail {

/// A class derived from a Tensor, as nn::Parameter.
template <class X>
concept TensorSubclass = std::derived_from<X, Tensor<typename X::device_type, typename X::value_type>> &&
                         !std::same_as<X, Tensor<typename X::device_type, typename X::value_type>>;

template <TensorSubclass X>
std::vector<Tensor<typename X::device_type, typename X::value_type>> plain_tensors(const std::vector<X>& list) {
  return {list.begin(), list.end()};
}

}  // namespace detail

}}  // namespace tern
