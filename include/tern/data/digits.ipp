// The functions of digits.hpp that are not templates.
#pragma once
#include "digits.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

TERN_COLD Handwriting::Handwriting(std::uint64_t seed, Index image) : seed_(seed), image_(std::uint64_t(image)) {
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

TERN_COLD void Handwriting::draw(int digit, std::uint8_t* image) {
  float ink[28 * 28] = {};
  for (const Stroke& stroke : strokes)
    if (stroke.digit == digit) draw_stroke(stroke, ink);
  const float strength = between(170, 255), noise = between(0, 25);
  for (int i = 0; i < 28 * 28; i += 4) {
    const tern::detail::RandomWords random = next();
    for (int k = 0; k < 4; ++k) {
      const float level = ink[i + k] * strength + noise * (tern::detail::unit_float(random.word[k]) - .5f);
      image[i + k] = std::uint8_t(level < 0 ? 0 : level > 255 ? 255 : level);
    }
  }
}

TERN_NOINLINE tern::detail::RandomWords Handwriting::next() { return tern::detail::philox(seed_, image_, count_++); }

TERN_NOINLINE float Handwriting::between(float low, float high) {
  return low + (high - low) * tern::detail::unit_float(next().word[0]);
}

TERN_NOINLINE Point Handwriting::place(Point p) const {
  const float x = p.x - .5f + bend_.x * std::sin(7 * p.y + phase_),
              y = p.y - .5f + bend_.y * std::sin(7 * p.x + phase_);
  return {centre_.x + xx_ * x + xy_ * y, centre_.y + yx_ * x + yy_ * y};
}

TERN_COLD void Handwriting::draw_stroke(const Stroke& stroke, float* ink) const {
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

TERN_NOINLINE void Handwriting::draw_line(Point a, Point b, float* ink) const {
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

}}}  // namespace tern::data::detail

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_COLD Mnist generated_digits(Index count, std::uint64_t seed, const MnistOptions& options, CallSite here) {
  const CallScope scope(here);
  const Tensor<Cpu, std::uint8_t> images = empty<Cpu, std::uint8_t>({count, 28, 28});
  const Tensor<Cpu, Index> labels = empty<Cpu, Index>({count});
  tern::detail::parallel_for(count, 100, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      labels.data()[i] = i % 10;
      detail::Handwriting(seed, i).draw(int(i % 10), images.data() + i * 784);
    }
  });
  return Mnist(images, labels, options.mean, options.std);
}

}}}  // namespace tern::data
