#include "support/recorded.hpp"

#include "tern/ops/cross_entropy.hpp"
#include "tern/functional/gradcheck.hpp"

namespace ops_cross_entropy {
using namespace tern;
using namespace tern_test;

namespace {

template <class D>
Tensor<D, Index> classes_of(const detail::Shape& shape, Index classes) {
  std::vector<Index> targets;
  for (Index i = 0; i < shape.numel(); ++i) targets.push_back(i * 7 % 5 == 3 ? -100 : i * 11 % classes);
  return from_vector<D>(targets, shape);
}

const std::vector<std::pair<std::string, Reduction>> reductions = {
    {"mean", Reduction::mean}, {"sum", Reduction::sum}, {"none", Reduction::none}};

}  // namespace

TEMPLATE_TEST_CASE("cross entropy as PyTorch has it", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const auto& [suffix, reduction] : reductions) {
    for (const char* kind : {"plain", "ignoring -100", "label_smoothing", "class weights",
                             "class weights, label_smoothing, ignoring -100"}) {
      const RecordedCase c("cross_entropy: " + std::string(kind) + ", " + suffix);
      const auto x = c.input<D>(0);
      c.check(cross_entropy(x, c.input<D, Index>(1),
                            {.weight = c.optional<D>("weight"),
                             .reduction = reduction,
                             .label_smoothing = c.number("label_smoothing", 0)}),
              x);
    }
    for (const char* kind : {"probabilities", "probabilities, label_smoothing", "probabilities, class weights"}) {
      const RecordedCase c("cross_entropy: " + std::string(kind) + ", " + suffix);
      const auto x = c.input<D>(0);
      c.check(cross_entropy(x, c.input<D>(1),
                            {.weight = c.optional<D>("weight"),
                             .reduction = reduction,
                             .label_smoothing = c.number("label_smoothing", 0)}),
              x);
    }
  }
  for (const char* kind : {"everything ignored", "one sample", "[N, C, d1, d2]", "-inf logit"}) {
    const RecordedCase c("cross_entropy: " + std::string(kind));
    const auto x = c.input<D>(0);
    c.check(cross_entropy(x, c.input<D, Index>(1)), x);
  }
  const RecordedCase c("cross_entropy: ignore_index 2");
  const auto x = c.input<D>(0);
  c.check(cross_entropy(x, c.input<D, Index>(1), {.ignore_index = 2}), x);
}

TEMPLATE_TEST_CASE("negative log-likelihood as PyTorch has it", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const char* name : {"nll_loss", "nll_loss: class weights", "nll_loss: ignoring -100, sum"}) {
    const RecordedCase c(name);
    const auto x = c.input<D>(0);
    const bool sum = std::string(name).find("sum") != std::string::npos;
    c.check(nll_loss(x, c.input<D, Index>(1),
                     {.weight = c.optional<D>("weight"), .reduction = sum ? Reduction::sum : Reduction::mean}),
            x);
  }
}

