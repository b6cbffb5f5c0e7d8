#include "support/catch.hpp"

#include <optional>
#include <thread>

#include <tern/nn/registry.hpp>

namespace nn_registry {

using tern::detail::check_members;
using tern::detail::Extent;
using tern::detail::Lists;
using tern::detail::Registered;

namespace {

struct Part : Registered {
  int value = 0;
};

/// As a module: registered itself, with registered members.
struct Whole : Registered {
  Part first, second;
};

/// What lists the given members of a Whole.
template <Part Whole::*... listed>
bool lists([[maybe_unused]] const void* whole, [[maybe_unused]] const void* address) {
  return (Extent{&(static_cast<const Whole*>(whole)->*listed), sizeof(Part)}.contains(address) || ...);
}
/// A module's base, which is not one of its members.
Extent base_of(const Whole& whole) { return {&whole, sizeof(Registered)}; }
constexpr Lists *nothing = &lists<>, *only_first = &lists<&Whole::first>, *only_second = &lists<&Whole::second>,
                *both = &lists<&Whole::first, &Whole::second>;

}  // namespace

TEST_CASE("a registered member outside the list is found, the module itself is not") {
  const Whole whole;
  const Extent extent{&whole, sizeof whole};
  CHECK(Registered::find_unlisted(extent, base_of(whole), both) == nullptr);
  CHECK(Registered::find_unlisted(extent, base_of(whole), only_first) == &whole.second);
  CHECK(Registered::find_unlisted(extent, base_of(whole), only_second) == &whole.first);
  CHECK_FALSE(Registered::find_unlisted(extent, base_of(whole), nothing) == nullptr);
  CHECK_NOTHROW(check_members("Whole", extent, base_of(whole), both));
  try {
    check_members("Whole", extent, base_of(whole), only_second);
    FAIL("not refused");
  } catch (const tern::Error& error) {
    const auto at = std::to_string(reinterpret_cast<const char*>(&whole.first) - reinterpret_cast<const char*>(&whole));
    CHECK(std::string(error.what()) == "Whole: a layer or parameter that is a member (at byte " + at +
                                           ") is not listed in TERN_FIELDS, so it would not be trained");
  }
}

TEST_CASE("copies and moves are registered where they are, ended objects nowhere") {
  alignas(Part) std::byte place[sizeof(Part)];
  const Extent extent{place, sizeof place};
  // The module is not at its beginning here, so every registered object in it is found.
  struct Frame {
    char before = 0;
    std::optional<Part> part;
  } frame;
  const Extent whole{&frame, sizeof frame}, no_base{};
  CHECK(Registered::find_unlisted(whole, no_base, nothing) == nullptr);
  frame.part.emplace();
  CHECK(Registered::find_unlisted(whole, no_base, nothing) == &*frame.part);
  const Part copy = *frame.part;
  CHECK(Registered::find_unlisted(whole, no_base, nothing) == &*frame.part);
  frame.part.reset();
  CHECK(Registered::find_unlisted(whole, no_base, nothing) == nullptr);
  frame.part.emplace(std::move(const_cast<Part&>(copy)));
  CHECK(Registered::find_unlisted(whole, no_base, nothing) == &*frame.part);
  *frame.part = copy;
  CHECK(Registered::find_unlisted(whole, no_base, nothing) == &*frame.part);
  CHECK(Registered::find_unlisted(extent, no_base, nothing) == nullptr);
}

TEST_CASE("modules may be made and ended in several threads") {
  const auto work = [] {
    for (int i = 0; i < 2000; ++i) {
      Whole whole;
      if (Registered::find_unlisted({&whole, sizeof whole}, base_of(whole), only_first) != &whole.second) std::abort();
    }
  };
  std::thread a(work), b(work);
  a.join();
  b.join();
  Whole whole;
  CHECK(Registered::find_unlisted({&whole, sizeof whole}, base_of(whole), only_first) == &whole.second);
}

}  // namespace nn_registry
