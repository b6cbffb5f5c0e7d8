#include "support/catch.hpp"

#include <tern/data/positions.hpp>

namespace data_positions {
using namespace tern;

TEST_CASE("positions beyond 4 GiB are kept", "[data]") {
  constexpr std::size_t wrap = std::size_t(1) << 32;
  const std::vector<std::size_t> all = {0, 7, wrap - 1, wrap, wrap + 5, wrap + 5, 4 * wrap + 1, 5 * wrap - 1, 5 * wrap};
  data::detail::Positions positions;
  for (const std::size_t position : all) positions.push_back(position);
  REQUIRE(positions.size() == Index(all.size()));
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(positions[Index(i)] == all[i]);
}

}  // namespace data_positions
