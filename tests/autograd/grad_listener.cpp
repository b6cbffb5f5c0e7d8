#include "tern/autograd/grad_listener.hpp"

#include "support/tensors.hpp"
#include "tern/autograd/checkpoint.hpp"
#include "tern/ops/exponential.hpp"
#include "tern/ops/matmul.hpp"

namespace autograd_grad_listener {
using namespace tern;
using namespace tern_test;

namespace {

/// Notes what it is told, and the gradients at that moment.
template <class D>
struct Notes : GradListener {
  using X = Tensor<D, double>;
  using GradListener::GradListener;

  std::vector<std::vector<std::size_t>> unused;  // one for each pass
  std::vector<std::size_t> ready;
  std::vector<std::vector<double>> gradients;

  void on_start(const std::vector<std::size_t>& leaves_without) override { unused.push_back(leaves_without); }
  void on_ready(std::size_t leaf) override {
    const X g = leaves()[leaf].template as<D, double>().grad();
    ready.push_back(leaf);
    gradients.push_back(g.defined() ? values_of(g) : std::vector<double>());
  }
};

using Leaves = std::vector<AnyTensor>;
using Numbers = std::vector<std::size_t>;

template <class D>
Tensor<D, double> leaf(std::vector<double> values) {
  return tensor_of<D>(values).requires_grad_();
}

}  // namespace

TEMPLATE_TEST_CASE("a leaf is ready in the middle of the pass, the one that was used last first", "[autograd]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  using X = Tensor<D, double>;
  const auto a = leaf<D>({2}), b = leaf<D>({3}), c = leaf<D>({5});
  Notes<D> notes({a, b, c});
  const X first = exp(a);
  std::vector<Numbers> seen;  // what was ready when the gradient came to an op
  first.register_hook([&](const X&) { seen.push_back(notes.ready); });
  const X second = first * b;
  second.register_hook([&](const X&) { seen.push_back(notes.ready); });
  (second * c).backward();
  CHECK(notes.ready == Numbers{2, 1, 0});
  CHECK(seen == std::vector<Numbers>{{2}, {2, 1}});
  CHECK(notes.unused == std::vector<Numbers>{{}});
  const double e = std::exp(2.);
  check_close(notes.gradients[0], {e * 3});
  check_close(notes.gradients[1], {e * 5});
  check_close(notes.gradients[2], {e * 15});
}

TEMPLATE_TEST_CASE("a leaf used several times is ready once, when the use that was first has come", "[autograd]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto w = leaf<D>({2, 3}), b = leaf<D>({1, 1});
  Notes<D> notes({w, b});
  const auto part = w.narrow(0, 0, 1);  // a view: its gradient is a part of w's
  const auto y = exp(w) * w + part;
  (sum(y * b) + sum(b)).backward();
  CHECK(notes.ready == Numbers{1, 0});
  const double e2 = std::exp(2.), e3 = std::exp(3.);
  check_close(notes.gradients[0], {2 * e2 + 2 + 1, 3 * e3 + 2 + 1});
  check_close(notes.gradients[1], {2 * e2 + e2 + 2, 3 * e3 + e3});
}

TEMPLATE_TEST_CASE("the leaves that a pass does not reach are told first", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto a = leaf<D>({1}), b = leaf<D>({2}), c = leaf<D>({3}), other = leaf<D>({4});
  Notes<D> notes({a, b, c}), second({other});
  (b * 2).backward();
  CHECK(notes.unused == std::vector<Numbers>{{0, 2}});
  CHECK(notes.ready == Numbers{1});
  other.exp().backward();  // a pass that is not its own
  CHECK(notes.unused.size() == 1);
  CHECK(second.unused == std::vector<Numbers>{{}});
  b.backward();  // of the leaf itself
  CHECK(notes.unused == std::vector<Numbers>{{0, 2}, {0, 2}});
  CHECK(notes.ready == Numbers{1, 1});
  check_close(values_of(b.grad()), {3});
  (a * b * c * other).backward();
  CHECK(notes.unused.back().empty());
  CHECK(second.unused.back().empty());
  CHECK(notes.ready.size() == 5);
  CHECK(second.ready == Numbers{0, 0});
}

TEMPLATE_TEST_CASE("grad() tells a listener nothing", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto a = leaf<D>({2}), b = leaf<D>({3});
  Notes<D> notes({a, b});
  check_close(values_of(grad(a * b * a, a)), {12});
  CHECK(notes.unused.empty());
  CHECK(notes.ready.empty());
}

TEMPLATE_TEST_CASE("an edge without a gradient counts, and so do those behind it", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  using X = Tensor<D, double>;
  const auto a = leaf<D>({2}), b = leaf<D>({3}), c = leaf<D>({5});
  Notes<D> notes({a, b, c});
  const X inner = exp(a * b);
  const X y = inner.detach();
  record({"one_of_two", CallSite()}, y,
         wrt(inputs(c, inner), saved(), [](const X& g, detail::NeedsInputGrad) { return std::tuple(X(g * 7), X()); }));
  (y * 1 + a * 10).backward();
  CHECK(notes.unused == std::vector<Numbers>{{}});
  CHECK(notes.ready.size() == 3);
  check_close(values_of(a.grad()), {10});
  CHECK_FALSE(b.grad().defined());
  check_close(values_of(c.grad()), {7});
  CHECK(std::count(notes.ready.begin(), notes.ready.end(), 1u) == 1);
}

TEMPLATE_TEST_CASE("a checkpoint's leaves are counted like those of any op", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = leaf<D>({1, 2}), w = leaf<D>({3, 4}), v = leaf<D>({2, 2});
  const auto f = [&](const auto& u) { return exp(u * w) * w; };
  const auto expected = grad<D, double>({sum(f(x) * v)}, {x, w, v});
  Notes<D> notes({x, w, v});
  sum(checkpoint(f, x) * v).backward();
  CHECK(notes.ready.size() == 3);
  CHECK(notes.ready.front() == 2);
  CHECK(values_of(x.grad()) == values_of(expected[0]));
  CHECK(values_of(w.grad()) == values_of(expected[1]));
  for (std::size_t i = 0; i < 3; ++i) CHECK(notes.gradients[i] == values_of(expected[notes.ready[i]]));
}

TEMPLATE_TEST_CASE("gradients are accumulated in memory that was given", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto w = spread_tensor<D>({3, 2}).requires_grad_(), b = spread_tensor<D>({2}).requires_grad_();
  const auto x = spread_tensor<D>({4, 3});
  const auto loss = [&] { return sum((matmul(x, w) + b) * b + sum(w)); };
  loss().backward();
  const auto dw = values_of(w.grad()), db = values_of(b.grad());
  w.set_grad({});
  b.set_grad({});
  const auto bucket = full<D, double>({8}, 100);
  {
    Notes<D> notes({w, b});
    notes.accumulate_into(0, bucket.narrow(0, 2, 6).view({3, 2}));
    notes.accumulate_into(1, bucket.narrow(0, 0, 2));
    loss().backward();
    CHECK(w.grad().impl()->data == bucket.narrow(0, 2, 6).impl()->data);
    CHECK(b.grad().impl()->data == bucket.impl()->data);
    check_close(values_of(w.grad()), dw);
    check_close(values_of(b.grad()), db);
    const auto held = b.grad();  // others that see it do not move it
    loss().backward();
    CHECK(b.grad().impl()->data == bucket.impl()->data);
    std::vector<double> both = db;
    both.insert(both.end(), dw.begin(), dw.end());
    for (double& value : both) value *= 2;
    check_close(values_of(bucket), both);

    b.set_grad(full<D, double>({2}, 1));  // what is elsewhere moves
    loss().backward();
    CHECK(b.grad().impl()->data == bucket.impl()->data);
    check_close(values_of(b.grad()), {db[0] + 1, db[1] + 1});
    loss().backward({}, false, true);  // with a graph, it has memory of its own
    CHECK(b.grad().impl()->data != bucket.impl()->data);
    b.set_grad({});
    w.set_grad({});
    notes.accumulate_into(1, AnyTensor());
    loss().backward();
    CHECK(b.grad().impl()->data != bucket.impl()->data);
  }
  w.set_grad({});
  loss().backward();
  CHECK(w.grad().impl()->data != bucket.narrow(0, 2, 6).impl()->data);
  check_close(values_of(w.grad()), dw);
}

TEMPLATE_TEST_CASE("a leaf's hooks run before its listener is told, and memory holds what they made", "[autograd]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  using X = Tensor<D, double>;
  const auto x = leaf<D>({1, 2}), y = leaf<D>({3, 4});
  const auto bucket = zeros<D, double>({2});
  Notes<D> notes({x, y});
  notes.accumulate_into(0, bucket);
  std::vector<std::size_t> ready_before;
  x.register_hook([](const X& g) { return g * 10; });
  x.register_post_accumulate_grad_hook([&](const X&) { ready_before.push_back(notes.ready.size()); });
  sum(x * y + x * x).backward();
  CHECK(ready_before.size() == 1);
  CHECK(notes.ready.size() == 2);
  check_close(values_of(bucket), {50, 80});
  for (std::size_t i = 0; i < 2; ++i)
    if (notes.ready[i] == 0) CHECK(ready_before[0] == i);
}

TEMPLATE_TEST_CASE("after a pass that failed the next one starts anew", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  using X = Tensor<D, double>;
  const auto a = leaf<D>({2}), b = leaf<D>({3});
  Notes<D> notes({a, b});
  const X inner = exp(a);
  bool fails = true;
  inner.register_hook([&](const X&) {
    if (fails) throw Error("from the hook");
  });
  const X y = inner * b;
  CHECK(error_of([&] { y.backward({}, true); }) == "from the hook");
  CHECK(notes.ready == Numbers{1});
  fails = false;
  b.set_grad({});
  y.backward();
  CHECK(notes.unused.size() == 2);
  CHECK(notes.ready == Numbers{1, 1, 0});
  check_close(values_of(a.grad()), {3 * std::exp(2.)});
}

TEMPLATE_TEST_CASE("a listener refuses", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = leaf<D>({1, 2}), y = leaf<D>({1, 2});
  CHECK(error_of([&] { Notes<D>({x, y * 2}); }) == "GradListener: tensor 1 is not a leaf that requires a gradient");
  CHECK(error_of([&] { Notes<D>({x, tensor_of<D>({1})}); }) ==
        "GradListener: tensor 1 is not a leaf that requires a gradient");
  CHECK(error_of([&] { Notes<D>({x, y, x}); }) == "GradListener: leaf 2 has a listener already");
  Notes<D> notes({x});
  CHECK(error_of([&] { Notes<D>({y, x}); }) == "GradListener: leaf 1 has a listener already");
  CHECK(error_of([&] { notes.accumulate_into(1, x); }) == "accumulate_into: no leaf 1 of 1");
  CHECK(error_of([&] { notes.accumulate_into(0, tensor_of<D>({1})); }).find("[1], the leaf") != std::string::npos);
  CHECK(error_of([&] { notes.accumulate_into(0, tensor_of<D, float>({1, 2})); }).find("float32 [2], the leaf") !=
        std::string::npos);
  Notes<D> again({y});  // those that were refused left no trace
}

}  // namespace autograd_grad_listener
