#include "tern/device/cuda/copy.hpp"

#include "support/emulator.hpp"
#include "support/process.hpp"
#include "support/tensors.hpp"

namespace device_cuda_copy {
using namespace tern;
using namespace tern_test;

TEST_CASE("devices that can reach each other's memory are let, once", "[cuda]") {
  NEED_EMULATOR();
  for (const char* settings : {"devices=2,peers=1", "devices=2,peers=0"}) {
    INFO(settings);
    const Ended ended =
        run_test_case("in a new process: copies between devices", std::string("TERN_EMULATOR=") + settings);
    INFO(ended.output);
    CHECK(ended.well);
  }
}

TEST_CASE("in a new process: copies between devices", "[.]") {
  const bool peers = std::string(std::getenv("TERN_EMULATOR")).ends_with("peers=1");
  const std::vector<double> numbers = {1, 2, 3};
  const auto x = tensor_of<Cuda, float>(numbers);
  fail_call(nullptr, 0, 0);  // counts from here
  const auto there = x.to(Cuda{1}), back = there.to(Cuda{0});
  check_close(values_of(there), numbers);
  check_close(values_of(back), numbers);
  CHECK(calls_of("cuMemPoolSetAccess") == (peers ? 2 : 0));
  CHECK(calls_of("cuDeviceCanAccessPeer") == 2);
}

}  // namespace device_cuda_copy
