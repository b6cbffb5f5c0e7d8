// Catch2, version 2 or 3, and what it lacks: tests that need outside data, and skipping in version 2. CATCH2_MAJOR is
// the version that CMake found: the system may have another one beside it.
#pragma once
#if CATCH2_MAJOR >= 3
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <cstdlib>
#include <filesystem>
#include <string>

#if CATCH2_MAJOR >= 3
using Catch::Approx;
#else
namespace Catch::Matchers {
/// Version 3's name.
inline auto ContainsSubstring(const std::string& text) { return Contains(text); }
}  // namespace Catch::Matchers
#endif

namespace tern_test {

/// True once the running test case has asked to be skipped; the runner counts it and resets this.
inline bool skipped = false;

/// TERN_TEST_DATA/sub, which must exist; empty if TERN_TEST_DATA is not set.
inline std::string test_data(const std::string& sub) {
  const char* root = std::getenv("TERN_TEST_DATA");
  if (!root || !*root) return "";
  const std::string path = std::string(root) + "/" + sub;
  INFO("TERN_TEST_DATA is set, but has no " << sub);
  REQUIRE(std::filesystem::exists(path));
  return path;
}

}  // namespace tern_test

/// Leaves the test case, which then counts as skipped. Not inside a lambda.
#define SKIP_TEST(reason)        \
  do {                           \
    WARN("skipped: " << reason); \
    tern_test::skipped = true;   \
    return;                      \
  } while (false)

/// Declares `path`, the std::string TERN_TEST_DATA/sub; without TERN_TEST_DATA the test case is skipped.
#define NEED_TEST_DATA(path, sub)                     \
  const std::string path = tern_test::test_data(sub); \
  if (path.empty()) SKIP_TEST("needs TERN_TEST_DATA/" sub)
