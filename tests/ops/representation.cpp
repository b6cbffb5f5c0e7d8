#include "tern/ops/representation.hpp"
#include "support/tensors.hpp"

#include "tern/functional/gradcheck.hpp"

namespace ops_representation {
using namespace tern;
using namespace tern_test;

namespace {

/// Numbers of all sizes: whole, at powers of two and beside them, the smallest and the largest of the type, and those
/// that are no numbers.
template <class T>
std::vector<double> numbers() {
  using Limits = std::numeric_limits<T>;
  std::vector<double> all{0, -0.0, 1, -1, 0.5, 3, -0.1, 1e10, 1e-10, Limits::infinity(), -Limits::infinity()};
  for (const T edge : {T(1), T(8), Limits::min(), Limits::denorm_min(), Limits::max()})
    for (const T at : {edge, std::nextafter(edge, T(0)), -edge}) all.push_back(at);
  for (double& number : all) number = T(number);
  return all;
}

template <class D, class T>
void check_frexp() {
  const auto all = numbers<T>();
  for (const auto& x : layouts(tensor_of<D, T>(all))) {
    const auto [mantissa, exponent] = frexp(x);
    const auto m = values_of(mantissa), e = values_of(exponent);
    for (std::size_t i = 0; i < all.size(); ++i) {
      INFO(all[i]);
      int n = 0;
      const double expected = std::frexp(all[i], &n);
      CHECK(m[i] == expected);
      CHECK(std::signbit(m[i]) == std::signbit(all[i]));
      CHECK(e[i] == (std::isfinite(all[i]) ? n : 0));
    }
  }
}

template <class D, class T>
void check_nextafter() {
  const auto all = numbers<T>();
  std::vector<double> from, to;
  for (const double a : all)
    for (const double b : all) from.push_back(a), to.push_back(b);
  const auto y = values_of(nextafter(tensor_of<D, T>(from), tensor_of<D, T>(to)));
  for (std::size_t i = 0; i < y.size(); ++i) {
    INFO(from[i] << " towards " << to[i]);
    const T expected = std::nextafter(T(from[i]), T(to[i]));
    CHECK(y[i] == double(expected));
    CHECK(std::signbit(y[i]) == std::signbit(expected));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("frexp gives the C library's mantissas and exponents", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  check_frexp<D, float>();
  check_frexp<D, double>();
  const auto nan = frexp(full<D, float>({1}, NAN));
  CHECK(std::isnan(values_of(nan.mantissa)[0]));
  CHECK(values_of(nan.exponent)[0] == 0);
  const auto half = frexp(full<D, bfloat16>({1}, 24));
  CHECK((values_of(half.mantissa)[0] == 0.75 && values_of(half.exponent)[0] == 5));
}

TEMPLATE_TEST_CASE("the gradient of frexp's mantissa is that of a division by 2^exponent", "[ops][gradcheck]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  auto x = tensor_of<D>({3, -0.3, 1000, 5e-324}).requires_grad_();
  const auto f = [](const auto& v) { return frexp(v).mantissa; };
  f(x).narrow(0, 0, 3).sum().backward();
  check_close(values_of(x.grad()), {0.25, 2, 1. / 1024, 0});
  const auto inner = tensor_of<D>({3, -0.3, 0.7}).requires_grad_();
  CHECK(gradcheck(f, std::tuple{inner}));
  CHECK(gradgradcheck(f, std::tuple{inner}));
  CHECK(!nextafter(inner, inner).requires_grad());
}

TEMPLATE_TEST_CASE("nextafter gives the C library's neighbours", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  check_nextafter<D, float>();
  check_nextafter<D, double>();
  const auto x = ones<D>({2, 1});
  CHECK(x.nextafter(zeros<D>({3})).shape() == detail::Shape{2, 3});
  CHECK(std::isnan(values_of(nextafter(x, full<D, float>({}, NAN)))[0]));
  CHECK(error_of([&] { nextafter(x, zeros<D>({3, 4})); }) == "nextafter: shapes do not broadcast: [2, 1] and [3, 4]");
}

}  // namespace ops_representation
