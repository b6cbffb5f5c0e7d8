// What the library asks of cuBLASLt.
#include "tern/device/cuda/cublaslt.hpp"

#include "support/emulator.hpp"
#include "support/tensors.hpp"
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

}  // namespace device_cuda_cublaslt
