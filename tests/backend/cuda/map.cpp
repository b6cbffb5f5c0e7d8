// What elementwise kernels on Cuda give, held against Cpu's: sizes around the groups of elements that are accessed at
// once, misaligned slices, layouts, broadcasts, all types.
#include <set>

#include "support/tensors.hpp"
#include "tern/tern.hpp"

namespace backend_cuda_map {
using namespace tern;
using namespace tern_test;

namespace {

const Cpu host;
const Cuda device;

/// Small whole numbers, exact in every type.
template <class T, class D>
Tensor<D, T> numbers_on(D, const detail::Shape& shape, Index from = 0) {
  std::vector<double> values;
  for (Index i = 0; i < shape.numel(); ++i) values.push_back(double((i * 7 + from) % 11));
  return tensor_of<D, T>(values, shape);
}

/// f gives the same tensor on both devices.
template <class F>
void compare(const F& f) {
  const auto on_device = f(device);
  const auto on_host = f(host);
  REQUIRE(on_device.shape() == on_host.shape());
  REQUIRE(values_of(on_device) == values_of(on_host));
}

constexpr auto sum_of_three = [](auto a, auto b, auto c) { return a + b * 2 - c; };
constexpr auto sum_of_two = [](auto a, auto b) { return a + b * 3; };

}  // namespace

#define NEED_CUDA() \
  if (!cuda::is_available()) SKIP_TEST("needs a CUDA device")

TEMPLATE_TEST_CASE("maps on Cuda of any size and alignment", "", float, double, bfloat16, half, Index, std::int32_t,
                   std::uint8_t) {
  NEED_CUDA();
  using T = TestType;
  for (const Index n : {0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 33, 257, 1000})
    for (const Index start : {0, 1, 2, 16}) {
      INFO(n << " from " << start);
      compare([&](auto d) {
        const auto x = numbers_on<T>(d, {start + n}).narrow(0, start, n), y = numbers_on<T>(d, {n}, 3),
                   one = numbers_on<T>(d, {}, 5);
        return mapped<T>(sum_of_three, x, y, one);
      });
      compare([&](auto d) {
        const auto x = numbers_on<T>(d, {n}), one = numbers_on<T>(d, {20}, 5)[3];
        const auto target = numbers_on<T>(d, {start + n + 20}, 3);
        detail::map_into({"map", CallSite::unknown}, target.narrow(0, start, n), Own{sum_of_three}, one, x, x);
        return target;
      });
    }
}

TEMPLATE_TEST_CASE("maps on Cuda of any layout", "", float, half, std::uint8_t) {
  NEED_CUDA();
  using T = TestType;
  for (const detail::Shape& shape :
       {detail::Shape{5, 32}, detail::Shape{5, 12}, detail::Shape{5, 13}, detail::Shape{2, 3, 16},
        detail::Shape{2, 3, 7}, detail::Shape{3, 4, 5, 48}, detail::Shape{2, 1, 1}}) {
    detail::Shape column = shape, channel = shape;
    column[column.n - 1] = 1;
    for (int i = 0; i < shape.n; ++i) channel[i] = i == 1 ? shape[1] : 1;
    for (std::size_t layout = 0; layout < 5; ++layout)
      for (const detail::Shape& other : {shape, detail::Shape{shape.back()}, column, channel, detail::Shape{}}) {
        INFO(detail::text({shape, " in layout ", int(layout), " and ", other}));
        const auto x = [&](auto d) {
          if (layout < 4) return layouts(numbers_on<T>(d, shape))[layout];
          detail::Shape longer = shape;
          longer[longer.n - 1] += 3;
          return numbers_on<T>(d, longer).narrow(-1, 0, shape.back());  // the first row is aligned, the others are not
        };
        compare([&](auto d) { return mapped<T>(sum_of_two, x(d), numbers_on<T>(d, other, 3)); });
        compare([&](auto d) {
          const auto target = x(d);
          detail::map_into({"map", CallSite::unknown}, target, Own{sum_of_two}, numbers_on<T>(d, other, 3), target);
          return target;
        });
      }
  }
}

TEST_CASE("maps on Cuda follow the order of the elements in memory") {
  NEED_CUDA();
  const auto add = [](auto d) {
    const auto x = numbers_on<half>(d, {2, 5, 3, 16}).permute({0, 3, 1, 2}),
               y = numbers_on<half>(d, {2, 5, 3, 16}, 3).permute({0, 3, 1, 2});
    return mapped<half>(sum_of_two, x, y);
  };
  compare(add);
  CHECK(detail::is_channels_last(*add(device).impl()));
  const auto x = numbers_on<half>(device, {2, 5, 3, 16}).permute({0, 3, 1, 2});
  const detail::Array* const in[] = {x.impl()};
  CHECK(detail::backend::cuda_kernels::Elementwise(*x.impl(), in, 1).loops().depth() == 1);
}

TEST_CASE("maps on Cuda between types") {
  NEED_CUDA();
  const auto same = [](auto v) { return v; };
  for (const Index n : {1, 16, 37, 300}) {
    compare([&](auto d) { return mapped<half>(same, numbers_on<float>(d, {n})); });
    compare([&](auto d) { return mapped<float>(same, numbers_on<half>(d, {n})); });
    compare([&](auto d) { return mapped<bfloat16>(same, numbers_on<double>(d, {n})); });
    compare([&](auto d) { return mapped<std::uint8_t>(same, numbers_on<Index>(d, {n})); });
    compare([&](auto d) { return mapped<bool>(same, numbers_on<std::uint8_t>(d, {n})); });
    const auto mask = [&](auto d) { return mapped<bool>([](auto v) { return v > 5; }, numbers_on<half>(d, {n})); };
    compare([&](auto d) { return to_type(mask(d), f32); });
    const auto chosen = [](auto c, auto v) { return where(c != 0, v, 0); };
    compare([&](auto d) { return mapped<half>(chosen, mask(d), numbers_on<half>(d, {n}, 3)); });
    compare([&](auto d) { return mapped<bool>([](auto a, auto b) { return a & b; }, mask(d), mask(d)); });
  }
}

TEST_CASE("maps on Cuda of more groups than threads") {
  NEED_CUDA();
  const Index threads = 4096 * 256;
  for (const Index start : {0, 1})
    compare([&](auto d) {
      const auto x = arange<decltype(d), double>(double(2 * threads + 1001)).narrow(0, start, 2 * threads + 1000);
      return mapped<double>([](auto v) { return v * 2 + 1; }, x).narrow(0, 2 * threads - 1000, 2000);
    });
}

TEST_CASE("maps and copies on Cuda beyond 32 bits", "[long]") {
  NEED_CUDA();
  const Index far = Index(1) << 32;
  const auto x = empty<Cuda, std::uint8_t>({far + 64});
  for (const Index width : {64, 33}) {
    const auto numbers = numbers_on<std::uint8_t>(device, {2, width}),
               row = numbers_on<std::uint8_t>(device, {width}, 3), y = empty_like(numbers);
    detail::Array ends = *numbers.impl();  // x's first elements and its last ones
    ends.data = x.impl()->data;
    ends.strides[0] = far;
    detail::update_contiguous(ends);
    const detail::Array* const in[] = {&ends, row.impl()};
    detail::backend::run<Cuda>(detail::backend::Copy{ends, *numbers.impl()});
    detail::backend::run<Cuda, std::uint8_t, std::uint8_t, std::uint8_t>(detail::backend::Map(sum_of_two, ends, in));
    detail::backend::run<Cuda>(detail::backend::Copy{*y.impl(), ends});
    CHECK(values_of(y) == values_of(mapped<std::uint8_t>(sum_of_two, numbers, row)));
  }
}

TEMPLATE_TEST_CASE("16-bit elements on Cuda are converted to the bit as on Cpu", "", bfloat16, half) {
  NEED_CUDA();
  using T = TestType;
  const Tensor<Cpu, T> every = empty<Cpu, T>({65536});
  for (Index i = 0; i < 65536; ++i) every.data()[i].bits = std::uint16_t(i);
  // Each number, the midpoint between it and the next one, and what lies just beside that; and floats beyond the type's
  // range.
  std::vector<float> near;
  for (std::uint32_t i = 0; i < 0xffff; ++i) {
    const float x = every.data()[i], next = every.data()[i + 1];
    const float middle = x / 2 + next / 2;
    for (const float y : {x, middle, std::nextafter(middle, INFINITY), std::nextafter(middle, -INFINITY)})
      near.push_back(y);
  }
  for (const float y : {1e-45f, 1e-40f, 3e38f, 65519.9f, 65520.f, 1e-8f, -1e-8f, -1e30f}) near.push_back(y);
  const Tensor<Cpu, float> floats = empty<Cpu>({Index(near.size())});
  std::copy(near.begin(), near.end(), floats.data());

  const auto check = [](const auto& made, const auto& expected, auto bits) {
    Index wrong = 0;
    for (Index i = 0; i < expected.numel(); ++i) {
      const float a = made.data()[i], b = expected.data()[i];
      wrong += std::isnan(b) ? !std::isnan(a) : bits(made.data()[i]) != bits(expected.data()[i]);
    }
    CHECK(wrong == 0);
  };
  const auto of_float = [](float x) { return std::bit_cast<std::uint32_t>(x); };
  const auto of_element = [](T x) { return x.bits; };
  check(to_type(every.cuda(), f32).cpu(), to_type(every, f32), of_float);
  check(to_type(floats.cuda(), detail::Type<T>{}).cpu(), to_type(floats, detail::Type<T>{}), of_element);
  const auto doubles = to_type(floats, f64);
  check(to_type(doubles.cuda(), detail::Type<T>{}).cpu(), to_type(doubles, detail::Type<T>{}), of_element);
}

TEST_CASE("kernels of other types or depths have other keys") {
  const auto memory = zeros<Cpu>({4, 6, 8});
  const Tensor<Cpu> layouts[] = {memory, memory.slice(1, {0, 3}),
                                 memory.slice(1, {0, 3}).slice(2, {0, 5})};  // depths 1, 2, 3
  std::set<std::uint64_t> keys;
  for (const auto& layout : layouts)
    for (int types = 0; types < 512; ++types) {
      detail::Array out = *layout.impl(), in[] = {out, out};
      out.dtype = DType(types % 8);
      in[0].dtype = DType(types / 8 % 8);
      in[1].dtype = DType(types / 64);
      const detail::Array* const both[] = {&in[0], &in[1]};
      keys.insert(detail::backend::cuda_kernels::Elementwise(out, both, 2).key());
      if (types < 64) keys.insert(detail::backend::cuda_kernels::Elementwise(out, both, 1).key());
      if (types < 8) keys.insert(detail::backend::cuda_kernels::Elementwise(out, both, 0).key());
    }
  CHECK(keys.size() == 3 * (512 + 64 + 8));
}

}  // namespace backend_cuda_map
