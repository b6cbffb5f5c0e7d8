// The functions of print.hpp that are not templates.
#pragma once
#include <ostream>

#include "print.hpp"

namespace tern { inline namespace TERN_BUILD {

TERN_COLD void set_printoptions(const PrintOptions& options, CallSite here) {
  const CallSite op{"set_printoptions", here};
  if (options.precision < 0 || options.precision > 50)
    Error::fail(op, {"precision must be from 0 to 50, not ", options.precision});
  if (options.threshold < 0 || options.edgeitems < 1 || options.linewidth < 1)
    Error::fail(op, {"threshold ", options.threshold, ", edgeitems ", options.edgeitems, ", linewidth ",
                     options.linewidth, ": they must not be negative, the last two not 0"});
  detail::print_options = options;
}

namespace detail {

TERN_INLINE constinit PrintOptions print_options;

TERN_INLINE ArrayText::ArrayText(const Array& a) : a_(a), summarised_(a.numel > options_.threshold) {
  if (is_floating()) choose_format();
  visit(0, 0, [&](Index offset) {
    const std::size_t size = sets_format(offset) ? bare(offset).size() : 0;
    if (size > width_) width_ = size;
  });
}

TERN_INLINE double ArrayText::number(Index offset) const {
  switch (a_.dtype) {
    case DType::float32: return double(a_.as<float>()[offset]);
    case DType::float64: return a_.as<double>()[offset];
    case DType::bfloat16: return double(float(a_.as<bfloat16>()[offset]));
    default: return double(float(a_.as<half>()[offset]));
  }
}

TERN_INLINE void ArrayText::choose_format() {
  double least = INFINITY, most = 0;
  visit(0, 0, [&](Index offset) {
    if (!sets_format(offset)) return;
    const double value = number(offset), magnitude = std::fabs(value);
    whole_ = whole_ && value == std::ceil(value);
    if (magnitude < least) least = magnitude;
    if (magnitude > most) most = magnitude;
  });
  scientific_ = options_.sci_mode.value_or(most > 0 && (most / least > 1000 || most > 1e8 || least < 1e-4));
}

TERN_INLINE std::string ArrayText::bare(Index offset) const {
  switch (a_.dtype) {
    case DType::int64: return std::to_string(a_.as<std::int64_t>()[offset]);
    case DType::int32: return std::to_string(a_.as<std::int32_t>()[offset]);
    case DType::uint8: return std::to_string(a_.as<std::uint8_t>()[offset]);
    case DType::bool_: return a_.as<bool>()[offset] ? "True" : "False";
    default: break;
  }
  const double value = number(offset);
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[400];  // the largest double has 309 digits
  const int digits = whole_ && !scientific_ ? 0 : options_.precision;
  std::snprintf(buffer, sizeof buffer, scientific_ ? "%.*e" : "%.*f", digits, value);
  return digits ? buffer : std::string(buffer) + '.';
}

TERN_INLINE std::string ArrayText::block(int dim, Index offset, std::size_t indent) const {
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

TERN_INLINE std::string ArrayText::row(Index offset, std::size_t indent) const {
  const int dim = a_.ndim - 1;
  const std::size_t fit = indent < std::size_t(options_.linewidth)
                              ? (std::size_t(options_.linewidth) - indent) / (width_ + 2)
                              : 0,
                    in_line = fit ? fit : 1;
  std::string out = "[";
  std::size_t count = 0;
  for_shown(dim, [&](Index i, bool shown) {
    if (count) out += count % in_line ? ", " : ",\n" + std::string(indent + 1, ' ');
    out += shown ? padded(offset + i * a_.strides[dim]) : " ...";
    ++count;
  });
  return out + "]";
}

TERN_INLINE std::string device_text(const char* name, int ordinal) {
  return ordinal < 0 ? std::string(name) : text({name, ":", ordinal});
}

TERN_INLINE std::string type_text(std::string device, DType type) {
  device[0] = char(device[0] - 'a' + 'A');
  return text({"Tensor<", device, ", ", cpp_name_of(type), ">"});
}

TERN_NOINLINE std::string tensor_text(const Array& a, const std::string& type, bool requires_grad) {
  const std::string prefix = "tensor(";
  std::string out = prefix + ArrayText(a).text(prefix.size());
  const std::string suffixes[] = {type + text({a.shape_ref()}), requires_grad ? "requires_grad=True" : ""};
  for (const std::string& suffix : suffixes) {
    if (suffix.empty()) continue;
    const std::size_t line = out.size() - (out.rfind('\n') + 1);  // if there is no line break, rfind returns -1
    out += line + suffix.size() + 3 > std::size_t(print_options.linewidth) ? ",\n" + std::string(prefix.size(), ' ')
                                                                           : ", ";
    out += suffix;
  }
  return out + ")";
}

}
}}  // namespace tern::detail

namespace tern { inline namespace TERN_BUILD {

TERN_INLINE std::string to_string(const AnyTensor& x) {
  if (!x.defined()) return "tensor(undefined)";
  return detail::tensor_text(*x.cpu().impl(), detail::type_text(x.device_name(), x.dtype()), x.requires_grad());
}
TERN_INLINE std::ostream& operator<<(std::ostream& out, const AnyTensor& x) { return out << to_string(x); }

TERN_INLINE std::string detail::to_string(const Shape& shape) { return text({shape}); }
TERN_INLINE std::ostream& detail::operator<<(std::ostream& out, const Shape& shape) { return out << text({shape}); }
TERN_INLINE std::ostream& operator<<(std::ostream& out, DType type) { return out << detail::name_of(type); }

}}  // namespace tern
