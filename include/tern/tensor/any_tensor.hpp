// AnyTensor: a tensor whose device and element type are known only at run time, for containers of mixed tensors.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "map.hpp"
#include "transfer.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// A dense copy in host memory, for elements that the host can read.
TERN_API TensorImpl* copy_on_host(const TensorImpl* x);

/// A dense copy in host memory, for elements on a device.
template <Device D>
[[gnu::noinline]] TensorImpl* copy_to_host(const TensorImpl* x) {
  Owned y(new_impl(x->dtype, x->shape_ref()));
  if (x->contiguous) {
    transfer<Cpu, D>(*y.impl, *x);
  } else {
    const Owned dense(copied(device_ops<D>, x));
    transfer<Cpu, D>(*y.impl, *dense.impl);
  }
  return y.take();
}
template <Device D>
constexpr auto to_host_of() {
  if constexpr (HostDevice<D>) return &copy_on_host;
  else return &copy_to_host<D>;
}

/// A device as a run-time value. The address identifies it.
struct DeviceTag {
  const char* name;
  TensorImpl* (*to_host)(const TensorImpl* x);
  const DeviceOps* ops;
};
template <Device D>
inline constexpr DeviceTag device_tag{DeviceTraits<D>::name, to_host_of<D>(), &device_ops<D>};

}  // namespace detail

/// A shared handle of the same elements, like Tensor.
class TERN_API AnyTensor {
  detail::TensorImpl* impl_ = nullptr;
  const detail::DeviceTag* device_ = nullptr;
  const detail::GradOps* grad_ops_ = nullptr;

 public:
  AnyTensor() {}
  template <class D, class T>
  AnyTensor(const Tensor<D, T>& x) : impl_(x.impl()), device_(&detail::device_tag<D>) {
    detail::retain(impl_);
  }
  AnyTensor(const AnyTensor& other) noexcept : impl_(other.impl_), device_(other.device_), grad_ops_(other.grad_ops_) {
    detail::retain(impl_);
  }
  AnyTensor(AnyTensor&& other) noexcept : impl_(other.impl_), device_(other.device_), grad_ops_(other.grad_ops_) {
    other.impl_ = nullptr;
  }
  AnyTensor& operator=(AnyTensor other) noexcept {
    std::swap(impl_, other.impl_);
    std::swap(device_, other.device_);
    std::swap(grad_ops_, other.grad_ops_);
    return *this;
  }
  ~AnyTensor() { detail::release(impl_); }

  bool defined() const { return impl_; }
  detail::TensorImpl* impl() const { return impl_; }
  DType dtype() const { return checked("dtype").dtype; }
  detail::Shape shape() const { return checked("shape").shape(); }
  detail::Shape sizes() const { return shape(); }
  /// The size of dimension i. A negative i counts from the last.
  Index size(Index i) const { return shape()[detail::existing_dim({"size", CallSite::unknown}, i, dim())]; }
  detail::Shape strides() const { return {checked("strides").strides, impl_->ndim}; }
  Index stride(Index i) const { return strides()[detail::existing_dim({"stride", CallSite::unknown}, i, dim())]; }
  int dim() const { return checked("dim").ndim; }
  Index numel() const { return checked("numel").numel; }
  bool is_contiguous() const { return checked("is_contiguous").contiguous; }
  const char* device_name() const {
    checked("device_name");
    return device_->name;
  }

  /// The tensor in host memory: itself if it is there already, else a dense copy.
  AnyTensor cpu() const {
    checked("cpu");
    return device_ == &detail::device_tag<Cpu> ? *this : Tensor<Cpu>(device_->to_host(impl_));
  }

  /// The same elements, not on the tape.
  AnyTensor detach() const;

  /// The accumulated gradient; undefined if there is none.
  AnyTensor grad() const;
  bool requires_grad() const { return impl_ && impl_->node; }
  /// Freezes a parameter, or, with on, makes one of a module's parameters() learn again. Of other tensors a Tensor's
  /// requires_grad_() does that.
  void requires_grad_(bool on = true, CallSite here = {}) const;
  /// The same tensor, which knows how its gradients are calculated.
  AnyTensor with_grad_ops(const detail::GradOps* grad_ops) const {
    AnyTensor x(*this);
    x.grad_ops_ = grad_ops;
    return x;
  }

  /// True if this is a Tensor<D, T>.
  template <Device D, Element T = float>
  bool is() const {
    return impl_ && device_ == &detail::device_tag<D> && impl_->dtype == dtype_of<T>;
  }
  /// The typed handle. Error that names both types if this tensor has another device or element type.
  template <Device D, Element T = float>
  Tensor<D, T> as() const {
    if (!is<D, T>()) refuse(DeviceTraits<D>::name, dtype_of<T>);
    detail::retain(impl_);
    return Tensor<D, T>(impl_);
  }

 private:
  /// Another handle's impl on this tensor's device. It may be null.
  AnyTensor with(detail::TensorImpl* impl) const;
  [[noreturn]] void refuse(const char* device, DType dtype) const;
  const detail::TensorImpl& checked(const char* op) const {
    if (!impl_) Error::fail(op, {"a tensor is undefined"});
    return *impl_;
  }
};

/// A tensor with a name, such as a parameter of a network or an entry of a file.
struct NamedTensor {
  std::string name;
  AnyTensor tensor;

  // The tensor's, so that a loop over a network's parameters() reads as PyTorch's.
  bool requires_grad() const { return tensor.requires_grad(); }
  void requires_grad_(bool on = true, CallSite here = {}) const { tensor.requires_grad_(on, here); }
  AnyTensor grad() const { return tensor.grad(); }
  DType dtype() const { return tensor.dtype(); }
  detail::Shape shape() const { return tensor.shape(); }
  detail::Shape sizes() const { return tensor.sizes(); }
  Index size(Index i) const { return tensor.size(i); }
  int dim() const { return tensor.dim(); }
  Index numel() const { return tensor.numel(); }
  template <Device D, Element T = float>
  Tensor<D, T> as() const {
    return tensor.as<D, T>();
  }
};

/// The names and tensors of all that a module or an optimiser learns or keeps.
using StateDict = std::vector<NamedTensor>;

namespace detail {
/// Appends an entry. The pieces form its name.
TERN_API void append(StateDict& dict, std::initializer_list<Piece> name, const AnyTensor& tensor);
}  // namespace detail

}}  // namespace tern

#ifndef TERN_COMPILED
#include "any_tensor.ipp"
#endif
