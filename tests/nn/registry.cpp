#include "support/catch.hpp"

#include <optional>
#include <thread>

#include <tern/nn/registry.hpp>

using tern::detail::check_members;
using tern::detail::Extent;
using tern::detail::Registered;

namespace {

struct Part : Registered {
  int value = 0;
};

/// As a module: registered itself, with registered members.
struct Whole : Registered {
  Part first, second;
};

bool all_listed(const Whole& whole, const std::vector<Extent>& listed) {
  return Registered::find_unlisted({&whole, sizeof whole}, listed) == nullptr;
}

}  // namespace

TEST_CASE("a registered member outside the list is found, the module itself is not") {
  Whole whole, other;
  const Extent first{&whole.first, sizeof whole.first}, second{&whole.second, sizeof whole.second};
  CHECK(all_listed(whole, {first, second}));
  CHECK(Registered::find_unlisted({&whole, sizeof whole}, {first}) == &whole.second);
  CHECK(Registered::find_unlisted({&whole, sizeof whole}, {second}) == &whole.first);
  CHECK_FALSE(all_listed(whole, {}));
  CHECK_FALSE(all_listed(other, {first, second}));
  CHECK_NOTHROW(check_members("Whole", {&whole, sizeof whole}, {first, second}));
  try {
    check_members("Whole", {&whole, sizeof whole}, {second});
    FAIL("not refused");
  } catch (const tern::Error& error) {
    const auto at = std::to_string(reinterpret_cast<char*>(&whole.first) - reinterpret_cast<char*>(&whole));
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
  const Extent whole{&frame, sizeof frame};
  CHECK(Registered::find_unlisted(whole, {}) == nullptr);
  frame.part.emplace();
  CHECK(Registered::find_unlisted(whole, {}) == &*frame.part);
  const Part copy = *frame.part;
  CHECK(Registered::find_unlisted(whole, {}) == &*frame.part);
  frame.part.reset();
  CHECK(Registered::find_unlisted(whole, {}) == nullptr);
  frame.part.emplace(std::move(const_cast<Part&>(copy)));
  CHECK(Registered::find_unlisted(whole, {}) == &*frame.part);
  *frame.part = copy;
  CHECK(Registered::find_unlisted(whole, {}) == &*frame.part);
  CHECK(Registered::find_unlisted(extent, {}) == nullptr);
}

TEST_CASE("modules may be made and ended in several threads") {
  const auto work = [] {
    for (int i = 0; i < 2000; ++i) {
      Whole whole;
      if (Registered::find_unlisted({&whole, sizeof whole}, {{&whole.first, sizeof(Part)}}) != &whole.second) std::abort();
    }
  };
  std::thread a(work), b(work);
  a.join();
  b.join();
  Whole whole;
  CHECK(Registered::find_unlisted({&whole, sizeof whole}, {{&whole.first, sizeof(Part)}}) == &whole.second);
}
