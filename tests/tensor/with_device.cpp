// Devices by name.
#include "support/emulator.hpp"
#include "support/process.hpp"
#include "support/tensors.hpp"

#include <tern/tensor/with_device.hpp>

#include "tern/device/cuda/with_device.hpp"
#include "tern/ops/embedding.hpp"
#include "tern/ops/indexing.hpp"
#include "tern/ops/random.hpp"
#include "tern/ops/take.hpp"
#include "tern/optim/clip_grad.hpp"

namespace tensor_with_device {
using namespace tern;
using namespace tern_test;

namespace {

/// The kind and number of the device that new tensors are on inside.
std::string place(const std::string& name) {
  return with_device(name, []<Device D>(D device) {
    const auto x = full<D>({3}, 2);
    return tern::detail::text(
        {DeviceTraits<D>::name, " ", detail::ordinal_of(x.device()), " ", detail::ordinal_of(device)});
  });
}

/// The rows' sums of embedding_bag, with bags that begin at 0 and 2, from a table [4, 2] of 0 … 7.
template <class D>
Tensor<D> bags(D device, const Tensor<D>& per_sample_weights) {
  const auto table = from_vector<D, float>({0, 1, 2, 3, 4, 5, 6, 7}, {4, 2}, device);
  const auto numbers = from_vector<D, Index>({0, 1, 2, 3}, 4, device),
             offsets = from_vector<D, Index>({0, 2}, 2, device);
  return embedding_bag(numbers, table, offsets, {.mode = BagMode::sum}, per_sample_weights);
}

}  // namespace

TEST_CASE("a name chooses the device that the function is called with", "[with_device]") {
  CHECK(place("cpu") == "cpu 0 0");
  CHECK(place("cuda") == "cuda 0 0");
  CHECK(place("cuda:0") == "cuda 0 0");
  CHECK(place("auto") == "cuda 0 0");
  CHECK(error_of([] { with_device("cpu", []<Device D>(D) { Error::fail("inner", {"thrown"}); }); }) == "inner: thrown");
}

TEST_CASE("a device that there is not is refused", "[with_device][refusal]") {
  CHECK(error_of([] { place("cuda:200"); }) ==
        tern::detail::text({"cuda: there is no device cuda:200; there are ", cuda::device_count()}));
  for (const std::string name : {"", "gpu", "CPU", "cpu:0", "cudax", "cuda:", "cuda:x", "cuda:1x", "cuda:-1"})
    CHECK(error_of([&] { place(name); }) ==
          "with_device: there is no device '" + name + "'; there are cpu, cuda, cuda:1, … and auto");
}

TEST_CASE("everything is made on the device that was chosen, and ops compute where their operands are",
          "[with_device][cuda]") {
  if (!is_emulated()) SKIP_TEST("needs two devices");
  for (const char* const test :
       {"in a new process: all on the second device", "in a new process: operands on another device"}) {
    const Ended ended = run_test_case(test, "TERN_EMULATOR=devices=2");
    INFO(ended.output);
    CHECK(ended.well);
  }
}

TEST_CASE("in a new process: all on the second device", "[.]") {
  with_device("cuda:1", []<Device D>(D device) {
    const Tensor<D> sum = ones<D>({2}) + tensor<D>({1, 2});
    CHECK(detail::ordinal_of(sum.device()) == 1);
    check_close(values_of(sum), {2, 3});
    const Tensor<D> x = from_vector<D, float>({5, 6, 7}, 3);
    const auto chosen = index_select(x, 0, randperm<D>(3));
    CHECK(detail::ordinal_of(chosen.device()) == 1);
    check_close({chosen.sum().item()}, {18});
    check_close(values_of(bags(device, Tensor<D>())), {2, 4, 10, 12});
    CHECK(detail::ordinal_of(x.cpu().cuda().device()) == 1);
    CHECK(detail::ordinal_of(x.cpu().cuda_async().wait().device()) == 1);
  });
}

TEST_CASE("in a new process: operands on another device", "[.]") {
  const Cuda second{1};
  REQUIRE(cuda::current_device() == 0);
  const auto x = full<Cuda>({4}, 0.5, second).requires_grad_();
  const auto lies_there = [](const auto& y) { return y.device().ordinal == 1 && y.defined(); };
  CHECK(lies_there(rand_like(x)));
  CHECK(lies_there(randn_like(x)));
  CHECK(lies_there(randint_like(full<Cuda, Index>({3}, 0, second), 0, 9)));
  CHECK(lies_there(bernoulli(x.detach())));
  CHECK(lies_there(uniform_(x.detach().clone())));
  CHECK(lies_there(bernoulli_(x.detach().clone())));
  CHECK(lies_there(x.index({true})));
  check_close(values_of(bags(second, x)), {1, 2, 5, 6});
  const auto y = x.cuda(0);
  CHECK(y.device().ordinal == 0);
  (bags(second, x) + y.sum().cuda(1)).sum().backward();
  CHECK(lies_there(x.grad()));
  const detail::Parameters<detail::TensorType<Cuda, float>> parameters{{{"x", x}}};
  CHECK(lies_there(optim::clip_grad_norm_(parameters, 1)));
}

}  // namespace tensor_with_device
