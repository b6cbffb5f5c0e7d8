// How convolutions use cuDNN's graphs: what is rounded, which engines are taken and kept, and what is refused.
#include "tern/device/cuda/cudnn_convolution.hpp"

#include "support/catch.hpp"
#include "support/emulator.hpp"
#include "support/process.hpp"
#include "support/tensors.hpp"
#include "tern/device/cuda/graph.hpp"
#include "tern/ops/convolution.hpp"

namespace device_cuda_cudnn_convolution {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Settings of cuDNN for a scope; then those of all tests.
struct Switched {
  Switched(bool tf32, bool benchmark) {
    cuda::allow_tf32_convolution(tf32);
    cuda::benchmark(benchmark);
  }
  ~Switched() {
    cuda::allow_tf32_convolution(false);
    cuda::benchmark(false);
  }
};

/// The result of a convolution, and the gradients of x and weight.
std::vector<std::vector<double>> results_of(const Tensor<Cuda>& input, const Tensor<Cuda>& filter) {
  const auto x = clone(input).requires_grad_(), weight = clone(filter).requires_grad_();
  const auto y = conv2d(x, weight);
  sum(y * full_like(y, 1 + 0x1p-12)).backward();
  return {values_of(y), values_of(x.grad()), values_of(weight.grad())};
}

/// A convolution's sizes.
struct Kind {
  detail::Shape x, weight;
  ConvOptions options;
};

template <class D, class T>
Tensor<D, T> convolve(const Kind& kind, const Tensor<D, T>& x, const Tensor<D, T>& weight, const Tensor<D, T>& bias) {
  return kind.x.n == 5 ? conv3d(x, weight, bias, kind.options) : conv2d(x, weight, bias, kind.options);
}

/// Results without and with bias, residual and relu; and the gradients.
template <class D, class T>
std::vector<std::vector<double>> all_results_of(const Kind& kind) {
  const auto x = spread_tensor<Cpu, T>(kind.x, -1, 1).to(D{}).requires_grad_(),
             weight = spread_tensor<Cpu, T>(kind.weight, -1, 1).to(D{}).requires_grad_(),
             bias = spread_tensor<Cpu, T>({kind.weight[0]}, -1, 1).to(D{}).requires_grad_();
  const auto y = convolve(kind, x, weight, bias), plain = convolve(kind, x, weight, Tensor<D, T>());
  const auto residual = spread_tensor<Cpu, T>(y.shape(), -1, 1).to(D{});
  std::vector<std::vector<double>> results = {values_of(y), values_of(plain)};
  if (kind.x.n == 4) {
    const NoGradGuard no_grad;
    results.push_back(values_of(conv2d_relu(x, weight, bias, kind.options)));
    results.push_back(values_of(conv2d_add_relu(x, residual, weight, bias, kind.options)));
  }
  sum(y * residual).backward();
  for (const auto& t : {x, weight, bias}) results.push_back(values_of(t.grad()));
  return results;
}

template <class T>
void check_against_cpu(const Kind& kind, double tolerance) {
  const auto expected = all_results_of<Cpu, T>(kind), actual = all_results_of<Cuda, T>(kind);
  for (std::size_t i = 0; i < expected.size(); ++i) check_close(actual[i], expected[i], tolerance, tolerance);
}

/// Plans that run, and descriptors that are completed: a plan, its graph and its engines, and one for the addresses of
/// each run.
struct Calls {
  std::uint64_t runs, finished;
};
template <class F>
Calls calls_in(const F& f) {
  fail_call(nullptr, 0, 0);  // counts from here
  f();
  return {calls_of("cudnnBackendExecute"), calls_of("cudnnBackendFinalize")};
}

}  // namespace

TEST_CASE("convolutions of float round to TF32 if they may", "[cuda]") {
  NEED_EMULATOR();
  const double fine = 1 + 0x1p-12;
  const auto run = [&] { return results_of(full<Cuda>({1, 1, 2, 2}, fine), full<Cuda>({1, 1, 1, 1}, fine)); };
  const double product = double(float(fine * fine));
  const auto exact = run();
  for (const double x : exact[0]) CHECK(x == product);
  const Switched tf32(true, false);
  const auto rounded = run();
  for (const auto& values : rounded)
    for (const double x : values) CHECK(x == double(int(x)));
  CHECK(rounded[2] == std::vector<double>{4});
}

