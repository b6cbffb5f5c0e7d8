#include "support/unary.hpp"
#include "tern/ops/where.hpp"

namespace ops_where {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("where", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto c = tensor_of<D, bool>({1, 0, 1, 0, 1, 1}, {2, 3});
  const auto a = spread_tensor<D>({2, 3}), b = spread_tensor<D>({3}, 5, 6);
  const auto x = values_of(a), y = values_of(b);
  std::vector<double> expected, with_number, number_first;
  for (std::size_t i = 0; i < 6; ++i) {
    const bool chosen = i != 1 && i != 3;
    expected.push_back(chosen ? x[i] : y[i % 3]);
    with_number.push_back(chosen ? x[i] : 7);
    number_first.push_back(chosen ? 7 : x[i]);
  }
  for (const auto& condition : layouts(c)) {
    check_close(values_of(where(condition, a, b)), expected);
    check_close(values_of(a.where(condition, b)), expected);
    check_close(values_of(where(condition, a, 7)), with_number);
    check_close(values_of(a.where(condition, 7)), with_number);
    check_close(values_of(where(condition, 7, a)), number_first);
  }
  // torch.where(c, 1., 0.).dtype and so on
  const Tensor<D, float> numbers = where(c, 1.0, 0.5f), mixed = where(c, 1, 0.5);
  check_close(values_of(numbers), {1, 0.5, 1, 0.5, 1, 1});
  check_close(values_of(mixed), {1, 0.5, 1, 0.5, 1, 1});
  const Tensor<D, Index> integers = where(c, 1, 2u);
  check_close(values_of(integers), {1, 2, 1, 2, 1, 1});
  const Tensor<D, bool> masks = where(c, false, true);
  check_close(values_of(masks), {0, 1, 0, 1, 0, 0});
  const Tensor<D, half> halves = where(c, half(1), half(2));
  check_close(values_of(halves), {1, 2, 1, 2, 1, 1});
  const auto i = tensor_of<D, Index>({1, 2, 3});
  check_close(values_of(where(i > 1, i, -i)), {-1, 2, 3});
  const auto t = tensor_of<D, bool>({0, 1, 1});
  check_close(values_of(where(t, t, logical_not(t))), {1, 1, 1});
  CHECK(error_of([&] { where(c, a, spread_tensor<D>({2})); }) == "where: shapes do not broadcast: [2, 3] and [2]");
  CHECK(error_of([&] { where({}, a, b); }) == "where: a tensor is undefined");
}

TEST_CASE("gradients of where, maximum and minimum", "[ops][gradcheck]") {
  const auto a = spread_tensor<Cpu>({2, 3}).requires_grad_(), b = spread_tensor<Cpu>({3}, -1, 1).requires_grad_();
  const auto c = tensor_of<Cpu, bool>({1, 0, 1, 0, 1, 1}, {2, 3});
  const auto check = [&](const auto& f) {
    CHECK(gradcheck(f, std::tuple{a, b}));
    CHECK(gradgradcheck(f, std::tuple{a, b}));
  };
  check([&](const auto& x, const auto& y) { return where(c, x * x, y); });
  check([&](const auto& x, const auto& y) { return where(c, x * y, 1) + where(c, 2, x * y); });
  check([](const auto& x, const auto& y) { return maximum(x * x, y); });
  check([](const auto& x, const auto& y) { return minimum(x, y * y); });
}

TEMPLATE_TEST_CASE("maximum and minimum", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto a = tensor_of<D>({1, 2, NAN, 0, 5}).requires_grad_(), b = tensor_of<D>({1, 3, 0, NAN, 4}).requires_grad_();
  const auto high = maximum(a, b), low = minimum(a, b);
  check_close(values_of(high), {1, 3, NAN, NAN, 5});
  check_close(values_of(low), {1, 2, NAN, NAN, 4});
  high.backward(ones_like(high));
  check_close(values_of(a.grad()), {0.5, 0, 1, 1, 1});
  check_close(values_of(b.grad()), {0.5, 1, 1, 1, 0});
  const auto i = tensor_of<D, std::uint8_t>({1, 200}), j = tensor_of<D, std::uint8_t>({3, 100});
  check_close(values_of(maximum(i, j)), {3, 200});
  check_close(values_of(minimum(i, j)), {1, 100});
  CHECK(error_of([&] { maximum(a, spread_tensor<D>({2})); }) == "maximum: shapes do not broadcast: [5] and [2]");
  CHECK(error_of([&] { minimum(a, spread_tensor<D>({2})); }) == "minimum: shapes do not broadcast: [5] and [2]");
}

namespace {

template <class D, class T>
std::vector<UnaryOp<D, T>> clamps() {
  return {{"clamp", [](const auto& x) { return clamp(x, -0.5, 1); }, [](const auto& x) { return clamp_(x, -0.5, 1); },
           [](double v) { return v < -0.5 ? -0.5
                                 : v > 1  ? 1
                                          : v; }},
          {"clamp from below", [](const auto& x) { return clamp(x, 0.25); },
           [](const auto& x) { return clamp_(x, 0.25); }, [](double v) { return v < 0.25 ? 0.25 : v; }},
          {"clamp from above", [](const auto& x) { return clamp(x, {}, 0.25); },
           [](const auto& x) { return clamp_(x, {}, 0.25); }, [](double v) { return v > 0.25 ? 0.25 : v; }},
          {"clamp_min", [](const auto& x) { return clamp_min(x, 0.25); },
           [](const auto& x) { return x.clamp_min_(0.25); }, [](double v) { return v < 0.25 ? 0.25 : v; }},
          {"clamp_max", [](const auto& x) { return clamp_max(x, 0.25); },
           [](const auto& x) { return x.clamp_max_(0.25); }, [](double v) { return v > 0.25 ? 0.25 : v; }}};
}

}  // namespace

TEMPLATE_TEST_CASE("clamp", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const auto& op : clamps<D, double>()) check_values(op, 0);
  for (const auto& op : clamps<D, float>()) check_values(op, 0);
  const auto i = tensor_of<D, Index>({-5, 0, 5});
  check_close(values_of(i.clamp(-1, 3)), {-1, 0, 3});
  check_close(values_of(i.clamp({}, 3)), {-5, 0, 3});
  check_close(values_of(i.clamp(None, 3)), {-5, 0, 3});
  check_close(values_of(i.clamp(-1, None)), {-1, 0, 5});
  check_close(values_of(clamp(tensor_of<D>({-3, 0.5, 3}), None, 1.)), {-3, 0.5, 1});
  check_close(values_of(tensor_of<D>({-3, 0.5, 3}).clip_(None, 1)), {-3, 0.5, 1});
  check_close(values_of(clamp_(tensor_of<D>({-3, 0.5, 3}), 0., None)), {0, 0.5, 3});
  check_close(values_of(clamp(i, 4, 3)), {3, 3, 3});
  CHECK(error_of([&] { clamp(i, None, None); }) == "clamp: at least one of min and max must be given");
  CHECK(error_of([&] { clamp(i, std::nullopt); }) == "clamp: at least one of min and max must be given");
  CHECK(error_of([&] { clamp_(i, std::nullopt); }) == "clamp_: at least one of min and max must be given");
}

