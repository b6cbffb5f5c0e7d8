// What Cuda's kernels give, held against Cpu's: sizes around those of warps, blocks and the sorter's pieces, all
// element types. Over 400 lines, because every primitive of the contract has its case here.
#include "support/tensors.hpp"
#include "tern/tern.hpp"

namespace backend_cuda_contract {
using namespace tern;
using namespace tern_test;

namespace {

const Cpu host;
const Cuda device;

template <class T>
constexpr double tolerance = std::is_same_v<T, double>  ? 1e-11
                             : std::is_same_v<T, float> ? 2e-5
                                                        : 1e-2;

/// Runs f on both devices and compares what it returns.
template <class T, class F>
void compare(const F& f, double tol = tolerance<T>) {
  check_close(values_of(f(device)), values_of(f(host)), tol, tol);
}

/// Numbers in [0, size), some of them many times.
std::vector<double> numbers(Index n, Index size) {
  std::vector<double> values;
  for (Index i = 0; i < n; ++i) values.push_back(double(i % 5 ? i * 7919 % 10007 % size : size / 2));
  return values;
}
template <class D>
Tensor<D, Index> numbers_on(D, const detail::Shape& shape, Index size) {
  return tensor_of<D, Index>(numbers(shape.numel(), size), shape);
}
template <class T, class D>
Tensor<D, T> values_on(D, const detail::Shape& shape, double low = -2, double high = 2) {
  if (std::is_same_v<T, bool>) low = 0, high = 1.9;
  if (std::is_same_v<T, std::uint8_t>) low = 0, high = 9;
  return spread_tensor<D, T>(shape, low, high);
}

/// Multiples of 1/8, whose sums are exact in every order: for rows of so many sources that they are added in parts.
template <class T, class D>
Tensor<D, T> exact_values_on(D d, const detail::Shape& shape) {
  std::vector<double> values = numbers(shape.numel(), 33);
  if (std::is_floating_point_v<compute_t<T>>)
    for (double& x : values) x = x / 8 - 2;
  return std::is_same_v<T, bool> ? values_on<T>(d, shape) : tensor_of<D, T>(values, shape);
}

const std::vector<detail::Shape> row_shapes = {{0},      {1},      {2},          {3},        {31},
                                               {1000},   {0, 3},   {3, 0},       {5, 32},    {33, 33},
                                               {3, 257}, {300, 2}, {2, 1023, 2}, {3, 4, 40}, {2, 5, 3, 2}};

}  // namespace

#define NEED_CUDA() \
  if (!cuda::is_available()) SKIP_TEST("needs a CUDA device")

TEMPLATE_TEST_CASE("softmax on Cuda", "", float, double, bfloat16, half) {
  NEED_CUDA();
  using T = TestType;
  for (const detail::Shape& shape : row_shapes)
    for (int dim = 0; dim < shape.n; ++dim)
      for (const bool log : {false, true}) {
        INFO(detail::text({shape}) << " over " << dim << (log ? ", log" : ""));
        compare<T>([&](auto d) {
          const auto x = values_on<T>(d, shape, -5, 5), y = empty_like(x);
          detail::backend::run<decltype(d), T>(detail::backend::Softmax{*y.impl(), *x.impl(), dim, log});
          return y;
        });
        compare<T>([&](auto d) {
          const auto y = values_on<T>(d, shape, 0, 1), g = values_on<T>(d, shape), dx = empty_like(y);
          detail::backend::run<decltype(d), T>(
              detail::backend::SoftmaxGradient{*dx.impl(), *y.impl(), *g.impl(), dim, log});
          return dx;
        });
      }
}

TEST_CASE("softmax on Cuda of infinity and NaN") {
  NEED_CUDA();
  const double inf = INFINITY;
  for (const bool log : {false, true})
    compare<float>([&](auto d) {
      const auto x = tensor_of<decltype(d), float>(
                     {1, -inf, 2, -inf, -inf, -inf, inf, 1, 2, NAN, 1, 2, 1, inf, inf, -inf, inf, 3}, {6, 3}),
                 y = empty_like(x);
      detail::backend::run<decltype(d), float>(detail::backend::Softmax{*y.impl(), *x.impl(), 1, log});
      return y;
    });
}

TEMPLATE_TEST_CASE("cross entropy on Cuda", "", float, double, bfloat16, half) {
  NEED_CUDA();
  using T = TestType;
  for (const detail::Shape& shape :
       std::vector<detail::Shape>{{0, 3}, {1, 1}, {5, 10}, {33, 257}, {2, 5, 70}, {1500, 3}})
    for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum})
      for (int variant = 0; variant < 8; ++variant) {
        const bool weighted = variant & 1, normalised = variant & 2;
        const detail::backend::CrossEntropy::Options options{"cross_entropy", 2, variant & 4 ? 0.1 : 0.0, reduction,
                                                             normalised};
        detail::Shape rows = shape;
        for (int i = 1; i + 1 < shape.n; ++i) rows[i] = shape[i + 1];
        --rows.n;
        INFO(detail::text({shape}) << " reduction " << int(reduction) << " variant " << variant);
        const auto run = [&](auto d, int what) {
          using D = decltype(d);
          const auto x = values_on<T>(d, shape, -5, 5), w = values_on<T>(d, {shape[1]}, 0.5, 2);
          const auto t = numbers_on(d, rows, shape[1]);
          const auto y = empty<D, T>(reduction == Reduction::none ? rows : detail::Shape{});
          const auto log_sum = empty<D, compute_t<T>>(rows), total = empty<D, compute_t<T>>({});
          const detail::Array* const weight = weighted ? w.impl() : nullptr;
          detail::backend::run<D, T>(detail::backend::CrossEntropy{*y.impl(), *log_sum.impl(), *total.impl(), *x.impl(),
                                                                   *t.impl(), weight, options});
          if (what == 0) return to_type(y, f64);
          if (what == 1) return to_type(log_sum, f64);
          if (what == 2) return to_type(total, f64);
          const auto g = values_on<T>(d, y.shape(), 1, 2), dx = empty_like(x);
          detail::backend::run<D, T>(detail::backend::CrossEntropyGradient{
              *dx.impl(), *g.impl(), *log_sum.impl(), *total.impl(), *x.impl(), *t.impl(), weight, options});
          return to_type(dx, f64);
        };
        for (int what = 0; what < 4; ++what) compare<T>([&](auto d) { return run(d, what); });
      }
}

