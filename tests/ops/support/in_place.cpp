// In-place operations on the tape: the history of the written tensor, of its base and of its views is rewritten.
#include "support/tensors.hpp"
#include "tern/functional/gradcheck.hpp"
#include "tern/ops/blend.hpp"
#include "tern/ops/indexing.hpp"
#include "tern/ops/random.hpp"
#include "tern/ops/rounding.hpp"
#include "tern/ops/trigonometric.hpp"

#include <functional>

namespace ops_support_in_place {
using namespace tern;
using namespace tern_test;

namespace {

/// f(x) with in-place steps inside, checked against finite differences twice.
template <class D, class F>
void check(const F& f, const detail::Shape& shape = {3, 4}) {
  const auto x = spread_tensor<D>(shape, 0.2, 1.5).requires_grad_();
  CHECK(gradcheck(f, std::tuple{x}));
  CHECK(gradgradcheck(f, std::tuple{x}));
}

}  // namespace

TEMPLATE_TEST_CASE("an in-place op continues the history", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  check<D>([](const auto& x) { return (x * 2).exp_().mul_(x).sin_(); });
  check<D>([](const auto& x) {
    const auto y = x.clone();
    y.mul_(y);  // reads what it overwrites
    return y.add_(y, 2);
  });
  check<D>([](const auto& x) { return (x * 1).tanh_().square_(); });
  check<D>([](const auto& x) {
    const auto y = x * x;
    const auto early = y * 3;  // keeps the history from before
    y.exp_();
    return early + y;
  });
  check<D>([](const auto& x) {
    const auto y = zeros_like(x);  // off the tape until something on it is written in
    y.add_(x).mul_(x);
    return y;
  });
  check<D>([](const auto& x) {
    const auto y = x * x;
    y.fill_(2);
    return y * x;
  });
}

TEMPLATE_TEST_CASE("writing a view rewrites its base's history", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  check<D>([](const auto& x) {
    const auto y = x * x;
    y.select(0, 1).mul_(3);
    return y * x;
  });
  check<D>([](const auto& x) {
    const auto y = x * 2;
    y.slice(1, {1, 4, 2}).exp_();
    y.transpose(0, 1).select(0, 0).sin_();
    return y;
  });
  check<D>([](const auto& x) {
    const auto y = zeros_like(x);
    y.narrow(0, 1, 2).copy_(x.narrow(0, 0, 2) * x.select(0, 0));
    return y + x;
  });
  check<D>([](const auto& x) {
    const auto y = x * 1;
    y.view({2, 6}).select(0, 1).view({2, 3}).select(1, 2).mul_(y.detach().select(0, 0).narrow(0, 0, 2) * 0 + 5);
    return y;
  });
  check<D>([](const auto& x) {
    const auto y = (x * 2).transpose(0, 1);  // the base is not contiguous with the view
    y.narrow(0, 1, 2).exp_();
    return y;
  });
}

TEMPLATE_TEST_CASE("writing a base rewrites its views' history", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  check<D>([](const auto& x) {
    const auto y = x * 2;
    const auto row = y.select(0, 1), column = y.select(1, 2);
    y.mul_(y);
    return row * sum(column);
  });
  check<D>([](const auto& x) {
    const auto y = x * 2;
    const auto row = y.select(0, 1);
    row.exp_();
    y.mul_(3);
    row.sin_();
    return y.select(0, 1) + row;
  });
  check<D>([](const auto& x) {
    const auto y = x * 2;
    const auto a = y.narrow(0, 0, 2), b = y.narrow(0, 1, 2);  // they share a row
    a.mul_(3);
    return b * b;
  });
  check<D>([](const auto& x) {
    const auto y = zeros_like(x);
    const auto row = y.select(0, 1);
    y.add_(x);
    return row * 2;
  });
}

TEMPLATE_TEST_CASE("what was overwritten gets the gradient 0, whatever arrives", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({1, 2, 3}).requires_grad_();
  const auto y = x * 2;
  y.select(0, 1).fill_(5);
  (y * tensor_of<D>({1, INFINITY, 10})).backward(ones_like(y));
  check_close(values_of(x.grad()), {2, 0, 20});
}

TEMPLATE_TEST_CASE("leaves that require a gradient, and their views, are protected", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 3}).requires_grad_();
  const std::string leaf = "a leaf that requires a gradient cannot be changed in place; use NoGradGuard";
  CHECK(error_of([&] { x.add_(1); }) == "add_: " + leaf);
  CHECK(error_of([&] { x.fill_(1); }) == "fill_: " + leaf);
  CHECK(error_of([&] { x.copy_(x.detach()); }) == "copy_: " + leaf);
  CHECK(error_of([&] { x.exp_(); }) == "exp_: " + leaf);
  CHECK(error_of([&] { x.select(0, 1).mul_(2); }).find("mul_: a view of a leaf") == 0);
  const auto before = values_of(x);
  {
    const NoGradGuard off;
    x.mul_(2);
    x.select(0, 0).fill_(0);
  }
  check_close(values_of(x.select(0, 1)), {before[3] * 2, before[4] * 2, before[5] * 2});
  check_close(values_of(x.select(0, 0)), {0, 0, 0});
  CHECK(x.is_leaf());
}

