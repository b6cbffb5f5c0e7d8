// Assignment: a handle with a name refers to another tensor, what an expression returns is written.
#include "support/tensors.hpp"
#include "tern/functional/gradcheck.hpp"
#include "tern/ops/cat.hpp"
#include "tern/ops/extrema.hpp"
#include "tern/ops/indexing.hpp"
#include "tern/ops/reduce.hpp"
#include "tern/tensor/creation.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace tensor_tensor {
using namespace tern;
using namespace tern_test;

static_assert(std::is_nothrow_move_assignable_v<Tensor<Cpu>> && std::is_copy_assignable_v<Tensor<Cpu>>);
static_assert(std::is_nothrow_swappable_v<Tensor<Cpu>>);
static_assert(sizeof(Tensor<Cpu>) == sizeof(void*) && sizeof(Tensor<Cuda, bool>) == sizeof(void*));

TEMPLATE_TEST_CASE("what an expression returns is written", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](const std::vector<double>& expected, const auto& write) {
    const auto x = zeros<D>({2, 3});
    write(x);
    check_close(values_of(x), expected);
  };
  const auto row = tensor<D>({1, 2, 3});
  check({1, 2, 3, 0, 0, 0}, [&](const auto& x) { x[0] = row; });
  check({0, 0, 0, 1, 2, 3}, [&](const auto& x) { x[-1] = row; });
  check({2, 2, 2, 0, 0, 0}, [&](const auto& x) { x[0] = 2; });
  check({2.5, 2.5, 2.5, 1, 1, 1}, [&](const auto& x) { x[0] = 2.5, x[1] = half(1); });
  check({0, 0, 7, 0, 0, 0}, [&](const auto& x) { x[0][2] = 7; });
  check({0, 4, 4, 0, 0, 0}, [&](const auto& x) { x[{0, Slice(1, 3)}] = 4.0; });
  check({0, 5, 0, 0, 5, 0}, [&](const auto& x) { x.index({Ellipsis, 1}) = 5; });
  check({2, 3, 0, 2, 3, 0}, [&](const auto& x) { x.slice(1, {0, 2}) = row.slice(0, {1, 3}); });
  check({1, 2, 3, 1, 2, 3}, [&](const auto& x) { x[0] = x[1] = row; });
  check({1, 2, 3, 0, 0, 0}, [&](const auto& x) { x[0] = row, x.t()[2] = x.t()[2] * 1; });
  check({3, 2, 3, 6, 0, 0}, [&](const auto& x) { x[0] = row, x.t()[0] = tensor<D>({3, 6}); });
  check({1, 2, 3, 0, 0, 0}, [&](const auto& x) { x[0] = Tensor<D>(row); });
  check({3, 3, 3, 3, 3, 3}, [&](const auto& x) { x.detach() = 3; });
  check({1, 0, 2, 0, 3, 0}, [&](const auto& x) { x.view({3, 2}).select(1, 0) = row; });
  const auto integers = zeros<D, Index>({2});
  integers[0] = 3, integers[1] = 4.0;
  check_close(values_of(integers), {3, 4});
  const auto mask = zeros<D, bool>({2});
  mask[1] = true;
  check_close(values_of(mask), {0, 1});
}

TEMPLATE_TEST_CASE("a written expression is on the tape", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 3}, 0.2, 1.5).requires_grad_(),
             y = spread_tensor<D>({3}, 0.2, 1.5).requires_grad_();
  const auto f = [](const auto& a, const auto& b) {
    const auto c = a * a;
    c[0] = b * b;
    c[{1, 1}] = 3;
    return c * a;
  };
  CHECK(gradcheck(f, std::tuple{x, y}));
  CHECK(gradgradcheck(f, std::tuple{x, y}));
  CHECK(error_of([&] { x[0] = y; }).find("copy_: a view of a leaf") == 0);
}

