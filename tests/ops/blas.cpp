#include "support/recorded.hpp"
#include "support/sixteen_bits.hpp"
#include "support/tensors.hpp"

#include "tern/ops/blas.hpp"
#include "tern/functional/gradcheck.hpp"

namespace ops_blas {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("scaled products are sums of products", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto a = spread_tensor<D>({2, 3, 4}), b = spread_tensor<D>({2, 4, 5}, -1, 3), x = spread_tensor<D>({3, 5});
  const auto v = b.select(0, 0).select(1, 0), y = x.select(1, 0);
  check_close(values_of(x.addmm(a[0], b[0], 0.5, 2)), values_of(0.5 * x + 2 * matmul(a[0], b[0])));
  check_close(values_of(y.addmv(a[0], v, 0.5, 2)), values_of(0.5 * y + 2 * matmul(a[0], v)));
  check_close(values_of(x.addbmm(a, b, 0.5, 2)), values_of(0.5 * x + 2 * (matmul(a[0], b[0]) + matmul(a[1], b[1]))));
  check_close(values_of(x.baddbmm(a, b, 0.5, 2)), values_of(0.5 * x + 2 * matmul(a, b)));
  check_close(values_of(addmm(full<D, double>({1}, NAN), a[0], b[0], 0)), values_of(matmul(a[0], b[0])));
}

TEMPLATE_TEST_CASE("products over chosen dimensions", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto u = tensor_of<D>({1, 2}), v = tensor_of<D>({3, 4, 5});
  CHECK(values_of(u.outer(v)) == std::vector<double>{3, 4, 5, 6, 8, 10});
  const auto a = spread_tensor<D>({2, 3, 4}), b = spread_tensor<D>({4, 2, 5});
  const auto c = tensordot(a, b, {2, 0}, {0, 1});
  REQUIRE(c.shape() == detail::Shape{3, 5});
  double sum = 0;
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 4; ++k) sum += a.cpu()(i, 1, k) * b.cpu()(k, i, 2);
  CHECK(c.cpu()(1, 2) == Approx(sum));
  check_close(values_of(tensordot(a, b, 1)), values_of(matmul(a, b.view({4, 10}))));
  CHECK(tensordot(u, v, 0).shape() == detail::Shape{2, 3});
  CHECK(values_of(tensordot(a, b, {{2, 0}, {0, 1}})) == values_of(c));
  CHECK(tensor_of<D>({1, 2, 3, 4, 5, 6}, {2, 3}).trace().item() == 6);
}

TEMPLATE_TEST_CASE("a 16-bit sum with a product is rounded once", "[ops]", TERN_TEST_DEVICES) {
  const auto a = tensor_of<TestType, bfloat16>({1, 1}, {1, 2}), b = tensor_of<TestType, bfloat16>({256, 1}, {2, 1});
  const auto x = tensor_of<TestType, bfloat16>({-256}, {1, 1});
  CHECK(float(addmm(x, a, b).item()) == 1);
}

TEMPLATE_TEST_CASE("gradients of scaled products", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  auto x = spread_tensor<D>({3, 2}).requires_grad_(), a = spread_tensor<D>({2, 3, 4}).requires_grad_(),
       b = spread_tensor<D>({2, 4, 2}).requires_grad_();
  const auto check = [](const auto& f, const auto& inputs) {
    CHECK(gradcheck(f, inputs));
    CHECK(gradgradcheck(f, inputs));
  };
  const std::tuple all{x, a, b};
  check([](const auto& u, const auto& l, const auto& r) { return addmm(u, l[0], r[1], 0.5, 2); }, all);
  check([](const auto& u, const auto& l, const auto& r) { return addmv(u[0][0], l[0], r[1].select(1, 0), 0.5, 2); },
        all);
  check([](const auto& u, const auto& l, const auto& r) { return addbmm(u, l, r, 0.5, 2); }, all);
  check([](const auto& u, const auto& l, const auto& r) { return baddbmm(u, l, r, 0.5, 2); }, all);
  check([](const auto& l, const auto& r) { return outer(l[0][0], r[0].select(1, 0)); }, std::tuple{a, b});
  check([](const auto& l, const auto& r) { return tensordot(l, r, {2, 0}, {1, 0}); }, std::tuple{a, b});
  check([](const auto& u) { return trace(u * u); }, std::tuple{x});
}

TEMPLATE_TEST_CASE("scaled products refuse what does not fit", "[ops]", TERN_TEST_DEVICES) {
  const auto x = zeros<TestType, double>({2, 2}), y = zeros<TestType, double>({3, 3}), v = zeros<TestType, double>({3});
  const auto batch = zeros<TestType, double>({2, 3, 3});
  CHECK(error_of([&] { addmm(x, y, y); }) ==
        "addmm: a tensor of shape [2, 2] does not broadcast to the product's [3, 3]");
  CHECK(error_of([&] { addmv(x, y, v); }) == "addmv: a tensor of shape [2, 2] does not broadcast to the product's [3]");
  CHECK(error_of([&] { addbmm(x, y, y); }) == "addbmm: 3-d and 3-d tensors are needed, not [3, 3] and [3, 3]");
  CHECK(error_of([&] { baddbmm(zeros<TestType, double>({4, 2, 3, 3}), batch, batch); }) ==
        "baddbmm: a tensor of shape [4, 2, 3, 3] does not broadcast to the product's [2, 3, 3]");
  CHECK(error_of([&] { outer(x, v); }) == "outer: 1-d and 1-d tensors are needed, not [2, 2] and [3]");
  CHECK(error_of([&] { tensordot(x, y, 1); }) == "tensordot: sizes differ over [1] and [0]: [2, 2], [3, 3]");
  CHECK(error_of([&] { trace(v); }) == "trace: a matrix is needed, not [3]");
}