TEST_CASE("a target out of range on Cuda") {
  NEED_CUDA();
  const detail::backend::CrossEntropy::Options options{"cross_entropy", -100, 0, Reduction::none, false};
  const auto x = values_on<float>(device, {3, 4}), y = empty<Cuda>({3}), log_sum = empty<Cuda>({3}),
             total = empty<Cuda>({});
  const auto t = tensor_of<Cuda, Index>({1, 7, -100});
  detail::backend::run<Cuda, float>(
      detail::backend::CrossEntropy{*y.impl(), *log_sum.impl(), *total.impl(), *x.impl(), *t.impl(), nullptr, options});
  const std::string error = error_of([] { cuda::synchronize(); });
  CHECK(error.find("cross_entropy: target 7 at position 1 is out of range [0, 3]") == 0);
  const auto losses = values_of(y);  // and no error again
  CHECK((std::isfinite(losses[0]) && std::isnan(losses[1]) && losses[2] == 0));
}

TEMPLATE_TEST_CASE("layer_norm on Cuda", "", float, double, bfloat16, half) {
  NEED_CUDA();
  using T = TestType;
  for (const detail::Shape& shape :
       std::vector<detail::Shape>{{0, 3}, {1, 1}, {3, 2}, {5, 32}, {65, 33}, {700, 5}, {3, 1025}})
    for (int what = 0; what < 6; ++what) {
      INFO(detail::text({shape}) << ", result " << what);
      const Index n = shape[1];
      const auto run = [&](auto d) {
        using D = decltype(d);
        const auto x = values_on<T>(d, shape, -1, 3), g = values_on<T>(d, shape);
        const auto w = values_on<compute_t<T>>(d, {n}, 0.5, 2), b = values_on<compute_t<T>>(d, {n});
        const auto y = empty_like(x), dx = empty_like(x);
        const auto dw = empty_like(w), db = empty_like(w);
        const auto mean = empty<D, compute_t<T>>({shape[0]}), scale = empty<D, compute_t<T>>({shape[0]});
        detail::backend::run<D, T>(
            detail::backend::LayerNorm{*y.impl(), *mean.impl(), *scale.impl(), *x.impl(), *w.impl(), *b.impl(), 1e-5});
        if (what == 0) return to_type(y, f64);
        if (what == 1) return to_type(mean, f64);
        if (what == 2) return to_type(scale, f64);
        detail::backend::run<D, T>(detail::backend::LayerNormGradient{
            what == 3 ? dx.impl() : nullptr, what == 4 ? dw.impl() : nullptr, what == 5 ? db.impl() : nullptr,
            *g.impl(), *mean.impl(), *scale.impl(), *x.impl(), *w.impl()});
        return what == 3 ? to_type(dx, f64) : to_type(what == 4 ? dw : db, f64);
      };
      compare<T>(run, n == 1 ? 1 : 20 * tolerance<T>);  // 700 terms in another order
    }
}

