// Draws a training's report.
#pragma once
#include <cmath>
#include <cstdio>
#include <string>

#include "report.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

namespace detail {

/// One value of every epoch as a line. Values from low (bottom) to high (y = top) cover a height of 200.
TERN_API std::string curve(const Report& report, double EpochReport::* value, double low, double high, double top,
                           const char* colour);

/// The frame of a plot with five labelled lines from low to high.
TERN_API std::string frame(const char* title, double low, double high, double top);

}  // namespace detail

/// An SVG of every epoch's loss, with the figures on training and test data below.
TERN_API std::string learning_curve_svg(const Report& report);

}}}  // namespace tern::train

#ifndef TERN_COMPILED
#include "learning_curve.ipp"
#endif
