#include "tern/backend/cpu/convolution/winograd.hpp"

#include "support/tensors.hpp"

#include "tern/backend/convolution.hpp"

namespace backend_winograd {
using namespace tern;
using namespace tern_test;
namespace winograd = detail::backend::cpu_kernels::winograd;

namespace {

/// Sizes of an input, output channels and padding.
struct Sizes {
  Index images, in, height, width, out, top, left;
};

// A whole tile, parts of tiles along each side, one pixel, more tiles than are computed or summed at once, or summed by
// one thread; strips of channels that are whole, halved, and several.
const Sizes all_sizes[] = {{1, 16, 4, 4, 16, 1, 1},  {2, 16, 9, 10, 48, 0, 1},  {1, 32, 1, 1, 16, 1, 1},
                           {3, 48, 5, 4, 16, 2, 0},  {2, 64, 3, 3, 32, 0, 0},   {5, 16, 23, 27, 32, 1, 1},
                           {1, 16, 2, 70, 80, 2, 2}, {2, 112, 8, 7, 144, 1, 1}, {1, 16, 3, 8, 16, 0, 2},
                           {3, 16, 56, 60, 16, 1, 1}};

template <class D>
struct Operands {
  Tensor<D> x, w, g, b, r;
  detail::backend::ConvParams c;

  explicit Operands(const Sizes& s)
      : x(spread_tensor<D, float>({s.images, s.in, s.height, s.width}, -1, 1.5).contiguous(channels_last)),
        w(spread_tensor<D, float>({s.out, s.in, 3, 3}, -1.25, 1).contiguous(channels_last)),
        g(spread_tensor<D, float>({s.images, s.out, s.height + 2 * s.top - 2, s.width + 2 * s.left - 2}, -1, 1)
              .contiguous(channels_last)),
        b(spread_tensor<D, float>({s.out})), r(spread_tensor<D, float>(g.shape(), -3, 2).contiguous(channels_last)),
        c{.dims = 2, .padding = {s.top, s.left}} {}
};

/// The result without and with all that may be added to it, and the gradients of input and weight.
template <class D>
std::vector<std::vector<double>> results(const Sizes& s) {
  Operands<D> o(s);
  const auto y = empty_like(o.g), full = empty_like(o.g), dx = empty_like(o.x), dw = empty_like(o.w);
  const auto run = [](const detail::backend::Convolution& op) {
    if constexpr (std::is_same_v<D, Cpu>) detail::backend::cpu_kernels::run_winograd(op);
    else detail::backend::run<D, float>(op);
  };
  run({detail::ConvolutionPass::forward, o.c, *o.x.impl(), *o.w.impl(), *y.impl()});
  run({detail::ConvolutionPass::forward, o.c, *o.x.impl(), *o.w.impl(), *full.impl(), o.b.impl(), o.r.impl(), true});
  run({detail::ConvolutionPass::data_gradient, o.c, *dx.impl(), *o.w.impl(), *o.g.impl()});
  run({detail::ConvolutionPass::weight_gradient, o.c, *o.x.impl(), *dw.impl(), *o.g.impl()});
  return {values_of(y), values_of(full), values_of(dx), values_of(dw)};
}

}  // namespace

TEST_CASE("Winograd's convolutions are the naive loops'", "[backend]") {
  for (const Sizes& s : all_sizes) {
    const auto actual = results<Cpu>(s), expected = results<Naive>(s);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      INFO(s.images << " x " << s.in << " x " << s.height << " x " << s.width << " -> " << s.out << ", padding "
                    << s.top << " and " << s.left << ", result " << i);
      // The transforms add what cancels out in the end; relu takes nothing from the errors of what it leaves.
      double scale = 1;
      for (double v : expected[i == 1 ? 0 : i]) scale = std::max(scale, std::fabs(v));
      check_close(actual[i], expected[i], 5e-6, 5e-6 * scale);
    }
  }
}

TEST_CASE("Winograd's convolutions do not depend on the number of threads", "[backend]") {
  const int threads = get_num_threads();
  for (const Sizes& s : {Sizes{5, 16, 23, 27, 32, 1, 1}, Sizes{3, 16, 56, 60, 16, 1, 1}}) {
    set_num_threads(1);
    const auto one = results<Cpu>(s);
    set_num_threads(3);
    const auto three = results<Cpu>(s);
    set_num_threads(threads);
    CHECK(one == three);
  }
}

TEST_CASE("a NaN reaches the results under its window in Winograd's convolutions, with relu", "[backend]") {
  Operands<Cpu> o({1, 16, 12, 12, 16, 1, 1});
  o.x(0, 3, 5, 5) = std::nanf("");
  const auto y = empty_like(o.g);
  detail::backend::cpu_kernels::run_winograd(
      {detail::ConvolutionPass::forward, o.c, *o.x.impl(), *o.w.impl(), *y.impl(), nullptr, nullptr, true});
  for (Index i = 4; i <= 6; ++i)
    for (Index j = 4; j <= 6; ++j) CHECK(std::isnan(y(0, 7, i, j)));
  CHECK_FALSE(std::isnan(y(0, 7, 0, 0)));
}

TEST_CASE("Winograd's convolutions of bfloat16 are those of the same numbers as float, rounded", "[backend]") {
  for (const Sizes& s : all_sizes) {
    const Operands<Cpu> o(s);
    const auto narrow = [](const auto& t) { return t.to(bf16).contiguous(channels_last); };
    const auto x = narrow(o.x), w = narrow(o.w), g = narrow(o.g), r = narrow(o.r), b = o.b.to(bf16);
    const auto run = [&]<class T>(detail::Type<T> type) {
      const auto as = [&](const auto& t) { return t.to(type).contiguous(channels_last); };
      const auto x_ = as(x), w_ = as(w), g_ = as(g), r_ = as(r);
      const auto b_ = b.to(type), y = empty_like(g_), dx = empty_like(x_), dw = empty_like(w_);
      detail::backend::cpu_kernels::run_winograd(
          {detail::ConvolutionPass::forward, o.c, *x_.impl(), *w_.impl(), *y.impl(), b_.impl(), r_.impl(), true});
      detail::backend::cpu_kernels::run_winograd(
          {detail::ConvolutionPass::data_gradient, o.c, *dx.impl(), *w_.impl(), *g_.impl()});
      detail::backend::cpu_kernels::run_winograd(
          {detail::ConvolutionPass::weight_gradient, o.c, *x_.impl(), *dw.impl(), *g_.impl()});
      return std::vector{values_of(y.to(f32)), values_of(dx.to(f32)), values_of(dw.to(f32))};
    };
    const auto actual = run(bf16), expected = run(f32);
    for (std::size_t i = 0; i < expected.size(); ++i) check_close(actual[i], expected[i], 1.0 / 256, 0);
  }
}

}  // namespace backend_winograd