TEMPLATE_TEST_CASE("pooling on Cuda", "", float, double, bfloat16, half) {
  NEED_CUDA();
  using T = TestType;
  const detail::backend::PoolParams plain{{1, 2, 2}, {1, 2, 2}}, overlapping{{2, 3, 2}, {1, 2, 1}, {1, 1, 0}},
      dilated{{1, 2, 3}, {1, 1, 2}, {0, 1, 2}, {1, 3, 2}}, adaptive{.adaptive = true};
  detail::backend::PoolParams uncounted = overlapping, overridden = overlapping;
  uncounted.count_include_pad = false;
  overridden.divisor = -3;
  const detail::backend::PoolParams* const all[] = {&plain, &overlapping, &dilated, &adaptive, &uncounted, &overridden};
  for (const detail::Shape& in : std::vector<detail::Shape>{{2, 3, 1, 6, 7}, {1, 33, 2, 5, 4}, {3, 1, 3, 4, 8}})
    for (const detail::backend::PoolParams* p : all)
      for (int what = 0; what < 5; ++what) {
        detail::Shape to = in;
        for (int i = 0; i < 3; ++i)
          to[2 + i] =
              p->adaptive
                  ? i + 2
                  : (in[2 + i] + 2 * p->padding[i] - (p->kernel[i] - 1) * p->dilation[i] - 1) / p->stride[i] + 1;
        INFO(detail::text({in}) << " to " << detail::text({to}) << ", result " << what);
        if ((what > 2 && p == &dilated) || (p->divisor && what < 3)) continue;
        compare<T>([&](auto d) {
          using D = decltype(d);
          const auto x = contiguous(values_on<T>(d, in), channels_last),
                     g = contiguous(values_on<T>(d, to), channels_last), y = empty_like(g), dx = empty_like(x);
          const auto at = empty<D, std::int32_t>(to, channels_last);
          if (what < 3)
            detail::backend::run<D, T>(detail::backend::MaxPool{*p, *y.impl(), what ? at.impl() : nullptr, *x.impl()});
          if (what == 2)
            detail::backend::run<D, T>(detail::backend::MaxPoolGradient{*p, *dx.impl(), *g.impl(), *at.impl()});
          if (what == 3) detail::backend::run<D, T>(detail::backend::AveragePool{*p, *y.impl(), *x.impl()});
          if (what == 4) detail::backend::run<D, T>(detail::backend::AveragePoolGradient{*p, *dx.impl(), *g.impl()});
          return what == 1 ? to_type(at, f64) : to_type(what == 2 || what == 4 ? dx : y, f64);
        });
      }
}

