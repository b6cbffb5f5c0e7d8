#include "tern/core/for_each.hpp"
#include "support/catch.hpp"

#include <string>

namespace core_for_each {

#define TEXT_OF(x) +std::string(#x ";")
#define ONE_OF(x) +1
#define EIGHT_OF(x) x, x, x, x, x, x, x, x
#define SIXTY_FOUR \
  EIGHT_OF(1), EIGHT_OF(2), EIGHT_OF(3), EIGHT_OF(4), EIGHT_OF(5), EIGHT_OF(6), EIGHT_OF(7), EIGHT_OF(8)

TEST_CASE("a macro is applied to each argument in order, none included") {
  CHECK(std::string() TERN_FOR_EACH(TEXT_OF, a) == "a;");
  CHECK(std::string() TERN_FOR_EACH(TEXT_OF, a, b, c) == "a;b;c;");
  CHECK(std::string() TERN_FOR_EACH(TEXT_OF, a, b, c, d, e, f, g, h) == "a;b;c;d;e;f;g;h;");
  CHECK(std::string() TERN_FOR_EACH(TEXT_OF, a, b, c, d, e, f, g, h, i, j, k) == "a;b;c;d;e;f;g;h;i;j;k;");
  CHECK(std::string() TERN_FOR_EACH(TEXT_OF) == "");
  CHECK(0 TERN_FOR_EACH(ONE_OF, SIXTY_FOUR, SIXTY_FOUR, SIXTY_FOUR, SIXTY_FOUR) == 256);
}

}  // namespace core_for_each
