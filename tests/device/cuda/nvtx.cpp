#include "tern/device/cuda/nvtx.hpp"

#include "support/emulator.hpp"
#include "support/fake_library.hpp"
#include "support/process.hpp"
#include "support/tensors.hpp"
#include "tern/nn/linear.hpp"

namespace device_cuda_nvtx {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> hidden{2, 2};
  TERN_FIELDS(Net, hidden)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return softmax(hidden(x), 1); }
};

}  // namespace

TEST_CASE("profilers get ranges of layers and of the work in them, once asked", "[cuda]") {
  const Folder root;
  make_library(root / "lib64/libnvtx3interop.so.1", R"CODE(#include <cstdio>
extern "C" int nvtxRangePushA(const char* name) { std::printf("(%s", name); return std::fflush(stdout); }
extern "C" int nvtxRangePop() { std::printf(")"); return std::fflush(stdout); }
)CODE");
  const Ended ended = run_test_case("in a new process: ranges",
                                    "LD_LIBRARY_PATH=" + (root / "lib64").string());  // before the system's own
  INFO(ended.output);
  CHECK(ended.well);
  CHECK_THAT(ended.output, ContainsSubstring("[][(Net(Linear(matmul))(softmax))][(mine)][]"));
}

TEST_CASE("in a new process: ranges", "[.]") {
  Net<Cuda> net;
  const auto x = ones<Cuda>({1, 2});
  const NoGradGuard no_grad;
  const auto bracket = [](const auto& f) {
    std::printf("[");
    std::fflush(stdout);
    f();
    std::printf("]");
    std::fflush(stdout);
  };
  bracket([&] { net(x); });
  cuda::emit_nvtx(true);
  bracket([&] { net(x); });
  cuda::emit_nvtx(false);
  bracket([&] { const cuda::NvtxRange mine("mine"); });
  bracket([&] { net(x); });
}

TEST_CASE("without NVTX there are no ranges", "[cuda]") {
  const Ended ended = run_test_case("in a new process: no ranges", "");
  INFO(ended.output);
  if (ended.output.find("[]") != ended.output.npos) SKIP_TEST("NVTX is installed");
  CHECK_THAT(ended.output, ContainsSubstring("NVTX, which profilers read ranges from, cannot be used"));
}

TEST_CASE("in a new process: no ranges", "[.]") {
  std::printf("[%s]\n", error_of([] { cuda::emit_nvtx(true); }).c_str());
}

}  // namespace device_cuda_nvtx
