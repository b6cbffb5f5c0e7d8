#include "support/sixteen_bits.hpp"
#include "support/tensors.hpp"

#include "tern/ops/distance.hpp"
#include "tern/functional/gradcheck.hpp"

namespace ops_distance {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("norms of vectors", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({1, -2, 3, -4, 5, -7}, {2, 3});
  CHECK(linalg::vector_norm(x, 3).item() == Approx(std::cbrt(1. + 8 + 27 + 64 + 125 + 343)));
}

TEMPLATE_TEST_CASE("distances and directions", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({3, 4, 0, 2}, {2, 2}), y = tensor_of<TestType>({0, 0, 0, 1}, {2, 2});
  check_close(values_of(pairwise_distance(x, y, 2, 0)), {5, 1});
  check_close(values_of(pairwise_distance(x, y, 1, 1)), {9, 3});
  check_close(values_of(normalize(x)), {0.6, 0.8, 0, 1});
  check_close(values_of(normalize(y, 1, 0)), {0, 0, 0, 1});
  check_close(values_of(normalize(x, {.p = 1, .dim = 0})), {1, 4 / 6., 0, 2 / 6.});
  check_close(values_of(cosine_similarity(x, tensor_of<TestType>({1, 1}), -1)), {7 / std::sqrt(50.), std::sqrt(0.5)});
  check_close(values_of(cosine_similarity(x, x, {.dim = 0})), {1, 1});
}

TEMPLATE_TEST_CASE("gradients of distances", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  for (const auto& layout : layouts(spread_tensor<TestType>({3, 2}))) {
    auto x = layout.detach().requires_grad_(), y = spread_tensor<TestType>({3, 2}, 1, 5).requires_grad_();
    const auto check = [](const auto& f, const auto& inputs) {
      CHECK(gradcheck(f, inputs));
      CHECK(gradgradcheck(f, inputs));
    };
    check([](const auto& a) { return linalg::vector_norm(a, 3, 1); }, std::tuple{x});
    check([](const auto& a, const auto& b) { return pairwise_distance(a, b, 3); }, std::tuple{x, y});
    check([](const auto& a) { return normalize(a); }, std::tuple{x});
    check([](const auto& a, const auto& b) { return cosine_similarity(a, b); }, std::tuple{x, y});
  }
}

TEMPLATE_TEST_CASE("distances of all rows, for every p, by differences and by products", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const double inf = std::numeric_limits<double>::infinity();
  const auto a = spread_tensor<D>({2, 4, 3}, -2, 2), b = spread_tensor<D>({3, 3}, 3, -1).clone(),
             many = spread_tensor<D>({2, 30, 3}, -2, 2);
  for (const double p : {0., 0.5, 1., 1.5, 2., 3., inf})
    for (const auto& x : {a, many}) {
      INFO("p = " << p << ", " << x.shape());
      const auto u = values_of(x), v = values_of(b);
      std::vector<double> expected;
      for (std::size_t i = 0; i < u.size(); i += 3)
        for (std::size_t j = 0; j < v.size(); j += 3) {
          double sum = 0;
          for (std::size_t k = 0; k < 3; ++k) {
            const double distance = std::abs(u[i + k] - v[j + k]);
            sum = p == inf ? std::max(sum, distance) : p == 0 ? sum + (distance != 0) : sum + std::pow(distance, p);
          }
          expected.push_back(p == inf || p == 0 ? sum : std::pow(sum, 1 / p));
        }
      for (const auto& layout : layouts(x)) check_close(values_of(cdist(layout, b, p)), expected, 1e-9, 1e-9);
    }
  CHECK(values_of(cdist(zeros<D>({2, 0}), zeros<D>({1, 0}), inf)) == std::vector<double>{0, 0});
  CHECK(cdist(zeros<D>({0, 3}), zeros<D>({30, 3})).shape() == detail::Shape{0, 30});
  CHECK(cdist(a, expand(b, {5, 1, 3, 3})).shape() == detail::Shape{5, 2, 4, 3});
}

TEMPLATE_TEST_CASE("gradients of all distances, also where a distance is 0", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  const double inf = std::numeric_limits<double>::infinity();
  const auto a = spread_tensor<D>({2, 2, 3}, -2, 2).requires_grad_(),
             many = spread_tensor<D>({27, 3}, -2, 2).requires_grad_(),
             b = spread_tensor<D>({3, 3}, 3, -1).clone().requires_grad_();
  for (const double p : {1., 1.5, 2., 3., inf}) {
    INFO("p = " << p);
    const auto f = [p](const auto& x, const auto& y) { return cdist(x, y, p); };
    CHECK(gradcheck(f, std::tuple{a, b}));
    CHECK(gradgradcheck(f, std::tuple{a, b}));
  }
  const auto products = [](const auto& x, const auto& y) { return cdist(x, y); };
  CHECK(gradcheck(products, std::tuple{many, b}));
  CHECK(gradgradcheck(products, std::tuple{many, b}));
  // PyTorch's, of the sum of all distances of three rows, two of which are equal.
  const std::pair<double, std::vector<double>> recorded[] = {
      {0, {0, 0, 0, 0, 0, 0}},
      {0.5,
       {-4.309401076758503, -3.7320508075688776, -4.309401076758503, -3.7320508075688776, 8.618802153517006,
        7.464101615137755}},
      {1, {-2, -2, -2, -2, 4, 4}},
      {1.5,
       {-1.4659129516579497, -1.6926904744965523, -1.4659129516579497, -1.6926904744965523, 2.9318259033158993,
        3.3853809489931046}},
      {2, {-1.2, -1.6, -1.2, -1.6, 2.4, 3.2}},
      {3,
       {-0.8897027034610712, -1.5816936950419043, -0.8897027034610712, -1.5816936950419043, 1.7794054069221423,
        3.1633873900838085}},
      {inf, {0, -2, 0, -2, 0, 4}}};
  for (const auto& [p, expected] : recorded) {
    INFO("p = " << p);
    auto x = tensor_of<D>({1, 2, 1, 2, 4, 6}, {3, 2}).requires_grad_();
    (cdist(x, x, p) + 0 * x.sum()).sum().backward();
    check_close(values_of(x.grad()), expected);
    auto y = tensor_of<D>({1, 2, 1, 2, 4, 6}, {3, 2}).requires_grad_();
    const auto g = grad((cdist(y, y, p) + 0 * y.sum()).sum(), y, {.create_graph = true});
    check_close(values_of(g), expected);
  }
  auto x = cat(std::vector{ones<D, double>({26, 2}), zeros<D, double>({1, 2})}, 0).requires_grad_();
  cdist(x, x).sum().backward();
  for (const double v : values_of(x.grad())) CHECK(std::isfinite(v));
}

TEMPLATE_TEST_CASE("pdist has the distances of all pairs of rows", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  const double inf = std::numeric_limits<double>::infinity();
  // No two coordinates of a pair are equally far apart, so that p = inf has derivatives.
  const auto x = tensor_of<D>({0.3, -1.2, 2, 1.1, 0.4, -0.7, -1.6, 0.9, 0.5, 2.2, -0.1, 1.4}, {4, 3}).requires_grad_();
  const auto all = values_of(x);
  for (const double p : {0., 1., 1.5, 2., inf}) {
    INFO("p = " << p);
    std::vector<double> expected;
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = i + 1; j < 4; ++j) {
        double sum = 0, most = 0, different = 0;
        for (std::size_t k = 0; k < 3; ++k) {
          const double apart = std::abs(all[3 * i + k] - all[3 * j + k]);
          sum += std::pow(apart, p), most = std::max(most, apart), different += apart != 0;
        }
        expected.push_back(p == 0 ? different : p == inf ? most : std::pow(sum, 1 / p));
      }
    check_close(values_of(pdist(x, p)), expected, 1e-12, 1e-12);
    if (p < 1) continue;
    const auto f = [p](const auto& v) { return pdist(v, p); };
    CHECK(gradcheck(f, std::tuple{x}));
    CHECK(gradgradcheck(f, std::tuple{x}));
  }
  auto far = full<D, float>({30, 2}, 10000);  // by products their distances would be rounding errors
  far.select(1, 0).copy_(arange<D, float>(0, 30).mul(0.01f).add(10000));
  const auto gaps = values_of(pdist(far));
  CHECK(gaps.size() == 435);
  CHECK(gaps[0] == Approx(0.01).epsilon(0.05));
  CHECK(pdist(x.detach().narrow(0, 0, 1)).shape() == detail::Shape{0});
  CHECK(pdist(zeros<D>({0, 3})).shape() == detail::Shape{0});
  check_rounded_once_in_16_bits([](const auto& v) { return pdist(v); }, x.detach());
  CHECK(error_of([&] { pdist(x[0]); }) == "pdist: a matrix is needed, not [3]");
  CHECK(error_of([&] { pdist(x, -1); }) == "pdist: p must not be negative: -1");
}

TEMPLATE_TEST_CASE("distances refuse what does not fit", "[ops]", TERN_TEST_DEVICES) {
  const auto x = zeros<TestType, double>({2, 3}), y = zeros<TestType, double>({2, 2});
  CHECK(error_of([&] { linalg::vector_norm(x, 2, 2); }) == "vector_norm: dimension 2 is out of range [-2, 1]");
  CHECK(error_of([&] { pairwise_distance(x, y); }) == "pairwise_distance: shapes do not broadcast: [2, 3] and [2, 2]");
  CHECK(error_of([&] { cdist(x, y); }) ==
        "cdist: matrices with equally many columns are needed, not [2, 3] and [2, 2]");
  CHECK(error_of([&] { cdist(x[0], x); }) ==
        "cdist: matrices with equally many columns are needed, not [3] and [2, 3]");
  CHECK(error_of([&] { cdist(x, x, -1); }) == "cdist: p must not be negative: -1");
  CHECK(error_of([&] { normalize(x, 2, 2); }) == "normalize: dimension 2 is out of range [-2, 1]");
  CHECK(error_of([&] { cosine_similarity(x, y); }) == "cosine_similarity: shapes do not broadcast: [2, 3] and [2, 2]");
}

}  // namespace ops_distance
