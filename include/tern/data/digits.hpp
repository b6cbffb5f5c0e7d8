// Digits that the program draws, for training where MNIST is not available.
#pragma once
#include <cmath>

#include "../core/parallel.hpp"
#include "../core/random.hpp"
#include "mnist.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

namespace detail {

struct Point {
  float x, y;
};

/// A stroke of a digit in a square of side 1, with y downwards. It is a line if the angles are equal, else an arc of an
/// ellipse.
struct Stroke {
  int digit;
  Point from, to;            // a line's ends; an arc's centre and radii
  float begin = 0, end = 0;  // an arc's angles in degrees, clockwise from the right
};

inline constexpr Stroke strokes[] = {
    {0, {.50f, .50f}, {.27f, .40f}, 0, 360},   {1, {.34f, .27f}, {.54f, .10f}},
    {1, {.54f, .10f}, {.54f, .90f}},           {2, {.50f, .32f}, {.27f, .22f}, 190, 390},
    {2, {.73f, .43f}, {.24f, .90f}},           {2, {.24f, .90f}, {.78f, .90f}},
    {3, {.46f, .30f}, {.26f, .20f}, 200, 450}, {3, {.46f, .70f}, {.29f, .20f}, 270, 520},
    {4, {.58f, .10f}, {.22f, .62f}},           {4, {.22f, .62f}, {.82f, .62f}},
    {4, {.64f, .38f}, {.64f, .90f}},           {5, {.74f, .10f}, {.32f, .10f}},
    {5, {.32f, .10f}, {.28f, .46f}},           {5, {.46f, .66f}, {.29f, .24f}, 230, 510},
    {6, {.70f, .68f}, {.46f, .60f}, 180, 262}, {6, {.50f, .69f}, {.26f, .21f}, 0, 360},
    {7, {.22f, .12f}, {.78f, .12f}},           {7, {.78f, .12f}, {.42f, .90f}},
    {8, {.50f, .29f}, {.21f, .19f}, 0, 360},   {8, {.50f, .69f}, {.26f, .21f}, 0, 360},
    {9, {.48f, .31f}, {.25f, .21f}, 0, 360},   {9, {.33f, .31f}, {.40f, .60f}, 0, 80},
};

/// The handwriting of one image: its slant, position and pen width. The numbers follow from a seed and the image's
/// number.
class TERN_API Handwriting {
 public:
  Handwriting(std::uint64_t seed, Index image);

  void draw(int digit, std::uint8_t* image);

 private:
  tern::detail::RandomWords next();
  float between(float low, float high);

  /// The position of a point of the square in pixels.
  Point place(Point p) const;

  void draw_stroke(const Stroke& stroke, float* ink) const;

  /// Draws full ink within the pen's radius of the line from a to b, and none more than one pixel beyond it.
  void draw_line(Point a, Point b, float* ink) const;

  std::uint64_t seed_, image_, count_ = 0;
  float xx_, xy_, yx_, yy_, pen_, phase_;
  Point centre_, bend_;
};

}  // namespace detail

/// `count` digits, each with its own slant, size, position, pen and noise. The same seed gives the same digits.
TERN_API Mnist generated_digits(Index count, std::uint64_t seed, const MnistOptions& options = {}, CallSite here = {});

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "digits.ipp"
#endif
