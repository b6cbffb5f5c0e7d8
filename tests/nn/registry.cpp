#include "support/catch.hpp"

#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <vector>

#include <tern/nn/registry.hpp>

namespace nn_registry {

using tern::detail::check_members;
using tern::detail::Extent;
using tern::detail::Listed;
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
Listed lists([[maybe_unused]] const void* whole, [[maybe_unused]] const void* address) {
  const bool found = (Extent{&(static_cast<const Whole*>(whole)->*listed), sizeof(Part)}.contains(address) || ...);
  return found ? Listed::layer : Listed::nothing;
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

namespace {

/// As a module with members that it does not list.
template <class... X>
struct Holds : Registered {
  std::tuple<X...> members;
  const void* unlisted_vector() const {
    return Registered::find_unlisted_vector({this, sizeof *this}, {this, sizeof(Registered)}, nothing);
  }
};

}  // namespace

TEST_CASE("a std::vector of registered objects is found by its pointers") {
  Holds<std::vector<double>, std::vector<Part>, std::string> holder;
  auto& parts = std::get<1>(holder.members);
  CHECK(holder.unlisted_vector() == nullptr);
  for (int i = 1; i <= 9; ++i) {
    parts.emplace_back();
    INFO(i << " elements");
    CHECK(holder.unlisted_vector() == &parts);
  }
  std::get<0>(holder.members).assign(100, 1);
  CHECK(holder.unlisted_vector() == &parts);
  try {
    check_members("Holds", {&holder, sizeof holder}, {&holder, sizeof(Registered)}, nothing);
    FAIL("not refused");
  } catch (const tern::Error& error) {
    CHECK(std::string(error.what()).find("Holds: a std::vector of layers or parameters that is a member (at byte ") ==
          0);
  }
  parts.clear();
  CHECK(holder.unlisted_vector() == nullptr);

  Holds<std::vector<Whole>> of_wholes;
  std::get<0>(of_wholes.members).resize(3);
  CHECK(of_wholes.unlisted_vector() != nullptr);
  Holds<std::vector<std::pair<std::string, Part>>> of_pairs;
  std::get<0>(of_pairs.members).resize(5);
  CHECK(of_pairs.unlisted_vector() != nullptr);
}

TEST_CASE("pointers to registered objects that belong elsewhere are no std::vector") {
  Whole block[4];
  const auto found = [](auto... pointers) {
    Holds<decltype(pointers)...> holder;
    holder.members = std::tuple(pointers...);
    return holder.unlisted_vector() != nullptr;
  };
  std::tuple<Whole*, char*, char*> order;  // whichever way a tuple's members lie in memory
  const bool rises = static_cast<void*>(&std::get<0>(order)) < static_cast<void*>(&std::get<1>(order));
  const auto in_memory_order = [&](auto a, auto b, auto c) { return rises ? found(a, b, c) : found(c, b, a); };
  char* const end = reinterpret_cast<char*>(block + 4);
  CHECK(in_memory_order(&block[0], end, end));  // as a vector's would: this test can fail
  CHECK_FALSE(in_memory_order(&block[0], &block[1], &block[2]));
  CHECK_FALSE(in_memory_order(&block[0], &block[2], end));
  CHECK_FALSE(in_memory_order(&block[0], end - 8, end + 8));
  CHECK_FALSE(in_memory_order(&block[3], &block[0], end));
  std::vector<double> cleared(10);
  cleared.clear();
  std::unique_ptr<Whole> apart(new Whole);
  CHECK_FALSE(found(apart.get(), cleared, apart.get()));
  char* const behind = reinterpret_cast<char*>(apart.get() + 1);
  CHECK_FALSE(in_memory_order(std::uintptr_t(54), behind, behind));  // as a string may leave it before a cleared vector
}

TEST_CASE("a listed plain value's memory is not taken for a std::vector") {
  std::vector<Part> parts(3);
  std::uintptr_t old[3];  // what a vector may leave behind
  std::memcpy(old, &parts, sizeof old);
  struct : Registered {
    std::uintptr_t plain[3];
  } module;
  std::memcpy(module.plain, old, sizeof old);
  const Extent whole{&module, sizeof module}, base{&module, sizeof(Registered)};
  CHECK(Registered::find_unlisted_vector(whole, base, nothing) == module.plain);
  const auto plain = [](const void*, const void*) { return Listed::plain; };
  CHECK(Registered::find_unlisted_vector(whole, base, plain) == nullptr);
}

}  // namespace nn_registry
