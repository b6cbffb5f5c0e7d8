#include "tern/core/here.hpp"
#include "support/catch.hpp"

#include <cstring>
#include <thread>
#include <type_traits>

namespace core_here {
using namespace tern;

namespace {
Here called(Here here = {}) { return here; }
Here accounted(Here here = {}) { return detail::site(here); }
Here layer(Here here = {}) {
  const detail::Site outermost(here);
  return accounted();
}
}  // namespace

TEST_CASE("a default argument is the line of the call") {
  const Here here = called();
  CHECK(here.line == __LINE__ - 1);
  CHECK(std::strcmp(here.file, __FILE__) == 0);
}

TEST_CASE("only nothing converts to a line") {
  static_assert(std::is_default_constructible_v<Here>);
  static_assert(!std::is_convertible_v<const char*, Here>);
  static_assert(!std::is_convertible_v<int, Here>);
  static_assert(!std::is_constructible_v<Here, const char*>);
  static_assert(std::is_constructible_v<Here, const char*, unsigned>);
}

TEST_CASE("what a layer calls is accounted to the line that called the layer") {
  const Here inside = layer();
  CHECK(inside.line == __LINE__ - 1);
  const Here outside = accounted();
  CHECK(outside.line == __LINE__ - 1);
  const Here first = called();
  const detail::Site outermost(first);
  CHECK(layer().line == first.line);  // the outermost of all
  std::uint32_t elsewhere = 0;
  std::thread([&] { elsewhere = layer().line; }).join();
  CHECK(elsewhere == __LINE__ - 1);
}

}  // namespace core_here
