// Tensors as text, in PyTorch's layout: aligned columns with four digits, or scientific notation if the numbers need
// it. Above 1000 elements the text is shortened. The type and the shape follow. set_printoptions() changes these
// numbers.
#pragma once
#include <cmath>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "any_tensor.hpp"

namespace tern { inline namespace TERN_BUILD {

/// How tensors are printed.
struct PrintOptions {
  int precision = 4;       // digits after the point, at most 50
  Index threshold = 1000;  // above so many elements, only `edgeitems` are shown at each end of a dimension
  Index edgeitems = 3;
  Index linewidth = 80;               // characters
  std::optional<bool> sci_mode = {};  // scientific notation; by default where the numbers need it
};

/// Sets how this process prints tensors from here on: set_printoptions({.precision = 8}). What is not given is as at
/// the start.
TERN_API void set_printoptions(const PrintOptions& options = {}, CallSite here = {});

namespace detail {

extern TERN_API constinit PrintOptions print_options;

/// Text of the elements of an array in host memory.
class TERN_API ArrayText {
 public:
  explicit ArrayText(const Array& a);

  /// The elements in nested brackets. Lines after the first begin with `indent` spaces.
  std::string text(std::size_t indent) const {
    if (a_.ndim == 0) return bare(0);
    if (a_.numel == 0) return "[]";
    return block(0, 0, indent);
  }

 private:
  bool is_floating() const { return a_.dtype <= DType::float16; }

  double number(Index offset) const;

  /// False for zeros, infinities and NaN, which do not influence the format of the other numbers.
  bool sets_format(Index offset) const {
    return !is_floating() || (std::isfinite(number(offset)) && number(offset) != 0);
  }

  /// Finds out whether all numbers are integers, and whether their range needs exponents.
  void choose_format();

  /// The element without padding.
  std::string bare(Index offset) const;

  std::string padded(Index offset) const {
    const std::string number_text = bare(offset);
    return (number_text.size() < width_ ? std::string(width_ - number_text.size(), ' ') : "") + number_text;
  }

  /// Calls f(position, true) for the shown positions of a dimension, and f(0, false) where some are left out.
  template <class F>
  void for_shown(int dim, const F& f) const {
    const Index size = a_.dims[dim];
    const Index edge = options_.edgeitems;
    const bool cut = summarised_ && size > 2 * edge;
    for (Index i = 0; i < size; ++i) {
      if (cut && i == edge) {
        f(0, false);
        i = size - edge;
      }
      f(i, true);
    }
  }

  /// Calls f(offset) for every element that is shown.
  template <class F>
  void visit(int dim, Index offset, const F& f) const {
    if (dim == a_.ndim) return f(offset);
    for_shown(dim, [&](Index i, bool shown) {
      if (shown) visit(dim + 1, offset + i * a_.strides[dim], f);
    });
  }

  std::string block(int dim, Index offset, std::size_t indent) const;

  std::string row(Index offset, std::size_t indent) const;

  const Array& a_;
  const PrintOptions options_ = print_options;
  bool summarised_, whole_ = true, scientific_ = false;
  std::size_t width_ = 1;
};

/// cuda:0; the name alone if the number is negative.
TERN_API std::string device_text(const char* name, int ordinal);

/// Tensor<Cpu, float>.
TERN_API std::string type_text(std::string device, DType type);

/// tensor(elements, type[shape]).
TERN_API std::string tensor_text(const Array& a, const std::string& type, bool requires_grad);

}  // namespace detail

/// The tensor as text: tensor([1., 2.], Tensor<Cpu, float>[2]).
template <Device D, Element T>
std::string to_string(const Tensor<D, T>& x) {
  const std::string type = detail::type_text(DeviceTraits<D>::name, dtype_of<T>);
  if (!x.defined()) return "tensor(undefined, " + type + ")";
  if constexpr (HostDevice<D>) return detail::tensor_text(*x.impl(), type, x.requires_grad());
  else return detail::tensor_text(*to_device(x.detach(), Cpu{}).impl(), type, x.requires_grad());
}

template <Device D, Element T>
std::ostream& operator<<(std::ostream& out, const Tensor<D, T>& x) {
  return out << to_string(x);
}

TERN_API std::string to_string(const AnyTensor& x);
TERN_API std::ostream& operator<<(std::ostream& out, const AnyTensor& x);

/// [2, 3].
namespace detail {  // where argument-dependent lookup finds them
TERN_API std::string to_string(const Shape& shape);
TERN_API std::ostream& operator<<(std::ostream& out, const Shape& shape);
}  // namespace detail
using detail::to_string;
/// float32.
TERN_API std::ostream& operator<<(std::ostream& out, DType type);
namespace detail {
template <class T>
std::ostream& operator<<(std::ostream& out, Type<T> type) {
  return out << DType(type);
}
}  // namespace detail
/// cpu, cuda:0.
template <Device D>
std::ostream& operator<<(std::ostream& out, D device) {
  return out << detail::device_text(DeviceTraits<D>::name, HostDevice<D> ? -1 : detail::ordinal_of(device));
}

}}  // namespace tern

#ifndef TERN_COMPILED
#include "print.ipp"
#endif