TEMPLATE_TEST_CASE("masks and remainders are calculated in place", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor<D>({1, 2, 3, 4});
  auto mask = x > 1;
  const auto same = mask;
  mask &= x < 4;
  CHECK(mask.to_vector() == std::vector<bool>{false, true, true, false});
  mask |= x < 2;
  CHECK(mask.to_vector() == std::vector<bool>{true, true, true, false});
  mask ^= ~mask;
  CHECK(same.to_vector() == std::vector<bool>{true, true, true, true});
  x %= 3;
  CHECK(x.to_vector() == std::vector<float>{1, 2, 0, 1});
  x %= tensor<D>({2, 2, 2, 2});
  CHECK(x.to_vector() == std::vector<float>{1, 0, 0, 1});
  CHECK(x.device() == same.device());
  CHECK(x.view(2, 2).shape().vec() == std::vector<Index>{2, 2});
}

TEMPLATE_TEST_CASE("an index with positions or masks is written", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](const std::vector<double>& expected, const auto& write) {
    const auto x = arange<D, float>(0, 6).view(2, 3);
    write(x);
    check_close(values_of(x), expected);
  };
  const auto at = tensor<D, Index>({2, 0}), twice = tensor<D, Index>({1, 1});
  // torch: x = torch.arange(6.).view(2, 3); x[...] = ...
  check({0, 1, 0, 0, 0, 0}, [](const auto& x) { x[x > 1] = 0; });
  check({0, 1, 10, 11, 12, 13}, [](const auto& x) { x[x > 1] = tensor<D>({10, 11, 12, 13}); });
  check({0, 1, 4, 6, 8, 10}, [](const auto& x) { x[x > 1] = x[x > 1] * 2; });
  check({0, 1, 4, 6, 8, 10}, [](const auto& x) { x[x > 1] *= 2; });
  check({0, 1, 2, 7, 7, 7}, [](const auto& x) { x[tensor<D, bool>({false, true})] = 7; });
  check({0, 1, 2, 9, 9, 9}, [](const auto& x) { x[tensor<D, Index>({-1})] = 9; });
  check({3, 4, 5, 0, 1, 2}, [](const auto& x) { x[tensor<D, Index>({0, 1})] = x[tensor<D, std::int32_t>({1, 0})]; });
  check({5, 1, 5, 5, 4, 5}, [&](const auto& x) { x[{Slice(), at}] = 5; });
  check({2, 1, 1, 3, 4, 5}, [&](const auto& x) { x[{0, at}] = tensor<D>({1, 2}); });
  check({-1, 1, 1, 3, 4, 5}, [&](const auto& x) { x[{0, at}] -= 1; });
  check({0, 1.5, 2, 3, 4.5, 5}, [&](const auto& x) { x[{Slice(), twice}] += 0.5; });  // not added twice
  check({0, 0.5, 1, 3, 4, 5}, [](const auto& x) { x[{0, Slice(1, 3)}] /= 2; });
  check({0, 1, 2, 4, 5, 6}, [](const auto& x) { x[Slice(1, None)] += 1; });
  check({8, 1, 2, 8, 4, 5}, [](const auto& x) { x[{Ellipsis, Slice({}, 1)}] = 8; });
  check({8, 1, 2, 8, 4, 5}, [](const auto& x) { x[{"...", 0}] = 8; });
  check({0, 1, 0, 1, 0, 1}, [](const auto& x) { x[x > 1] %= 2; });
  check({0, 1, 2, 6, 4, 5}, [](const auto& x) { x[1][x[1] < 4] = 6; });
  check({0, 1, 2, 6, 4, 5}, [](const auto& x) { x[{1, x[1] < 4}] *= 2; });
  check({3, 1, 2, 3, 4, 5}, [](const auto& x) { x[{Slice(), tensor<D, bool>({true, false, false})}] = 3; });
  check({0, 0, 2, 0, 0, 5}, [](const auto& x) {
    x[{Slice(), tensor<D, bool>({true, true, false})}] -= x[{Slice(), Slice({}, 2)}].reshape({2, 2});
  });
  check({9, 9, 9, 9, 9, 9}, [](const auto& x) { x[{Ellipsis, true}] = 9; });
  check({0, 1, 2, 3, 4, 5}, [](const auto& x) { x[{Ellipsis, false}] = 9; });
  check({1, 1, 1, 1, 1, 1}, [](const auto& x) { x[None] = 1; });
  using List = std::vector<Tensor<D, Index>>;
  check({0, 1, 7, 7, 4, 5}, [](const auto& x) { x[List{tensor<D, Index>({0, 1}), tensor<D, Index>({2, 0})}] = 7; });
  check({4, 5, 6, 3, 4, 5}, [](const auto& x) { x[List{tensor<D, Index>({0})}] += 4; });
  check({0, 1, 0, 0, 0, 0}, [](const auto& x) { x[where(x > 1)] = 0; });
  check({0, 1, 4, 6, 8, 10}, [](const auto& x) { x.index_put_(where(x > 1), x.index(where(x > 1)) * 2); });
  check({0, 1, 4, 6, 8, 10}, [](const auto& x) { x.index_put_(where(x > 1), x[x > 1], true); });
  check({0, 1, 2, 9, 9, 9}, [](const auto& x) { x[std::vector{tensor<D, bool>({false, true})}] = 9; });
  const auto integers = tensor<D, Index>({3, 4, 5});
  integers[integers > 3] = 0.0;
  integers[tensor<D, Index>({1})] += 8;
  CHECK(integers.to_vector() == std::vector<Index>{3, 8, 0});
  integers[integers > 3] |= tensor<D, Index>({3});
  integers[tensor<D, Index>({0, 2})] ^= tensor<D, Index>({1, 2});
  integers[{Slice(1, {})}] &= tensor<D, Index>({9, 7});
  CHECK(integers.to_vector() == std::vector<Index>{2, 9, 2});
}