TEMPLATE_TEST_CASE("cross entropy on any shape and layout", "[ops]", float, double, bfloat16, half) {
  const double tolerance = std::is_same_v<TestType, double>  ? 1e-12
                           : std::is_same_v<TestType, float> ? 2e-6
                           : std::is_same_v<TestType, half>  ? 3e-3
                                                             : 2e-2;
  for (const detail::Shape& shape :
       {detail::Shape{1, 1}, detail::Shape{3, 2}, detail::Shape{33, 10}, detail::Shape{16, 47}, detail::Shape{17, 48},
        detail::Shape{5, 130}, detail::Shape{2, 3, 17}, detail::Shape{3, 20, 2, 9}, detail::Shape{2, 5, 16}}) {
    detail::Shape rows = shape;
    for (int i = 1; i + 1 < rows.n; ++i) rows[i] = rows[i + 1];
    --rows.n;
    for (const double smoothing : {0., 0.3})
      for (const bool weighted : {false, true})
        for (const auto& [name, reduction] : reductions) {
          INFO(detail::text({shape}) << ", " << name << ", smoothing " << smoothing << (weighted ? ", weighted" : ""));
          const auto run = [&, kind = reduction]<class D>(D, Tensor<D, TestType> x) {
            x.requires_grad_();
            const auto weight = weighted ? spread_tensor<D, TestType>({shape[1]}, 0.5, 2) : Tensor<D, TestType>();
            const auto y = cross_entropy(x, classes_of<D>(rows, shape[1]),
                                         {.weight = weight, .reduction = kind, .label_smoothing = smoothing});
            y.backward(spread_tensor<D, TestType>(y.shape(), 1, 2));
            return std::pair{values_of(y), values_of(x.grad())};
          };
          const auto [expected, slope] = run(Naive{}, spread_tensor<Naive, TestType>(shape, -4, 4));
          for (const auto& x : layouts(spread_tensor<Cpu, TestType>(shape, -4, 4))) {
            const auto [y, dx] = run(Cpu{}, x.detach());
            check_close(y, expected, tolerance, tolerance);
            check_close(dx, slope, tolerance, tolerance);
          }
        }
  }
}

// Rows that a GPU's threads read at once, in packs of 16 bytes or by elements, and longer ones.
TEMPLATE_TEST_CASE("cross entropy of few and of many classes, at any address", "[ops]", TERN_TEST_DEVICES) {
  const auto check = []<class T>(detail::Type<T>, double tolerance) {
    for (const detail::Shape& shape :
         {detail::Shape{3, 8}, detail::Shape{70, 24}, detail::Shape{5, 129}, detail::Shape{2, 1024},
          detail::Shape{2, 9000}, detail::Shape{2, 10001}, detail::Shape{2, 300, 40}})
      for (const double smoothing : {0., 0.3}) {
        INFO(detail::text({shape}) << " of " << detail::name_of(dtype_of<T>) << ", smoothing " << smoothing);
        const auto run = [&]<class D>(const Tensor<D, T>& x) {
          auto leaf = x.detach().requires_grad_();
          const detail::Shape rows = shape.n == 2 ? detail::Shape{shape[0]} : detail::Shape{shape[0], shape[2]};
          const auto weight = spread_tensor<D, T>({shape[1]}, 0.5, 2);
          const auto y =
              cross_entropy(leaf, classes_of<D>(rows, shape[1]), {.weight = weight, .label_smoothing = smoothing});
          y.backward();
          return std::pair{values_of(y), values_of(leaf.grad())};
        };
        const auto [expected, slope] = run(spread_tensor<Naive, T>(shape, -4, 4));
        std::pair<std::vector<double>, std::vector<double>> first;
        for (const Index offset : {0, 1, 4}) {
          const auto array = zeros<TestType, T>({shape.numel() + 4}).narrow(0, offset, shape.numel()).view(shape);
          array.copy_(spread_tensor<TestType, T>(shape, -4, 4));
          const auto results = run(array);
          check_close(results.first, expected, tolerance, tolerance);
          check_close(results.second, slope, tolerance, tolerance / 100);
          if (offset == 0) first = results;
          CHECK(results == first);
        }
      }
  };
  check(detail::Type<float>{}, 2e-5);
  check(detail::Type<double>{}, 1e-12);
  check(detail::Type<bfloat16>{}, 2e-2);
  check(detail::Type<half>{}, 3e-3);
}