TEMPLATE_TEST_CASE("convolution on Cuda", "", float, double, bfloat16, half) {
  NEED_CUDA();
  using T = TestType;
  struct Sizes {
    detail::Shape x, weight;
    detail::backend::ConvParams c;
  };
  const Sizes all[] = {
      {{2, 3, 9}, {4, 3, 3}, {.dims = 1, .stride = {2}, .padding = {1}}},
      {{2, 4, 6, 5}, {6, 2, 3, 2}, {.stride = {1, 2}, .padding = {1, 0}, .dilation = {2, 1}, .groups = 2}},
      {{1, 1, 4, 4}, {1, 1, 1, 1}, {}},
      {{3, 5, 4, 4}, {5, 1, 3, 3}, {.padding = {1, 1}, .groups = 5}},
      {{2, 2, 3, 4, 3}, {3, 2, 2, 3, 3}, {.dims = 3, .stride = {1, 1, 2}, .padding = {0, 1, 1}}}};
  for (const Sizes& sizes : all)
    for (int variant = 0; variant < 8; ++variant) {
      const detail::backend::ConvParams& c = sizes.c;
      const bool biased = variant & 1, added = variant & 2, relu = variant & 4;
      detail::Shape out = sizes.x;
      out[1] = sizes.weight[0];
      for (int i = 0; i < c.dims; ++i)
        out[i + 2] =
            (sizes.x[i + 2] + 2 * c.padding[i] - c.dilation[i] * (sizes.weight[i + 2] - 1) - 1) / c.stride[i] + 1;
      INFO(detail::text({sizes.x}) << " by " << detail::text({sizes.weight}) << ", variant " << variant);
      const auto run = [&](auto d, int what) {
        const auto on = [&](const detail::Shape& shape, double low, double high) {
          return contiguous(values_on<T>(d, shape, low, high), channels_last);
        };
        const auto x = on(sizes.x, -1, 2), w = on(sizes.weight, -1, 1), dy = on(out, -1, 1), residual = on(out, -2, 1);
        const auto b = values_on<T>(d, {sizes.weight[0]}, -1, 1), shift = values_on<T>(d, {sizes.x[1]}, -1, 1);
        const auto y = empty_like(dy), dx = empty_like(x), dw = empty_like(w), db = empty_like(b);
        using D = decltype(d);
        using enum detail::ConvolutionPass;
        if (what == 0)
          detail::backend::run<D, T>(detail::backend::Convolution{forward, c, *x.impl(), *w.impl(), *y.impl(),
                                                                  biased ? b.impl() : nullptr,
                                                                  added ? residual.impl() : nullptr, relu});
        else if (what == 1)
          detail::backend::run<D, T>(detail::backend::Convolution{data_gradient, c, *dx.impl(), *w.impl(), *dy.impl(),
                                                                  biased ? shift.impl() : nullptr});
        else
          detail::backend::run<D, T>(detail::backend::Convolution{weight_gradient, c, *x.impl(), *dw.impl(), *dy.impl(),
                                                                  biased ? db.impl() : nullptr});
        return to_type(what == 0 ? y : what == 1 ? dx : what == 2 ? dw : biased ? db : dw, f64);
      };
      for (int what = 0; what < 4; ++what) compare<T>([&](auto d) { return run(d, what); }, 5 * tolerance<T>);
    }
}

TEMPLATE_TEST_CASE("batch_norm on Cuda", "", float, double, bfloat16, half) {
  NEED_CUDA();
  using T = TestType;
  for (const detail::Shape& shape :
       std::vector<detail::Shape>{{2, 1}, {3, 2, 2}, {65, 33}, {5, 7, 3, 4}, {2, 64, 3, 3}, {700, 3}})
    for (int variant = 0; variant < 4; ++variant) {
      const bool relu = variant & 1, with_residual = variant & 2;
      const double eps = 1e-5, momentum = 0.3;
      INFO(detail::text({shape}) << ", variant " << variant);
      const auto run = [&](auto d, int what) {
        using D = decltype(d);
        using C = compute_t<T>;
        const auto on = [&](double low, double high) {
          const auto x = values_on<T>(d, shape, low, high);
          return shape.n > 2 ? contiguous(x, channels_last) : x;
        };
        const Index n = shape[1];
        const auto x = on(-1, 3), g = on(-1, 1), residual = on(-2, 1);
        const auto w = values_on<C>(d, {n}, 0.5, 2), bias = values_on<C>(d, {n}, -1, 1);
        const auto y = empty_like(x), dx = empty_like(x), dr = empty_like(x);
        const auto dw = empty_like(w), db = empty_like(w);
        const auto mean = empty<D, C>({n}), scale = empty<D, C>({n}), running = full<D, C>({n}, 2),
                   variance = full<D, C>({n}, 3);
        const detail::Array* const addend = with_residual ? residual.impl() : nullptr;
        if (what == 0) {
          detail::backend::run<D, T>(detail::backend::BatchNormInference{
              *y.impl(), *x.impl(), *running.impl(), *variance.impl(), *w.impl(), *bias.impl(), addend, eps, relu});
          return to_type(y, f64);
        }
        const bool kept = what != 1;
        detail::backend::run<D, T>(detail::backend::BatchNorm{
            *y.impl(), *mean.impl(), *scale.impl(), kept ? running.impl() : nullptr, kept ? variance.impl() : nullptr,
            *x.impl(), *w.impl(), *bias.impl(), addend, eps, momentum, relu});
        if (what == 1) return to_type(y, f64);
        if (what < 6) return to_type(what == 2 ? mean : what == 3 ? scale : what == 4 ? running : variance, f64);
        detail::backend::run<D, T>(detail::backend::BatchNormGradient{
            what == 6 ? dx.impl() : nullptr, what == 7 ? dw.impl() : nullptr, what == 8 ? db.impl() : nullptr,
            what == 9 ? dr.impl() : nullptr, *g.impl(), relu && with_residual ? y.impl() : nullptr, *x.impl(),
            *mean.impl(), *scale.impl(), *w.impl(), *bias.impl(), relu});
        return what == 6 || what == 9 ? to_type(what == 6 ? dx : dr, f64) : to_type(what == 7 ? dw : db, f64);
      };
      for (int what = 0; what < 10; ++what) compare<T>([&](auto d) { return run(d, what); }, 20 * tolerance<T>);
    }
}