TEMPLATE_TEST_CASE("clamp between tensors", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  using X = Tensor<D, double>;
  const auto x = tensor_of<D>({-3, 0, 3, 3}), low = tensor_of<D>({-1, -1, -1, 5}), high = tensor_of<D>({2});
  check_close(values_of(clamp(x, low, high)), {-1, 0, 2, 2});
  check_close(values_of(clamp(x, low)), {-1, 0, 3, 5});
  check_close(values_of(clamp(x, X(), high)), {-3, 0, 2, 2});
  check_close(values_of(x.clamp_min(low)), {-1, 0, 3, 5});
  check_close(values_of(x.clamp_max(high)), {-3, 0, 2, 2});
  check_close(values_of(clamp(x, None, high)), {-3, 0, 2, 2});
  check_close(values_of(x.clamp(None, high)), {-3, 0, 2, 2});
  check_close(values_of(x.clamp({}, high)), {-3, 0, 2, 2});
  CHECK(error_of([&] { clamp(x, None, X()); }) == "clamp: at least one of min and max must be given");
  CHECK(error_of([&] { clamp(x, X(), X()); }) == "clamp: at least one of min and max must be given");
  CHECK(error_of([&] { clamp_min(x, spread_tensor<D>({3})); }) == "clamp_min: shapes do not broadcast: [4] and [3]");
  CHECK(error_of([&] { clamp_max(x, spread_tensor<D>({3})); }) == "clamp_max: shapes do not broadcast: [4] and [3]");
}

TEST_CASE("gradients of clamp", "[ops][gradcheck]") {
  for (const auto& op : clamps<Cpu, double>()) check_gradients(op);
  const auto x = spread_tensor<Cpu>({2, 3}).requires_grad_();
  const auto low = tensor_of<Cpu>({-1, -0.7, 0.3}).requires_grad_(),
             high = tensor_of<Cpu>({0.5, 0.6, 0.2}).requires_grad_();
  const auto f = [](const auto& v, const auto& a, const auto& b) { return clamp(v * v, a, b); };
  CHECK(gradcheck(f, std::tuple{x, low, high}));
  CHECK(gradgradcheck(f, std::tuple{x, low, high}));
}

TEMPLATE_TEST_CASE("fmax and fmin take the other number for NaN", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const auto& a : layouts(tensor_of<D>({1, NAN, 2, NAN, 3, 4}, {2, 3}))) {
    const auto b = tensor_of<D>({2, 5, NAN, NAN, 3, 1}, {2, 3});
    const auto largest = values_of(a.fmax(b)), smallest = values_of(fmin(a, b));
    for (const std::size_t i : {0, 1, 2, 4, 5}) {
      CHECK(largest[i] == std::vector<double>{2, 5, 2, 0, 3, 4}[i]);
      CHECK(smallest[i] == std::vector<double>{1, 5, 2, 0, 3, 1}[i]);
    }
    CHECK((std::isnan(largest[3]) && std::isnan(smallest[3])));
  }
  CHECK(values_of(fmin(tensor_of<D, Index>({3, 1}), full<D, Index>({}, 2))) == std::vector<double>{2, 1});
  // PyTorch's: the first has the gradient of equal numbers, and of two NaN.
  auto x = tensor_of<D>({NAN, NAN, 3, 4, 1}).requires_grad_(), y = tensor_of<D>({5, NAN, 3, 1, NAN}).requires_grad_();
  fmax(x, y).backward(ones<D, double>({5}));
  CHECK(values_of(x.grad()) == std::vector<double>{0, 1, 1, 1, 1});
  CHECK(values_of(y.grad()) == std::vector<double>{1, 0, 0, 0, 0});
  const auto u = spread_tensor<D>({2, 3}).requires_grad_(), v = spread_tensor<D>({2, 3}, 2, 1).clone().requires_grad_();
  CHECK(gradgradcheck([](const auto& a, const auto& b) { return fmax(a * a, b) * fmin(a, b); }, std::tuple{u, v}));
}

}  // namespace ops_where
