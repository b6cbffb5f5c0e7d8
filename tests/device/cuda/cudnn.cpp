// How convolutions use cuDNN: what is rounded, which algorithms are taken and kept, and what a missing library says.
#include "tern/device/cuda/cudnn.hpp"

#include "support/catch.hpp"
#include "support/emulator.hpp"
#include "support/process.hpp"
#include "support/tensors.hpp"
#include "tern/device/cuda/graph.hpp"
#include "tern/ops/convolution.hpp"

using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

/// Settings of cuDNN for a scope; then those of all tests.
struct Switched {
  Switched(bool tf32, bool benchmark) {
    cuda::allow_tf32_convolution(tf32);
    cuda::cudnn_benchmark(benchmark);
  }
  ~Switched() {
    cuda::allow_tf32_convolution(false);
    cuda::cudnn_benchmark(false);
  }
};

/// The result of a convolution, and the gradients of x and weight.
std::vector<std::vector<double>> results_of(const Tensor<Cuda>& input, const Tensor<Cuda>& filter) {
  const auto x = clone(input).requires_grad_(), weight = clone(filter).requires_grad_();
  const auto y = conv2d(x, weight);
  sum(y * full_like(y, 1 + 0x1p-12)).backward();
  return {values_of(y), values_of(x.grad()), values_of(weight.grad())};
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
    for (const auto& entry : fs::directory_iterator(TERN_CUDA_EMULATOR)) {
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

TEST_CASE("with cudnn_benchmark a convolution's algorithm is searched for once, and not while capturing", "[cuda]") {
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

TEST_CASE("cuDNN is missed where something is convolved, and found under its older name", "[cuda]") {
  NEED_EMULATOR();
  const Folder folder;
  const std::string test_case = "in a new process: convolve";
  fs::create_symlink(folder.path / "libcuda.so.1", folder.path / "libcudnn.so.9");  // no cuDNN
  CHECK_THAT(run_test_case(test_case, folder.environment()).output,
             ContainsSubstring("[6][cuda: cuDNN, which convolves images, cannot be used: ") &&
                 ContainsSubstring("libcudnn.so.9 has no function cudnn"));
  fs::remove(folder.path / "libcudnn.so.9");
  fs::create_symlink(fs::path(TERN_CUDA_EMULATOR) / "libcudnn.so.9", folder.path / "libcudnn.so.8");
  CHECK_THAT(run_test_case(test_case, folder.environment()).output, ContainsSubstring("[6][]"));
}

TEST_CASE("in a new process: convolve", "[.]") {
  std::printf("[%g]", matmul(full<Cuda>({1, 2}, 1), full<Cuda>({2, 1}, 3)).item());
  std::printf("[%s]\n", error_of([] {
                          values_of(conv2d(full<Cuda>({1, 1, 2, 2}, 1), full<Cuda>({1, 1, 1, 1}, 1)));
                        }).c_str());
}
