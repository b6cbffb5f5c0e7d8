// The functions of number.hpp that are not templates.
#pragma once
#include "number.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

struct IntegerRange {
  Index min, max;
};
inline IntegerRange range_of(DType type) {
  switch (type) {
    case DType::bool_: return {0, 1};
    case DType::uint8: return {0, UINT8_MAX};
    case DType::int32: return {INT32_MIN, INT32_MAX};
    default: return {INT64_MIN, INT64_MAX};
  }
}

TERN_COLD void refuse_infinite(const CallSite& op, double number, DType type) {
  Error::fail(op, {"the number ", number, " is too large for a tensor of ", name_of(type)});
}

TERN_NOINLINE bool Number::round_to(DType type, Rounding rounding, Index& n) const {
  n = integer_;
  if (!integral_) {
    if (!(real_ >= -0x1p63 && real_ < 0x1p63)) return false;
    n = Index(real_);  // towards zero
    if (double(n) != real_ && rounding == Rounding::none) return false;
    if (double(n) > real_ && rounding == Rounding::down) --n;
    if (double(n) < real_ && rounding == Rounding::up) ++n;
  }
  const IntegerRange range = range_of(type);
  return n >= range.min && n <= range.max;
}

TERN_NOINLINE Index Number::checked(const CallSite& op, DType type) const {
  Index n;
  if (round_to(type, Rounding::none, n)) return n;
  const IntegerRange range = range_of(type);
  const Piece number = integral_ ? Piece(integer_) : Piece(real_);
  Error::fail(op, {"the number ", number, " does not fit a tensor of ", name_of(type), ", which holds integers from ",
                   range.min, " to ", range.max});
}

}}}  // namespace tern::detail
