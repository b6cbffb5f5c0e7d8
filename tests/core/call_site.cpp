#include "tern/core/call_site.hpp"
#include "support/catch.hpp"

#include <cstring>
#include <thread>
#include <type_traits>

namespace core_here {
using namespace tern;

namespace {
CallSite called(CallSite here = {}) { return here; }
CallSite accounted(CallSite here = {}) { return detail::site(here); }
CallSite layer(CallSite here = {}) {
  const CallScope scope(here);
  return accounted();
}
}  // namespace

TEST_CASE("a default argument is the line of the call") {
  const CallSite here = called();
  CHECK(here.line() == __LINE__ - 1);
  CHECK(std::strcmp(here.file(), __FILE__) == 0);
}

TEST_CASE("only nothing converts to a line") {
  static_assert(std::is_default_constructible_v<CallSite>);
  static_assert(!std::is_convertible_v<const char*, CallSite>);
  static_assert(!std::is_convertible_v<int, CallSite>);
  static_assert(!std::is_constructible_v<CallSite, const char*>);
}

TEST_CASE("a site without a line has none with an operation either") {
  const CallSite op("op", CallSite::unknown);
  CHECK((op.line() == 0 && std::strcmp(op.file(), "") == 0 && std::strcmp(op.name(), "op") == 0));
  CHECK((CallSite::unknown.name() == nullptr && CallSite("op", called()).line() == __LINE__));
}

TEST_CASE("what a layer calls is accounted to the line that called the layer") {
  const CallSite inside = layer();
  CHECK(inside.line() == __LINE__ - 1);
  const CallSite outside = accounted();
  CHECK(outside.line() == __LINE__ - 1);
  const CallSite first = called();
  const CallScope scope(first);
  CHECK(layer().line() == first.line());  // the outermost of all
  std::uint32_t elsewhere = 0;
  std::thread([&] { elsewhere = layer().line(); }).join();
  CHECK(elsewhere == __LINE__ - 1);
}

}  // namespace core_here
