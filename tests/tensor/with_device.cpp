// Devices by name.
#include "support/tensors.hpp"

#include <tern/tensor/with_device.hpp>

using namespace tern;
using namespace tern_test;

TEST_CASE("a name chooses the device that the function is called with", "[with_device]") {
  for (const char* name : {"cpu", "auto"}) {
    int calls = 0;
    with_device(name, [&]<Device D>(D) { calls += std::is_same_v<D, Cpu> ? 1 : 100; });
    CHECK(calls == 1);
  }
  CHECK(with_device("cpu", []<Device D>(D) { return full<D>({3}, 2).numel(); }) == 3);
  CHECK(error_of([] { with_device("cpu", []<Device D>(D) { fail("inner", {"thrown"}); }); }) == "inner: thrown");
}

TEST_CASE("a device that there is not is refused", "[with_device][refusal]") {
  const auto error = [](const char* name) {
    return error_of([&] { with_device(name, []<Device D>(D) { FAIL("called"); }); });
  };
  for (const std::string name : {"cuda", "cuda:1"})
    CHECK(error(name.c_str()) ==
          "with_device: '" + name + "' was asked for, but this version of tern has no CUDA backend; there is cpu");
  for (const std::string name : {"", "gpu", "CPU", "cpu:0", "cudax"})
    CHECK(error(name.c_str()) == "with_device: there is no device '" + name + "'; there are cpu and auto");
}