TEMPLATE_TEST_CASE("an index with positions or masks is read as a tensor", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = arange<D, float>(0, 6).view(2, 3), row = tensor<D>({7, 8, 9});
  const auto at = tensor<D, Index>({1});
  CHECK(x[x > 2].sum().item() == 12);
  check_close(values_of(cat({x[at], row.unsqueeze(0)})), {3, 4, 5, 7, 8, 9});
  auto y = x[at];  // has the type of x[at], and is a copy
  Tensor<D> z = y;
  y = y + 1;
  check_close(values_of(y), {4, 5, 6});
  check_close(values_of(z), {3, 4, 5});
  y = x[tensor<D, Index>({0})];
  std::move(y) = 5;
  check_close(values_of(x), {0, 1, 2, 3, 4, 5});
  const auto view = x[{Slice(), Slice({}, 1)}];
  CHECK(view.impl()->owner == x.impl()->owner);
}

// As x[True] and x[False] in Python.
TEMPLATE_TEST_CASE("true and false are masks of the whole tensor, not positions", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = arange<D, float>(0, 6).view(2, 3);
  CHECK(x[true].shape() == detail::Shape{1, 2, 3});
  CHECK(values_of(x[true]) == values_of(x));
  CHECK(x[false].shape() == detail::Shape{0, 2, 3});
  const bool small = x.numel() < 10;
  CHECK(x[small].shape() == x.index({small}).shape());
  CHECK(x[{true}].shape() == detail::Shape{1, 2, 3});
  x[false] = 7;
  check_close(values_of(x), {0, 1, 2, 3, 4, 5});
  x[true] += 1;
  check_close(values_of(x), {1, 2, 3, 4, 5, 6});
  check_close(values_of(x[std::uint8_t(1)]), {4, 5, 6});
  TERN_TEST_LINE(x[2]);
}

TEMPLATE_TEST_CASE("what positions and masks choose is read when it is used, not to be written", "[ops]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const Index columns = 1 << 18, row_bytes = columns * Index(sizeof(float));
  const auto x = ones<D>({3, columns});
  const auto at = tensor<D, Index>({0, 2});
  const auto mask = x > 0;
  Index before = memory_in_use();
  const auto read_by = [&](const auto& use) {
    return [&](auto&& selected) {
      use(std::forward<decltype(selected)>(selected));
      return memory_in_use() - before >= 2 * row_bytes;
    };
  };
  const auto zero = read_by([](auto&& selected) { std::forward<decltype(selected)>(selected) = 0; });
  CHECK_FALSE(zero(x[at]));
  CHECK_FALSE(zero(x[mask]));
  CHECK_FALSE(zero(x[{Slice(), mask[0]}]));
  CHECK_FALSE(zero(x[{at, Slice(1, {})}]));
  CHECK(sum(x).item() == 0);
  Tensor<D> kept;
  CHECK(read_by([&](const Tensor<D>& selected) { kept = selected, selected.size(0); })(x[at]));
  CHECK(kept.numel() == 2 * columns);
}

