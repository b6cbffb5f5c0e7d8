#include "tern/core/error.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

#include <thread>

#include "tern/core/shape.hpp"

namespace core_error {
using namespace tern;
using tern_test::error_of;
using tern_test::whole_error_of;

// Calls at lines of other files.
#line 31 "/home/me/tern/train.cpp"
constexpr CallSite here;
#line 7 "model.cpp"
constexpr CallSite there;
#line 3 "/usr/include/tern/ops/add.hpp"
constexpr CallSite of_header;
#line 22 "core/error.cpp"

TEST_CASE("an Error names the op, then text, numbers and shapes as they are given") {
  const std::string word = "tensor";
  CHECK(error_of([&] {
          Error::fail("op", {"a ", word, " of ", 3, " or ", Index(-1) << 40, " or ", 0.1, ": ", detail::Shape{2, 3}});
        }) == "op: a tensor of 3 or -1099511627776 or 0.1: [2, 3]");
  CHECK(error_of([] { Error::fail("op", {detail::Shape()}); }) == "op: []");
  CHECK(error_of([] { Error::fail("op", {1e-12, " ", 123456789.0}); }) == "op: 1e-12 1.23457e+08");
}

TEST_CASE("the outermost name stands in an Error, in its thread and as long as it lives") {
  const auto refused = [] { return error_of([] { Error::fail("inner", {"no"}); }); };
  {
    const CallScope outer({"outer", CallSite::unknown});
    CHECK(refused() == "outer: no");
    {
      const CallScope middle({"middle", CallSite::unknown});
      CHECK(refused() == "outer: no");
    }
    CHECK(refused() == "outer: no");
    std::string elsewhere;
    std::thread([&] { elsewhere = refused(); }).join();
    CHECK(elsewhere == "inner: no");
  }
  CHECK(refused() == "inner: no");
  const std::string thrown = error_of([] {
    const CallScope op({"op", CallSite::unknown});
    Error::fail("inner", {"no"});
  });
  CHECK(thrown == "op: no");
  CHECK(refused() == "inner: no");  // the Error has ended the name's life
}

TEST_CASE("an Error ends with the file and line of the outermost CallScope that has a line, else of the op") {
  const auto refused = [&](CallSite of_op) { return whole_error_of([&] { Error::fail({"op", of_op}, {"no"}); }); };
  CHECK(refused(here) == "op: no (train.cpp:31)");
  CHECK(refused(there) == "op: no (model.cpp:7)");
  CHECK(whole_error_of([] { Error::fail("op", {"no"}); }) == "op: no");
  {
    const CallScope unknown({"outer", CallSite::unknown});
    CHECK(refused(here) == "outer: no (train.cpp:31)");
    const CallScope inner({"inner", there});
    CHECK(refused(here) == "outer: no (model.cpp:7)");
  }
  const CallScope outer({"outer", there});
  CHECK(refused(here) == "outer: no (model.cpp:7)");
  const CallScope inner({"inner", here});
  CHECK(refused(here) == "outer: no (model.cpp:7)");
}

TEST_CASE("a path stands before the message, and the next one in its place") {
  Error error("op: no (train.cpp:31)");
  const int layer = 0;
  CHECK(error.layer() == nullptr);
  error.set_layer(&layer);
  CHECK(error.layer() == &layer);
  error.set_path("fc1");
  CHECK(std::string(error.what()) == "fc1: op: no (train.cpp:31)");
  error.set_path("out.fc1");
  CHECK(std::string(error.what()) == "out.fc1: op: no (train.cpp:31)");
  const Error copy = error;
  CHECK(std::string(copy.what()) == error.what());
}

TEST_CASE("a message can be quoted without its line") {
  const auto thrown = [](CallSite site) {
    try {
      Error::fail({"op", site}, {"no (a:1)"});
    } catch (Error& error) {
      error.set_path("fc1");
      return error.without_line();
    }
  };
  CHECK(thrown(here) == "fc1: op: no (a:1)");
  CHECK(thrown(CallSite::unknown) == "fc1: op: no (a:1)");
}

TEST_CASE("a line of the library's own headers is not shown") {
  CHECK(whole_error_of([] { Error::fail({"op", of_header}, {"no"}); }) == "op: no");
  CHECK(whole_error_of([] { Error::fail({"op", here}, {"no"}); }) == "op: no (train.cpp:31)");
}

}  // namespace core_error