TEMPLATE_TEST_CASE("arg_extreme on Cuda", "", float, double, bfloat16, half, std::int64_t, std::int32_t, std::uint8_t,
                   bool) {
  NEED_CUDA();
  using T = TestType;
  for (const detail::Shape& shape : row_shapes)
    for (int dim = 0; dim < shape.n; ++dim)
      for (const bool largest : {false, true}) {
        if (shape[dim] == 0) continue;
        INFO(detail::text({shape}) << " over " << dim);
        detail::Shape rest;
        for (int i = 0; i < shape.n; ++i)
          if (i != dim) rest.push_back(shape[i]);
        compare<T>([&](auto d) {
          const auto x = values_on<T>(d, shape, -3, 3), at = transpose(x, 0, -1),
                     transposed = transpose(contiguous(at), 0, -1);
          const auto a = empty<decltype(d), Index>(rest), b = empty<decltype(d), Index>(rest);
          detail::backend::run<decltype(d), T>(detail::backend::ArgExtreme{*a.impl(), *x.impl(), dim, largest});
          detail::backend::run<decltype(d), T>(
              detail::backend::ArgExtreme{*b.impl(), *transposed.impl(), dim, largest});
          return a * 10000 + b;
        });
      }
}

TEST_CASE("arg_extreme on Cuda finds the first NaN") {
  NEED_CUDA();
  compare<float>([&](auto d) {
    auto values = spread_values(600);
    values[301] = values[555] = NAN;
    const auto x = tensor_of<decltype(d), float>(values);
    const auto a = empty<decltype(d), Index>({});
    detail::backend::run<decltype(d), float>(detail::backend::ArgExtreme{*a.impl(), *x.impl(), 0, true});
    return a;
  });
}

TEMPLATE_TEST_CASE("rows by number on Cuda", "", float, double, bfloat16, half, std::int64_t, std::int32_t,
                   std::uint8_t, bool) {
  NEED_CUDA();
  using T = TestType;
  for (const Index n : {0, 1, 2, 33, 257, 1500, 5000})
    for (const Index columns : {1, 3, 8}) {
      INFO(n << " numbers, " << columns << " columns");
      const detail::Shape table{37, columns};
      compare<T>(
          [&](auto d) {
            const auto x = values_on<T>(d, table), y = empty<decltype(d), T>({n, columns});
            detail::backend::run<decltype(d)>(
                detail::backend::IndexSelect{*y.impl(), *x.impl(), *numbers_on(d, {n}, 37).impl()});
            return y;
          },
          0);
      if constexpr (!detail::is_half_v<T>)
        compare<T>(
            [&](auto d) {
              const bool is_long = n > 300;  // a row has more than 64 sources
              const auto x = is_long ? exact_values_on<T>(d, {n, columns}) : values_on<T>(d, {n, columns});
              const auto y = is_long ? exact_values_on<T>(d, table) : values_on<T>(d, table);
              detail::backend::run<decltype(d), T>(
                  detail::backend::IndexAdd{*y.impl(), *numbers_on(d, {n}, 37).impl(), *x.impl()});
              return y;
            },
            0);  // the same order of additions
    }
}