TEMPLATE_TEST_CASE("what is written later does not change what positions and masks chose", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = arange<D, float>(0, 6);
  const auto at = tensor<D, Index>({1, -1});
  const auto positions = x[at], bounds = x[x > 3];
  const auto& reference = x[{at}];
  const Tensor<D> whole = x[x > 4];
  Tensor<D> assigned;
  assigned = x[at];
  std::vector<Tensor<D>> list{x[at]};
  list.push_back(x[at]);
  const auto closure = [captured = x[at]] { return captured; };
  const auto returned = [&] { return x[at]; }();
  const auto copy_of = [](const Tensor<D>& y) { return y; };
  const Tensor<D> copied = copy_of(x[at]), moved = std::move(Tensor<D>(x[at]));
  x[x >= 0] = -1;
  for (const Tensor<D>& y : {Tensor<D>(positions), Tensor<D>(reference), assigned, list[0], list[1],
                             Tensor<D>(closure()), Tensor<D>(returned), copied, moved})
    CHECK(y.to_vector() == std::vector<float>{1, 5});
  CHECK(bounds.to_vector() == std::vector<float>{4, 5});
  CHECK(whole.to_vector() == std::vector<float>{5});
  check_close(values_of(x), {-1, -1, -1, -1, -1, -1});
}

TEMPLATE_TEST_CASE("what positions and masks choose is on the tape as where the index stands", "[autograd]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3}).requires_grad_();
  const auto at = tensor<D, Index>({1});
  const auto without_tape = [](const Tensor<D, double>& y) {
    const NoGradGuard off;
    const Tensor<D, double> copy = y;
    return copy.numel() == 1 ? y : copy;
  };
  CHECK(without_tape(x[at]).requires_grad());
  CHECK(without_tape(x[x == x[1]]).requires_grad());
  const auto with_tape = [](const Tensor<D, double>& y) {
    const GradMode on(true);
    return y.requires_grad();
  };
  const NoGradGuard off;
  CHECK_FALSE(with_tape(x[at]));
}

TEMPLATE_TEST_CASE("a write through positions or a mask is on the tape", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 3}, 0.2, 1.5).requires_grad_(),
             y = spread_tensor<D>({2}, 0.3, 1.2).requires_grad_();
  const auto mask = tensor<D, bool>({{true, false, false}, {false, true, false}});
  const auto f = [&](const auto& a, const auto& b) {
    const auto c = a * a;
    c[mask] = b * b;
    c[tensor<D, Index>({1})] *= b.sum();
    c[{0, mask[0]}] = 3;
    c[{Slice(), mask[1]}] = b.sum();
    return c * a;
  };
  CHECK(gradcheck(f, std::tuple{x, y}));
  CHECK(gradgradcheck(f, std::tuple{x, y}));
  const std::string leaf = "operator=: a leaf that requires a gradient cannot be changed in place; use NoGradGuard";
  CHECK(whole_error_of([&] { x[mask] = 0; }) == leaf + " (tensor.cpp:" + std::to_string(__LINE__) + ")");
  CHECK(error_of([&] { x[mask] += 1; }) == leaf);
  CHECK(error_of([&] { x[mask] = ones<D, double>({3}); }) ==
        "operator=: values of shape [3] do not broadcast to the indexed shape [2]");
  CHECK(error_of([&] { x[tensor<D, bool>({true})]; }) ==
        "index: a mask of shape [1] does not fit dimension 0 of [2, 3]");
  CHECK(error_of([&] { x[mask] = Tensor<D, double>(); }) == "operator=: a tensor is undefined");
  CHECK(error_of([&] { x[{"..", 0}]; }) == "index: of texts only \"...\" can stand in an index, not \"..\"");
  const NoGradGuard off;
  x[mask] = 0;
  check_close(values_of(x * mask.to(f64)), {0, 0, 0, 0, 0, 0});
}

