#include "tern/core/random.hpp"
#include "support/catch.hpp"

#include <vector>

namespace core_random {
using namespace tern;

namespace {
std::vector<std::uint32_t> words(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter) {
  const detail::RandomWords w = detail::philox(seed, stream, counter);
  return {w.word, w.word + 4};
}
}  // namespace

TEST_CASE("Philox 4x32-10 gives the known answers of its authors", "[random]") {
  // Random123, tests/kat_vectors: the counter's low and high half are our counter and stream, the key is the seed.
  using Words = std::vector<std::uint32_t>;
  CHECK(words(0, 0, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(words(~0ull, ~0ull, ~0ull) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(words(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("unit numbers lie in [0, 1) with both ends in reach", "[random]") {
  CHECK(detail::unit_float(0) == 0);
  CHECK(detail::unit_float(~0u) == 1 - 0x1p-24f);
  CHECK(detail::unit_double(0, 0) == 0);
  CHECK(detail::unit_double(~0u, ~0u) == 1 - 0x1p-53);
  CHECK(detail::unit_double(0x80000000u, 0) == 0.5);
}

TEST_CASE("ranks with one state draw from streams of their own", "[random]") {
  const RandomState before = random_state();
  manual_seed(3);
  CHECK(detail::next_random().stream == 0);
  detail::set_random_rank(2);
  CHECK(detail::next_random().stream == (std::uint64_t(2) << 40) + 1);
  CHECK(random_state().stream == 2);
  detail::set_random_rank(0);
  CHECK(detail::next_random().stream == 2);
  set_random_state(before);
}

TEST_CASE("each operation takes a stream of its own, and a state comes back", "[random]") {
  manual_seed(7);
  CHECK(detail::next_random().stream == 0);
  CHECK(detail::next_random().stream == 1);
  const RandomState state = random_state();
  CHECK(state.seed == 7);
  const RandomState next = detail::next_random();
  set_random_state(state);
  CHECK(detail::next_random().stream == next.stream);
  manual_seed(7);
  CHECK(detail::next_random().stream == 0);
}

}  // namespace core_random