TEST_CASE("a convolution's plan is made once", "[cuda]") {
  NEED_EMULATOR();
  const auto run = [](Index size) {
    const auto x = spread_tensor<Cuda, float>({2, 3, size, size}), w = spread_tensor<Cuda, float>({4, 3, 3, 3});
    return results_of(x, w);
  };
  const Calls first = calls_in([&] { run(11); }), again = calls_in([&] { run(11); }),
              other = calls_in([&] { run(12); });
  CHECK((first.runs == 3 && first.finished > again.finished));
  CHECK((again.runs == 3 && again.finished == 3));  // the addresses of each run
  CHECK(other.finished == first.finished);
}

TEST_CASE("with benchmark() a convolution's engines are timed once, and not while capturing", "[cuda]") {
  NEED_EMULATOR();
  const auto x = spread_tensor<Cuda, float>({2, 3, 13, 13}), w = spread_tensor<Cuda, float>({4, 3, 3, 3});
  const auto expected = results_of(x, w);
  const Switched benchmark(false, true);
  std::vector<std::vector<double>> timed;
  CHECK(calls_in([&] { timed = results_of(x, w); }).runs > 3 * 4);
  CHECK(calls_in([&] { results_of(x, w); }).runs == 3);
  for (std::size_t i = 0; i < timed.size(); ++i) check_close(timed[i], expected[i], 1e-5, 1e-5);

  const auto other = spread_tensor<Cuda, float>({2, 3, 14, 14});
  const NoGradGuard no_grad;
  cuda::Graph graph;
  Tensor<Cuda> y;
  CHECK(calls_in([&] { graph.capture([&] { y = conv2d(other, w); }); }).runs == 1);
  graph.replay();
  const auto replayed = values_of(y);
  CHECK(calls_in([&] { check_close(values_of(conv2d(other, w)), replayed, 1e-5, 1e-5); }).runs > 4);
}

TEST_CASE("what cuDNN refuses is an Error with its own text", "[cuda]") {
  NEED_EMULATOR();
  const auto x = spread_tensor<Cuda, float>({1, 2, 9, 9}), w = spread_tensor<Cuda, float>({1, 2, 2, 2});
  fail_call("cudnnBackendExecute", 1, 0);
  CHECK_THAT(error_of([&] { conv2d(x, w); }), ContainsSubstring("cudnnBackendExecute: CUDNN_STATUS_EXECUTION_FAILED"));
  fail_call(nullptr, 0, 0);
}

TEST_CASE("a convolution that cuDNN does not compute in one way is computed in another", "[cuda]") {
  NEED_EMULATOR();
  // Each pass without its first engines, all of them without some.
  for (const std::string refused :
       {"fused:51", "fused:51+fused:71", "forward:67", "forward:67+forward:28", "data:71", "filter:40",
        "fused:51+data:71+filter:40", "random:1", "random:2", "random:3", "random:4"}) {
    INFO(refused);
    const Ended ended =
        run_test_case("in a new process: convolutions of every kind", "TERN_EMULATOR=quiet=1,refuse=" + refused);
    INFO(ended.output);
    CHECK(ended.well);
  }
}

TEST_CASE("in a new process: convolutions of every kind", "[.]") {
  const Kind kinds[] = {
      {{2, 3, 6, 5}, {4, 3, 3, 3}, {.padding = 1}},
      {{2, 4, 7, 6}, {6, 2, 3, 2}, {.stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}, .groups = 2}},
      {{1, 6, 5, 9}, {6, 1, 3, 3}, {.groups = 6}},         // one channel a group
      {{1, 2, 4, 4}, {3, 2, 2, 2}, {.padding = 2}},        // as much padding as filter
      {{2, 2, 4, 5, 3}, {4, 2, 2, 3, 2}, {.padding = 1}},  // over three dimensions
  };
  for (const Kind& kind : kinds) {
    check_against_cpu<float>(kind, 1e-4);
    check_against_cpu<double>(kind, 1e-12);
    check_against_cpu<half>(kind, 0.03);
  }
}

