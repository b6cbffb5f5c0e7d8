#include "tern/device/cuda/stream.hpp"

#include <thread>

#include "support/emulator.hpp"
#include "support/process.hpp"
#include "support/tensors.hpp"
#include "tern/device/cuda/graph.hpp"
#include "tern/ops/convolution.hpp"
#include "tern/ops/transfer.hpp"

namespace device_cuda_stream {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a thread's work goes to the stream of the innermost guard", "[cuda]") {
  const cuda::Stream first, second, own = cuda::default_stream();
  CHECK_FALSE(first == second);
  CHECK(cuda::current_stream() == own);
  {
    const cuda::StreamGuard outer(first);
    CHECK(cuda::current_stream() == first);
    {
      const cuda::StreamGuard inner(second);
      CHECK(cuda::current_stream() == second);
      const cuda::StreamGuard innermost(own);
      CHECK(cuda::current_stream() == own);
    }
    CHECK(cuda::current_stream() == first);
    bool other_thread = false;
    std::thread([&] { other_thread = cuda::current_stream() == own; }).join();
    CHECK(other_thread);
  }
  CHECK(cuda::current_stream() == own);
  const cuda::Stream copy = first;
  CHECK(copy == first);
}

TEST_CASE("streams are ordered where one waits for another", "[cuda]") {
  NEED_EMULATOR();  // which runs everything as late as possible
  const cuda::Stream stream;
  const auto x = zeros<Cuda>({3});
  cuda::synchronize();
  x.fill_(1);
  const auto on_stream = [&] {
    const cuda::StreamGuard on(stream);
    return values_of(x + 1.0f);
  };
  CHECK(on_stream() == std::vector<double>(3, 1));
  stream.wait_stream(cuda::current_stream());
  CHECK(on_stream() == std::vector<double>(3, 2));
}

TEST_CASE("synchronize waits for all streams, and query asks one", "[cuda]") {
  NEED_EMULATOR();
  const cuda::Stream stream;
  Tensor<Cuda> y;
  {
    const cuda::StreamGuard on(stream);
    y = full<Cuda>({5}, 2) * 3.0f;
  }
  CHECK_FALSE(stream.query());
  cuda::synchronize();
  CHECK(stream.query());
  check_close(values_of(y), std::vector<double>(5, 6));
  {
    const cuda::StreamGuard on(stream);
    y = y + 1.0f;
  }
  stream.synchronize();
  check_close(values_of(y), std::vector<double>(5, 7));
}

TEST_CASE("memory that several streams use is released behind all of them", "[cuda]") {
  NEED_EMULATOR();
  for (const char* order : {"late", "eager", "random:1", "random:2", "random:3", "random:4", "random:5", "random:6"}) {
    INFO(order);
    const Ended ended =
        run_test_case("in a new process: memory of several streams", std::string("TERN_EMULATOR=order=") + order);
    INFO(ended.output);
    CHECK(ended.well);
  }
}

TEST_CASE("in a new process: memory of several streams", "[.]") {
  const NoGradGuard no_grad;
  const auto before = zeros<Cuda>({100});
  const cuda::Stream first, second;
  const auto kernel = ones<Cuda>({1, 1, 2, 2});
  for (const auto& stream : {first, second}) stream.wait_stream(cuda::current_stream());
  std::vector<double> sums;
  for (int i = 0; i < 6; ++i) {
    Tensor<Cuda> x, y, product;
    {
      const cuda::StreamGuard on(first);
      x = full<Cuda>({100}, i) + before;  // with temporaries, which are released here
      product = matmul(x.view({10, 10}), x.view({10, 10}));
    }
    second.wait_stream(first);
    {
      const cuda::StreamGuard on(second);
      y = conv2d(x.view({1, 1, 10, 10}), kernel);
    }
    x = {};  // allocated on one, used on another, released on a third
    auto pinned = full<Cpu>({81}, 1).pin_memory();
    Tensor<Cuda> sum;
    {
      const cuda::StreamGuard on(second);
      auto pending = pinned.cuda_async();
      const auto sent = pinned.cuda();
      sum = y.view({81}) + pending.wait() + sent;
    }
    pinned.fill_(100);
    cuda::current_stream().wait_stream(second);
    sums.push_back((sum + 0.0f).sum().item());
    if (i % 2) first.wait_stream(cuda::current_stream());
  }
  for (int i = 0; i < 6; ++i) CHECK(sums[std::size_t(i)] == 81 * (4 * i + 2));
  std::thread([&] {
    const cuda::Stream own;
    own.wait_stream(cuda::default_stream());
    const cuda::StreamGuard on(own);
    CHECK((before + 2.0f).sum().item() == 200);
  }).join();
  cuda::synchronize();
  cuda::empty_cache();
  CHECK(cuda::memory_stats().current == 448 + 64);  // `before` and the kernel, in whole size classes
}

TEST_CASE("a graph is captured on one stream and replayed on others", "[cuda]") {
  const cuda::Stream first, second;
  const auto x = zeros<Cuda>({4});
  Tensor<Cuda> y;
  cuda::Graph graph;
  const auto other = ones<Cuda>({4});
  {
    first.wait_stream(cuda::current_stream());
    const cuda::StreamGuard on(first);
    graph.capture([&] {
      const auto twice = x * 2.0f;
      y = twice + other + dropout(zeros<Cuda>({4}), 0.5);
    });
    x.fill_(1);
    graph.replay();
    CHECK(values_of(y) == std::vector<double>(4, 3));
    x.fill_(2);
    graph.replay();
  }
  second.wait_stream(first);
  {
    const cuda::StreamGuard on(second);
    CHECK(values_of(y) == std::vector<double>(4, 5));
    x.fill_(3);
    graph.replay();
    CHECK(values_of(y) == std::vector<double>(4, 7));
  }
  CHECK_THAT(error_of([&] { cuda::Graph().capture([&] { const cuda::StreamGuard on(first); }); }),
             ContainsSubstring("StreamGuard: ") && ContainsSubstring("a graph has one stream"));
  CHECK_THAT(error_of([&] { cuda::Graph().capture([&] { first.wait_stream(second); }); }),
             ContainsSubstring("wait_stream: "));
  CHECK_NOTHROW(cuda::synchronize());
}

TEST_CASE("a stream belongs to its device", "[cuda]") {
  NEED_EMULATOR();
  const Ended ended = run_test_case("in a new process: streams of two devices", "TERN_EMULATOR=devices=2");
  INFO(ended.output);
  CHECK(ended.well);
}

TEST_CASE("in a new process: streams of two devices", "[.]") {
  const cuda::Stream there(Cuda{1});
  CHECK(there.device().ordinal == 1);
  Tensor<Cuda> x, y;
  {
    const cuda::StreamGuard on(there);
    CHECK(cuda::current_device() == 1);
    CHECK(cuda::current_stream() == there);
    CHECK(cuda::current_stream(Cuda{0}) == cuda::default_stream(Cuda{0}));
    x = full<Cuda>({3}, 4) + 1.0f;
    y = x.to(Cuda{0});
  }
  CHECK(cuda::current_device() == 0);
  check_close(values_of(y), {5, 5, 5});
  cuda::default_stream(Cuda{0}).wait_stream(there);
  check_close(values_of(x), {5, 5, 5});
  for (int i = 0; i < 32; ++i) CHECK_FALSE(cuda::Stream(Cuda{1}) == cuda::Stream(Cuda{0}));
}

}  // namespace device_cuda_stream
