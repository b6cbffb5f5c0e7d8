// Draws a training's report.
#pragma once
#include <tern/train/report.hpp>

#include <cmath>
#include <cstdio>
#include <string>

namespace support {

using tern::train::EpochReport;
using tern::train::Report;

namespace detail {

/// One value of every epoch as a line. Values from low (bottom) to high (y = top) cover a height of 200.
inline std::string curve(const Report& report, double EpochReport::* value, double low, double high, double top,
                         const char* colour) {
  std::string points;
  char text[64];
  const double last = report.epochs.size() > 1 ? double(report.epochs.size() - 1) : 1;
  for (std::size_t i = 0; i < report.epochs.size(); ++i) {
    const double v = report.epochs[i].*value, part = high > low ? (v - low) / (high - low) : 0;
    if (!std::isfinite(v)) continue;
    std::snprintf(text, sizeof text, "%.1f,%.1f ", 70 + 560 * double(i) / last, top + 200 * (1 - part));
    points += text;
  }
  return std::string("<polyline fill='none' stroke='") + colour + "' stroke-width='2' points='" + points + "'/>\n";
}

/// The frame of a plot with five labelled lines from low to high.
inline std::string frame(const char* title, double low, double high, double top) {
  char text[256];
  std::snprintf(text, sizeof text, "<text x='70' y='%.0f' font-size='15'>%s</text>\n", top - 12, title);
  std::string out = text;
  for (int i = 0; i <= 4; ++i) {
    const double y = top + 50 * i;
    std::snprintf(text, sizeof text,
                  "<path d='M70 %.0f H630' stroke='#ddd'/><text x='62' y='%.0f' text-anchor='end'>%.3g</text>\n", y,
                  y + 4, high - (high - low) * i / 4);
    out += text;
  }
  return out;
}

}  // namespace detail

/// An SVG of every epoch's loss, with the figures on training and test data below.
inline std::string learning_curve_svg(const Report& report, const std::string& model, const std::string& data) {
  const auto figure = report.metric.of ? &EpochReport::figure : &EpochReport::loss;
  double highest = 0, top = report.metric.percent ? 1 : 0;  // of the plots
  for (const EpochReport& r : report.epochs) {
    if (std::isfinite(r.loss)) highest = std::fmax(highest, r.loss);
    for (const double each : {r.*figure, r.test_figure})
      if (std::isfinite(each)) top = std::fmax(top, each);
  }
  std::string out =
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 700 560' font-family='sans-serif' font-size='13'>\n"
      "<rect width='700' height='560' fill='white'/>\n";
  out += detail::frame("loss", 0, highest, 40) + detail::curve(report, &EpochReport::loss, 0, highest, 40, "#0072b2");
  out += detail::frame((std::string(report.metric.name) + ": training (orange), test (green)").c_str(), 0, top, 290);
  out += detail::curve(report, figure, 0, top, 290, "#d55e00") +
         detail::curve(report, &EpochReport::test_figure, 0, top, 290, "#009e73");
  return out + "<text x='350' y='530' text-anchor='middle'>epochs 1 to " + std::to_string(report.epochs.size()) +
         " of " + model + " on " + data + "</text>\n</svg>\n";
}

}  // namespace support
