#include "support/catch.hpp"

#include <fstream>
#include <iterator>

#include <tern/backend/cpu/onednn/onednn.hpp>

#include "../../examples/support/precision.hpp"
#include "support/errors.hpp"

namespace trainers_precision {
using namespace tern;
using Catch::Matchers::ContainsSubstring;
using support::Bfloat16;

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
  const auto has = [&](const char* instructions) { return info.find(instructions) != std::string::npos; };
  CHECK(support::bfloat16_on_cpu() == (!has("avx512_bf16")                               ? Bfloat16::as_float
                                       : has("amx_bf16") && build_info().onednn[0] < '3' ? Bfloat16::without_amx
                                                                                         : Bfloat16::best));
  CHECK(support::precision_note("bf16", "cpu", Bfloat16::as_float) ==
        "--precision bf16 is slower than f32 on this processor: oneDNN finds neither AVX512-BF16 nor AMX.\n");
  CHECK_THAT(support::precision_note("bf16-weights", "cpu", Bfloat16::as_float),
             ContainsSubstring("--precision bf16-weights is slower"));
  for (const char* const precision : {"f32", "bf16", "f16", "bf16-weights"}) {
    CHECK(support::precision_note(precision, "cpu", Bfloat16::best) == "");
    for (const Bfloat16 on_cpu : {Bfloat16::as_float, Bfloat16::without_amx})
      CHECK(support::precision_note(precision, "cuda", on_cpu) == "");
  }
  CHECK(support::precision_note("f32", "cpu", Bfloat16::as_float) == "");
}

TEST_CASE("precision: where oneDNN 2 leaves AMX unused, the trainer can say so") {
  CHECK_THAT(build_info().onednn, Catch::Matchers::StartsWith(std::to_string(dnnl_version()->major) + "."));
  CHECK_THAT(
      support::precision_note("bf16", "cpu", Bfloat16::without_amx),
      Catch::Matchers::StartsWith("--precision bf16 is slow in convolutions: oneDNN ") &&
          ContainsSubstring(std::string(build_info().onednn) + " does not use this processor's AMX, oneDNN 3 does"));
  CHECK(support::precision_note("f32", "cpu", Bfloat16::without_amx) == "");
}

}  // namespace trainers_precision
