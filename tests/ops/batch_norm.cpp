#include "support/tensors.hpp"

#include "tern/ops/batch_norm.hpp"
#include "tern/functional/gradcheck.hpp"

namespace ops_batch_norm {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

enum class Form { plain, relu, add_relu };

/// A form of batch_norm in training, its statistics, and the gradients of all that has one.
template <class D, class T>
std::vector<std::vector<double>> normalised(Form form, Tensor<D, T> x, Tensor<D, T> residual) {
  using C = compute_t<T>;
  const Index channels = x.size(1);
  auto weight = spread_tensor<D, T>(channels, 0.5, 2), bias = spread_tensor<D, T>(channels, -0.3, 0.4);
  const auto mean = spread_tensor<D, C>(channels), var = spread_tensor<D, C>(channels, 1, 2);
  for (Tensor<D, T>* leaf : {&x, &residual, &weight, &bias}) leaf->requires_grad_();
  const auto y = form == Form::plain  ? batch_norm(x, mean, var, weight, bias, true, 0.3)
                 : form == Form::relu ? batch_norm_relu(x, mean, var, weight, bias, true, 0.3)
                                      : batch_norm_add_relu(x, residual, mean, var, weight, bias, true, 0.3);
  CHECK((y.is_contiguous(channels_last) || y.dim() == 2));
  y.backward(spread_tensor<D, T>(x.shape(), -1, 1));
  std::vector all{values_of(y),        values_of(mean),          values_of(var),
                  values_of(x.grad()), values_of(weight.grad()), values_of(bias.grad())};
  if (form == Form::add_relu) all.push_back(values_of(residual.grad()));
  const auto trained = form == Form::plain ? batch_norm(x.detach(), mean, var, weight, bias)
                       : form == Form::relu
                           ? batch_norm_relu(x.detach(), mean, var, weight, bias)
                           : batch_norm_add_relu(x.detach(), residual.detach(), mean, var, weight, bias);
  all.push_back(values_of(trained));
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("batch_norm and its gradients on any shape and layout", "[ops]", float, double, bfloat16, half) {
  const double tolerance = std::is_same_v<TestType, double>  ? 1e-11
                           : std::is_same_v<TestType, float> ? 2e-5
                           : std::is_same_v<TestType, half>  ? 4e-3
                                                             : 4e-2;
  for (const Form form : {Form::plain, Form::relu, Form::add_relu})
    for (const detail::Shape& shape : std::vector<detail::Shape>{{5, 1},
                                                                 {4, 17},
                                                                 {3, 6, 5},
                                                                 {2, 1, 3, 5},
                                                                 {3, 16, 4, 4},
                                                                 {3, 67, 9, 10},
                                                                 {1, 128, 5, 1},
                                                                 {2, 3, 2, 3, 2}}) {
      INFO(detail::text({shape}) << " form " << int(form));
      const auto all = [&]<class D>(D) {
        return std::pair(spread_tensor<D, TestType>(shape, -3, 5), spread_tensor<D, TestType>(shape, -1, 1));
      };
      const auto [x, residual] = all(Naive{});
      const auto expected = normalised(form, x, residual);
      const auto [mine, mine_added] = all(Cpu{});
      const auto layouts_of_residual = layouts(mine_added);
      std::size_t layout = 0;
      for (const auto& v : layouts(mine)) {
        const auto actual = normalised(form, v.detach(), layouts_of_residual[layout++].detach());
        for (std::size_t i = 0; i < expected.size(); ++i) check_close(actual[i], expected[i], tolerance, 4 * tolerance);
      }
    }
}

// Channels that a GPU's threads read in packs of 16 bytes or one by one, in few rows and in many.
TEMPLATE_TEST_CASE("batch_norm of few and of many channels, at any address", "[ops]", TERN_TEST_DEVICES) {
  const auto check = []<class T>(detail::Type<T>, double tolerance) {
    for (const Form form : {Form::plain, Form::relu, Form::add_relu})
      for (const detail::Shape& shape : {detail::Shape{4, 17}, detail::Shape{30, 16, 4, 4}, detail::Shape{2, 8, 50, 60},
                                         detail::Shape{3, 320, 5, 7}, detail::Shape{130, 24, 9, 2}}) {
        INFO(detail::text({shape}) << " form " << int(form) << " of " << detail::name_of(dtype_of<T>));
        const auto expected =
            normalised(form, spread_tensor<Naive, T>(shape, -3, 5), spread_tensor<Naive, T>(shape, -1, 1));
        std::vector<std::vector<double>> first;
        for (const Index offset : {0, 1, 4}) {
          detail::Shape last = shape;  // channels last, as they lie in memory
          for (int i = 1; i + 1 < shape.n; ++i) last[i] = shape[i + 1];
          last[shape.n - 1] = shape[1];
          const auto array = [&](double low, double high) {
            auto x = zeros<TestType, T>({shape.numel() + 4}).narrow(0, offset, shape.numel()).view(last).movedim(-1, 1);
            return x.copy_(spread_tensor<TestType, T>(shape, low, high));
          };
          const auto results = normalised(form, array(-3, 5).detach(), array(-1, 1).detach());
          for (std::size_t i = 0; i < results.size(); ++i)
            check_close(results[i], expected[i], tolerance, 4 * tolerance);
          if (offset == 0) first = results;
          CHECK(results == first);
        }
      }
  };
  check(detail::Type<float>{}, 2e-5);
  check(detail::Type<double>{}, 1e-11);
  check(detail::Type<bfloat16>{}, 4e-2);
  check(detail::Type<half>{}, 4e-3);
}

TEMPLATE_TEST_CASE("fused forms of batch_norm are their parts one after the other", "[ops]", float, double) {
  using D = Cpu;
  const detail::Shape shape{6, 19, 7, 5};
  const auto run = [&](bool fused, bool add) {
    auto x = spread_tensor<D, TestType>(shape).requires_grad_(),
         r = spread_tensor<D, TestType>(shape, -1, 2).requires_grad_();
    auto w = spread_tensor<D, TestType>(19, -1, 1).requires_grad_(),
         b = spread_tensor<D, TestType>(19).requires_grad_();
    Tensor<D, TestType> y;
    if (fused && add) y = batch_norm_add_relu(x, r, {}, {}, w, b, true);
    if (fused && !add) y = batch_norm_relu(x, {}, {}, w, b, true);
    if (!fused) y = batch_norm(x, {}, {}, w, b, true);
    if (!fused) y = relu(add ? y + r : y);
    y.backward(spread_tensor<D, TestType>(shape, -1, 1));
    std::vector all{values_of(y), values_of(x.grad()), values_of(w.grad()), values_of(b.grad())};
    if (add) all.push_back(values_of(r.grad()));
    return all;
  };
  for (const bool add : {false, true}) CHECK(run(true, add) == run(false, add));
}

TEMPLATE_TEST_CASE("gradients of batch_norm", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  auto x = spread_tensor<D>({3, 2, 2, 2}).requires_grad_(),
       r = spread_tensor<D>({3, 2, 2, 2}, -0.2, 0.3).requires_grad_(), w = tensor_of<D>({0.7, 1.4}).requires_grad_(),
       b = tensor_of<D>({0.3, -0.2}).requires_grad_();
  const auto mean = tensor_of<D>({0.2, -0.1}), var = tensor_of<D>({1.1, 0.6});
  const auto check = [](const auto& f, const auto& at) {
    CHECK(gradcheck(f, at));
    CHECK(gradgradcheck(f, at));
  };
  check([](const auto& v, const auto& s, const auto& c) { return batch_norm(v, {}, {}, s, c, true, 0.1, 1e-2); },
        std::tuple{x, w, b});
  check([](const auto& v, const auto& s, const auto& c) { return batch_norm_relu(v, {}, {}, s, c, true, 0.1, 1e-2); },
        std::tuple{x, w, b});
  check([](const auto& v, const auto& u, const auto& s,
           const auto& c) { return batch_norm_add_relu(v, u, {}, {}, s, c, true, 0.1, 1e-2); },
        std::tuple{x, r, w, b});
  check([&](const auto& v, const auto& u, const auto& s,
            const auto& c) { return batch_norm_add_relu(v, u, mean, var, s, c); },
        std::tuple{x, r, w, b});
  check([](const auto& v) { return batch_norm(v, {}, {}, {}, {}, true); }, std::tuple{x});
  check([&](const auto& v) { return batch_norm(v, mean, var); }, std::tuple{x});
}

TEMPLATE_TEST_CASE("batch_norm of large, close numbers is exact", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto y = batch_norm(tensor_of<D, float>({10001, 10002, 10003}, {3, 1}), {}, {}, {}, {}, true, 0.1, 0);
  check_close(values_of(y), {-std::sqrt(1.5), 0, std::sqrt(1.5)}, 1e-6, 1e-6);
  // One of 40,000 differs: the variance is far below the square of what differs.
  std::vector<double> one(40000, 100);
  one[0] = 101;
  const auto mean = zeros<D>({1}), var = zeros<D>({1});
  batch_norm(tensor_of<D, float>(one, {40000, 1}), mean, var, {}, {}, true, 1);
  check_close(values_of(var), {1 / 40000.}, 1e-3, 0);
}

TEMPLATE_TEST_CASE("batch_norm keeps statistics in float for 16-bit elements", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto mean = zeros<D>({2}), var = ones<D>({2});
  const auto x = tensor_of<D, bfloat16>({1, 2, 3, 4, 5, 9}, {3, 2});
  const auto y = batch_norm(x, mean, var, {}, {}, true, 0.5);
  check_close(values_of(mean), {1.5, 2.5}, 1e-6);
  check_close(values_of(var), {2.5, 7}, 1e-6);
  CHECK(y.dtype() == DType::bfloat16);
}

TEMPLATE_TEST_CASE("batch_norm of an empty batch leaves the statistics alone", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto mean = zeros<D>({3}), var = ones<D>({3});
  auto x = zeros<D>({0, 3, 4, 4}).requires_grad_(), w = ones<D>({3}).requires_grad_();
  const auto y = batch_norm(x, mean, var, w, {}, true);
  CHECK(y.shape() == detail::Shape{0, 3, 4, 4});
  y.sum().backward();
  check_close(values_of(w.grad()), {0, 0, 0});
  check_close(values_of(var), {1, 1, 1});
}

TEMPLATE_TEST_CASE("batch_norm passes NaN on in its channel only", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto y = batch_norm_relu(tensor_of<D>({1, 2, NAN, 4}, {2, 2}), {}, {}, {}, {}, true, 0.1, 0);
  check_close(values_of(y), {NAN, 0, NAN, 1});
}

TEMPLATE_TEST_CASE("batch_norm refuses", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = zeros<D>({2, 3, 4, 4}), c = ones<D>({3});
  CHECK(error_of([&] { batch_norm(zeros<D>({3}), c, c); }) ==
        "batch_norm: an input of shape [N, C, ...] is needed, not [3]");
  CHECK(error_of([&] { batch_norm(x, c, ones<D>({4})); }) ==
        "batch_norm: weight, bias and running statistics must be of shape [3] for an input of shape [2, 3, 4, 4], not "
        "[4]");
  CHECK(error_of([&] { batch_norm(x, c, {}, {}, {}, true); }) ==
        "batch_norm: running_mean and running_var belong together: one is undefined");
  CHECK(error_of([&] { batch_norm(x, {}, {}); }) ==
        "batch_norm: without training it needs running_mean and running_var");
  CHECK(error_of([&] { batch_norm(zeros<D>({1, 3}), c, c, {}, {}, true); }) ==
        "batch_norm: training needs more than one value for each channel, which [1, 3] does not have");
  CHECK(error_of([&] { batch_norm_add_relu(x, zeros<D>({2, 3, 4, 1}), c, c); }) ==
        "batch_norm_add_relu: the residual's shape [2, 3, 4, 1] is not the input's [2, 3, 4, 4]");
  CHECK_THAT(error_of([&] { batch_norm_add_relu(x, {}, c, c); }), ContainsSubstring("batch_norm_add_relu: "));
}

}  // namespace ops_batch_norm
