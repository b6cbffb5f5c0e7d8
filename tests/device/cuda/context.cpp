// Which device's context is current.
#include "tern/device/cuda/context.hpp"

#include "support/emulator.hpp"
#include "support/process.hpp"
#include "support/tensors.hpp"
#include "tern/ops/convolution.hpp"

namespace device_cuda_context {
using namespace tern;
using namespace tern_test;

TEST_CASE("other code of a thread may change the current context", "[cuda]") {
  NEED_EMULATOR();
  const Ended ended = run_test_case("in a new process: other code changes the context", "TERN_EMULATOR=devices=2");
  INFO(ended.output);
  CHECK(ended.well);
}

TEST_CASE("in a new process: other code changes the context", "[.]") {
  const auto& second = cuda::detail::bind(1);
  const std::vector<double> numbers = {1, 2, 3};
  for (const cuda::Context other : {second.context, cuda::Context(nullptr)}) {
    const auto interfere = [&] { TERN_CUDA(cuCtxSetCurrent, other); };
    auto x = tensor_of<Cuda, float>(numbers);
    interfere();
    auto y = x + 1.0f;  // a kernel
    interfere();
    auto product = matmul(y, y);
    interfere();
    check_close(values_of(conv2d(ones<Cuda>({1, 1, 2, 2}), ones<Cuda>({1, 1, 1, 1}))), {1, 1, 1, 1});
    interfere();
    CHECK(product.item() == 29);
    interfere();
    x = {};  // a release
    interfere();
    check_close(values_of(y.cpu_async().wait()), {2, 3, 4});
    interfere();
    CHECK_NOTHROW(cuda::memory_stats());
    CHECK_NOTHROW(cuda::synchronize());
  }
}

}  // namespace device_cuda_context
