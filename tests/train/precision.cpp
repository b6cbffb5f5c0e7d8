#include "support/catch.hpp"

#include <fstream>
#include <iterator>

#include <tern/train/precision.hpp>

#include "support/errors.hpp"

using namespace tern;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("precision: each trainer has four") {
  for (const char* const precision : {"f32", "bf16", "bf16-weights"}) CHECK_NOTHROW(train::check_precision(precision, "cpu"));
  for (const char* const precision : {"f32", "bf16", "f16", "bf16-weights"}) CHECK_NOTHROW(train::check_precision(precision, "cuda"));
  CHECK(tern_test::error_of([] { train::check_precision("f64", "cpu"); }) ==
        "options: --precision must be f32 or bf16 or f16 or bf16-weights, not 'f64'");
}

TEST_CASE("precision: f16 on a processor without its instructions is an Error that says so") {
  std::ifstream file("/proc/cpuinfo");
  const std::string info{std::istreambuf_iterator<char>(file), {}};
  const std::string error = tern_test::error_of([] { train::check_precision("f16", "cpu"); });
  if (info.find("avx512_fp16") != std::string::npos) CHECK(error == "");
  else CHECK_THAT(error, ContainsSubstring("--precision f16 on the CPU needs a processor with AVX512-FP16"));
}
