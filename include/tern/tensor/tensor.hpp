// Tensor<D, T>: a handle of one pointer. Its type says where the elements live. This file has the interface; the ops'
// meaning is documented in ops/, gradients in autograd/.
#pragma once
#include "../backend/cpu/kernels.hpp"
#include "../core/here.hpp"
#include "../core/number.hpp"
#include "../device/device.hpp"
#include "impl.hpp"
#include "pinned.hpp"
#include "index.hpp"
#include "methods.hpp"

namespace tern { inline namespace TERN_BUILD {

// The return types of refused overloads. The compiler prints their names first.
template <class A, class B>
struct error_operands_on_different_devices_move_one_with_cuda_or_cpu {};
template <class A, class B>
struct error_operands_of_different_element_types_convert_one_with_to {};
namespace detail {
/// The return type of a deleted overload for tensors of types A and B.
template <class A, class B>
using Refusal = std::conditional_t<std::is_same_v<typename A::device_type, typename B::device_type>,
                                   error_operands_of_different_element_types_convert_one_with_to<A, B>,
                                   error_operands_on_different_devices_move_one_with_cuda_or_cpu<A, B>>;
}  // namespace detail

// The attribute at the end of a refused overload. g++ prints a deleted function's return type in the first line of the
// error. clang does not, but has an attribute for such messages. Since clang 19 a friend with a constraint must be a
// definition.
#if defined(__clang__)
#define TERN_REFUSED(D1, D2)                                                                                           \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wgcc-compat\"") __attribute__((                \
      diagnose_if(!std::is_same_v<D1, D2>, "operands on different devices: move one with .cuda() or .cpu()", "error"), \
      diagnose_if(std::is_same_v<D1, D2>, "operands of different element types: convert one with .to()", "error")))    \
  _Pragma("clang diagnostic pop") {                                                                                    \
    return {};                                                                                                         \
  }
#else
#define TERN_REFUSED(D1, D2) = delete
#endif

/// Refuses f(x, y, …) for two devices or two element types, with a message that tells the remedy.
#define TERN_SAME_PLACE(f)                                                                                        \
  template <class D1, class T1, class D2, class T2, class... Rest>                                                \
    requires(!std::is_same_v<Tensor<D1, T1>, Tensor<D2, T2>>)                                                     \
  detail::Refusal<Tensor<D1, T1>, Tensor<D2, T2>> f(const Tensor<D1, T1>&, const Tensor<D2, T2>&, const Rest&...) \
      TERN_REFUSED(D1, D2);

namespace detail {
/// An operand of an operator, with the operator's source line. Operators cannot have default arguments, so the line
/// comes with the operand.
template <class X>
struct At {
  const X& tensor;
  Here here;
  At(const X& t, Here h = {}) : tensor(t), here(h) {}
};

/// A number on the right of an assignment, with the assignment's source line.
template <class T>
struct NumberAt {
  number_t<T> number;
  Here here;
  template <class N>
    requires(std::is_arithmetic_v<N> || is_half_v<N>)
  NumberAt(N n, Here h = {}) : number(n), here(h) {}
};

/// The entries of x[{…}], with their source line.
template <class D>
struct IndicesAt {
  std::initializer_list<TensorIndex<D>> entries;
  Here here;
  IndicesAt(std::initializer_list<TensorIndex<D>> list, Here h = {}) : entries(list), here(h) {}
};
}  // namespace detail

/// A tensor of elements T on device D. It is a handle: copies share the elements and the node on the tape. PyTorch's
/// methods are methods here: x.sum(1) is sum(x, 1), x.relu_() is relu_(x). ops/ documents the functions.
template <Device D, Element T>
class Tensor {
  detail::TensorImpl* impl_ = nullptr;

