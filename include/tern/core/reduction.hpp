// How a loss reduces the values of its samples.
#pragma once
#include "choice.hpp"

namespace tern { inline namespace TERN_BUILD {

/// One number for each sample, their mean, or their sum.
enum class Reduction { none, mean, sum };

namespace detail {
using ReductionChoice = Choice<Reduction, "none", "mean", "sum">;
}

}}  // namespace tern