TEMPLATE_TEST_CASE("with a factor of 0, what it multiplies is ignored", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](const char* name, const auto& op) {
    const RecordedCase recorded(name, 1e-12, "singular");
    const auto x = recorded.input<D>(0), a = recorded.input<D>(1), b = recorded.input<D>(2);
    recorded.check(op(x, a, b), x, a, b);
  };
  const auto scaled = [](double beta, double alpha) {
    return [=](const auto& x, const auto& a, const auto& b) { return addmm(x, a, b, beta, alpha); };
  };
  check("addmm, alpha 0, left not finite", scaled(1, 0));
  check("addmm, alpha 0, right not finite", scaled(2, 0));
  check("addmm, beta 0, addend not finite", scaled(0, 1));
  check("addmm, alpha 0 and beta 0", scaled(0, 0));
  check("addmv, alpha 0", [](const auto& x, const auto& a, const auto& v) { return addmv(x, a, v, 1, 0); });
  check("addbmm, alpha 0", [](const auto& x, const auto& a, const auto& b) { return addbmm(x, a, b, 1, 0); });
  const auto one = ones<D, double>({1, 1, 1});
  CHECK(baddbmm(one, full<D, double>({1, 1, 1}, NAN), one, 1, 0).item() == 1);
}

TEMPLATE_TEST_CASE("tensordot broadcasts contracted dimensions of size 1", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](const char* name, const detail::Dims& left, const detail::Dims& right) {
    const RecordedCase recorded(name, 1e-12, "singular");
    const auto a = recorded.input<D>(0), b = recorded.input<D>(1);
    recorded.check(tensordot(a, b, left, right), a, b);
  };
  check("tensordot broadcasts the right", {1}, {2});
  check("tensordot broadcasts the left", {0}, {1});
  check("tensordot broadcasts both", {0, 1, -1}, {1, -1, 0});
  const auto whole =
      tensordot(tensor_of<D, std::int32_t>({1, 2, 3}, {1, 3}), tensor_of<D, std::int32_t>({5}, {1, 1}), 1);
  CHECK(values_of(whole) == std::vector<double>{30});
  CHECK(error_of([&] { tensordot(zeros<D>({2, 3}), zeros<D>({2, 3}), {1}, {0}); }) ==
        "tensordot: sizes differ over [1] and [0]: [2, 3], [2, 3]");
}

TEMPLATE_TEST_CASE("a broadcast tensordot in 16 bits is rounded once", "[ops]", TERN_TEST_DEVICES) {
  const auto a = spread_tensor<TestType>({2, 300}), b = spread_tensor<TestType>({1, 3}, 1, 3);
  check_rounded_once_in_16_bits([](const auto& x, const auto& y) { return tensordot(x, y, {1}, {0}); }, a, b);
}

TEMPLATE_TEST_CASE("inner, Kronecker's and vector products are PyTorch's", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const auto& a : layouts(tensor_of<D>({1, 5, 2, 4, 3, 9}, {2, 3}))) {
    check_close(values_of(a.inner(a)), {30, 37, 37, 106});
    check_close(values_of(inner(a, full<D, double>({}, 2))), {2, 10, 4, 8, 6, 18});
    check_close(values_of(a.kron(tensor_of<D>({1, 10}))), {1, 10, 5, 50, 2, 20, 4, 40, 3, 30, 9, 90});
    check_close(values_of(a.cross(a + a.flip({1}))), {-5, 3, -5, -15, 65, -15});
    check_close(values_of(cross(a.t(), (a + a.flip({1})).t(), 0)), {-5, -15, 3, 65, -5, -15});
  }
  CHECK(kron(ones<D>({2}), ones<D>({3, 2, 2})).shape() == detail::Shape{3, 2, 4});
  CHECK(inner(ones<D>({2, 4, 3}), ones<D>({5, 3})).shape() == detail::Shape{2, 4, 5});
  CHECK(values_of(kron(tensor_of<D, Index>({1, 2}), tensor_of<D, Index>({3, 4}))) == std::vector<double>{3, 4, 6, 8});
  const auto x = spread_tensor<D>({2, 3}).requires_grad_(), y = spread_tensor<D>({2, 3}, 1, 3).requires_grad_();
  const auto check = [&](const auto& f) {
    CHECK(gradcheck(f, std::tuple{x, y}));
    CHECK(gradgradcheck(f, std::tuple{x, y}));
  };
  check([](const auto& u, const auto& v) { return inner(u * u, v); });
  check([](const auto& u, const auto& v) { return kron(u * u, v[0]); });
  check([](const auto& u, const auto& v) { return cross(u * u, v.narrow(0, 0, 1)); });
  CHECK(error_of([&] { inner(x, x.t()); }) == "inner: the last dimensions must have the same size: [2, 3] and [3, 2]");
  CHECK(error_of([&] { cross(x, x, 0); }) == "cross: 3 elements along dimension 0 are needed: [2, 3] and [2, 3]");
  CHECK(error_of([&] { kron(ones<D>({1, 1, 1, 1, 1}), x.to(f32)); }) ==
        "kron: at most 4 dimensions, not those of [1, 1, 1, 1, 1] and [2, 3]");
}

}  // namespace ops_blas