TEST_CASE("what cuDNN refuses is asked for once", "[cuda]") {
  NEED_EMULATOR();
  const Ended ended =
      run_test_case("in a new process: refusals are remembered", "TERN_EMULATOR=quiet=1,refuse=fused:51+fused:71");
  INFO(ended.output);
  CHECK(ended.well);
}

TEST_CASE("in a new process: refusals are remembered", "[.]") {
  const auto x = spread_tensor<Cuda, float>({1, 2, 5, 5}), w = spread_tensor<Cuda, float>({3, 2, 3, 3}),
             b = spread_tensor<Cuda, float>({3});
  const NoGradGuard no_grad;
  const auto run = [&] { return calls_in([&] { conv2d_relu(x, w, b); }); };
  const Calls first = run(), again = run();
  CHECK((first.runs == 1 && first.finished > again.finished));  // fused, then without bias and relu
  CHECK((again.runs == 1 && again.finished == 1));
}

TEST_CASE("an engine that is not deterministic can be forbidden", "[cuda]") {
  NEED_EMULATOR();
  const Ended ended =
      run_test_case("in a new process: deterministic algorithms", "TERN_EMULATOR=quiet=1,refuse=data:71+data:0");
  INFO(ended.output);
  CHECK(ended.well);
}

TEST_CASE("in a new process: deterministic algorithms", "[.]") {
  const auto gradient = [](const Tensor<Cuda>& w) {
    const auto x = ones<Cuda>({1, 1, 5, 5}).requires_grad_();
    conv2d(x, w).sum().backward();
    return values_of(x.grad());
  };
  const auto two = ones<Cuda>({1, 1, 2, 2});
  cuda::cudnn_deterministic(true);
  CHECK_THAT(
      error_of([&] { gradient(two); }),
      ContainsSubstring(
          "convolution_data_gradient: cuDNN has no deterministic kernel for a convolution of [1, 1, 5, 5] and [1, 1, "
          "2, 2]; others are allowed "
          "after cuda::cudnn_deterministic(false): "));
  cuda::cudnn_deterministic(false);
  const auto corner = gradient(two);
  CHECK((corner[0] == 1 && corner[1] == 2 && corner[6] == 4));
}

TEST_CASE("an engine that adds up parts of a sum in 16 bits is never taken", "[cuda]") {
  NEED_EMULATOR();
  const Ended ended = run_test_case("in a new process: a weight gradient by no engine",
                                    "TERN_EMULATOR=quiet=1,refuse=filter:40+filter:0");
  INFO(ended.output);
  CHECK(ended.well);
}

TEST_CASE("in a new process: a weight gradient by no engine", "[.]") {
  const auto x = ones<Cuda, bfloat16>({1, 1, 5, 5}), w = ones<Cuda, bfloat16>({1, 1, 2, 2}).requires_grad_();
  CHECK_THAT(error_of([&] { conv2d(x, w).sum().backward(); }),
             ContainsSubstring("cuDNN has no kernel for a convolution"));
}

TEST_CASE("relu of NaN after a convolution is NaN", "[cuda]") {
  const auto x = full<Cuda>({1, 2, 4, 4}, std::nan("")), w = ones<Cuda>({3, 2, 3, 3}), b = ones<Cuda>({3});
  const auto r = ones<Cuda>({1, 3, 2, 2});
  const NoGradGuard no_grad;
  if (is_emulated()) fail_call(nullptr, 0, 0);
  for (const auto& y : {conv2d_relu(x, w, b), conv2d_add_relu(x, r, w, b), conv2d_relu(x, w)})
    for (const double v : values_of(y)) CHECK(std::isnan(v));
  if (is_emulated()) CHECK(calls_of("cudnnBackendExecute") == 3);
}

}  // namespace device_cuda_cudnn_convolution
