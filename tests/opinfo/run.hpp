// Running a case with a type; each type is compiled in a file of its own.
#pragma once
#include <tern/cuda.hpp>

#include "case.hpp"

namespace opinfo {

/// What all cases run on; each device has a runner of its own.
using Device = tern::TERN_OPINFO_DEVICE;

template <class D, class T>
Outcome run(const Bank& bank, const Case& c, Layout layout, std::optional<tern::DType> round_to);

/// Whether the library has the operator for floating-point types.
bool offered_for_floats(const std::string& name);

}  // namespace opinfo
