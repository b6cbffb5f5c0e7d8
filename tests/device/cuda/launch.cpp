#include "tern/device/cuda/launch.hpp"

#include "support/emulator.hpp"
#include "support/tensors.hpp"
#include "tern/profile/ledger.hpp"

namespace device_cuda_launch {
using namespace tern;
using namespace tern_test;

namespace {

/// The names of the kernels that f launches.
template <class F>
std::vector<std::string> kernels_of(const F& f) {
  ledger::start();
  f();
  std::vector<std::string> names;
  for (const auto& entry : cuda::detail::timeline().read().entries)
    if (entry.work == detail::Work::kernel) names.push_back(entry.name);
  ledger::stop();
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a kernel is named after what it computes", "[cuda]") {
  const auto x = ones<Cuda>({2, 3}), y = ones<Cuda>({2, 3}), column = ones<Cuda>({2, 1});
  CHECK(kernels_of([&] { exp(x); }) == Names{"map_exp"});
  CHECK(kernels_of([&] { x* y; }) == Names{"map_multiply"});
  CHECK(kernels_of([&] { x* column; }) == Names{"map_multiply"});
  CHECK(kernels_of([&] { x.fill_(2); }) == Names{"map"});
  CHECK(kernels_of([&] { sum(x, 1); }) == Names{"reduce_add"});
  CHECK(kernels_of([&] { softmax(x, 1); }) == Names{"softmax"});
}

}  // namespace device_cuda_launch
