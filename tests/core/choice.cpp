#include "tern/core/choice.hpp"

#include "support/catch.hpp"

namespace core_choice {
using namespace tern;

namespace {

enum class Fruit { apple, red_pear, none };
struct Basket {
  int count = 1;
  detail::Choice<Fruit, "apple", "red-pear"> fruit = Fruit::none;
};

std::string text_of(const Basket& basket) {
  switch (basket.fruit) {
    case Fruit::apple: return "apple";
    case Fruit::red_pear: return "red-pear";
    case Fruit::none: return "nothing";
  }
  return {};
}

}  // namespace

TEST_CASE("a choice is an enumerator or its text", "[core]") {
  CHECK(text_of({}) == "nothing");
  CHECK(text_of({.fruit = "apple"}) == "apple");
  CHECK(text_of({.count = 2, .fruit = "red-pear"}) == "red-pear");
  CHECK(text_of({.fruit = Fruit::red_pear}) == "red-pear");
  Basket basket;
  basket.fruit = "apple";
  CHECK(basket.fruit == Fruit::apple);
  CHECK(basket.fruit != Fruit::none);
  const Fruit fruit = basket.fruit;
  CHECK(fruit == Fruit::apple);
}

}  // namespace core_choice