TEMPLATE_TEST_CASE("a write that nothing could read is refused", "[ops][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = ones<D>({2, 3}), y = zeros<D>({2, 3});
  const std::string lost = "operator=: the expression on the left is a new tensor of shape ";
  CHECK(error_of([&] { x + y = y; }).find(lost + "[2, 3]") == 0);
  CHECK(error_of([&] {
          x.index({x > 0}) = 3;
        }).find(lost + "[6], so what is written to it would be lost; index_put_") == 0);
  CHECK(error_of([&] { Tensor<D>() = y; }) == "operator=: the expression on the left is an undefined tensor");
  CHECK(error_of([&] { x.grad() = y; }) == "operator=: the expression on the left is an undefined tensor");
  CHECK(error_of([&] { x[0] = Tensor<D>(); }) == "copy_: a tensor is undefined");
  CHECK(error_of([&] { x[0] = ones<D>({4}); }) != "");
  check_close(values_of(x), {1, 1, 1, 1, 1, 1});
}

TEMPLATE_TEST_CASE("a loop over a tensor gives the positions of its first dimension", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3, 2});
  Index i = 0;
  for (const auto& row : x) check_close(values_of(row), values_of(x[i++]));
  CHECK(i == 3);
  const auto t = x.t();
  const std::vector<Tensor<D, double>> columns(t.begin(), t.end());
  CHECK(columns.size() == 2);
  check_close(values_of(columns[1]), values_of(x.t()[1]));
  for (const auto& none : zeros<D>({0, 2})) FAIL("there is no row " << none);
  CHECK(error_of([&] {
          for (const auto& part : x.sum()) part.sum();
        }) == "begin: a 0-d tensor has no rows to loop over");
}

TEMPLATE_TEST_CASE("a handle with a name refers to another tensor", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  using X = Tensor<D>;
  const X one = ones<D>({2, 2}), two = full<D>({2, 2}, 2);
  const auto unchanged = [&] {
    check_close(values_of(one), {1, 1, 1, 1});
    check_close(values_of(two), {2, 2, 2, 2});
  };
  X x = one;
  x = two;
  CHECK(x.impl() == two.impl());
  auto row = one[0];
  row = two[0];
  CHECK(row.impl()->owner == two.impl());
  X moved = one;
  x = std::move(moved);
  CHECK(x.impl() == one.impl());
  X y = two;
  std::swap(x, y);
  CHECK((x.impl() == two.impl() && y.impl() == one.impl()));
  (true ? x : y) = one;
  CHECK(x.impl() == one.impl());
  CHECK(std::exchange(x, two).impl() == one.impl());
  Tensor<D, Index> indices;
  std::tie(x, indices) = tensor<D>({{1, 3}, {5, 2}}).max(1);
  CHECK(x.to_vector() == std::vector<float>{3, 5});
  CHECK(indices.to_vector() == std::vector<Index>{1, 0});
  const auto most = tensor<D>({{1, 3}, {5, 2}}).max(1);
  CHECK(std::get<0>(most).to_vector() == std::vector<float>{3, 5});
  CHECK(std::get<1>(tensor<D>({{1, 3}, {5, 2}}).max(1)).to_vector() == std::vector<Index>{1, 0});
  auto other = tensor<D>({{4, 3}}).min(1);
  CHECK(other.values.impl() == std::get<0>(other).impl());
  other = most;
  CHECK((other.values.impl() == most.values.impl() && std::get<1>(other).impl() == most.indices.impl()));
  const auto [values, places] = other;
  CHECK((values.impl() == most.values.impl() && places.impl() == most.indices.impl()));
  std::tie(x, y) = std::make_tuple(one, two);
  CHECK((x.impl() == one.impl() && y.impl() == two.impl()));
  std::vector<X> list{one, two};
  list[0] = list[1];
  list.insert(list.begin(), one);
  list.erase(list.begin() + 1);
  std::reverse(list.begin(), list.end());
  std::rotate(list.begin(), list.begin() + 1, list.end());
  CHECK((list.size() == 2 && list[0].impl() == one.impl() && list[1].impl() == two.impl()));
  std::map<int, X> table;
  table[0] = one;
  table[0] = two;
  CHECK(table[0].impl() == two.impl());
  std::optional<X> maybe = one;
  maybe = two;
  CHECK(maybe->impl() == two.impl());
  std::pair<X, int> pair{one, 1};
  pair = std::pair{two, 2};
  CHECK(pair.first.impl() == two.impl());
  struct Held {
    X weight;
  } held{one};
  held = Held{two};
  CHECK(held.weight.impl() == two.impl());
  const auto reference = [&]() -> X& { return x; };
  reference() = two;
  CHECK(x.impl() == two.impl());
  x = {};
  CHECK_FALSE(x.defined());
  unchanged();
}

