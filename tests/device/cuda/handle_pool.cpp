// Handles and plans of cuBLASLt and cuDNN: how many there are, who gets them, and when they go.
#include "tern/device/cuda/handle_pool.hpp"

#include <atomic>
#include <barrier>
#include <thread>

#include "support/emulator.hpp"
#include "support/process.hpp"
#include "support/tensors.hpp"
#include "tern/device/cuda/graph.hpp"
#include "tern/ops/convolution.hpp"

namespace device_cuda_handle_pool {
using namespace tern;
using namespace tern_test;

namespace {

Tensor<Cuda> spread_on(int ordinal, const detail::Shape& shape) {
  return spread_tensor<Cpu, float>(shape).cuda(ordinal);
}

/// A product and a convolution, which any thread may run.
struct Both {
  Tensor<Cuda> a, b, x, w;
  explicit Both(int ordinal = cuda::current_device())
      : a(spread_on(ordinal, {5, 6})), b(spread_on(ordinal, {6, 7})), x(spread_on(ordinal, {1, 2, 7, 7})),
        w(spread_on(ordinal, {3, 2, 2, 2})) {}
  std::vector<double> operator()() const {
    const NoGradGuard no_grad;
    std::vector<double> values = values_of(matmul(a, b));
    for (const double y : values_of(conv2d(x, w))) values.push_back(y);
    return values;
  }
};

std::uint64_t made() { return calls_of("cublasLtCreate") + calls_of("cudnnCreate"); }
/// Of cuDNN those of convolutions: three tensors, the convolution and its operation, the graph, two heuristics and the
/// plan are finished for one, and for each run its addresses.
std::uint64_t plans_made() {
  return calls_of("cublasLtMatmulAlgoGetHeuristic") +
         (calls_of("cudnnBackendFinalize") - calls_of("cudnnBackendExecute") + 8) / 9;
}
std::int64_t handles() { return live_objects("cublasLt") + live_objects("cudnn"); }

void destroy_idle_handles() {
  for (int ordinal = 0; ordinal < cuda::device_count(); ++ordinal) cuda::empty_cache({ordinal});
}

}  // namespace

TEST_CASE("threads that come and go use the same handles and plans", "[cuda][threads]") {
  NEED_EMULATOR();
  const Both both;
  destroy_idle_handles();
  const auto expected = both();
  CHECK(handles() == 2);
  fail_call(nullptr, 0, 0);  // counts from here
  for (int i = 0; i < 20; ++i) std::thread([&] { CHECK(both() == expected); }).join();
  CHECK(made() == 0);
  CHECK(plans_made() == 0);
  CHECK(handles() == 2);
}

TEST_CASE("empty_cache destroys the handles that no call uses", "[cuda]") {
  NEED_EMULATOR();
  const Both both;
  const auto expected = both();
  CHECK(handles() >= 2);
  destroy_idle_handles();
  CHECK(handles() == 0);
  fail_call(nullptr, 0, 0);
  CHECK(both() == expected);
  CHECK(made() == 2);
  CHECK(plans_made() == 0);
}

TEST_CASE("there are no more handles than threads that use them at once", "[cuda][threads]") {
  NEED_EMULATOR();
  constexpr int threads = 4, rounds = 3;
  const Both both;
  const auto expected = both();
  destroy_idle_handles();
  fail_call(nullptr, 0, 0);
  std::atomic<int> wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    std::barrier together(threads);
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t)
      running.emplace_back([&] {
        together.arrive_and_wait();
        for (int i = 0; i < 10; ++i) wrong += both() != expected;
      });
    for (std::thread& thread : running) thread.join();
  }
  CHECK(wrong == 0);
  CHECK(made() <= 2 * threads);
  CHECK(plans_made() <= 2 * threads);
}

TEST_CASE("products of one form in several threads each add their own bias", "[cuda][threads]") {
  NEED_EMULATOR();
  constexpr int threads = 4;
  const auto a = spread_tensor<Cuda, float>({3, 4}), b = spread_tensor<Cuda, float>({4, 5});
  const auto product = values_of(matmul(a, b));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      const NoGradGuard no_grad;
      const auto bias = full<Cuda>({5}, 8.0 * t);
      for (int i = 0; i < 30; ++i) {
        const auto sum = values_of(linear(a, b.transpose(0, 1), bias));
        for (std::size_t j = 0; j < sum.size(); ++j) wrong += std::abs(sum[j] - product[j] - 8 * t) > 1e-5;
      }
    });
  for (std::thread& thread : running) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a capture's handles are made before it begins, and do not keep its stream", "[cuda]") {
  NEED_EMULATOR();
  const NoGradGuard no_grad;
  const Both both;
  const auto expected = both();
  destroy_idle_handles();
  cuda::Graph graph;
  Tensor<Cuda> y;
  fail_call(nullptr, 0, 0);
  graph.capture([&] {
    CHECK(made() == 2);
    y = conv2d(both.x, both.w);
  });
  CHECK(made() == 2);
  CHECK(calls_of("cudnnSetStream") == 2);  // the capture's, and the device's own again
  destroy_idle_handles();
  CHECK(handles() == 0);
  graph.replay();
  const auto replayed = values_of(y), last = both();
  CHECK(std::equal(replayed.rbegin(), replayed.rend(), last.rbegin()));
  CHECK(last == expected);
}

TEST_CASE("a capture may be the first to use a library", "[cuda]") {
  NEED_EMULATOR();
  const Ended ended = run_test_case("in a new process: a capture comes first", "TERN_EMULATOR=order=late");
  INFO(ended.output);
  CHECK(ended.well);
}

TEST_CASE("in a new process: a capture comes first", "[.]") {
  const NoGradGuard no_grad;
  const Both both;
  cuda::Graph graph;
  Tensor<Cuda> product, y;
  graph.capture([&] {
    product = matmul(both.a, both.b);
    y = conv2d(both.x, both.w);
  });
  destroy_idle_handles();
  CHECK(handles() == 0);
  graph.replay();
  std::vector<double> replayed = values_of(product);
  for (const double v : values_of(y)) replayed.push_back(v);
  CHECK(replayed == both());
}

TEST_CASE("a handle belongs to its device", "[cuda]") {
  NEED_EMULATOR();
  const Ended ended = run_test_case("in a new process: handles of two devices", "TERN_EMULATOR=devices=2");
  INFO(ended.output);
  CHECK(ended.well);
}

TEST_CASE("in a new process: handles of two devices", "[.]") {
  const Both first(0), second(1);
  const auto expected = first();
  CHECK(second() == expected);
  CHECK(handles() == 4);
  cuda::empty_cache({1});
  CHECK(handles() == 2);
  fail_call(nullptr, 0, 0);
  CHECK(first() == expected);
  CHECK(made() == 0);
  CHECK(second() == expected);
  CHECK(made() == 2);
}

}  // namespace device_cuda_handle_pool
