#include "tern/device/cuda/memory.hpp"

#include "support/emulator.hpp"
#include "support/tensors.hpp"

namespace device_cuda_memory {
using namespace tern;
using namespace tern_test;

TEST_CASE("a device's memory is counted and given back", "[cuda]") {
  cuda::synchronize();
  const Index before = cuda::memory_stats().current;
  {
    const auto x = zeros<Cuda>({1 << 20});
    CHECK(cuda::memory_stats().current >= before + (Index(4) << 20));
  }
  cuda::empty_cache();
  CHECK(cuda::memory_stats().current == before);
  CHECK(cuda::memory_allocated() == before);
  CHECK(cuda::max_memory_allocated() == cuda::memory_stats().peak);
  CHECK(cuda::get_device_name() == cuda::device_info().name);
  CHECK(cuda::memory_stats().peak >= before + (Index(4) << 20));
  cuda::reset_peak_memory_stats();
  CHECK(cuda::memory_stats().peak == before);
}

TEST_CASE("running out of a device's memory says what is held", "[cuda]") {
  const auto held = zeros<Cuda>({1000});
  const std::string error = error_of([] { empty<Cuda>({Index(1) << 36}); });
  CHECK_THAT(error,
             Catch::Matchers::ContainsSubstring("empty: out of memory on cuda:0: 274877906944 bytes were asked for, "));
  CHECK_THAT(error, Catch::Matchers::ContainsSubstring(" are in use and "));
  CHECK(cuda::memory_stats().cached < Index(1) << 30);  // not all that there is
  check_close(values_of(held + 1.0f), std::vector<double>(1000, 1));
}

TEST_CASE("a free that fails is reported by the next allocation", "[cuda]") {
  NEED_EMULATOR();
  constexpr int invalid_value = 1;
  {
    const auto x = zeros<Cuda>({10});
    fail_call("cuMemFreeAsync", 1, invalid_value);
  }
  CHECK(error_of([] { zeros<Cuda>({10}); }) == "zeros: cuMemFreeAsync: CUDA_ERROR_INVALID_VALUE (invalid argument)");
  CHECK_NOTHROW(zeros<Cuda>({10}));
}

TEST_CASE("a device that does not exist is refused", "[cuda]") {
  CHECK(error_of([] { cuda::DeviceGuard guard({100}); }) ==
        tern::detail::text({"cuda: there is no device cuda:100; there are ", cuda::device_count()}));
}

}  // namespace device_cuda_memory
