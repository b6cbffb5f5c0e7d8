// A graph's memory where there is little of it.
#include "tern/device/cuda/private_pool.hpp"

#include "support/emulator.hpp"
#include "support/process.hpp"
#include "support/tensors.hpp"
#include "tern/device/cuda/graph.hpp"

namespace device_cuda_private_pool {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr Index million = 1 << 20;  // elements: 4 MB

}  // namespace

TEST_CASE("a graph's memory that runs out is what other memory is", "[cuda]") {
  NEED_EMULATOR();
  const Ended ended = run_test_case("in a new process: a graph in little memory", "TERN_EMULATOR=memory=80000000");
  INFO(ended.output);
  CHECK(ended.well);
}

TEST_CASE("in a new process: a graph in little memory", "[.]") {
  const auto x = full<Cuda>({4 * million}, 2);
  cuda::synchronize();
  cuda::Graph graph;
  Tensor<Cuda> y;
  { const auto freed = zeros<Cuda>({14 * million}); }  // its kernel and its release are still to come
  graph.capture([&] { y = x + 1.0f; });
  graph.replay();
  CHECK(y.sum().item() == 3.0f * 4 * million);

  cuda::Graph larger;
  CHECK_THAT(error_of([&] { larger.capture([&] { stack({x, x, x, x, x, x, x}); }); }),
             ContainsSubstring("out of memory on cuda:0: ") && ContainsSubstring(" bytes were asked for, "));
  graph.replay();
  CHECK((x + y).sum().item() == 5.0f * 4 * million);
}

}  // namespace device_cuda_private_pool
