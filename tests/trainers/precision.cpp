#include "support/catch.hpp"

#include <fstream>
#include <iterator>

#include "../../examples/support/precision.hpp"
#include "support/errors.hpp"

namespace trainers_precision {
using namespace tern;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("precision: each trainer has four") {
  for (const char* const precision : {"f32", "bf16", "bf16-weights"})
    CHECK_NOTHROW(support::check_precision(precision, "cpu"));
  for (const char* const precision : {"f32", "bf16", "f16", "bf16-weights"})
    CHECK_NOTHROW(support::check_precision(precision, "cuda"));
  CHECK(tern_test::error_of([] { support::check_precision("f64", "cpu"); }) ==
        "options: --precision must be f32 or bf16 or f16 or bf16-weights, not 'f64'");
}

TEST_CASE("precision: f16 is refused on the CPU, with what its kernels do") {
  CHECK_THAT(tern_test::error_of([] { support::check_precision("f16", "cpu"); }),
             ContainsSubstring("options: --precision f16 is not for the CPU") && ContainsSubstring("compute in float"));
}

TEST_CASE("precision: bfloat16 on a processor without its instructions is slower, and the trainer can say so") {
  std::ifstream file("/proc/cpuinfo");
  const std::string info{std::istreambuf_iterator<char>(file), {}};
  CHECK(tern::detail::onednn::has_bfloat16() == (info.find("avx512_bf16") != std::string::npos));
  CHECK(support::precision_note("bf16", "cpu", false) ==
        "--precision bf16 is slower than f32 on this processor: oneDNN finds neither AVX512-BF16 nor AMX.\n");
  CHECK_THAT(support::precision_note("bf16-weights", "cpu", false),
             ContainsSubstring("--precision bf16-weights is slower"));
  for (const char* const precision : {"f32", "bf16", "f16", "bf16-weights"}) {
    CHECK(support::precision_note(precision, "cpu", true) == "");
    CHECK(support::precision_note(precision, "cuda", false) == "");
  }
  CHECK(support::precision_note("f32", "cpu", false) == "");
}

}  // namespace trainers_precision
