// Tensors as text, in PyTorch's layout: aligned columns, four digits, scientific where the numbers ask for it,
// summarised beyond 1000 elements; then the type and the shape.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <cmath>
#include <iosfwd>
#include <string>
#include <vector>

#include "tensor.hpp"

namespace tern::inline TERN_BUILD {
namespace detail {

/// Text of the elements of an array in host memory.
class ArrayText {
 public:
  static constexpr Index threshold = 1000, edge = 3;   // more elements than this: only so many at each edge
  static constexpr int precision = 4;
  static constexpr std::size_t line_width = 80;

  explicit ArrayText(const Array& a) : a_(a), summarised_(a.numel > threshold) {
    if (is_floating()) choose_format();
    visit(0, 0, [&](Index offset) {
      const std::size_t size = sets_format(offset) ? bare(offset).size() : 0;
      if (size > width_) width_ = size;
    });
  }

  /// Nested brackets; lines after the first begin with so many spaces.
  std::string text(std::size_t indent) const {
    if (a_.ndim == 0) return bare(0);
    if (a_.numel == 0) return "[]";
    return block(0, 0, indent);
  }

 private:
  bool is_floating() const { return a_.dtype <= DType::float16; }

  double number(Index offset) const {
    switch (a_.dtype) {
      case DType::float32: return double(a_.as<float>()[offset]);
      case DType::float64: return a_.as<double>()[offset];
      case DType::bfloat16: return double(float(a_.as<bfloat16>()[offset]));
      default: return double(float(a_.as<half>()[offset]));
    }
  }

  /// Zeros, infinities and NaN take the format that the other numbers ask for.
  bool sets_format(Index offset) const {
    return !is_floating() || (std::isfinite(number(offset)) && number(offset) != 0);
  }

  /// Whether all numbers are whole, and whether their range asks for exponents.
  void choose_format() {
    double least = INFINITY, most = 0;
    visit(0, 0, [&](Index offset) {
      if (!sets_format(offset)) return;
      const double value = number(offset), magnitude = std::fabs(value);
      whole_ = whole_ && value == std::ceil(value);
      if (magnitude < least) least = magnitude;
      if (magnitude > most) most = magnitude;
    });
    scientific_ = most > 0 && (most / least > 1000 || most > 1e8 || least < 1e-4);
  }

  /// The element without padding.
  std::string bare(Index offset) const {
    switch (a_.dtype) {
      case DType::int64: return std::to_string(a_.as<std::int64_t>()[offset]);
      case DType::int32: return std::to_string(a_.as<std::int32_t>()[offset]);
      case DType::uint8: return std::to_string(a_.as<std::uint8_t>()[offset]);
      case DType::boolean: return a_.as<bool>()[offset] ? "True" : "False";
      default: break;
    }
    const double value = number(offset);
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    char buffer[400];  // the largest double has 309 digits
    const int digits = whole_ && !scientific_ ? 0 : precision;
    std::snprintf(buffer, sizeof buffer, scientific_ ? "%.*e" : "%.*f", digits, value);
    return digits ? buffer : std::string(buffer) + '.';
  }

  std::string padded(Index offset) const {
    const std::string number_text = bare(offset);
    return (number_text.size() < width_ ? std::string(width_ - number_text.size(), ' ') : "") + number_text;
  }

  /// Calls f(position, true) for the positions of a dimension that are shown, and f(0, false) where some are left out.
  template <class F>
  void for_shown(int dim, const F& f) const {
    const Index size = a_.dims[dim];
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

  std::string block(int dim, Index offset, std::size_t indent) const {
    const int inner = a_.ndim - 1 - dim;
    if (inner == 0) return row(offset, indent);
    const std::string separator = "," + std::string(std::size_t(inner), '\n') + std::string(indent + 1, ' ');
    std::string out = "[";
    for_shown(dim, [&](Index i, bool shown) {
      if (out.size() > 1) out += separator;
      out += shown ? block(dim + 1, offset + i * a_.strides[dim], indent + 1) : "...";
    });
    return out + "]";
  }

  std::string row(Index offset, std::size_t indent) const {
    const int dim = a_.ndim - 1;
    const std::size_t fit = indent < line_width ? (line_width - indent) / (width_ + 2) : 0, in_line = fit ? fit : 1;
    std::string out = "[";
    std::size_t count = 0;
    for_shown(dim, [&](Index i, bool shown) {
      if (count) out += count % in_line ? ", " : ",\n" + std::string(indent + 1, ' ');
      out += shown ? padded(offset + i * a_.strides[dim]) : " ...";
      ++count;
    });
    return out + "]";
  }

  const Array& a_;
  bool summarised_, whole_ = true, scientific_ = false;
  std::size_t width_ = 1;
};

/// tensor(elements, type[shape]).
[[gnu::noinline]] inline std::string tensor_text(const Array& a, const std::string& type, bool requires_grad) {
  const std::string prefix = "tensor(";
  std::string out = prefix + ArrayText(a).text(prefix.size());
  const std::string suffixes[] = {type + text({a.shape_ref()}), requires_grad ? "requires_grad=True" : ""};
  for (const std::string& suffix : suffixes) {
    if (suffix.empty()) continue;
    const std::size_t line = out.size() - (out.rfind('\n') + 1);   // rfind gives -1 where there is no line before
    out += line + suffix.size() + 3 > ArrayText::line_width ? ",\n" + std::string(prefix.size(), ' ') : ", ";
    out += suffix;
  }
  return out + ")";
}

}  // namespace detail

/// The tensor as text: tensor([1., 2.], Tensor<Cpu, float>[2]).
template <Device D, Element T>
std::string to_string(const Tensor<D, T>& x) {
  std::string device = DeviceTraits<D>::name;
  device[0] = char(device[0] - 'a' + 'A');
  const std::string type = "Tensor<" + device + ", " + cpp_name_of(dtype_of<T>) + ">";
  if (!x.defined()) return "tensor(undefined, " + type + ")";
  if constexpr (HostDevice<D>) return detail::tensor_text(*x.impl(), type, x.requires_grad());
  else return detail::tensor_text(*to_device(x.detach(), Cpu{}).impl(), type, x.requires_grad());
}

template <Device D, Element T>
std::ostream& operator<<(std::ostream& out, const Tensor<D, T>& x) {
  return out << to_string(x);
}

}  // namespace tern
