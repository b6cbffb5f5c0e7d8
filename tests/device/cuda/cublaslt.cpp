// What the library asks of cuBLASLt.
#include "tern/device/cuda/cublaslt.hpp"

#include "support/emulator.hpp"
#include "support/tensors.hpp"
#include "tern/device/cuda/graph.hpp"
#include "tern/ops/matmul.hpp"

namespace device_cuda_cublaslt {
using namespace tern;
using namespace tern_test;

TEST_CASE("a batch of more products than cuBLASLt takes at once runs in parts", "[cuda]") {
  const Index batch = 131'100;  // three parts
  const auto a = arange<Cpu>(batch).remainder(97).to(f32), b = arange<Cpu>(batch).remainder(89).to(f32);
  const auto ones_and_a = stack({ones<Cpu>({batch}), a}, 1).view({batch, 1, 2});
  const auto b_and_ones = stack({b, ones<Cpu>({batch})}, 1).view({batch, 2, 1});
  const auto sums = values_of(a + b);  // 1 b + a 1
  CHECK(values_of(matmul(ones_and_a.cuda(), b_and_ones.cuda())) == sums);
  CHECK(values_of(matmul(ones_and_a.to(f16).cuda(), b_and_ones.to(f16).cuda())) == sums);
  CHECK(values_of(matmul(ones_and_a.to(f64).cuda(), b_and_ones.to(f64).cuda())) == sums);
  // One matrix for the whole batch.
  CHECK(values_of(matmul(ones_and_a.cuda(), ones<Cuda>({2, 1}))) == values_of(a + 1.0f));
}

TEST_CASE("with benchmark() a product's algorithms are timed once for each shape, and not while capturing", "[cuda]") {
  NEED_EMULATOR();
  struct Switched {
    Switched() { cuda::benchmark(true); }
    ~Switched() { cuda::benchmark(false); }
  };
  const auto x = spread_tensor<Cuda, float>({3, 17, 31}), w = spread_tensor<Cuda, float>({3, 31, 23});
  // The product, and one that is added to what is there.
  const auto products = [&](Index rows) {
    const auto a = x.narrow(1, 0, rows), sum = full<Cuda>({3, rows, 23}, 0.5);
    const auto c = matmul(a, w);
    detail::backend::run<Cuda, float>(detail::backend::MatMul{*sum.impl(), *a.impl(), *w.impl(), nullptr, true});
    return std::pair{values_of(c), values_of(sum)};
  };
  const auto calls_in = [](const auto& f) {
    fail_call("cublasLtMatmul", 0, 0);
    f();
    return calls_of("cublasLtMatmul");
  };
  const auto expected = products(17);
  const Switched benchmark;
  const std::uint64_t timing = 3 * 6;  // the emulated library has three algorithms
  CHECK(calls_in([&] { CHECK(products(17) == expected); }) == 2 * (timing + 1));
  CHECK(calls_in([&] { CHECK(products(17) == expected); }) == 2);

  const NoGradGuard no_grad;
  Tensor<Cuda> y, z;
  cuda::Graph graph;
  const auto other = x.narrow(1, 0, 16);
  CHECK(calls_in([&] { graph.capture([&] { y = matmul(other, w), z = matmul(x, w); }); }) == 2);
  graph.replay();
  CHECK(values_of(z) == expected.first);
  CHECK(calls_in([&] { CHECK(values_of(matmul(other, w)) == values_of(y)); }) == timing + 1);
}

TEST_CASE("with benchmark() the fastest algorithm is kept", "[cuda]") {
  NEED_EMULATOR();
  const Emulating slow("float32=1000", "float32=50000");
  const auto x = ones<Cuda>({256, 256});
  const auto time_of = [&] {
    const cuda::detail::DeviceState& state = cuda::detail::bind(0);
    const cuda::detail::ScopedEvent first(cuda::event_default), last(cuda::event_default);
    float milliseconds = 0;
    matmul(x, x);
    TERN_CUDA(cuEventRecord, first.event, state.compute);
    const auto y = matmul(x, x);
    TERN_CUDA(cuEventRecord, last.event, state.compute);
    TERN_CUDA(cuEventSynchronize, last.event);
    TERN_CUDA(cuEventElapsedTime, &milliseconds, first.event, last.event);
    return milliseconds;
  };
  const float before = time_of();
  cuda::benchmark(true);
  const float after = time_of();
  cuda::benchmark(false);
  CHECK(after < before - 0.015);  // milliseconds: half of 2 x 256³ operations at 1,000 in a nanosecond is 17 µs
}

}  // namespace device_cuda_cublaslt