TEMPLATE_TEST_CASE("rows of many sources on Cuda", "", float, double, half) {
  NEED_CUDA();
  using T = TestType;
  using C = compute_t<T>;
  // Rows whose sources begin and end anywhere in parts of 64 or 128 keys.
  for (const std::vector<Index>& runs : std::vector<std::vector<Index>>{{130},
                                                                        {64, 128, 64},
                                                                        {63, 129, 1, 300},
                                                                        {1, 64, 64, 64},
                                                                        {65, 1, 127, 2, 193},
                                                                        {3000, 1000, 1, 95},
                                                                        {5000}}) {
    std::vector<double> to, x;
    for (std::size_t row = 0; row < runs.size(); ++row)
      for (Index i = 0; i < runs[row]; ++i) to.push_back(double(row));
    const auto n = Index(to.size()), columns = Index(3), rows = Index(runs.size());
    Index part = 64;
    while (part * part < n) part *= 2;
    INFO(n << " sources, the first row has " << runs[0]);
    const auto source = values_on<T>(host, {n, columns});
    const auto start = values_on<C>(host, {rows, columns});
    // One after the other; a row that fills a part and goes on: the sums of its parts.
    std::vector<double> sums;
    Index begin = 0;
    for (std::size_t row = 0; row < runs.size(); begin += runs[row++])
      for (Index column = 0; column < columns; ++column) {
        const Index end = begin + runs[row], next = (begin / part + 1) * part;
        const auto sum_of = [&](C sum, Index first, Index last) {
          for (Index k = first; k < last; ++k) sum += C(source.data()[k * columns + column]);
          return sum;
        };
        const bool is_long = end > next + part;
        C sum = sum_of(start.data()[Index(row) * columns + column], begin, is_long ? next : end);
        if (is_long)
          for (Index at = next; at < end; at += part) sum += sum_of(0, at, std::min(at + part, end));
        sums.push_back(double(sum));
      }
    const auto out = start.cuda();
    const auto from = source.cuda();
    const auto rows_of = tensor_of<Cuda, Index>(to);
    detail::backend::run<Cuda, T>(
        detail::backend::AddRows{{*out.impl(), 1}, {*from.impl(), 1}, {n, rows_of.impl(), nullptr}});
    CHECK(values_of(out) == sums);
  }
}

TEMPLATE_TEST_CASE("gather and scatter on Cuda", "", float, double, std::int64_t, std::int32_t, std::uint8_t, bool) {
  NEED_CUDA();
  using T = TestType;
  for (const detail::Shape& index : std::vector<detail::Shape>{{0}, {1}, {300}, {3, 4}, {5, 1}, {4, 3, 2}, {9, 7, 50}})
    for (int dim = 0; dim < index.n; ++dim) {
      detail::Shape from = index;
      for (int i = 0; i < from.n; ++i) from[i] += i == dim ? 0 : 2;
      from[dim] = 11;
      INFO(detail::text({index}) << " along " << dim);
      compare<T>(
          [&](auto d) {
            const auto x = values_on<T>(d, from), y = empty<decltype(d), T>(index);
            detail::backend::run<decltype(d)>(
                detail::backend::Gather{*y.impl(), *x.impl(), dim, *numbers_on(d, index, 11).impl()});
            return y;
          },
          0);
      compare<T>(
          [&](auto d) {
            const auto x = values_on<T>(d, index), y = values_on<T>(d, from);
            const auto at = numbers_on(d, index, 11);
            const auto scatter =
                [&]<detail::backend::ScatterMode how>(std::integral_constant<detail::backend::ScatterMode, how>) {
                  detail::backend::run<decltype(d), T>(
                      detail::backend::Scatter<how>{"scatter", *y.impl(), dim, *at.impl(), *x.impl()});
                };
            scatter(std::integral_constant<detail::backend::ScatterMode, detail::backend::ScatterMode::sum>());
            scatter(std::integral_constant<detail::backend::ScatterMode, detail::backend::ScatterMode::product>());
            scatter(std::integral_constant<detail::backend::ScatterMode, detail::backend::ScatterMode::maximum>());
            scatter(std::integral_constant<detail::backend::ScatterMode, detail::backend::ScatterMode::minimum>());
            return y;
          },
          0);
    }
}

