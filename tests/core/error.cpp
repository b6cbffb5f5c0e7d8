#include "tern/core/error.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

#include <thread>

#include "tern/core/shape.hpp"

using namespace tern;
using tern_test::error_of;

TEST_CASE("an Error names the op, then text, numbers and shapes as they are given") {
  const std::string word = "tensor";
  CHECK(error_of([&] {
          fail("op", {"a ", word, " of ", 3, " or ", Index(-1) << 40, " or ", 0.1, ": ", Shape{2, 3}});
        }) == "op: a tensor of 3 or -1099511627776 or 0.1: [2, 3]");
  CHECK(error_of([] { fail("op", {Shape()}); }) == "op: []");
  CHECK(error_of([] { fail("op", {1e-12, " ", 123456789.0}); }) == "op: 1e-12 1.23457e+08");
}

TEST_CASE("the outermost name stands in an Error, in its thread and as long as it lives") {
  const auto refused = [] { return error_of([] { fail("inner", {"no"}); }); };
  {
    const ErrorName outer("outer");
    CHECK(refused() == "outer: no");
    {
      const ErrorName middle("middle");
      CHECK(refused() == "outer: no");
    }
    CHECK(refused() == "outer: no");
    std::string elsewhere;
    std::thread([&] { elsewhere = refused(); }).join();
    CHECK(elsewhere == "inner: no");
  }
  CHECK(refused() == "inner: no");
  const std::string thrown = error_of([] {
    const ErrorName op("op");
    fail("inner", {"no"});
  });
  CHECK(thrown == "op: no");
  CHECK(refused() == "inner: no");  // the Error has ended the name's life
}
