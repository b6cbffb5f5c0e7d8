// Which values a positional argument takes, and that options are given by name.
#include "tern/core/options.hpp"
#include "support/catch.hpp"

#include <cstdint>

namespace core_options {
using namespace tern;
using detail::Dims;
using detail::Positional;

namespace {

struct Options {
  detail::ByName by_name{};
  Dims stride = 1, padding = 0;
};

int chosen(const Options&) { return 0; }
int chosen(const Positional<Dims>&) { return 1; }

template <class X, class A>
constexpr bool takes = std::is_convertible_v<A, Positional<X>>;

static_assert(takes<bool, bool> && !takes<bool, int> && !takes<bool, double> && !takes<bool, const char*>);
static_assert(takes<Index, int> && takes<Index, std::size_t> && !takes<Index, double> && !takes<Index, float>);
static_assert(takes<Dims, int> && takes<Dims, Dims> && takes<Dims, std::vector<Index>> && !takes<Dims, double>);
static_assert(!std::is_default_constructible_v<Positional<Dims>> &&
              !std::is_default_constructible_v<Positional<Index>>);

}  // namespace

TEST_CASE("numbers are positional arguments, and names are options", "[core]") {
  const std::size_t two = 2;
  CHECK(chosen({}) == 0);
  CHECK(chosen({.padding = 2}) == 0);
  CHECK(chosen({.stride = {2, 2}, .padding = 2}) == 0);
  CHECK(chosen(2) == 1);
  CHECK(chosen(two) == 1);
  CHECK(chosen({2, 2}) == 1);
  CHECK(chosen({two, 2}) == 1);
  CHECK(chosen(Dims{2, 2}) == 1);
  CHECK(chosen(std::vector<int>{2, 2}) == 1);
  const Dims list = Positional<Dims>{2, 3};
  CHECK(list.vec() == std::vector<Index>{2, 3});
  CHECK(Index(Positional<Index>(3)) == 3);
}

}  // namespace core_options
