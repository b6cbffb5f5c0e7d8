// The elementwise kernels of the CPU against the naive device's: sizes around packets and tiles, layouts, broadcasts,
// all types.
#include "support/tensors.hpp"
#include "tern/backend/map.hpp"
#include "tern/ops/views.hpp"

namespace backend_map {
using namespace tern;
using namespace tern_test;

namespace {

/// Small whole numbers, exact in every type.
template <class D, class T>
Tensor<D, T> small_numbers(const detail::Shape& shape, int from = 0) {
  const Tensor<D, T> x = empty<D, T>(shape);
  for (Index i = 0; i < x.numel(); ++i) x.data()[i] = T(compute_t<T>((i * 7 + from) % 11));
  return x;
}

/// The same elements on the other device, with the same strides.
template <class T>
Tensor<Naive, T> on_naive(const Tensor<Cpu, T>& x) {
  Tensor<Naive, T> y(detail::new_detached(x.impl()));
  return y;
}

template <class Out, class F, class... T>
void check_map(const F& f, const Tensor<Cpu, T>&... x) {
  const auto fast = mapped<Out>(f, x...);
  const auto naive = mapped<Out>(f, on_naive(x)...);
  REQUIRE(fast.shape() == naive.shape());
  REQUIRE(values_of(fast) == values_of(naive));
}

constexpr auto sum_of_three = [](auto a, auto b, auto c) { return a + b * 2 - c; };

template <class T>
void check_sizes() {
  for (Index n : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257, 511, 513, 1000}) {
    const auto x = small_numbers<Cpu, T>({n}), y = small_numbers<Cpu, T>({n}, 3), number = small_numbers<Cpu, T>({}, 5);
    check_map<T>([](auto v) { return v + 1; }, x);
    check_map<T>(sum_of_three, x, y, number);
    check_map<T>(sum_of_three, number, y, x);
    check_map<bool>([](auto a, auto b) { return a < b; }, x, y);
  }
}

template <class T>
void check_layouts() {
  for (const detail::Shape& shape :
       {detail::Shape{5, 7}, detail::Shape{3, 4, 17}, detail::Shape{2, 300}, detail::Shape{300, 2},
        detail::Shape{2, 1, 3, 5}, detail::Shape{0, 3}, detail::Shape{1, 1}}) {
    const auto x = small_numbers<Cpu, T>(shape), y = small_numbers<Cpu, T>({shape.back()}, 3);
    detail::Shape column = shape;
    column[column.n - 1] = 1;
    const auto z = small_numbers<Cpu, T>(column, 5);
    for (const auto& a : layouts(x)) {
      check_map<T>(sum_of_three, a, y, z);
      check_map<T>(sum_of_three, z, a, a);
      for (const auto& b : layouts(x)) check_map<T>([](auto u, auto v) { return u + v * 3; }, a, b);
    }
  }
}

template <class T>
void check_writes() {
  const auto f = [](auto a, auto b) { return a + b; };
  const auto x = small_numbers<Cpu, T>({6, 40}), y = small_numbers<Cpu, T>({40}, 3);
  for (const auto& target : layouts(x)) {
    const auto expected = values_of(mapped<T>(f, on_naive(x), on_naive(y)));
    detail::map_into({"map", CallSite::unknown}, target, Own{f}, target, y);
    REQUIRE(values_of(target) == expected);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("maps of any size", "[map]", float, double, bfloat16, half, Index, std::int32_t, std::uint8_t) {
  check_sizes<TestType>();
}

TEMPLATE_TEST_CASE("maps of any layout", "[map]", float, double, half, Index, std::uint8_t) {
  check_layouts<TestType>();
}

TEMPLATE_TEST_CASE("maps into any layout", "[map]", float, double, bfloat16, Index, std::uint8_t) {
  check_writes<TestType>();
}

TEST_CASE("maps between types", "[map]") {
  const auto same = [](auto v) { return v; };
  const auto x = small_numbers<Cpu, float>({37}), mask = small_numbers<Cpu, float>({37}, 5);
  check_map<double>(same, x);
  check_map<bfloat16>(same, x);
  check_map<half>(same, x);
  check_map<Index>(same, x);
  check_map<std::uint8_t>(same, x);
  check_map<bool>(same, x);
  const auto truth = mapped<bool>([](auto v) { return v > 5; }, mask);
  check_map<float>([](auto c, auto v) { return where(c != 0, v, 0); }, truth, x);
  check_map<bool>([](auto a, auto b) { return a & b; }, truth, truth);
}

TEST_CASE("large maps on several threads", "[map]") {
  for (Index n : {32767, 32768, 100003}) {
    const auto x = small_numbers<Cpu, float>({n}), y = small_numbers<Cpu, float>({n}, 3),
               one = small_numbers<Cpu, float>({1}, 5);
    check_map<float>(sum_of_three, x, y, one);
  }
  const auto x = small_numbers<Cpu, float>({211, 307});
  check_map<float>([](auto a, auto b) { return a - b; }, x.transpose(0, 1), small_numbers<Cpu, float>({211}, 3));
}

TEMPLATE_TEST_CASE("fill in any layout", "[map]", float, double, bfloat16, half, Index, std::int32_t, std::uint8_t,
                   bool) {
  for (Index n : {0, 1, 3, 16, 17, 300}) {
    for (const auto& x : layouts(small_numbers<Cpu, TestType>({2, n}))) {
      detail::backend::run<Cpu>(detail::backend::Fill<TestType>{*x.impl(), detail::scalar_t<TestType>(1)});
      REQUIRE(values_of(x) == std::vector<double>(std::size_t(2 * n), 1));
    }
  }
}

}  // namespace backend_map