TEMPLATE_TEST_CASE("bags on Cuda", "", float, double, bfloat16, half) {
  NEED_CUDA();
  using T = TestType;
  const std::vector<double> starts{0, 3, 3, 40, 41, 400};
  for (const BagMode mode : {BagMode::sum, BagMode::mean, BagMode::max})
    for (const Index padding : {-1, 4})
      for (const bool scaled : {false, true}) {
        if (scaled && mode != BagMode::sum) continue;
        INFO("mode " << int(mode) << ", padding " << padding << (scaled ? ", scaled" : ""));
        const detail::backend::Bags bags{mode, padding};
        const auto run = [&](auto d, int what) {
          using D = decltype(d);
          const auto table = values_on<T>(d, {9, 5}), y = empty<D, T>({5, 5}), scale = values_on<T>(d, {400});
          const auto index = numbers_on(d, {400}, 9), start = tensor_of<D, Index>(starts),
                     chosen = full<D, Index>({5, 5}, 9);
          const detail::Array* const weights = scaled ? scale.impl() : nullptr;
          if (what < 2) {
            detail::backend::run<D, T>(detail::backend::EmbeddingBag{bags, *y.impl(), *table.impl(), *index.impl(),
                                                                     *start.impl(), weights,
                                                                     mode == BagMode::max ? chosen.impl() : nullptr});
            return what ? to_type(chosen, f64) : to_type(y, f64);
          }
          const auto out = zeros<D, T>({9, 5}), g = values_on<T>(d, {5, 5});
          detail::backend::run<D, T>(detail::backend::EmbeddingBagGradient{bags, *out.impl(), *g.impl(), *index.impl(),
                                                                           *start.impl(), weights});
          return to_type(out, f64);
        };
        // The Cpu rounds a 16-bit sum at each step.
        for (int what = 0; what < (mode == BagMode::max ? 2 : 3); ++what)
          compare<T>([&](auto d) { return run(d, what); }, detail::is_half_v<T> && what == 2 ? 0.3 : 10 * tolerance<T>);
      }
}

TEMPLATE_TEST_CASE("rows of arrays on Cuda", "", float, double, bfloat16, half, std::int64_t, std::int32_t,
                   std::uint8_t, bool) {
  NEED_CUDA();
  using T = TestType;
  using C = compute_t<T>;
  for (const Index count : {0, 1, 33, 3000})
    for (const bool strided : {false, true})
      for (int moves = 0; moves < 4; ++moves) {
        INFO(count << " moves " << moves << (strided ? ", strided" : ""));
        const auto run = [&](auto d, bool adding) {
          using D = decltype(d);
          // to: 4 x 6 rows of 2 x 3; from: 3000 rows of as much.
          const Index needed = moves & 1 ? 24 : std::max<Index>(count, 1);
          const detail::Shape to_shape =
              strided ? detail::Shape{2, 3, 4, needed / 4 + 1} : detail::Shape{4, needed / 4 + 1, 2, 3};
          const auto view = [&](const auto& x) { return strided ? x.permute({2, 3, 0, 1}) : x; };
          // Many moves add so many rows to one that they are added in parts.
          const auto values = [&](const detail::Shape& shape) {
            return count > 300 && adding ? exact_values_on<T>(d, shape) : values_on<T>(d, shape);
          };
          const auto in = strided ? transpose(values({3, 2, 3000}), 0, -1) : values({3000, 2, 3});
          std::vector<double> to = numbers(count, needed), from = numbers(count, 2999);
          for (std::size_t i = 0; i < to.size(); i += 7) to[i] = -1;
          for (std::size_t i = 3; i < from.size(); i += 11) from[i] = -1;
          const auto to_numbers = tensor_of<D, Index>(to), from_numbers = tensor_of<D, Index>(from);
          const detail::backend::RowMoves which{count, moves & 1 ? to_numbers.impl() : nullptr,
                                                moves & 2 ? from_numbers.impl() : nullptr};
          if (adding) {
            const auto out = count > 300 ? exact_values_on<C>(d, to_shape) : values_on<C>(d, to_shape);
            detail::backend::run<D, T>(detail::backend::AddRows{{*view(out).impl(), 2}, {*in.impl(), 1}, which});
            return to_type(out, f64);
          }
          const auto out = values_on<T>(d, to_shape);
          detail::backend::run<D>(detail::backend::CopyRows{{*view(out).impl(), 2}, {*in.impl(), 1}, which});
          return to_type(out, f64);
        };
        compare<T>([&](auto d) { return run(d, false); }, 0);
        compare<T>([&](auto d) { return run(d, true); }, 0);
      }
}

TEST_CASE("row numbers on Cuda") {
  NEED_CUDA();
  compare<Index>([&](auto d) {
    using D = decltype(d);
    const auto a = transpose(numbers_on(d, {5, 7}, 6), 0, 1) - 3, b = numbers_on(d, {5}, 4),
               out = empty<D, Index>({7, 5});
    const detail::backend::RowIndex terms[] = {{a.impl(), 6, 4, true}, {b.impl(), 4, 1, false}};
    detail::backend::run<D>(detail::backend::RowNumbers{"index", *out.impl(), terms, 2});
    return out;
  });
}

