// Devices by name.
#include "support/emulator.hpp"
#include "support/tensors.hpp"

#include <tern/tensor/with_device.hpp>

using namespace tern;
using namespace tern_test;

namespace {

/// The kind and number of the device that new tensors are on inside.
std::string place(const std::string& name) {
  return with_device(name, []<Device D>(D device) {
    const auto x = full<D>({3}, 2);
    return tern::text({DeviceTraits<D>::name, " ", detail::ordinal_of(x.device()), " ", detail::ordinal_of(device)});
  });
}

}  // namespace

TEST_CASE("a name chooses the device that the function is called with", "[with_device]") {
  CHECK(place("cpu") == "cpu 0 0");
  CHECK(place("cuda") == "cuda 0 0");
  CHECK(place("cuda:0") == "cuda 0 0");
  CHECK(place("auto") == "cuda 0 0");
  CHECK(error_of([] { with_device("cpu", []<Device D>(D) { fail("inner", {"thrown"}); }); }) == "inner: thrown");
}

TEST_CASE("a device that there is not is refused", "[with_device][refusal]") {
  CHECK(error_of([] { place("cuda:200"); }) ==
        tern::text({"cuda: there is no device cuda:200; there are ", cuda::device_count()}));
  for (const std::string name : {"", "gpu", "CPU", "cpu:0", "cudax", "cuda:", "cuda:x", "cuda:1x", "cuda:-1"})
    CHECK(error_of([&] { place(name); }) ==
          "with_device: there is no device '" + name + "'; there are cpu, cuda, cuda:1, … and auto");
}
