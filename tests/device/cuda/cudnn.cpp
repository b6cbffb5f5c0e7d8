// How convolutions use cuDNN: what is rounded, which algorithms are taken and kept, and what a missing library says.
#include "tern/device/cuda/cudnn.hpp"

#include "support/catch.hpp"
#include "support/emulator.hpp"
#include "support/process.hpp"
#include "support/tensors.hpp"
#include "tern/device/cuda/graph.hpp"
#include "tern/ops/convolution.hpp"

namespace device_cuda_cudnn {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

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
  Shape x, weight;
  ConvOptions options;
};

template <class D, class T>
Tensor<D, T> convolve(const Kind& kind, const Tensor<D, T>& x, const Tensor<D, T>& weight, const Tensor<D, T>& bias) {
  return kind.x.n == 5 ? conv3d(x, weight, bias, kind.options) : conv2d(x, weight, bias, kind.options);
}

/// Results without and with bias, residual and relu; and the gradients.
template <class D, class T>
std::vector<std::vector<double>> all_results_of(const Kind& kind) {
  const auto x = spread_tensor<Cpu, T>(kind.x, -1, 1).to(D{}).requires_grad_(), weight = spread_tensor<Cpu, T>(kind.weight, -1, 1).to(D{}).requires_grad_(),
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

struct Calls {
  std::uint64_t searches, choices, descriptors;
};
template <class F>
Calls calls_in(const F& f) {
  fail_call(nullptr, 0, 0);  // counts from here
  f();
  Calls calls{0, 0, calls_of("cudnnCreateFilterDescriptor")};
  for (const std::string pass : {"Forward", "BackwardData", "BackwardFilter"}) {
    calls.searches += calls_of(("cudnnFindConvolution" + pass + "AlgorithmEx").c_str());
    calls.choices += calls_of(("cudnnGetConvolution" + pass + "Algorithm_v7").c_str());
  }
  return calls;
}

/// A folder with the emulated libraries but cuDNN, which is removed.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "tern_test_XXXXXX").string();
    path = mkdtemp(name.data());
    for (const auto& entry : fs::directory_iterator(tern_test::emulator_folder)) {
      const std::string file = entry.path().filename();
      if (entry.is_regular_file() && file.find("cudnn") == std::string::npos)
        fs::create_symlink(entry.path(), path / file);
    }
  }
  ~Folder() { fs::remove_all(path); }
  std::string environment() const { return "TERN_CUDA_LIBRARIES=" + path.string(); }
};

}  // namespace

TEST_CASE("convolutions of float round to TF32 if they may, in deterministic algorithms", "[cuda]") {
  NEED_EMULATOR();
  const double fine = 1 + 0x1p-12;
  const auto run = [&] { return results_of(full<Cuda>({1, 1, 2, 2}, fine), full<Cuda>({1, 1, 1, 1}, fine)); };
  const double product = double(float(fine * fine));
  const auto exact = run();
  for (const double x : exact[0]) CHECK(x == product);
  const Switched tf32(true, false);
  const auto rounded = run();
  // cuDNN's first choice for the gradients is not deterministic, and uses no tensor cores on the emulated device.
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
  CHECK((first.descriptors == 3 && first.choices == 3 && first.searches == 0));
  CHECK((again.descriptors == 0 && again.choices == 0));
  CHECK((other.descriptors == 3 && other.choices == 3));
}

TEST_CASE("with benchmark() a convolution's algorithm is searched for once, and not while capturing", "[cuda]") {
  NEED_EMULATOR();
  const auto x = spread_tensor<Cuda, float>({2, 3, 13, 13}), w = spread_tensor<Cuda, float>({4, 3, 3, 3});
  const auto expected = results_of(x, w);
  const Switched benchmark(false, true);
  std::vector<std::vector<double>> searched;
  CHECK(calls_in([&] { searched = results_of(x, w); }).searches == 3);
  CHECK(calls_in([&] { results_of(x, w); }).searches == 0);
  CHECK(searched == expected);

  const auto other = spread_tensor<Cuda, float>({2, 3, 14, 14});
  const NoGradGuard no_grad;
  cuda::Graph graph;
  Tensor<Cuda> y;
  const Calls captured = calls_in([&] { graph.capture([&] { y = conv2d(other, w); }); });
  CHECK((captured.searches == 0 && captured.choices == 1));
  graph.replay();
  const auto replayed = values_of(y);
  CHECK(calls_in([&] { CHECK(values_of(conv2d(other, w)) == replayed); }).searches == 1);
}

TEST_CASE("what cuDNN refuses is an Error with its own text", "[cuda]") {
  NEED_EMULATOR();
  const auto x = spread_tensor<Cuda, float>({1, 2, 9, 9}), w = spread_tensor<Cuda, float>({1, 2, 2, 2});
  fail_call("cudnnConvolutionForward", 1, 0);
  CHECK_THAT(error_of([&] { conv2d(x, w); }),
             ContainsSubstring("cudnnConvolutionForward: CUDNN_STATUS_EXECUTION_FAILED"));
  fail_call(nullptr, 0, 0);
}

