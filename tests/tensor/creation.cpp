// Tensors from lists, ranges and foreign memory.
#include "support/tensors.hpp"

#include <tern/ops/indexing.hpp>
#include <tern/ops/random.hpp>
#include <tern/ops/take.hpp>
#include <tern/ops/views.hpp>
#include <tern/optim/sgd.hpp>
#include <tern/tensor/creation.hpp>

namespace tensor_creation {
using namespace tern;
using namespace tern_test;

using Values = std::vector<double>;

TEMPLATE_TEST_CASE("a list becomes a tensor", "[creation]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto vector = tensor<D>({1, 2.5, -3});
  static_assert(std::is_same_v<decltype(vector), const Tensor<D, float>>);
  CHECK(vector.shape() == detail::Shape{3});
  CHECK(values_of(vector) == Values{1, 2.5, -3});
  const auto matrix = tensor<D, double>({{1, 2, 3}, {4, 5, 6}});
  CHECK(matrix.shape() == detail::Shape{2, 3});
  CHECK(values_of(matrix) == Values{1, 2, 3, 4, 5, 6});
  const auto blocks = tensor<D, std::int64_t>({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}, {{9, 10}, {11, 12}}});
  CHECK(blocks.shape() == detail::Shape{3, 2, 2});
  CHECK(values_of(blocks) == Values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  CHECK(values_of(tensor<D, bool>({true, false})) == Values{1, 0});
  CHECK(values_of(tensor<D, bfloat16>({0.5f, 3})) == Values{0.5, 3});
  CHECK(values_of(scalar_tensor<D>(2.5f)) == Values{2.5});
  CHECK(scalar_tensor<D>(2.5f).dim() == 0);
  CHECK(values_of(from_vector<D>(std::vector<float>{1, 2, 3, 4}, {2, 2})) == Values{1, 2, 3, 4});
  CHECK(from_vector<D>(std::vector<double>{}, {0, 3}).shape() == detail::Shape{0, 3});
}

TEMPLATE_TEST_CASE("lists that are no rectangle are refused", "[creation][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK(error_of([] { tensor<D>({{1, 2}, {3}}); }) == "tensor: rows of different lengths: 2 and 1");
  CHECK(error_of([] { tensor<D>({{{1, 2}, {3, 4}}, {{5, 6}}}); }) == "tensor: blocks of different sizes: 2 and 1");
  CHECK(error_of([] { tensor<D>({{{1, 2}, {3}}, {{5, 6}, {7, 8}}}); }) == "tensor: rows of different lengths: 2 and 1");
  CHECK(error_of([] { from_vector<D>(std::vector<float>{1, 2, 3}, {2, 2}); }) ==
        "from_vector: 3 values do not fill shape [2, 2]");
}

TEMPLATE_TEST_CASE("a vector or a number becomes a tensor", "[creation]", TERN_TEST_DEVICES) {
  using D = TestType;
  const Tensor<D, float> floats = tensor<D>(std::vector<float>{1, 2.5f});
  const Tensor<D, double> doubles = tensor<D>(std::vector<double>{0.1});
  const Tensor<D, Index> integers = tensor<D>(std::vector<Index>{Index(1) << 60, 2, 3});
  const Tensor<D, std::int32_t> small = tensor<D>(std::vector<int>{-1, 1});
  const Tensor<D, bool> mask = tensor<D>(std::vector<bool>{true, false});
  const Tensor<D, Index> converted = tensor<D, Index>(std::vector<int>{7, 8});
  const Tensor<D, float> narrowed = tensor<D, float>(std::vector<double>{0.1, 3});
  CHECK(floats.shape() == detail::Shape{2});
  CHECK(floats.to_vector() == std::vector<float>{1, 2.5f});
  CHECK(doubles.to_vector() == std::vector<double>{0.1});
  CHECK(integers.to_vector() == std::vector<Index>{Index(1) << 60, 2, 3});
  CHECK(small.to_vector() == std::vector<std::int32_t>{-1, 1});
  CHECK(mask.to_vector() == std::vector<bool>{true, false});
  CHECK(converted.to_vector() == std::vector<Index>{7, 8});
  CHECK(narrowed.to_vector() == std::vector<float>{0.1f, 3});
  CHECK(tensor<D>(std::vector<float>{}).shape() == detail::Shape{0});
  CHECK(tensor<D>(3.5).shape() == detail::Shape());
  CHECK(tensor<D>(3.5).item() == 3.5f);
  CHECK(tensor<D, Index>(Index(1) << 60).item() == Index(1) << 60);
  CHECK(tensor<D>({1}).shape() == detail::Shape{1});
  CHECK(error_of([] {
          tensor<D, std::uint8_t>(std::vector<int>{1, 300});
        }).find("tensor: the number 300 does not fit a tensor of uint8") == 0);
  CHECK(error_of([] { tensor<D, Index>(0.5); }).find("tensor: the number 0.5 does not fit a tensor of int64") == 0);
}

TEMPLATE_TEST_CASE("containers of containers become a tensor", "[creation]", TERN_TEST_DEVICES) {
  using D = TestType;
  const Tensor<D, float> state = tensor<D>(std::array<float, 2>{1, 2.5f});
  const Tensor<D, Index> pairs = tensor<D>(std::vector<std::array<Index, 2>>{{1, 2}, {3, 4}, {5, 6}});
  const Tensor<D, double> blocks = tensor<D, double>(std::vector<std::vector<std::vector<int>>>{{{1}, {2}}});
  const Tensor<D, bool> masks = tensor<D>(std::vector<std::vector<bool>>{{true, false}});
  CHECK(state.to_vector() == std::vector<float>{1, 2.5f});
  CHECK(pairs.shape() == detail::Shape{3, 2});
  CHECK(pairs.to_vector() == std::vector<Index>{1, 2, 3, 4, 5, 6});
  CHECK(blocks.shape() == detail::Shape{1, 2, 1});
  CHECK(blocks.to_vector() == std::vector<double>{1, 2});
  CHECK(masks.to_vector() == std::vector<bool>{true, false});
  CHECK(tensor<D>(std::vector<std::vector<float>>{}).shape() == detail::Shape{0});
  CHECK(tensor<D>(std::vector<std::vector<float>>(2)).shape() == detail::Shape{2, 0});
  CHECK(error_of([] { tensor<D>(std::vector<std::vector<int>>{{1, 2}, {3}}); }) ==
        "tensor: rows of different lengths: 2 and 1");
}

TEMPLATE_TEST_CASE("to_vector() has the elements in row-major order, and item<U>() converts", "[creation]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor<D>({{1, 2, 3}, {4, 5, 6}});
  CHECK(x.t().to_vector() == std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(x.expand({2, 2, 3}).to_vector().size() == 12);
  CHECK(x.slice(1, 0, 3, 2).requires_grad_().to_vector() == std::vector<float>{1, 3, 4, 6});
  CHECK(error_of([] { Tensor<D>().to_vector(); }).find("to_vector: a tensor is undefined") == 0);
  const auto number = [](const auto& y) { return y.sum().template item<float>(); };
  CHECK(number(x) == 21);
  CHECK(number(x > 2) == 4);
  CHECK(tensor<D>(2.75).template item<int>() == 2);
  CHECK(tensor<D, Index>(3).template item<double>() == 3);
  CHECK(error_of([&] {
          x.template item<int>();
        }).find("item: a tensor of one element is needed, not of shape [2, 3]") == 0);
}

TEMPLATE_TEST_CASE("a vector of integers is a shape", "[creation]", TERN_TEST_DEVICES) {
  using D = TestType;
  const std::vector<Index> sizes{2, 3};
  const std::vector<int> back{1, 0};
  const std::vector<float> numbers(6);
  const auto x = zeros<D>(sizes);
  for (const auto& y : {x, ones<D>(sizes), full<D>(sizes, 2), empty<D>(sizes), rand<D>(sizes), randn<D>(sizes),
                        x.new_zeros(sizes), x.t().reshape(sizes), x[0].expand(sizes), zeros<D>({6}).view(sizes),
                        x.t().permute(back), from_vector<D>(numbers, sizes)})
    CHECK(y.shape() == detail::Shape{2, 3});
  CHECK(randint<D>(0, 10, sizes).shape() == detail::Shape{2, 3});
  CHECK(x.sum(std::vector<Index>{0, 1}).shape() == detail::Shape());
  CHECK(zeros<D>(numbers.size()).shape() == detail::Shape{6});
  CHECK(error_of([] { zeros<D>(std::vector<Index>(9, 1)); }).find("shape: at most 8 dimensions are supported") == 0);
}

TEMPLATE_TEST_CASE("sizes and dimensions need no braces", "[creation]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = arange<D, float>(0, 24).view(2, 3, -1);
  CHECK(x.shape() == detail::Shape{2, 3, 4});
  const std::size_t rows = 4;
  CHECK(x.reshape(rows, -1).shape() == detail::Shape{4, 6});
  check_close(values_of(x.permute(2, 0, 1)), values_of(x.permute({2, 0, 1})));
  check_close(values_of(x.flip(0, 2)), values_of(x.flip({0, 2})));
  check_close(values_of(x.repeat(2, 1, 3)), values_of(x.repeat({2, 1, 3})));
  check_close(values_of(x.tile(2, 3)), values_of(x.tile({2, 3})));
  CHECK(x[0].expand(5, -1, 4).shape() == detail::Shape{5, 3, 4});
  const Tensor<D, double> doubles = zeros<D, double>(2, 3, 4);
  CHECK(doubles.shape() == x.shape());
  for (const auto& y : {empty<D>(2, 3), ones<D>(2, 3), rand<D>(2, 3), randn<D>(2, 3)})
    CHECK(y.shape() == detail::Shape{2, 3});
  CHECK(whole_error_of([&] { x.view(5, -1); }).find("creation.cpp:" + std::to_string(__LINE__)) != std::string::npos);
}

TEMPLATE_TEST_CASE("full, zeros and ones", "[creation]", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK(values_of(full<D>({2, 2}, 0.5)) == Values(4, 0.5));
  CHECK(values_of(zeros<D, std::uint8_t>({3})) == Values(3, 0));
  CHECK(values_of(ones<D, half>({1, 3})) == Values(3, 1));
  const auto x = full<D, double>({3, 4}, 7).t();
  CHECK(full_like(x, 2).strides() == x.strides());
  CHECK(values_of(zeros_like(x)) == Values(12, 0));
  CHECK(values_of(ones_like(x)) == Values(12, 1));
  CHECK(empty_like(x).shape() == x.shape());
  CHECK(error_of([] { empty<D>({-1}); }) == "empty: negative size in [-1]");
  CHECK(error_of([] { empty<D>({Index(1) << 40, Index(1) << 40}); }) ==
        "empty: a tensor of shape [1099511627776, 1099511627776] would have more than 72057594037927936 elements");
  CHECK(error_of([] { empty<D>({Index(1) << 50}); }) ==
        "empty: out of memory: [1125899906842624] of float32 does not fit in memory");
  CHECK(error_of([] { full_like(Tensor<D>(), 1); }) != "");
}

TEMPLATE_TEST_CASE("arange counts in int64, or in float where a step is broken", "[creation]", TERN_TEST_DEVICES) {
  using D = TestType;
  static_assert(std::is_same_v<decltype(arange<D>(3)), Tensor<D, std::int64_t>>);
  static_assert(std::is_same_v<decltype(arange<D>(0, 1, 0.25)), Tensor<D, float>>);
  static_assert(std::is_same_v<decltype(arange<D, double>(3)), Tensor<D, double>>);
  CHECK(values_of(arange<D>(4)) == Values{0, 1, 2, 3});
  CHECK(values_of(arange<D>(-3, 4, 3)) == Values{-3, 0, 3});
  CHECK(values_of(arange<D>(-3, 3, 3)) == Values{-3, 0});
  CHECK(values_of(arange<D>(5, 0, -2)) == Values{5, 3, 1});
  CHECK(values_of(arange<D>(5, 1, -2)) == Values{5, 3});
  CHECK(values_of(arange<D>(0, 1, 0.25)) == Values{0, 0.25, 0.5, 0.75});
  CHECK(values_of(arange<D, half>(0, 3)) == Values{0, 1, 2});
  CHECK(values_of(arange<D, std::uint8_t>(250, 256)) == Values{250, 251, 252, 253, 254, 255});
  CHECK(arange<D>(0).shape() == detail::Shape{0});
  CHECK(arange<D>(3, 3, -1).shape() == detail::Shape{0});
  CHECK(values_of(arange<D>((Index(1) << 40) + 1, (Index(1) << 40) + 3)) == Values{1099511627777, 1099511627778});
  CHECK(error_of([] { arange<D>(0, 3, -1); }) == "arange: steps of -1 do not lead from 0 to 3");
  CHECK(error_of([] { arange<D>(0, 3, 0); }) != "");
  CHECK(error_of([] { arange<D>(-1); }) != "");
}

TEMPLATE_TEST_CASE("linspace includes both ends", "[creation]", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK(values_of(linspace<D>(0, 1, 5)) == Values{0, 0.25, 0.5, 0.75, 1});
  CHECK(values_of(linspace<D>(3, 7, 1)) == Values{3});
  CHECK(linspace<D>(3, 7, 0).shape() == detail::Shape{0});
  for (const Index n : {2, 3, 7, 10, 1000}) {
    const Values x = values_of(linspace<D, double>(-0.1, 0.7, n));
    CHECK(x.front() == -0.1);
    CHECK(x.back() == 0.7);
    for (Index i = 0; i < n; ++i)
      CHECK(x[std::size_t(i)] == Approx(-0.1 + 0.8 * double(i) / double(n - 1)).margin(1e-15));
  }
  CHECK(error_of([] { linspace<D>(0, 1, -1); }) == "linspace: the number of steps must not be negative: -1");
}

TEMPLATE_TEST_CASE("eye has ones on its diagonal", "[creation]", TERN_TEST_DEVICES) {
  for (const Index n : {0, 1, 2, 5}) {
    for (const Index m : {0, 1, 3, 40}) {
      const auto x = eye<TestType, float>(n, m);
      CHECK(x.shape() == detail::Shape{n, m});
      const Values values = values_of(x);
      for (Index i = 0; i < n * m; ++i) CHECK(values[std::size_t(i)] == double(i / m == i % m));
    }
  }
  CHECK(eye<TestType, bool>(3).shape() == detail::Shape{3, 3});
  CHECK(error_of([] { eye<TestType>(-1); }) == "eye: negative size in [-1, -1]");
  CHECK(error_of([] { eye<TestType>(3, -1); }) == "eye: negative size in [3, -1]");
}

TEMPLATE_TEST_CASE("the element type is a template argument or the last argument", "[creation]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto same = [](const auto& a, const auto& b) {
    static_assert(std::is_same_v<decltype(a), decltype(b)>);
    CHECK(a.shape() == b.shape());
    CHECK(values_of(a) == values_of(b));
  };
  const D device = detail::current_device<D>();
  const Tensor<D, double> x = tensor<D, double>({{1, 2, 3}, {4, 5, 6}});
  same(zeros<D>({2, 3}, x.dtype()), zeros<D, double>({2, 3}));
  same(zeros<D>({2, 3}, i64, device), zeros<D, Index>({2, 3}));
  same(ones<D>({2}, u8), ones<D, std::uint8_t>({2}));
  static_assert(std::is_same_v<decltype(empty<D>({2}, i32)), Tensor<D, std::int32_t>>);
  CHECK(empty<D>({2, 3}, i32).shape() == detail::Shape{2, 3});
  same(full<D>({2}, 7, i64), full<D, Index>({2}, 7));
  same(full<D>({2}, true, bool_, device), full<D, bool>({2}, true));
  same(arange<D>(4, f64), arange<D, double>(4));
  same(arange<D>(1, 4, f32), arange<D, float>(1, 4));
  same(arange<D>(1, 9, 3, f64), arange<D, double>(1, 9, 3));
  same(linspace<D>(0, 1, 3, f64), linspace<D, double>(0, 1, 3));
  same(eye<D>(2, f64), eye<D, double>(2));
  same(eye<D>(2, 3, bool_), eye<D, bool>(2, 3));
  same(tensor<D>({{1, 2}, {3, 4}}, i64), tensor<D, Index>({{1, 2}, {3, 4}}));
  same(tensor<D>(std::vector<int>{1, 2}, f64), tensor<D, double>({1, 2}));
  same(tensor<D>(std::vector<double>{0.1}, f64), tensor<D, double>({0.1}));
  same(tensor<D>(3, f64), scalar_tensor<D, double>(3));
  same(scalar_tensor<D>(3, i64), scalar_tensor<D, Index>(3));
  same(zeros_like(x, i64), zeros<D, Index>({2, 3}));
  same(ones_like(x, f32), ones<D>({2, 3}));
  same(full_like(x, 7, i64), full<D, Index>({2, 3}, 7));
  same(empty_like(x.t(), i64).fill_(0), zeros<D, Index>({3, 2}));
  CHECK(!empty_like(x.t(), i64).is_contiguous());
  same(x.new_zeros({2}, i64), zeros<D, Index>({2}));
  CHECK(error_of([&] { full_like(x, 0.5, i64); }).starts_with("full_like: "));
}

TEST_CASE("from_blob shares memory, and gives it back with the last owner", "[creation]") {
  float numbers[6] = {0, 1, 2, 3, 4, 5};
  int freed = 0;
  const auto count = [](void*, void* context) { ++*static_cast<int*>(context); };
  {
    auto x = from_blob<Cpu>(numbers, {2, 3}, count, &freed);
    CHECK(values_of(x.select(0, 1)) == Values{3, 4, 5});
    x.fill_(7);
    CHECK(numbers[5] == 7);
    const auto view = x.t();
    x = {};
    CHECK(freed == 0);
    CHECK(values_of(view) == Values(6, 7));
  }
  CHECK(freed == 1);
  CHECK(from_blob<Cpu>(numbers, {6}).data() == numbers);
  CHECK(error_of([] { from_blob<Cpu>(static_cast<float*>(nullptr), {2}); }) ==
        "from_blob: a null pointer does not hold shape [2]");
}

TEST_CASE("memory that is const is read and never written", "[creation][refusal]") {
  const std::vector<float> numbers{1, -2, 3, 4};
  const auto x = from_blob<Cpu>(numbers.data(), {2, 2});
  CHECK(x.data() == numbers.data());
  check_close(values_of(x * 2), {2, -4, 6, 8});
  const std::string rule = ": the memory is read only: from_blob() was given a pointer to const; clone() copies it";
  const auto refused = [&](const std::string& op, const auto& write) { CHECK(error_of(write) == op + rule); };
  const auto y = ones<Cpu>({2, 2});
  refused("add_", [&] { x += 1; });
  refused("relu_", [&] { x.relu_(); });
  refused("fill_", [&] { x.zero_(); });
  refused("copy_", [&] { x.copy_(y); });
  refused("fill_", [&] { x[0] = 1; });
  refused("copy_", [&] { x.detach().t()[0] = y[0]; });
  refused("operator=", [&] { x[x > 0] = 0; });
  refused("index_put_", [&] { x.index_put_({tensor<Cpu, Index>({0})}, y[0]); });
  refused("masked_fill_", [&] { x.masked_fill_(x > 0, 0); });
  refused("normal_", [&] { x.normal_(); });
  refused("uniform_", [&] { x.uniform_(); });
  refused("scatter_", [&] { x.scatter_(0, zeros<Cpu, Index>({1, 2}), 0); });
  CHECK(numbers == std::vector<float>{1, -2, 3, 4});
  x.clone() += 1;
  auto leaf = from_blob<Cpu>(numbers.data(), {4}).requires_grad_();
  leaf.square().sum().backward();
  check_close(values_of(leaf.grad()), {2, -4, 6, 8});
  CHECK(error_of([&] { optim::SGD({leaf}); }) ==
        "SGD: parameter 0 is read only: from_blob() was given a pointer to const");
}

TEMPLATE_TEST_CASE("new tensors beside another", "[creation]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = zeros<D, double>({3});
  static_assert(std::is_same_v<decltype(x.new_zeros({2})), Tensor<D, double>>);
  static_assert(std::is_same_v<decltype(x.new_zeros({2}, i64)), Tensor<D, Index>>);
  CHECK(values_of(x.new_zeros({2, 2})) == Values(4, 0));
  CHECK(values_of(x.new_ones({2}, bool_)) == Values(2, 1));
  CHECK(values_of(x.new_full({2}, 7.5)) == Values(2, 7.5));
  CHECK(values_of(x.new_full({1, 2}, 7, i32)) == Values(2, 7));
  CHECK(x.new_empty({4, 5}, f32).shape() == detail::Shape{4, 5});
  CHECK(x.new_empty({0}).shape() == detail::Shape{0});
  static_assert(std::is_same_v<decltype(x.new_tensor({1, 2})), Tensor<D, double>>);
  CHECK(values_of(x.new_tensor({1, 2.5})) == Values{1, 2.5});
  CHECK(x.new_tensor({{1, 2, 3}, {4, 5, 6}}).shape() == detail::Shape{2, 3});
  CHECK(values_of(x.new_tensor({1, 2}, i64)) == Values{1, 2});
  CHECK(values_of(x.new_tensor(std::vector<int>{3, 4})) == Values{3, 4});
  CHECK(values_of(x.new_tensor(std::vector<std::vector<float>>{{1}, {2}}, f32)) == Values{1, 2});
  CHECK(values_of(x.new_tensor(2.5)) == Values{2.5});
  CHECK(x.new_tensor(2.5).dim() == 0);
  CHECK(error_of([&] { x.new_tensor({{1, 2}, {3}}); }) == "new_tensor: rows of different lengths: 2 and 1");
  CHECK(error_of([] { Tensor<D>().new_tensor({1}); }) == "new_tensor: a tensor is undefined");
  CHECK(error_of([&] { x.new_zeros({-1}); }) == "new_zeros: negative size in [-1]");
  CHECK(error_of([] { Tensor<D>().new_ones({1}); }) == "new_ones: a tensor is undefined");
}

TEMPLATE_TEST_CASE("a refused new tensor names its function and the user's line", "[tensor][refusal]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const detail::Shape wrong{-1};
  const auto x = ones<D>({2});
  const auto check = [](const char* function, std::uint32_t line, const auto& f) {
    const std::string error = whole_error_of(f);
    INFO(error);
    CHECK(error.find(std::string(function) + ": ") == 0);
    CHECK(line_of(error) == detail::text({" (creation.cpp:", Index(line), ")"}));
  };
#define TERN_TEST_NEW(function, ...) check(#function, __LINE__, [&] { __VA_ARGS__; })
  TERN_TEST_NEW(empty, empty<D>(wrong));
  TERN_TEST_NEW(zeros, zeros<D>(wrong));
  TERN_TEST_NEW(ones, ones<D>(wrong));
  TERN_TEST_NEW(full, full<D>(wrong, 1));
  TERN_TEST_NEW(zeros_like, zeros_like(Tensor<D>()));
  TERN_TEST_NEW(new_full, (x.new_full({1}, 300, detail::Type<std::uint8_t>())));
  TERN_TEST_NEW(new_tensor, x.new_tensor({{1, 2}, {3}}));
  TERN_TEST_NEW(tensor, tensor<D>({{1, 2}, {3}}));
  TERN_TEST_NEW(from_vector, from_vector<D>(std::vector<float>(3), {2}));
  TERN_TEST_NEW(arange, arange<D>(0, 3, -1));
  TERN_TEST_NEW(arange, arange<D>(-1));
  TERN_TEST_NEW(linspace, linspace<D>(0, 1, -1));
  TERN_TEST_NEW(eye, eye<D>(-2));
  TERN_TEST_NEW(rand, rand<D>(wrong));
  TERN_TEST_NEW(randn, randn<D>(wrong));
  TERN_TEST_NEW(randint, randint<D>(3, wrong));
  TERN_TEST_NEW(randperm, randperm<D>(-1));
  TERN_TEST_NEW(normal, normal<D>(0, -1, {2}));
#undef TERN_TEST_NEW
}

}  // namespace tensor_creation
