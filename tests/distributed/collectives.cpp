#include "collective_cases.hpp"
#include "support/errors.hpp"

#include <unistd.h>

#include <tern/distributed/threads.hpp>

using namespace tern;
using distributed::run_ranks;
using tern_test::error_of;
using tern_test::matches;

TEST_CASE("collectives of threads give what a loop over the ranks gives", "[distributed][threads]") {
  const int ranks = GENERATE(1, 2, 3, 4, 5);
  CAPTURE(ranks);
  run_ranks(ranks, [](const Communicator& c) { tern_test::check_collectives(c); });
}
