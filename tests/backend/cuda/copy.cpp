// Copies on Cuda, held against Cpu's: to the bit, whatever the layouts.
#include "support/tensors.hpp"
#include "tern/tern.hpp"

namespace backend_cuda_copy {
using namespace tern;
using namespace tern_test;

namespace {

const Cpu host;
const Cuda device;

template <class T, class D>
Tensor<D, T> numbers_on(D, const detail::Shape& shape) {
  std::vector<double> values;
  for (Index i = 0; i < shape.numel(); ++i) values.push_back(double(i * 7 % 251));
  return tensor_of<D, T>(values, shape);
}

template <class F>
void compare(const F& f) {
  REQUIRE(values_of(f(device)) == values_of(f(host)));
}

}  // namespace

#define NEED_CUDA() \
  if (!cuda::is_available()) SKIP_TEST("needs a CUDA device")

TEMPLATE_TEST_CASE("matrices on Cuda are transposed, alone and in batches", "", double, float, half, std::uint8_t) {
  NEED_CUDA();
  using T = TestType;
  for (const Index m : {1, 3, 15, 16, 32, 33, 70})
    for (const Index n : {1, 15, 16, 31, 64, 65}) {
      INFO(m << " x " << n);
      compare([&](auto d) { return numbers_on<T>(d, {m, n}).t().contiguous(); });
      compare([&](auto d) { return numbers_on<T>(d, {3, m, n}).mT().contiguous(); });
      compare([&](auto d) {
        return numbers_on<T>(d, {2, 3, m, n + 5}).narrow(3, 2, n).permute({1, 3, 0, 2}).contiguous();
      });
      compare([&](auto d) { return numbers_on<T>(d, {2, 3, m, n}).transpose(1, 2).mT().contiguous(); });
    }
}

TEMPLATE_TEST_CASE("copies on Cuda of any layout", "", double, float, bfloat16, std::uint8_t) {
  NEED_CUDA();
  using T = TestType;
  for (const detail::Shape& shape :
       {detail::Shape{4, 32}, detail::Shape{4, 24}, detail::Shape{3, 17}, detail::Shape{2, 3, 16},
        detail::Shape{2, 3, 4, 5}, detail::Shape{2, 1, 2, 3, 2, 2, 2, 16}}) {
    for (std::size_t from = 0; from < 4; ++from)
      for (std::size_t to = 0; to < 4; ++to)
        for (const bool rows : {false, true}) {
          INFO(detail::text({shape, " from layout ", int(from), " to ", int(to), rows ? ", one row for all" : ""}));
          compare([&](auto d) {
            const auto x = numbers_on<T>(d, rows ? detail::Shape{shape.back()} : shape);
            const auto target = layouts(numbers_on<T>(d, shape) * 2)[to];
            target.copy_(rows ? x : layouts(x)[from]);
            return target;
          });
        }
  }
}

TEST_CASE("copies on Cuda keep the bits of a NaN") {
  NEED_CUDA();
  const Tensor<Cpu, half> every = empty<Cpu, half>({256, 256});
  for (Index i = 0; i < 65536; ++i) every.data()[i].bits = std::uint16_t(i);
  const auto check = [](const Tensor<Cpu, half>& a, const Tensor<Cpu, half>& b) {
    REQUIRE(a.numel() == b.numel());
    CHECK(std::memcmp(a.data(), b.data(), std::size_t(2 * a.numel())) == 0);
  };
  const auto there = every.cuda();
  check(there.t().contiguous().cpu(), every.t().contiguous());
  check(there.narrow(1, 8, 160).contiguous().cpu(), every.narrow(1, 8, 160).contiguous());
  check(there.narrow(1, 1, 160).contiguous().cpu(), every.narrow(1, 1, 160).contiguous());
}

}  // namespace backend_cuda_copy
