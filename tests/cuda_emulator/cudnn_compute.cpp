// Convolutions from their descriptors. Operands are brought to arrays of the accumulator's type
// in an order of ours first: x and y as [n][position][channel], w as [tap][channel of a group][output] or, for the
// gradient of x, [tap][output][channel of a group].
#include <cmath>

#include "cudnn.hpp"
#include "cudnn_elements.hpp"

using namespace abi;

namespace emulator::dnn {

namespace {

void blend_into(int type, char* data, std::ptrdiff_t i, double value, Blend blend) {
  const double before = blend.beta != 0 ? blend.beta * read(type, data, i) : 0;  // not read where beta is 0
  write(type, data, i, blend.alpha * value + before);
}

// Sizes and strides of n, c and three dimensions of space, the first ones of size 1.
struct View {
  explicit View(const Tensor& t)
      : type(t.type), n(t.dims[0]), c(t.dims[1]), n_stride(t.strides[0]), c_stride(t.strides[1]) {
    for (int i = 2; i < t.nd; ++i) {
      size[5 - t.nd + i - 2] = t.dims[i];
      stride[5 - t.nd + i - 2] = t.strides[i];
    }
  }
  std::ptrdiff_t positions() const { return std::ptrdiff_t{1} * size[0] * size[1] * size[2]; }
  std::ptrdiff_t offset(std::ptrdiff_t image, std::ptrdiff_t position) const {
    return image * n_stride + position / (size[1] * size[2]) * stride[0] + position / size[2] % size[1] * stride[1] +
           position % size[2] * stride[2];
  }
  int type;
  std::ptrdiff_t n, c, n_stride, c_stride;
  std::ptrdiff_t size[3] = {1, 1, 1}, stride[3] = {};
};

// f(where an element is in the tensor, where in our order)
template <class F>
void each_element(const View& v, const F& f) {
  std::ptrdiff_t ours = 0;
  for (std::ptrdiff_t image = 0; image < v.n; ++image)
    for (std::ptrdiff_t position = 0; position < v.positions(); ++position) {
      const std::ptrdiff_t first = v.offset(image, position);
      for (std::ptrdiff_t c = 0; c < v.c; ++c) f(first + c * v.c_stride, ours++);
    }
}

template <class A>
std::vector<A> gather(const View& v, const char* data, bool tf32) {
  std::vector<A> out(static_cast<std::size_t>(v.n * v.positions() * v.c));
  each_element(v, [&](std::ptrdiff_t theirs, std::ptrdiff_t ours) {
    const double value = read(v.type, data, theirs);
    out[static_cast<std::size_t>(ours)] = static_cast<A>(tf32 ? round_to_tf32(static_cast<float>(value)) : value);
  });
  return out;
}

// The same for a filter: f(theirs, ours).
template <class F>
void each_weight(const View& w, bool flipped, bool outputs_first, const F& f) {
  const std::ptrdiff_t taps = w.positions();
  for (std::ptrdiff_t tap = 0; tap < taps; ++tap)
    for (std::ptrdiff_t k = 0; k < w.n; ++k)
      for (std::ptrdiff_t c = 0; c < w.c; ++c)
        f(w.offset(k, flipped ? taps - 1 - tap : tap) + c * w.c_stride,
          outputs_first ? (tap * w.n + k) * w.c + c : (tap * w.c + c) * w.n + k);
}

// f(row of x, tap, row of y): each tap of each output position that meets an input position.
template <class F>
void each_tap(const Convolution& conv, const View& x, const View& y, const View& w, const F& f) {
  std::ptrdiff_t pad[3] = {}, stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1};
  for (int i = 0; i < conv.nd; ++i) {
    const int j = 3 - conv.nd + i;
    pad[j] = conv.pads[i], stride[j] = conv.strides[i], dilation[j] = conv.dilations[i];
  }
  const std::ptrdiff_t outputs = y.positions(), taps = w.positions();
  for (std::ptrdiff_t image = 0; image < y.n; ++image)
    for (std::ptrdiff_t out = 0; out < outputs; ++out)
      for (std::ptrdiff_t tap = 0; tap < taps; ++tap) {
        const std::ptrdiff_t o[3] = {out / (y.size[1] * y.size[2]), out / y.size[2] % y.size[1], out % y.size[2]};
        const std::ptrdiff_t t[3] = {tap / (w.size[1] * w.size[2]), tap / w.size[2] % w.size[1], tap % w.size[2]};
        std::ptrdiff_t in = 0;
        bool inside = true;
        for (int i = 0; i < 3; ++i) {
          const std::ptrdiff_t at = o[i] * stride[i] - pad[i] + t[i] * dilation[i];
          inside = inside && at >= 0 && at < x.size[i];
          in = in * x.size[i] + at;
        }
        if (inside) f(image * x.positions() + in, tap, image * outputs + out);
      }
}

template <class A>
void compute(const Convolution& conv, Pass pass, bool tf32, Blend blend, char* px, char* pw, char* py) {
  const View x(conv.x), y(conv.y), w(conv.w);
  const std::ptrdiff_t groups = conv.groups, per_group = w.c, outputs = w.n / groups;
  const bool flipped = conv.mode == CUDNN_CONVOLUTION, outputs_first = pass == Pass::data;
  std::vector<A> vx, vw(static_cast<std::size_t>(w.n * w.c * w.positions())), vy;
  if (pass == Pass::data) vx.resize(static_cast<std::size_t>(x.n * x.positions() * x.c));
  else vx = gather<A>(x, px, tf32);
  if (pass == Pass::forward) vy.resize(static_cast<std::size_t>(y.n * y.positions() * y.c));
  else vy = gather<A>(y, py, tf32);
  if (pass != Pass::filter)
    each_weight(w, flipped, outputs_first, [&](std::ptrdiff_t theirs, std::ptrdiff_t ours) {
      const double value = read(w.type, pw, theirs);
      vw[static_cast<std::size_t>(ours)] = static_cast<A>(tf32 ? round_to_tf32(static_cast<float>(value)) : value);
    });
  each_tap(conv, x, y, w, [&](std::ptrdiff_t in, std::ptrdiff_t tap, std::ptrdiff_t out) {
    for (std::ptrdiff_t g = 0; g < groups; ++g) {
      A* const at_x = vx.data() + in * x.c + g * per_group;
      A* const at_y = vy.data() + out * y.c + g * outputs;
      if (pass == Pass::data) {
        for (std::ptrdiff_t k = 0; k < outputs; ++k) {
          const A dy = at_y[k];
          const A* const at_w = vw.data() + (tap * w.n + g * outputs + k) * per_group;
          for (std::ptrdiff_t c = 0; c < per_group; ++c) at_x[c] += dy * at_w[c];
        }
      } else {
        for (std::ptrdiff_t c = 0; c < per_group; ++c) {
          const A value = at_x[c];
          A* const at_w = vw.data() + (tap * per_group + c) * w.n + g * outputs;
          if (pass == Pass::forward)
            for (std::ptrdiff_t k = 0; k < outputs; ++k) at_y[k] += value * at_w[k];
          else
            for (std::ptrdiff_t k = 0; k < outputs; ++k) at_w[k] += value * at_y[k];
        }
      }
    }
  });
  if (pass == Pass::filter)
    return each_weight(w, flipped, outputs_first, [&](std::ptrdiff_t theirs, std::ptrdiff_t ours) {
      blend_into(w.type, pw, theirs, vw[static_cast<std::size_t>(ours)], blend);
    });
  const View& result = pass == Pass::forward ? y : x;
  each_element(result, [&](std::ptrdiff_t theirs, std::ptrdiff_t ours) {
    const auto at = static_cast<std::size_t>(ours);
    if (pass == Pass::data) return blend_into(x.type, px, theirs, vx[at], blend);
    blend_into(y.type, py, theirs, vy[at], blend);
  });
}

}  // namespace

void compute_convolution(const Convolution& c, Pass pass, bool tf32, Blend blend, char* x, char* w, char* y) {
  if (c.x.type == CUDNN_DATA_DOUBLE) compute<double>(c, pass, tf32, blend, x, w, y);
  else compute<float>(c, pass, tf32, blend, x, w, y);
}

}  // namespace emulator::dnn