TEMPLATE_TEST_CASE("T() is t()", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor<TestType>({{1, 2, 3}, {4, 5, 6}});
  CHECK(x.T().shape() == detail::Shape{3, 2});
  CHECK(values_of(x.T()) == std::vector<double>{1, 4, 2, 5, 3, 6});
  CHECK(x.T().T().is_contiguous());
  static_assert(sizeof(x) == sizeof(void*));
}

TEMPLATE_TEST_CASE("element types have PyTorch's and LibTorch's names as methods", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor<D>({1, 2.5, 1000.125});
  const auto same = [](const auto& a, const auto& b) {
    static_assert(std::is_same_v<decltype(a), decltype(b)>);
    CHECK(values_of(a) == values_of(b));
  };
  same(x.half(), x.to(f16));
  same(x.bfloat16(), x.to(bf16));
  same(x.toType(i64), x.to(i64));
  same(x.to(x.half().dtype()), x.to(f16));
  same(x.template to<double>(), x.to(f64));
  same(x.to(kDouble), x.to(f64));
  same(x.to(kLong), x.to(i64));
  same(x.template to<D>(), x);
  same(x.template to<Cpu>(), x.cpu());
  CHECK(values_of(x.half()) != values_of(x));
  const Tensor<D, Index> integers = x.to(i64);
  if constexpr (HostDevice<D>) {
    CHECK(x.data_ptr() == x.data());
    CHECK(x.template data_ptr<float>() == x.data());
    CHECK(integers.template data_ptr<const Index>() == integers.data());
    CHECK(error_of([] { Tensor<D>().data_ptr(); }) == "data: a tensor is undefined");
  }
  auto leaf = x.clone();
  CHECK(&leaf.set_requires_grad(true) == &leaf);
  CHECK(leaf.requires_grad());
  leaf.set_requires_grad(false);
  CHECK(!leaf.requires_grad());
}

TEMPLATE_TEST_CASE("integers change in place by bits, copies convert, and what is assigned loses leading ones", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  auto n = arange<D>(6);
  n &= 3, n |= 8, n ^= 1, n <<= 2, n >>= 1;
  CHECK(values_of(n) == std::vector<double>{18, 16, 22, 20, 18, 16});
  n <<= ones<D, Index>({6}), n >>= ones<D, Index>({6});
  CHECK(values_of(n) == std::vector<double>{18, 16, 22, 20, 18, 16});
  const auto x = zeros<D>({2, 3});
  x.copy_(tensor<Cpu>({1.5, 2.5, 3.5}, f64));
  CHECK(values_of(x) == std::vector<double>{1.5, 2.5, 3.5, 1.5, 2.5, 3.5});
  x[0] = ones<D>({1, 1, 3});
  x[{1, Slice(0, 2)}] = zeros<D>({1, 2});
  CHECK(values_of(x) == std::vector<double>{1, 1, 1, 0, 0, 3.5});
  CHECK(error_of([&] { x[0] = ones<D>({2, 3}); }).starts_with("copy_: a tensor of shape [2, 3] does not broadcast to"));
  CHECK(values_of(x.index_select(1, tensor<D>({2}, i32))) == std::vector<double>{1, 3.5});
  const auto loop = [] {
    for (const auto& row : scalar_tensor<D>(1)) static_cast<void>(row);
  };
  CHECK(error_of(loop).starts_with("begin: a 0-d tensor has no rows to loop over"));
}

}  // namespace tensor_tensor
