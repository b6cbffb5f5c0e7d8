// How a kernel tells the host of an element that it refuses.
#include "tern/device/cuda/failure.hpp"

#include "support/catch.hpp"
#include "support/emulator.hpp"
#include "tern/tern.hpp"

namespace device_cuda_failure {
using namespace tern;
using namespace tern_test;
using cuda::detail::Failure;

namespace {

/// The prelude, in which the fence before the publication copies what the host could read then to the next record.
std::string source() {
  return std::string("#define __threadfence_system() (failure[1] = failure[0])\n") +
         detail::backend::cuda_kernels::prelude +
         R"(
namespace tern {
struct Words { uint64 failure; };
extern "C" __global__ void refuses(const Words p) { ElementReport{(Failure*)p.failure, 7, 1}.note(2, 3, 4); }
}
)";
}

}  // namespace

TEST_CASE("a kernel's failure can be read as soon as it can be seen", "[cuda]") {
  auto& state = cuda::detail::bind(0);
  void* memory = nullptr;
  TERN_CUDA(cuMemHostAlloc, &memory, 2 * sizeof(Failure), cuda::host_memory_mapped);
  auto* const records = static_cast<Failure*>(memory);
  records[0] = records[1] = {};
  const std::uint64_t words[] = {std::uint64_t(reinterpret_cast<std::uintptr_t>(records))};
  for (int i = 0; i < 2; ++i) cuda::launch(0, 0x7265667573657300, "refuses", {1, 1}, words, source);  // the first stays
  TERN_CUDA(cuStreamSynchronize, state.compute);
  const auto fields = [](const Failure& f) { return std::vector<Index>{Index(f.what), f.number, f.size, f.position}; };
  CHECK(records[1].op == nullptr);
  CHECK(fields(records[1]) == std::vector<Index>{1, 2, 3, 4});
  CHECK(reinterpret_cast<std::uintptr_t>(records[0].op) == 7);
  CHECK(fields(records[0]) == std::vector<Index>{1, 2, 3, 4});
  TERN_CUDA(cuMemFreeHost, memory);
}

TEST_CASE("a failure that is being written is not thrown, and one that is thrown makes room for the next", "[cuda]") {
  Failure failure{};
  failure.claimed = 1;
  CHECK_NOTHROW(cuda::detail::check_failure(failure));
  CHECK(failure.claimed == 1);
  failure = {"gather", 1, detail::BadElement::index, 5, 3, 0};
  CHECK_THROWS_AS(cuda::detail::check_failure(failure), Error);
  CHECK(failure.claimed == 0);
  CHECK_NOTHROW(cuda::detail::check_failure(failure));
}

}  // namespace device_cuda_failure