TEST_CASE("masks on Cuda") {
  NEED_CUDA();
  for (const Index n : {0, 1, 255, 256, 1025, 300000}) {
    INFO(n);
    const auto mask = [n](auto d) { return ge(values_on<float>(d, {n}), 0.5); };
    Index count, on_device;
    detail::backend::run<Cpu>(detail::backend::CountTrue{*mask(host).impl(), count});
    detail::backend::run<Cuda>(detail::backend::CountTrue{*mask(device).impl(), on_device});
    REQUIRE(on_device == count);
    compare<Index>([&](auto d) {
      const auto at = empty<decltype(d), Index>({count});
      detail::backend::run<decltype(d)>(detail::backend::TruePositions{*at.impl(), *mask(d).impl()});
      return at;
    });
  }
}

TEMPLATE_TEST_CASE("integer products on Cuda", "", std::int64_t, std::int32_t, std::uint8_t) {
  NEED_CUDA();
  using T = TestType;
  for (const Index m : {1, 15, 33})
    for (const Index n : {1, 16, 20})
      for (const Index k : {0, 1, 17, 40})
        for (const bool accumulate : {false, true}) {
          INFO(m << " x " << k << " x " << n);
          compare<T>(
              [&](auto d) {
                const auto a = values_on<T>(d, {3, k, m}, -1e9, 1e9).mT(), b = values_on<T>(d, {k, n}, -1e9, 1e9),
                           c = values_on<T>(d, {3, m, n});
                detail::backend::run<decltype(d), T>(
                    detail::backend::MatMul{.c = *c.impl(), .a = *a.impl(), .b = *b.impl(), .accumulate = accumulate});
                return c;
              },
              0);
        }
}

TEST_CASE("numbers out of range on Cuda are found where the host waits") {
  NEED_CUDA();
  const auto index = tensor_of<Cuda, Index>({1, 12, 3});
  const auto table = values_on<float>(device, {10, 4}), y = empty<Cuda>({3, 4});
  const auto expect = [](const std::string& start, auto f) {
    const std::string error = error_of(f);
    INFO(error);
    CHECK(error.find(start) == 0);
  };
  detail::backend::run<Cuda>(detail::backend::CheckRange{"index_select", *index.impl(), 10});
  detail::backend::run<Cuda>(detail::backend::IndexSelect{*y.impl(), *table.impl(), *index.impl()});
  expect("index_select: index 12 is out of range for a dimension of size 10", [&] { y.cpu(); });
  CHECK(values_of(y).size() == 12);
  detail::backend::run<Cuda, float>(detail::backend::IndexAdd{*table.impl(), *index.impl(), *y.impl()});
  cuda::synchronize();
  const detail::backend::RowIndex term{index.impl(), 5, 1, true};
  const auto out = empty<Cuda, Index>({3});
  detail::backend::run<Cuda>(detail::backend::RowNumbers{"index", *out.impl(), &term, 1});
  expect("index: index 12 is out of range for a dimension of size 5", [] { cuda::synchronize(); });
  expect("embedding: no index is in range",
         [&] { detail::backend::run<Cuda>(detail::backend::CheckRange{"embedding", *index.impl(), 0}); });
}

TEST_CASE("embedding_bag and randperm on Cuda") {
  NEED_CUDA();
  for (const bool offsets : {false, true})
    compare<float>([&](auto d) {
      using D = decltype(d);
      auto table = values_on<float>(d, {9, 5});
      table.requires_grad_();
      const auto x = numbers_on(d, offsets ? detail::Shape{12} : detail::Shape{4, 3}, 9);
      const auto starts = offsets ? tensor_of<D, Index>({0, 5, 5}) : Tensor<D, Index>();
      const auto y = embedding_bag(x, table, starts);
      y.backward(values_on<float>(d, y.shape()));
      return table.grad();
    });
  const auto wrong = tensor_of<Cuda, Index>({0, 13});
  const auto x = numbers_on(device, {12}, 9);
  CHECK(error_of([&] { embedding_bag(x, values_on<float>(device, {9, 5}), wrong); }) != "");
  compare<Index>([](auto d) {
    manual_seed(3);
    return randperm<decltype(d)>(100);
  });
}

}  // namespace backend_cuda_contract
