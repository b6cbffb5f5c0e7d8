// What a device brings besides its kernels, on the one whose memory the host cannot read.
#include "tern/device/device.hpp"

#include "support/process.hpp"
#include "support/tensors.hpp"
#include "tern/ops/transfer.hpp"
#include "tern/tensor/any_tensor.hpp"

namespace device_device {
using namespace tern;
using namespace tern_test;

TEST_CASE("host code cannot read the memory of a remote device", "[device]") {
  const auto x = full<Remote>({1000}, 3);
  check_close(values_of(x), std::vector<double>(1000, 3));
  const Ended ended = run_in_fork([&] { return detail::text({double(x.impl()->as<float>()[0])}); });
  CHECK_FALSE(ended.well);
}

TEST_CASE("a guard chooses the device of its kind that a thread makes new tensors on", "[device]") {
  CHECK(zeros<Remote>({2}).device().ordinal == 0);
  {
    const DeviceGuard guard(Remote{1});
    CHECK(zeros<Remote>({2}).device().ordinal == 1);
    CHECK(ones_like(zeros<Remote>({2}, Remote{0})).device().ordinal == 0);
    CHECK(error_of([] { DeviceGuard none(Remote{2}); }) == "remote: there is no device remote:2");
    CHECK(zeros<Remote>({2}).device().ordinal == 1);
    const DeviceGuard other(Cpu{});
  }
  CHECK(zeros<Remote>({2}).device().ordinal == 0);
  CHECK(error_of([] { zeros<Remote>({2}, Remote{2}); }) == "zeros: there is no device remote:2");
}

TEMPLATE_TEST_CASE("tensors travel between the host and remote devices", "[device]", float, half, Index, bool) {
  const auto x = spread_tensor<Cpu, TestType>({3, 5});
  const auto on_first = x.to(Remote{0}), on_second = on_first.to(Remote{1});
  CHECK(on_first.device().ordinal == 0);
  CHECK(on_second.device().ordinal == 1);
  CHECK(on_second.to(Remote{1}).impl() == on_second.impl());
  check_close(values_of(on_second.cpu()), values_of(x));
  check_close(values_of(x.transpose(0, 1).to(Remote{1}).cpu()), values_of(x.transpose(0, 1)));
  check_close(values_of(on_second.to(Naive{}).to(Remote{0}).cpu()), values_of(x));
  const AnyTensor any = on_second.transpose(0, 1);
  CHECK(any.device_name() == std::string("remote"));
  check_close(values_of(any.cpu().template as<Cpu, TestType>()), values_of(x.transpose(0, 1)));
  CHECK(on_second.slice(0, {1, 2}).slice(1, {3, 4}).item() == x(1, 3));
}

TEST_CASE("gradients come back from a remote device to where the tensor was", "[device]") {
  const auto x = full<Remote>({3}, 2, Remote{1}).requires_grad_();
  (x.cpu() * 3).sum().backward();
  CHECK(x.grad().device().ordinal == 1);
  check_close(values_of(x.grad()), {3, 3, 3});
}

TEST_CASE("a tensor goes from one kind of device to another through the host", "[device][cuda]") {
  const auto x = spread_tensor<Remote, float>({3, 5}).requires_grad_();
  const auto y = x.cuda();
  check_close(values_of(y), values_of(x));
  (y * 2).sum().backward();
  check_close(values_of(x.grad()), std::vector<double>(15, 2));
}

}  // namespace device_device