TEMPLATE_TEST_CASE("versions count writes, and views and detached tensors share them", "[autograd]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 3});
  const auto row = x.select(0, 0), off = x.detach(), copy = x.clone();
  const std::uint32_t start = x.version();
  row.mul_(2);
  CHECK(x.version() == start + 1);
  off.add_(1);
  CHECK(row.version() == start + 2);
  CHECK(copy.version() == 0);
  const auto w = spread_tensor<D>({3}).requires_grad_();
  const auto y = w * row;
  off.fill_(0);
  CHECK(error_of([&] { sum(y).backward(); }).find("mul: a tensor saved for backward was modified in place") == 0);
}

TEMPLATE_TEST_CASE("an expanded tensor cannot be written", "[autograd]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({1, 3}).expand({4, 3});
  CHECK(error_of([&] { x.mul_(2); }).find("mul_: several elements of the written tensor are one memory location") == 0);
  CHECK(error_of([&] { x.fill_(2); }).find("fill_: several elements") == 0);
}

TEMPLATE_TEST_CASE("every in-place op refuses an expanded target", "[ops][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({1, 3}).expand({4, 3}), y = spread_tensor<D>({4, 3});
  const auto mask = y > 0;
  const std::pair<const char*, std::function<void()>> ops[] = {{"add_", [&] { x += y; }},
                                                               {"sub_", [&] { x -= y; }},
                                                               {"mul_", [&] { x *= y; }},
                                                               {"div_", [&] { x /= y; }},
                                                               {"copy_", [&] { x.copy_(y); }},
                                                               {"copy_", [&] { x.detach() = y; }},
                                                               {"fill_", [&] { x.detach() = 3; }},
                                                               {"normal_", [&] { normal_(x); }},
                                                               {"uniform_", [&] { uniform_(x); }},
                                                               {"copy_", [&] { bernoulli_(x); }},
                                                               {"masked_fill_", [&] { x.masked_fill_(mask, 1); }},
                                                               {"clamp_", [&] { x.clamp_(0, 1); }},
                                                               {"lerp_", [&] { x.lerp_(y, 0.5); }},
                                                               {"addcmul_", [&] { x.addcmul_(y, y); }},
                                                               {"addcdiv_", [&] { x.addcdiv_(y, y); }},
                                                               {"index_put_", [&] { x.index_put_({mask}, 1); }},
                                                               {"index_put_", [&] { x.index_put_({Ellipsis}, 1); }},
                                                               {"lt_", [&] { x.lt_(y); }},
                                                               {"logical_not_", [&] { x.logical_not_(); }},
                                                               {"pow_", [&] { x.pow_(2); }}};
  for (const auto& [name, op] : ops) {
    INFO(name);
    CHECK(error_of(op).find(std::string(name) + ": several elements of the written tensor are one memory location") ==
          0);
  }
}

