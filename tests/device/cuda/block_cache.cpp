// Kept blocks. The other tests run without them, because the emulated driver sees an access to freed memory only if the
// driver has freed it; so each of these has a process of its own.
#include "tern/device/cuda/block_cache.hpp"

#include <thread>

#include "support/emulator.hpp"
#include "support/process.hpp"
#include "support/tensors.hpp"
#include "tern/device/cuda/graph.hpp"
#include "tern/device/cuda/stream.hpp"

namespace device_cuda_block_cache {
using namespace tern;
using namespace tern_test;

namespace {

void run_in_new_process(const char* test, const std::string& environment) {
  const Ended ended = run_test_case(test, environment);
  INFO(ended.output);
  CHECK(ended.well);
}

/// Where each block is an allocation of its own, none is kept.
void run_with_kept_blocks(const char* test, const std::string& more = {}) {
  if (detail::memory::separate_blocks) SKIP_TEST("each block is an allocation of its own");
  run_in_new_process(test, "TERN_NO_CUDA_MEMORY_CACHING=0 " + more);
}

/// The driver's calls of f.
struct Calls {
  template <class F>
  explicit Calls(const F& f) {
    fail_call(nullptr, 0, 0);
    f();
    contexts = calls_of("cuCtxGetCurrent");  // which reads a variable of the thread
    launches = calls_of("cuLaunchKernel");
    allocations = calls_of("cuMemAllocAsync");
    releases = calls_of("cuMemFreeAsync");
    all = calls_of(nullptr);
  }
  std::uint64_t contexts, launches, allocations, releases, all;
};

}  // namespace

TEST_CASE("an op without kept blocks calls the driver three times, and asks for the context as often", "[cuda]") {
  NEED_EMULATOR();
  run_in_new_process("in a new process: calls of an op without kept blocks", "");
}

TEST_CASE("in a new process: calls of an op without kept blocks",
          "[.]") {  // streams of other tests would be waited for
  const auto x = ones<Cuda>({100});
  (x + 1.0f).sum();
  const Calls calls([&] { x + 1.0f; });
  CHECK(
      (calls.launches == 1 && calls.allocations == 1 && calls.releases == 1 && calls.contexts == 3 && calls.all == 6));
}

TEST_CASE("an op with kept blocks calls the driver once", "[cuda]") {
  NEED_EMULATOR();
  run_with_kept_blocks("in a new process: calls of an op with kept blocks");
}

TEST_CASE("in a new process: calls of an op with kept blocks", "[.]") {
  const auto x = ones<Cuda>({100});
  x + 1.0f;
  const Calls calls([&] { x + 1.0f; });
  CHECK(
      (calls.launches == 1 && calls.allocations == 0 && calls.releases == 0 && calls.contexts == 2 && calls.all == 3));
  check_close(values_of(x + 1.0f), std::vector<double>(100, 2));
  const Calls large([&] { empty<Cuda>({Index(3) << 20}); });  // more than a small block
  CHECK((large.allocations == 1 && large.releases == 1));
}

TEST_CASE("kept blocks count as cached, and go back to the driver", "[cuda]") {
  NEED_EMULATOR();
  run_with_kept_blocks("in a new process: kept blocks are counted");
}

TEST_CASE("in a new process: kept blocks are counted", "[.]") {
  zeros<Cuda>({10});
  cuda::empty_cache();
  const auto blocks = live_objects("memory");
  const auto size = [](std::size_t bytes) {
    return Index(cuda::detail::bytes_of_size(cuda::detail::size_of_block(bytes)));
  };
  const Index before = cuda::memory_stats().current;
  cuda::reset_peak_memory_stats();
  {
    const auto small = empty<Cuda>({100}), other = empty<Cuda>({1000}), large = empty<Cuda>({Index(5) << 20});
    CHECK(cuda::memory_stats().current == before + size(400) + size(4000) + size(std::size_t(20) << 20));
  }
  CHECK(cuda::memory_stats().current == before);
  CHECK(cuda::memory_stats().cached >= size(400) + size(4000));
  CHECK(cuda::memory_stats().peak == before + size(400) + size(4000) + size(std::size_t(20) << 20));
  {
    const auto again = empty<Cuda>({100});
    CHECK(cuda::memory_stats().current == before + size(400));
  }
  cuda::reset_peak_memory_stats();
  CHECK(cuda::memory_stats().peak == before);
  CHECK(live_objects("memory") == blocks + 2);
  cuda::empty_cache();
  CHECK(live_objects("memory") == blocks);
  CHECK(cuda::memory_stats().cached == 0);
}

TEST_CASE("no more than 256 MiB are kept", "[cuda]") {
  NEED_EMULATOR();
  run_with_kept_blocks("in a new process: too much to be kept");
}

TEST_CASE("in a new process: too much to be kept", "[.]") {
  const auto blocks = live_objects("memory");
  {
    std::vector<Tensor<Cuda>> many;
    for (int i = 0; i < 70; ++i) many.push_back(empty<Cuda>({Index(1) << 20}));
  }
  CHECK(live_objects("memory") - blocks == 64);
}

TEST_CASE("kept blocks are given up where memory runs out", "[cuda]") {
  NEED_EMULATOR();
  run_with_kept_blocks("in a new process: memory runs out", "TERN_EMULATOR=memory=67108864");
}

TEST_CASE("in a new process: memory runs out", "[.]") {
  {
    std::vector<Tensor<Cuda>> many;
    for (int i = 0; i < 10; ++i) many.push_back(empty<Cuda>({Index(1) << 20}));  // 40 of 64 MiB
  }
  CHECK(zeros<Cuda>({Index(10) << 20}).sum().item() == 0);
  CHECK_THAT(error_of([] { empty<Cuda>({Index(20) << 20}); }),
             Catch::Matchers::ContainsSubstring("83886080 bytes were asked for, 0 are in use"));
}

TEST_CASE("a block is used again after the work that used it", "[cuda]") {
  NEED_EMULATOR();
  for (const char* const order : {"late", "eager", "random:1", "random:2"})
    run_with_kept_blocks("in a new process: kept blocks are used again", std::string("TERN_EMULATOR=order=") + order);
}

TEST_CASE("in a new process: kept blocks are used again", "[.]") {
  const auto work = [](float start) {
    auto x = full<Cuda>({1000}, start);
    for (int i = 0; i < 20; ++i) x = (x + 1.0f) * 2.0f - x;  // x + 2 at each
    return x.sum().item();
  };
  std::thread other([&] { CHECK(work(5) == 45000); });
  CHECK(work(1) == 41000);
  other.join();
  // What is copied ahead is written behind the work that used the block.
  for (int i = 0; i < 4; ++i) {
    const auto pinned = full<Cpu>({1000}, float(i)).pin_memory();
    auto old = full<Cuda>({1000}, 7) * 3.0f;
    const auto kept = old + 0.0f;
    old = {};
    auto pending = pinned.cuda_async();
    CHECK(kept.sum().item() == 21000);
    CHECK(pending.wait().sum().item() == 1000 * i);
  }
}

TEST_CASE("no block that a graph or another stream may use is kept", "[cuda]") {
  NEED_EMULATOR();
  for (const char* const order : {"late", "random:3"})
    run_with_kept_blocks("in a new process: graphs and streams keep their blocks",
                         std::string("TERN_EMULATOR=order=") + order);
}

TEST_CASE("in a new process: graphs and streams keep their blocks", "[.]") {
  {
    auto x = full<Cuda>({1000}, 1);
    cuda::Graph graph;
    Tensor<Cuda> y;
    graph.capture([&] { y = x * 2.0f + 1.0f; });
    x = {};
    std::vector<Tensor<Cuda>> others;
    for (int i = 0; i < 5; ++i) others.push_back(full<Cuda>({1000}, 100));  // one of them would get x's block
    graph.replay();
    CHECK(y.sum().item() == 3000);
    for (const auto& other : others) CHECK(other.sum().item() == 100000);
  }
  ones<Cuda>({1000}) + 1.0f;
  cuda::synchronize();
  CHECK(cuda::memory_stats().cached > 0);
  const cuda::Stream stream;
  cuda::empty_cache();
  CHECK(cuda::memory_stats().cached == 0);
  auto x = full<Cuda>({1000}, 1);
  stream.wait_stream(cuda::default_stream());
  Tensor<Cuda> y;
  {
    const cuda::StreamGuard on(stream);
    y = x * 2.0f;
  }
  const Calls calls([&] { x = {}; });
  CHECK(calls.releases == 1);
  const auto next = full<Cuda>({1000}, 9);
  cuda::current_stream().wait_stream(stream);
  CHECK((y + next).sum().item() == 11000);
}

}  // namespace device_cuda_block_cache
