// Merged loops against walking through every position of the dimensions as they are.
#include "tern/core/loop_nest.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "support/catch.hpp"

namespace core_loop_nest {
using namespace tern;

namespace {

detail::Array array(const detail::Shape& shape, const detail::Shape& strides) {
  detail::Array a{};
  a.ndim = std::uint8_t(shape.n);
  a.numel = shape.numel();
  for (int i = 0; i < shape.n; ++i) a.dims[i] = shape[i], a.strides[i] = strides[i];
  return a;
}

/// The offset of each position of a shape, in row-major order, in an array that is broadcast to it.
std::vector<Index> naive_offsets(const detail::Shape& shape, const detail::Array& a) {
  std::vector<Index> offsets;
  for (Index position = 0; position < shape.numel(); ++position) {
    Index rest = position, offset = 0;
    for (int i = shape.n; i-- > 0; rest /= shape[i]) {
      const int j = i - (shape.n - a.ndim);
      if (j >= 0 && a.dims[j] != 1) offset += rest % shape[i] * a.strides[j];
    }
    offsets.push_back(offset);
  }
  return offsets;
}

struct Case {
  detail::Shape shape;
  std::vector<detail::Array> arrays;
  int depth;
};

std::vector<Case> cases() {
  return {
      {{}, {array({}, {})}, 0},
      {{1, 1}, {array({1, 1}, {7, 5})}, 0},
      {{6}, {array({6}, {1}), array({1}, {9})}, 1},
      {{2, 3, 4}, {array({2, 3, 4}, {12, 4, 1})}, 1},
      {{2, 3, 4}, {array({2, 3, 4}, {12, 4, 1}), array({4}, {1})}, 2},
      {{2, 3, 4}, {array({2, 3, 4}, {12, 4, 1}), array({2, 1, 1}, {1, 8, 8})}, 2},
      {{2, 1, 3, 4}, {array({2, 1, 3, 4}, {12, 99, 4, 1}), array({2, 1, 3, 4}, {12, 0, 1, 3})}, 3},
      {{2, 3, 4}, {array({2, 3, 4}, {1, 2, 6}), array({2, 3, 4}, {-12, -4, -1})}, 3},
      {{4, 1, 3}, {array({4, 1, 3}, {-3, 5, -1})}, 1},
      {{0, 3}, {array({0, 3}, {3, 1})}, 1},
      {{2, 2, 2, 2, 2, 2, 2, 2}, {array({2, 2, 2, 2, 2, 2, 2, 2}, {1, 2, 4, 8, 16, 32, 64, 128})}, 8},
  };
}

detail::LoopNest nest_of(const Case& c) {
  std::vector<const detail::Array*> arrays;
  for (const detail::Array& a : c.arrays) arrays.push_back(&a);
  return detail::LoopNest(c.shape, arrays.data(), int(arrays.size()));
}

}  // namespace

TEST_CASE("a loop nest has the offsets of the shape that it is made of") {
  for (const Case& c : cases()) {
    INFO(detail::text({c.shape}));
    detail::LoopNest nest = nest_of(c);
    CHECK(nest.depth() == c.depth);
    CHECK(nest.count() == c.shape.numel());
    for (const int depth : {1, 2}) {
      nest.deepen(depth);
      CHECK(nest.depth() == std::max(c.depth, depth));
      for (int k = 0; k < int(c.arrays.size()); ++k) {
        const std::vector<Index> expected = naive_offsets(c.shape, c.arrays[std::size_t(k)]);
        for (Index position = 0; position < nest.count(); ++position) {
          REQUIRE(nest.offset(position, k) == expected[std::size_t(position)]);
          Index offsets[detail::LoopNest::max_operands] = {100, 100};
          nest.add_offsets(position, nest.depth(), offsets);
          REQUIRE(offsets[k] == 100 + expected[std::size_t(position)]);
        }
      }
    }
  }
}

TEST_CASE("an odometer visits the positions of a nest in their order, from any of them") {
  for (const Case& c : cases()) {
    INFO(detail::text({c.shape}));
    const detail::LoopNest nest = nest_of(c);
    for (int k = 0; k < int(c.arrays.size()); ++k) {
      const std::vector<Index> expected = naive_offsets(c.shape, c.arrays[std::size_t(k)]);
      for (Index first = 0; first < nest.count(); ++first) {
        detail::Odometer odometer(nest, nest.depth(), first);
        for (Index position = first; position < nest.count(); ++position, odometer.step())
          REQUIRE(odometer[k] == expected[std::size_t(position)]);
        REQUIRE(odometer[k] == expected[0]);
      }
    }
  }
}

TEST_CASE("an odometer over the outer loops steps in rows") {
  const detail::Array a = array({2, 3, 4}, {100, 10, 1});
  const detail::Array* const arrays[] = {&a};
  const detail::LoopNest nest({2, 3, 4}, arrays, 1);
  REQUIRE(nest.depth() == 3);
  detail::Odometer odometer(nest, 2, 1);
  for (const Index offset : {10, 20, 100, 110, 120, 0}) {
    CHECK(odometer[0] == offset);
    odometer.step();
  }
  Index offset = 0;
  nest.add_offsets(4, 2, &offset);
  CHECK(offset == 110);
}

TEST_CASE("loops are merged where every operand allows it") {
  detail::LoopNest nest(2);
  const Index outer[] = {12, 24}, inner[] = {4, 8}, apart[] = {1, 1};
  CHECK_FALSE(nest.extend(5, outer));
  nest.append(1, outer);
  CHECK(nest.depth() == 0);
  nest.append(5, outer);
  nest.append(3, inner);
  CHECK(nest.depth() == 1);
  CHECK(nest.size(0) == 15);
  CHECK_FALSE(nest.extend(4, apart));  // the second operand has gaps
  nest.append(4, apart);
  CHECK(nest.depth() == 2);
  CHECK(nest.count() == 60);
  Index strides[2];
  CHECK(nest.remove(strides) == 4);
  CHECK(strides[1] == 1);
  CHECK(nest.count() == 15);
  CHECK(nest.strides(0)[1] == 8);
}

TEST_CASE("a loop moves inward past others") {
  detail::LoopNest nest(1);
  for (const Index size : {2, 3, 4, 5}) nest.add(size, &size);
  nest.move_inward(1, 3);
  const Index expected[] = {2, 4, 5, 3};
  for (int i = 0; i < 4; ++i) {
    CHECK(nest.size(i) == expected[i]);
    CHECK(nest.stride(i, 0) == expected[i]);
  }
}

}  // namespace core_loop_nest