 public:
  using device_type = D;
  using value_type = T;
  using Scalar = std::conditional_t<detail::is_floating_v<T>, detail::RealNumber, detail::IntegerNumber>;
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
    detail::check_assigned(impl_, source.here);
    return detail::adl::call_copy_(*this, source.tensor, source.here);
  }
  Tensor operator=(detail::NumberAt<T> value) && {
    detail::check_assigned(impl_, value.here);
    return detail::adl::call_fill_(*this, value.number, value.here);
  }
  template <class D2, class T2>
    requires(!std::is_same_v<Tensor<D2, T2>, Tensor>)
  detail::Refusal<Tensor, Tensor<D2, T2>> operator=(const Tensor<D2, T2>&) TERN_REFUSED(D, D2);
  ~Tensor() { detail::release(impl_); }

  detail::TensorImpl* impl() const { return impl_; }
  /// Gives up the handle's reference.
  detail::TensorImpl* release() && {
    detail::TensorImpl* const impl = impl_;
    impl_ = nullptr;
    return impl;
  }
  /// The impl. Error that names op if this handle is empty.
  detail::TensorImpl* checked(OpName op) const {
    if (!impl_) [[unlikely]]
      detail::refuse_undefined(op.name, op.here);
    return impl_;
  }

  /// False for a default-constructed handle.
  bool defined() const { return impl_; }
  explicit operator bool() const = delete;

  detail::Shape shape() const { return checked("shape")->shape(); }
  detail::Shape sizes() const { return shape(); }
  /// The size of dimension i. A negative i counts from the last.
  Index size(Index i) const { return checked("size")->dims[detail::existing_dim("size", i, impl_->ndim)]; }
  detail::Shape strides() const { return {checked("strides")->strides, impl_->ndim}; }
  Index stride(Index i) const { return checked("stride")->strides[detail::existing_dim("stride", i, impl_->ndim)]; }
  int dim() const { return checked("dim")->ndim; }
  Index numel() const { return checked("numel")->numel; }
  bool is_contiguous() const { return checked("is_contiguous")->contiguous; }
  bool is_contiguous(MemoryFormat format) const {
    return format == channels_last ? detail::is_channels_last(*checked("is_contiguous")) : is_contiguous();
  }
  static constexpr DType dtype() { return dtype_of<T>; }
  D device() const { return detail::device_at<D>(checked("device")->ordinal); }

  /// The first element's address. The tape's checks do not see writes through it. If a copy still uses pinned memory,
  /// this waits for it.
  T* data() const
    requires HostDevice<D>
  {
    if (checked("data")->pinned) [[unlikely]]
      detail::finish_copies(impl_);
    return impl_->template as<T>();
  }
  /// True if the elements are in page-locked host memory.
  bool is_pinned() const { return checked("is_pinned")->pinned; }
  /// The element at a full index, for reading or writing.
  template <class... I>
  T& operator()(I... index) const
    requires HostDevice<D>
  {
    const detail::Shape at{Index(index)...};
    return data()[detail::element_offset(*checked("operator()"), at)];
  }
  /// The value of a one-element tensor. The host waits for it.
  T item(Here here = {}) const;
  /// The same, converted to U.
  template <class U>
    requires(std::is_arithmetic_v<U> || detail::is_half_v<U>)
  U item(Here here = {}) const {
    return static_cast<U>(item(here));
  }
  /// The elements in row-major order. The host waits for them.
  std::vector<T> to_vector(Here here = {}) const;

  // ---- new tensors on the same device, of T or another type (tensor/map.hpp) ----
  template <Element U = T>
  Tensor<D, U> new_empty(const detail::Shape& size, detail::Type<U> type = {}, Here here = {}) const;
  template <Element U = T>
  Tensor<D, U> new_full(const detail::Shape& size, detail::number_t<U> value, detail::Type<U> type = {},
                        Here here = {}) const;
  template <Element U = T>
  Tensor<D, U> new_zeros(const detail::Shape& size, detail::Type<U> type = {}, Here here = {}) const;
  template <Element U = T>
  Tensor<D, U> new_ones(const detail::Shape& size, detail::Type<U> type = {}, Here here = {}) const;

  // ---- autograd (autograd/) ----
  bool requires_grad() const { return impl_ && impl_->node; }
  Tensor& requires_grad_(bool on = true, Here here = {});
  bool is_leaf() const;
  /// The accumulated gradient; undefined if there is none.
  Tensor grad() const;
  void set_grad(const Tensor& gradient) const;
  /// Makes a non-leaf keep its gradient in grad().
  void retain_grad() const;
  /// Adds d(this)/d(leaf) to each leaf's grad(). This tensor must have one element, unless a gradient is given.
  void backward(const Tensor& gradient = {}, bool retain_graph = false, bool create_graph = false,
                Here here = {}) const;
  /// The same elements, not on the tape. Each tensor sees writes to the other, and so does the version check.
  Tensor detach() const { return Tensor(detail::new_detached(checked("detach"))); }
  /// f(gradient) runs when this tensor's gradient is complete; a tensor that it returns replaces the gradient.
  template <class F>
  void register_hook(F f) const;
  /// f(leaf) runs after a backward has added to this leaf's grad().
  template <class F>
  void register_post_accumulate_grad_hook(F f) const;
  /// How often the elements were written.
  std::uint32_t version() const { return checked("version")->owner->version; }

  TERN_TENSOR_METHODS
};

}}  // namespace tern
