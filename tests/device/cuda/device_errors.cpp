// Errors after which a device does nothing more: every later call says so, by the driver's name for the error.
#include "support/emulator.hpp"
#include "support/process.hpp"
#include "support/tensors.hpp"
#include "tern/ops/matmul.hpp"
#include "tern/ops/transfer.hpp"

namespace device_cuda_device_errors {
using namespace tern;
using namespace tern_test;

namespace {

constexpr const char* faulty = R"(
struct Words { unsigned long long word[2]; };
extern "C" __global__ void stores(const Words p) { *(volatile int*)p.word[0] = 1; }
extern "C" __global__ void asserts(const Words p) { assert(p.word[0] == 0); }
extern "C" __global__ void traps(const Words) { __trap(); }
extern "C" __global__ void endless(const Words p) { while (*(volatile int*)p.word[1] == 0) {} }
)";

/// Which of the calls that a program may make next do not say the name of the error.
std::string silent_calls(const std::string& name, const Tensor<Cpu>& host, const Tensor<Cuda>& x,
                         Pending<Tensor<Cuda>>& pending) {
  std::string silent;
  const auto call = [&](const char* what, const auto& f) {
    std::string error;
    try {
      f();
    } catch (const Error& e) { error = e.what(); }
    if (error.find(name) == std::string::npos) silent += std::string(what) + " says \"" + error + "\"; ";
  };
  call("zeros", [] { zeros<Cuda>({2}); });
  call("an op", [&] { x + x; });
  call("a product", [&] { matmul(x, x); });
  call("fill_", [&] { x.fill_(0); });
  call("cpu()", [&] { x.cpu(); });
  call("item()", [&] { x.sum().item(); });
  call("cpu_async()", [&] { x.cpu_async(); });
  call("cuda()", [&] { host.cuda(); });
  call("cuda() of pinned memory", [&] { host.pin_memory().cuda(); });
  call("cuda_async()", [&] { host.cuda_async(); });
  call("wait()", [&] { pending.wait(); });
  call("ready()", [&] { pending.ready(); });
  call("synchronize", [] { cuda::synchronize(); });
  call("empty_cache", [] { cuda::empty_cache(); });
  return silent;
}

/// Makes the error, in a process of its own, and calls on.
template <class F>
std::string calls_after(const std::string& name, const F& provoke) {
  const Ended ended = run_in_fork([&] {
    const auto host = spread_tensor<Cpu, float>({2, 2});
    const auto x = host.cuda();
    auto pending = host.cuda_async();
    provoke(x);
    std::string found;
    try {
      cuda::synchronize();
    } catch (const Error& error) { found = error.what(); }
    if (found.find(name) == std::string::npos) return "the wait says \"" + found + "\"";
    return silent_calls(name, host, x, pending) + silent_calls(name, host, x, pending);
  });
  return ended.output;
}

std::string calls_after_kernel(const char* kernel, const std::string& name) {
  return calls_after(name, [&](const Tensor<Cuda>& x) {
    const auto zero = zeros<Cuda, std::int32_t>({1});
    const std::uint64_t words[2] = {8, reinterpret_cast<std::uintptr_t>(zero.impl()->data)};
    cuda::launch(x.impl()->ordinal, std::uintptr_t(kernel), kernel, {1, 1}, words, [] { return std::string(faulty); });
  });
}

std::string calls_after_break(int code, const std::string& name) {
  return calls_after(name, [&](const Tensor<Cuda>&) { control<void(int, int)>("tern_emulator_break")(0, code); });
}

}  // namespace

TEST_CASE("after an error of the device every call says so", "[cuda]") {
  if (!is_emulated()) SKIP_TEST("the device would stay unusable");
  const Ended ended = run_test_case("in a new process: errors of the device", "TERN_EMULATOR=timeout_ms=200,quiet=1");
  INFO(ended.output);
  CHECK(ended.well);
}

TEST_CASE("in a new process: errors of the device", "[.]") {
  CHECK(calls_after_kernel("stores", "CUDA_ERROR_ILLEGAL_ADDRESS") == "");
  CHECK(calls_after_kernel("asserts", "CUDA_ERROR_ASSERT") == "");
  CHECK(calls_after_kernel("traps", "CUDA_ERROR_LAUNCH_FAILED") == "");
  CHECK(calls_after_kernel("endless", "CUDA_ERROR_LAUNCH_TIMEOUT") == "");
  CHECK(calls_after_break(214, "CUDA_ERROR_ECC_UNCORRECTABLE") == "");
  CHECK(calls_after_break(714, "CUDA_ERROR_HARDWARE_STACK_ERROR") == "");
  CHECK(calls_after_break(715, "CUDA_ERROR_ILLEGAL_INSTRUCTION") == "");
  CHECK(calls_after_break(716, "CUDA_ERROR_MISALIGNED_ADDRESS") == "");
  CHECK(calls_after_break(717, "CUDA_ERROR_INVALID_ADDRESS_SPACE") == "");
  CHECK(calls_after_break(718, "CUDA_ERROR_INVALID_PC") == "");
}

}  // namespace device_cuda_device_errors
