#include "support/tensors.hpp"
#include "tern/ops/exponential.hpp"
#include "tern/functional/gradcheck.hpp"
#include "tern/ops/matmul.hpp"

namespace autograd_record {
using namespace tern;
using namespace tern_test;

namespace {

/// A user's op: scale · x, by a number that the gradient needs.
template <class D>
Tensor<D, double> scaled(const Tensor<D, double>& x, double scale, CallSite here = {}) {
  const auto y = x.detach() * scale;
  record({"scaled", here}, y, wrt(x, [scale](const auto& g) { return g * scale; }));
  return y;
}

/// Two inputs whose gradients are computed together; `calls` counts how often and for whom.
template <class D>
Tensor<D, double> product(const Tensor<D, double>& a, const Tensor<D, double>& b, std::string* calls) {
  using X = Tensor<D, double>;
  const auto c = a.detach() * b.detach();
  record({"product", CallSite::unknown}, c,
         wrt(inputs(a, b), saved(a, b), [calls](const X& g, const X& x, const X& y, detail::NeedsInputGrad needs) {
           if (calls) *calls += std::string(needs[0] ? "a" : "") + (needs[1] ? "b" : "") + ";";
           return std::tuple{needs[0] ? g * y : X(), needs[1] ? g * x : X()};
         }));
  return c;
}

struct Counted {
  static inline int alive = 0;
  Counted() { ++alive; }
  Counted(const Counted&) { ++alive; }
  ~Counted() { --alive; }
};

/// A closure that owns something must be destroyed with the graph, once.
template <class D>
Tensor<D, double> owning(const Tensor<D, double>& x) {
  const auto y = x.detach().clone();
  record({"owning", CallSite::unknown}, y,
         wrt(x, [token = Counted()](const auto& g) { return static_cast<void>(token), g; }));
  return y;
}

}  // namespace

TEMPLATE_TEST_CASE("user-defined ops", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 3}).requires_grad_(), y = spread_tensor<D>({2, 3}, 1, 2).requires_grad_();
  const auto by_three = [](const auto& v) { return scaled(v, 3); };
  CHECK(gradcheck(by_three, std::tuple{x}));
  CHECK(gradgradcheck(by_three, std::tuple{x}));
  const auto f = [](const auto& a, const auto& b) { return product(a, b, nullptr); };
  CHECK(gradcheck(f, std::tuple{x, y}));
  CHECK(gradgradcheck(f, std::tuple{x, y}));
}

TEMPLATE_TEST_CASE("a gradient of a shape that does not fit names the op", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2}).requires_grad_();
  const auto refusal = [&](const detail::Shape& shape) {
    const auto y = x.detach() * 2;
    record({"doubled", CallSite()}, y, wrt(x, [shape](const Tensor<D, double>&) { return ones<D, double>(shape); }));
    return error_of([&] { y.sum().backward(); });
  };
  CHECK_THAT(refusal({3}), Catch::Matchers::ContainsSubstring(
                               "doubled: its backward gave a gradient of shape [3] for an input of shape [2]"));
  CHECK_THAT(refusal({}), Catch::Matchers::ContainsSubstring("doubled: its backward gave a gradient of shape []"));
  CHECK(refusal({4, 2}) == "");  // summed, as the gradient of broadcasting
}

TEMPLATE_TEST_CASE("a gradient function may take the sizes of its input", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  using X = Tensor<D, double>;
  const auto a = spread_tensor<D>({2, 1, 3}).requires_grad_(), b = spread_tensor<D>({4, 1}).requires_grad_(),
             none = X();
  std::vector<detail::Shape> seen;
  const auto c = a.detach() * b.detach();
  record({"product", CallSite::unknown}, c,
         wrt(a, saved(b),
             [&](detail::ShapeRef shape, const X& g, const X& y) { return seen.push_back({shape.d, shape.n}), g * y; }),
         wrt(inputs(none, b), saved(a), [&](detail::ShapeRef shape, const X& g, const X& x, detail::NeedsInputGrad) {
           seen.push_back({shape.d, shape.n});
           return std::tuple{X(), g * x};
         }));
  sum(c).backward();
  CHECK(seen == std::vector<detail::Shape>{{2, 1, 3}, {4, 1}});
  CHECK(values_of(a.grad()) == values_of(grad(sum(a * b), a)));
  CHECK(values_of(b.grad()) == values_of(grad(sum(a * b), b)));
}

TEMPLATE_TEST_CASE("a joint gradient is asked once, for the inputs that need it", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto a = spread_tensor<D>({2}).requires_grad_(), b = spread_tensor<D>({2}).requires_grad_(),
             c = spread_tensor<D>({2});
  std::string calls;
  sum(product(a, b, &calls)).backward();
  sum(product(a, c, &calls)).backward();
  sum(product(c, b, &calls)).backward();
  CHECK(calls == "ab;a;b;");
  CHECK_FALSE(product(c, c, &calls).requires_grad());
}

TEMPLATE_TEST_CASE("what a closure owns goes with the graph", "[autograd]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({2}).requires_grad_();
  {
    const auto unused = owning(x);
    CHECK(Counted::alive == 1);
  }
  CHECK(Counted::alive == 0);
  const auto y = owning(x);
  sum(y).backward({}, true);
  CHECK(Counted::alive == 1);
  sum(y).backward();
  CHECK(Counted::alive == 0);
}

TEMPLATE_TEST_CASE("a tensor saved and then modified is an error, naming op and line", "[autograd]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({1, 2}).requires_grad_(), w = tensor_of<D>({3, 4});
  const auto y = x * w;
  const int line = __LINE__ - 1;
  w.fill_(0);
  CHECK(whole_error_of([&] { sum(y).backward(); }) ==
        "mul: a tensor saved for backward was modified in place (record.cpp:" + std::to_string(line) + ")");
  const auto z = exp(x);
  z.detach().fill_(0);  // shares memory and version
  CHECK(error_of([&] { sum(z).backward(); }).find("exp: a tensor saved for backward was modified") == 0);
}

TEMPLATE_TEST_CASE("only what is needed is saved", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({1, 2}).requires_grad_(), w = tensor_of<D>({3, 4});
  const auto y = x * w;
  const auto z = w * x;
  // The other input's gradient would need x, whose version may therefore change.
  {
    const NoGradGuard off;
    x.fill_(7);
  }
  sum(y + z).backward();
  check_close(values_of(x.grad()), {6, 8});
}

}  // namespace autograd_record