TEMPLATE_TEST_CASE("gradients of cross entropy", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const detail::Shape& shape : {detail::Shape{4, 3}, detail::Shape{2, 3, 2}}) {
    auto x = spread_tensor<D>(shape).requires_grad_(),
         p = softmax(spread_tensor<D>(shape, 0, 1), 1).detach().requires_grad_();
    const auto weight = spread_tensor<D>({3}, 0.5, 2);
    const auto target = classes_of<D>(shape.n == 2 ? detail::Shape{4} : detail::Shape{2, 2}, 3);
    for (const auto& [name, reduction] : reductions)
      for (const double smoothing : {0., 0.2}) {
        INFO(name << " " << smoothing);
        const CrossEntropyOptions<D, double> options{
            .weight = weight, .reduction = reduction, .label_smoothing = smoothing};
        const auto by_class = [&](const auto& v) { return cross_entropy(v, target, options); };
        const auto by_probability = [&](const auto& v, const auto& q) { return cross_entropy(v, q, options); };
        CHECK(gradcheck(by_class, std::tuple{x}));
        CHECK(gradgradcheck(by_class, std::tuple{x}));
        CHECK(gradcheck(by_probability, std::tuple{x, p}));
        CHECK(gradgradcheck(by_probability, std::tuple{x, p}));
      }
    const auto likelihood = [&](const auto& v) { return nll_loss(v * v, target, {.weight = weight}); };
    CHECK(gradcheck(likelihood, std::tuple{x}));
    CHECK(gradgradcheck(likelihood, std::tuple{x}));
  }
}

TEMPLATE_TEST_CASE("in 16 bits a nearly certain class keeps its gradient", "[ops]", TERN_TEST_DEVICES) {
  auto x = tensor_of<TestType, bfloat16>({8, 0}, {1, 2}).requires_grad_();
  cross_entropy(x, zeros<TestType, Index>({1})).backward();
  check_close(values_of(x.grad()), {-3.3535e-4, 3.3535e-4}, 4e-3, 0);
}

TEMPLATE_TEST_CASE("cross entropy refuses", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = zeros<D>({2, 3});
  const auto target = tensor_of<D, Index>({0, 3});
  CHECK(error_of([&] { cross_entropy(x, target); }) == "cross_entropy: target 3 at position 1 is out of range [0, 2]");
  CHECK(error_of([&] { nll_loss(x, tensor_of<D, Index>({-1, 0})); }) ==
        "nll_loss: target -1 at position 0 is out of range [0, 2]");
  CHECK(error_of([&] { cross_entropy(x, zeros<D, Index>({3})); }) ==
        "cross_entropy: the target of an input of shape [2, 3] must be of shape [2], not [3]");
  CHECK(error_of([&] { cross_entropy(zeros<D>({}), zeros<D, Index>({})); }) ==
        "cross_entropy: the input must have a dimension of classes");
  CHECK(error_of([&] { cross_entropy(zeros<D>({2, 0}), zeros<D, Index>({2})); }) ==
        "cross_entropy: an input of shape [2, 0] has no classes");
  CHECK(error_of([&] { cross_entropy(x, zeros<D, Index>({2}), {.weight = zeros<D>({2})}); }) ==
        "cross_entropy: weight must be of shape [3], not [2]");
  CHECK(error_of([&] { cross_entropy(x, zeros<D, Index>({2}), {.label_smoothing = 2}); }) ==
        "cross_entropy: label_smoothing must lie in [0, 1], not 2");
  CHECK(error_of([&] { cross_entropy(x, zeros<D>({2})); }) ==
        "cross_entropy: probabilities must have the input's shape [2, 3], not [2]");
}

TEMPLATE_TEST_CASE("cross entropy's reductions as texts", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 3});
  const auto y = tensor_of<D, Index>({2, 0});
  CHECK(values_of(cross_entropy(x, y, {.reduction = "none"})) ==
        values_of(cross_entropy(x, y, {.reduction = Reduction::none})));
  CHECK(values_of(cross_entropy(x, x, {.reduction = "sum"})) ==
        values_of(cross_entropy(x, x, {.reduction = Reduction::sum})));
  CHECK(values_of(nll_loss(x, y, {.reduction = "none"})) == values_of(nll_loss(x, y, {.reduction = Reduction::none})));
}

}  // namespace ops_cross_entropy
