// Digits drawn by the program: what a trainer learns from where there is no MNIST.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <cmath>

#include "../core/parallel.hpp"
#include "../core/random.hpp"
#include "mnist.hpp"

namespace tern::inline TERN_BUILD::data {

namespace detail {

struct Point {
  float x, y;
};

/// A stroke of a digit in a square of side 1, y downwards: a line if the angles are equal, else an arc of an ellipse.
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

/// One image's hand: how it slants, where it stands, how thick its pen is. Numbers of a seed and the image's position.
class Hand {
 public:
  [[gnu::noinline, gnu::cold]] Hand(std::uint64_t seed, Index image) : seed_(seed), image_(std::uint64_t(image)) {
    const float angle = between(-.15f, .15f), slant = between(-.3f, .3f), width = between(.7f, 1.f) * 20;
    const float height = between(.8f, 1.f) * 20;
    xx_ = std::cos(angle) * width;
    xy_ = (slant - std::sin(angle)) * height;
    yx_ = std::sin(angle) * width;
    yy_ = std::cos(angle) * height;
    centre_ = {13.5f + between(-2, 2), 13.5f + between(-2, 2)};
    pen_ = between(.7f, 1.6f);
    bend_ = {between(-.05f, .05f), between(-.05f, .05f)};
    phase_ = between(0, 6.28f);
  }

  [[gnu::noinline, gnu::cold]] void draw(int digit, std::uint8_t* image) {
    float ink[28 * 28] = {};
    for (const Stroke& stroke : strokes)
      if (stroke.digit == digit) draw_stroke(stroke, ink);
    const float strength = between(170, 255), noise = between(0, 25);
    for (int i = 0; i < 28 * 28; i += 4) {
      const RandomWords random = next();
      for (int k = 0; k < 4; ++k) {
        const float level = ink[i + k] * strength + noise * (unit_float(random.word[k]) - .5f);
        image[i + k] = std::uint8_t(level < 0 ? 0 : level > 255 ? 255 : level);
      }
    }
  }

 private:
  [[gnu::noinline]] RandomWords next() { return philox(seed_, image_, count_++); }
  [[gnu::noinline]] float between(float low, float high) { return low + (high - low) * unit_float(next().word[0]); }

  /// Where a point of the square lies among the pixels.
  [[gnu::noinline]] Point place(Point p) const {
    const float x = p.x - .5f + bend_.x * std::sin(7 * p.y + phase_),
                y = p.y - .5f + bend_.y * std::sin(7 * p.x + phase_);
    return {centre_.x + xx_ * x + xy_ * y, centre_.y + yx_ * x + yy_ * y};
  }

  [[gnu::noinline, gnu::cold]] void draw_stroke(const Stroke& stroke, float* ink) const {
    constexpr int pieces = 12;
    Point last{};
    for (int i = 0; i <= pieces; ++i) {
      const float t = float(i) / pieces, angle = (stroke.begin + (stroke.end - stroke.begin) * t) * .0174533f;
      const bool is_line = stroke.begin == stroke.end;
      const Point p =
          is_line ? Point{stroke.from.x + (stroke.to.x - stroke.from.x) * t,
                          stroke.from.y + (stroke.to.y - stroke.from.y) * t}
                  : Point{stroke.from.x + stroke.to.x * std::cos(angle), stroke.from.y + stroke.to.y * std::sin(angle)};
      const Point now = place(p);
      if (i > 0) draw_line(last, now, ink);
      last = now;
    }
  }

  /// Full ink within the pen's radius of the line from a to b, none one pixel further out.
  [[gnu::noinline]] void draw_line(Point a, Point b, float* ink) const {
    const auto bound = [](float v) { return v < 0 ? 0 : v > 27 ? 27 : int(v); };
    const float reach = pen_ + 1, dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy + 1e-6f;
    const int x0 = bound(std::fmin(a.x, b.x) - reach), x1 = bound(std::fmax(a.x, b.x) + reach + 1);
    const int y0 = bound(std::fmin(a.y, b.y) - reach), y1 = bound(std::fmax(a.y, b.y) + reach + 1);
    for (int y = y0; y <= y1; ++y) {
      for (int x = x0; x <= x1; ++x) {
        const float px = float(x) - a.x, py = float(y) - a.y, along = (px * dx + py * dy) / length2;
        const float t = along < 0 ? 0 : along > 1 ? 1 : along, ex = px - t * dx, ey = py - t * dy;
        const float level = reach - std::sqrt(ex * ex + ey * ey);
        float& pixel = ink[y * 28 + x];
        if (level > pixel) pixel = level < 1 ? level : 1;
      }
    }
  }

  std::uint64_t seed_, image_, count_ = 0;
  float xx_, xy_, yx_, yy_, pen_, phase_;
  Point centre_, bend_;
};

}  // namespace detail

/// So many digits, each drawn with its own slant, size, place, pen and noise; the same ones for the same seed.
[[gnu::noinline, gnu::cold]] inline Mnist generated_digits(Index count, std::uint64_t seed,
                                                           const MnistOptions& options = {}) {
  const Tensor<Cpu, std::uint8_t> images = empty<Cpu, std::uint8_t>({count, 28, 28});
  const Tensor<Cpu, Index> labels = empty<Cpu, Index>({count});
  parallel_for(count, 100, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      labels.data()[i] = i % 10;
      detail::Hand(seed, i).draw(int(i % 10), images.data() + i * 784);
    }
  });
  return Mnist(images, labels, options.mean, options.std);
}

}  // namespace tern::data