TEST_CASE("a convolution that cuDNN does not compute in one way is computed in another", "[cuda]") {
  NEED_EMULATOR();
  // Each pass without its first algorithms, all of them without some.
  for (const std::string refused : {"fused:1", "forward:0", "forward:1", "data:0", "data:1", "filter:0", "filter:1", "fused:1+data:1+filter:1",
                                    "random:1", "random:2", "random:3", "random:4"}) {
    INFO(refused);
    const Ended ended = run_test_case("in a new process: convolutions of every kind", "TERN_EMULATOR=quiet=1,refuse=" + refused);
    INFO(ended.output);
    CHECK(ended.well);
  }
}

TEST_CASE("in a new process: convolutions of every kind", "[.]") {
  const Kind kinds[] = {
      {{2, 3, 6, 5}, {4, 3, 3, 3}, {.padding = 1}},
      {{2, 4, 7, 6}, {6, 2, 3, 2}, {.stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}, .groups = 2}},
      {{1, 6, 5, 9}, {6, 1, 3, 3}, {.groups = 6}},        // one channel a group
      {{1, 2, 4, 4}, {3, 2, 2, 2}, {.padding = 2}},       // as much padding as filter
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
  const Ended ended = run_test_case("in a new process: refusals are remembered", "TERN_EMULATOR=quiet=1,refuse=forward:1+forward:0");
  INFO(ended.output);
  CHECK(ended.well);
}

TEST_CASE("in a new process: refusals are remembered", "[.]") {
  const auto x = spread_tensor<Cuda, float>({1, 2, 5, 5}), w = spread_tensor<Cuda, float>({3, 2, 3, 3}), b = spread_tensor<Cuda, float>({3});
  const NoGradGuard no_grad;
  const auto run = [&] { return calls_in([&] { conv2d_relu(x, w, b); }); };
  const Calls first = run(), again = run();
  CHECK(first.descriptors == 3);  // fused, then channels-last, then row-major
  CHECK(first.choices == 3);
  CHECK(again.descriptors == 0);
  CHECK(again.choices == 0);
}

TEST_CASE("an algorithm that is not deterministic is the last, and can be forbidden", "[cuda]") {
  NEED_EMULATOR();
  const Ended ended = run_test_case("in a new process: deterministic algorithms", "TERN_EMULATOR=quiet=1,refuse=data:1");
  INFO(ended.output);
  CHECK(ended.well);
}

TEST_CASE("in a new process: deterministic algorithms", "[.]") {
  const auto gradient = [](const Tensor<Cuda>& w) {
    const auto x = ones<Cuda>({1, 1, 5, 5}).requires_grad_();
    conv2d(x, w).sum().backward();
    return values_of(x.grad());
  };
  const auto three = ones<Cuda>({1, 1, 3, 3}), two = ones<Cuda>({1, 1, 2, 2});
  cuda::cudnn_deterministic(true);
  const auto exact = gradient(three);  // Winograd's, in row-major order
  CHECK(error_of([&] { gradient(two); }) ==
        "cuda: cuDNN has no deterministic algorithm for a convolution of [1, 1, 5, 5] and [1, 1, 2, 2]; others are allowed after "
        "cuda::cudnn_deterministic(false)");
  cuda::cudnn_deterministic(false);
  CHECK(gradient(three) == exact);
  const auto corner = gradient(two);
  CHECK((corner[0] == 1 && corner[1] == 2 && corner[6] == 4));
}

TEST_CASE("relu of NaN after a convolution is NaN", "[cuda]") {
  const auto x = full<Cuda>({1, 2, 4, 4}, std::nan("")), w = ones<Cuda>({3, 2, 3, 3}), b = ones<Cuda>({3});
  const auto r = ones<Cuda>({1, 3, 2, 2});
  const NoGradGuard no_grad;
  if (is_emulated()) fail_call(nullptr, 0, 0);
  for (const auto& y : {conv2d_relu(x, w, b), conv2d_add_relu(x, r, w, b), conv2d_relu(x, w)})
    for (const double v : values_of(y)) CHECK(std::isnan(v));
  if (is_emulated()) CHECK(calls_of("cudnnConvolutionBiasActivationForward") == 2);
}

TEST_CASE("cuDNN is missed where something is convolved, and found under its older name", "[cuda]") {
  NEED_EMULATOR();
  const Folder folder;
  const std::string test_case = "in a new process: convolve";
  fs::create_symlink(folder.path / "libcuda.so.1", folder.path / "libcudnn.so.9");  // no cuDNN
  CHECK_THAT(run_test_case(test_case, folder.environment()).output,
             ContainsSubstring("[6][cuda: cuDNN, which convolves images, cannot be used: ") &&
                 ContainsSubstring("libcudnn.so.9 has no function cudnn"));
  fs::remove(folder.path / "libcudnn.so.9");
  fs::create_symlink(fs::path(tern_test::emulator_folder) / "libcudnn.so.9", folder.path / "libcudnn.so.8");
  CHECK_THAT(run_test_case(test_case, folder.environment()).output, ContainsSubstring("[6][]"));
}

TEST_CASE("in a new process: convolve", "[.]") {
  std::printf("[%g]", matmul(full<Cuda>({1, 2}, 1), full<Cuda>({2, 1}, 3)).item());
  std::printf("[%s]\n", error_of([] {
                          values_of(conv2d(full<Cuda>({1, 1, 2, 2}, 1), full<Cuda>({1, 1, 1, 1}, 1)));
                        }).c_str());
}

}  // namespace device_cuda_cudnn