namespace {

/// A target and an operand that are views of one tensor.
template <class X>
struct Overlap {
  const char* name;
  std::function<std::pair<X, X>(const X&)> views;
};

template <class X>
std::vector<Overlap<X>> overlaps() {
  return {
      {"the transpose", [](const X& x) { return std::pair{x, x.t()}; }},
      {"the first row", [](const X& x) { return std::pair{x, x.select(0, 0)}; }},
      {"a column", [](const X& x) { return std::pair{x, x.select(1, 5).unsqueeze(1)}; }},
      {"one element", [](const X& x) { return std::pair{x, x.select(0, 3).select(0, 3)}; }},
      {"the row before", [](const X& x) { return std::pair{x.slice(0, {1, 40}), x.slice(0, {0, 39})}; }},
      {"the row behind", [](const X& x) { return std::pair{x.slice(0, {0, 39}), x.slice(0, {1, 40})}; }},
      {"the element before",
       [](const X& x) { return std::pair{x.view(-1).slice(0, 1), x.view(-1).slice(0, {0, 1599})}; }},
      {"the element behind",
       [](const X& x) { return std::pair{x.view(-1).slice(0, {0, 1599}), x.view(-1).slice(0, 1)}; }},
      {"columns of another step", [](const X& x) { return std::pair{x.slice(1, {0, 20}), x.slice(1, {0, 40, 2})}; }},
      {"other columns", [](const X& x) { return std::pair{x.slice(1, {0, 40, 2}), x.slice(1, {1, 40, 2})}; }},
      {"the same view", [](const X& x) { return std::pair{x.slice(1, {3, 30}), x.slice(1, {3, 30})}; }},
      {"the same tensor", [](const X& x) { return std::pair{x, x}; }}};
}

template <class X>
std::vector<std::pair<const char*, std::function<void(const X&, const X&)>>> in_place_ops() {
#define IN_PLACE(...)                                         \
  {                                                           \
    #__VA_ARGS__, [](const X& x, const X& y) { __VA_ARGS__; } \
  }
  return {IN_PLACE(x.add_(y)),
          IN_PLACE(x.add_(y, 2)),
          IN_PLACE(x += y),
          IN_PLACE(x.sub_(y)),
          IN_PLACE(x -= y),
          IN_PLACE(x.mul_(y)),
          IN_PLACE(x *= y),
          IN_PLACE(x.div_(y)),
          IN_PLACE(x /= y),
          IN_PLACE(x.pow_(y)),
          IN_PLACE(x.atan2_(y)),
          IN_PLACE(x.hypot_(y)),
          IN_PLACE(x.xlogy_(y)),
          IN_PLACE(x.fmod_(y)),
          IN_PLACE(x.remainder_(y)),
          IN_PLACE(x.floor_divide_(y)),
          IN_PLACE(x.copy_(y)),
          IN_PLACE(x.lerp_(y, 0.3)),
          IN_PLACE(x.lerp_(y, y)),
          IN_PLACE(x.addcmul_(y, y, 0.5)),
          IN_PLACE(x.addcdiv_(y, y)),
          IN_PLACE(x.lt_(y)),
          IN_PLACE(x.logical_and_(y)),
          IN_PLACE(x.masked_fill_(y > 1, 7)),
          IN_PLACE(x.index_put_({Ellipsis}, y)),
          IN_PLACE(x.index_put_({x > 1}, y.sum())),
          IN_PLACE(x.detach() = y)};
#undef IN_PLACE
}

}  // namespace

TEMPLATE_TEST_CASE("an in-place op reads operands that overlap its target as they were", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  using X = Tensor<D, double>;
  const auto start = spread_tensor<D>({40, 40}, 0.2, 1.8);
  for (const auto& overlap : overlaps<X>())
    for (const auto& [name, op] : in_place_ops<X>()) {
      INFO(name << " by " << overlap.name);
      const auto actual = start.clone(), expected = start.clone();
      const auto [target, operand] = overlap.views(actual);
      op(target, operand);
      const auto [place, read] = overlap.views(expected);
      const auto result = place.clone();
      op(result, read.clone());
      place.copy_(result);
      check_close(values_of(actual), values_of(expected));
    }
}

TEMPLATE_TEST_CASE("a mask may overlap the bools that it fills", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto mask = tensor<D, bool>({{0, 1, 1}, {0, 0, 1}, {1, 0, 0}});
  mask.masked_fill_(mask.t(), true);
  check_close(values_of(mask), {0, 1, 1, 1, 0, 1, 1, 1, 0});
}

TEMPLATE_TEST_CASE("an overlapping operand is as it was on the tape too", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  check<D>([](const auto& x) {
    const auto y = x * 1;
    y.slice(0, {1, 3}).mul_(y.slice(0, {0, 2}));
    return y;
  });
  check<D>([](const auto& x) {
    const auto y = x * x;
    y.sub_(y.select(0, 0));
    return y * y;
  });
  check<D>(
      [](auto& x) {
        auto y = x * 1;
        y += y.t();
        y.addcmul_(y.t(), y.select(1, 0));
        return y;
      },
      {3, 3});
}

TEMPLATE_TEST_CASE("in-place ops off the tape record nothing", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3}).requires_grad_();
  const auto y = x * 2;
  {
    const NoGradGuard off;
    y.exp_();
  }
  CHECK(y.requires_grad());
  sum(y).backward();
  check_close(values_of(x.grad()), {2, 2, 2});  // as PyTorch: the write under no_grad is not differentiated
}

}  // namespace ops_support_in_place
