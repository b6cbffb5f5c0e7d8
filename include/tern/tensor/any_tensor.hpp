// AnyTensor: a tensor whose device and element type are known only at run time, for containers of mixed tensors.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "any_methods.hpp"
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

/// A shared handle of the same elements, like Tensor. Its methods and operators are in any_methods.hpp: the op of their
/// name on the tensor's type, with AnyTensors as results.
class TERN_API AnyTensor : public detail::AnyMethods<AnyTensor> {
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
  DType dtype(CallSite here = {}) const { return checked({"dtype", here}).dtype; }
  DType scalar_type(CallSite here = {}) const { return dtype(here); }
  detail::Shape shape(CallSite here = {}) const { return checked({"shape", here}).shape(); }
  detail::Shape sizes(CallSite here = {}) const { return checked({"sizes", here}).shape(); }
  /// The size of dimension i. A negative i counts from the last.
  Index size(Index i, CallSite here = {}) const {
    const detail::TensorImpl& x = checked({"size", here});
    return x.dims[detail::existing_dim({"size", here}, i, x.ndim)];
  }
  detail::Shape strides(CallSite here = {}) const { return {checked({"strides", here}).strides, impl_->ndim}; }
  Index stride(Index i, CallSite here = {}) const {
    const detail::TensorImpl& x = checked({"stride", here});
    return x.strides[detail::existing_dim({"stride", here}, i, x.ndim)];
  }
  int dim(CallSite here = {}) const { return checked({"dim", here}).ndim; }
  Index numel(CallSite here = {}) const { return checked({"numel", here}).numel; }
  Index element_size(CallSite here = {}) const { return detail::size_of(dtype(here)); }
  Index nbytes(CallSite here = {}) const { return element_size(here) * impl_->numel; }
  bool is_floating_point(CallSite here = {}) const { return detail::is_floating(dtype(here)); }
  bool is_contiguous(CallSite here = {}) const { return checked({"is_contiguous", here}).contiguous; }
  const char* device_name(CallSite here = {}) const {
    checked({"device_name", here});
    return device_->name;
  }
  bool is_cpu() const { return device_name() == std::string_view("cpu"); }
  bool is_cuda() const { return device_name() == std::string_view("cuda"); }

  /// The tensor in host memory: itself if it is there already, else a dense copy.
  AnyTensor cpu(CallSite here = {}) const {
    const CallScope scope({"cpu", here});
    checked("cpu");
    return device_ == &detail::device_tag<Cpu> ? *this : Tensor<Cpu>(device_->to_host(impl_));
  }

  /// The same elements, not on the tape.
  AnyTensor detach(CallSite here = {}) const;
  /// A copy in the same memory order. Like a Tensor's clone() it is recorded.
  AnyTensor clone(CallSite here = {}) const;
  /// this = source, broadcast. Error unless both are on one kind of device, with one element type.
  const AnyTensor& copy_(const AnyTensor& source, CallSite here = {}) const;

  /// The accumulated gradient; undefined if there is none.
  AnyTensor grad(CallSite here = {}) const;
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
  Tensor<D, T> as(CallSite here = {}) const {
    if (!is<D, T>()) refuse(DeviceTraits<D>::name, dtype_of<T>, here);
    detail::retain(impl_);
    return Tensor<D, T>(impl_);
  }

 private:
  /// Another handle's impl on this tensor's device. It may be null.
  AnyTensor with(detail::TensorImpl* impl) const;
  [[noreturn]] void refuse(const char* device, DType dtype, CallSite here) const;
  const detail::TensorImpl& checked(CallSite op) const {
    if (!impl_) detail::refuse_undefined(op);
    return *impl_;
  }
  const detail::TensorImpl& checked(const char* op) const { return checked({op, CallSite::unknown}); }
};

/// A tensor with a name, such as a parameter of a network or an entry of a file.
struct NamedTensor : detail::AnyMethods<NamedTensor> {
  std::string name;
  AnyTensor tensor;

  NamedTensor() = default;
  NamedTensor(std::string n, AnyTensor x) : name(std::move(n)), tensor(std::move(x)) {}
  operator const AnyTensor&() const { return tensor; }
  // LibTorch's names.
  const std::string& key() const { return name; }
  const AnyTensor& value() const { return tensor; }

  // The tensor's, so that a loop over a network's parameters() reads as PyTorch's.
  bool requires_grad() const { return tensor.requires_grad(); }
  void requires_grad_(bool on = true, CallSite here = {}) const { tensor.requires_grad_(on, here); }
  AnyTensor grad(CallSite here = {}) const { return tensor.grad(here); }
  AnyTensor detach(CallSite here = {}) const { return tensor.detach(here); }
  AnyTensor clone(CallSite here = {}) const { return tensor.clone(here); }
  const AnyTensor& copy_(const AnyTensor& source, CallSite here = {}) const { return tensor.copy_(source, here); }
  DType dtype(CallSite here = {}) const { return tensor.dtype(here); }
  detail::Shape shape(CallSite here = {}) const { return tensor.shape(here); }
  detail::Shape sizes(CallSite here = {}) const { return tensor.sizes(here); }
  Index size(Index i, CallSite here = {}) const { return tensor.size(i, here); }
  int dim(CallSite here = {}) const { return tensor.dim(here); }
  Index numel(CallSite here = {}) const { return tensor.numel(here); }
  template <Device D, Element T = float>
  Tensor<D, T> as(CallSite here = {}) const {
    return tensor.as<D, T>(here);
  }
};

/// The names and tensors of all that a module or an optimiser learns or keeps: a list, and a dictionary by name.
struct TERN_API StateDict : std::vector<NamedTensor> {
  using std::vector<NamedTensor>::vector;
  using std::vector<NamedTensor>::operator[];
  StateDict() = default;
  StateDict(std::vector<NamedTensor> entries) : std::vector<NamedTensor>(std::move(entries)) {}
  /// Of a std::map's names and tensors.
  template <class Map>
    requires requires(const typename Map::value_type& v) { NamedTensor(v.first, v.second); }
  StateDict(const Map& map) {
    for (const auto& [name, tensor] : map) emplace_back(name, tensor);
  }

  /// The tensor of that name. If there is none, it adds an undefined one, as a std::map does; in a const dict or a
  /// temporary, `net.state_dict()["fc.weight"]`, it is an Error.
  AnyTensor& operator[](const detail::TextAt& name) &;
  const AnyTensor& operator[](const detail::TextAt& name) const&;
  AnyTensor operator[](const detail::TextAt& name) && { return at(name); }
  /// The tensor of that name. Error if there is none.
  const AnyTensor& at(const detail::TextAt& name) const { return (*this)[name]; }
  /// Removes the entry and returns its tensor. Error if there is none of that name.
  AnyTensor pop(const detail::TextAt& name);
  bool contains(const std::string& name) const;
  std::vector<std::string> keys() const;
};

namespace detail {
template <class D, class T>
Tensor<D, T> typed(const AnyTensor& x, CallSite op) {
  const CallScope scope(op);
  return x.as<D, T>();
}

/// Appends an entry. The pieces form its name.
TERN_API void append(std::vector<NamedTensor>& list, std::initializer_list<Piece> name, const AnyTensor& tensor);
}  // namespace detail

}}  // namespace tern

#ifndef TERN_COMPILED
#include "any_tensor.ipp"
#endif
