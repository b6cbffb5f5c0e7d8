// How long fit() trains and what it saves. Apart from fit.hpp, so that what reads a command line need not include that.
#pragma once
#include <string>

#include "../core/error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

struct Options {
  Index epochs = 10;
  Index accumulate = 1;     // batches for a step of the optimiser
  double target = 0;        // the figure on test data at which training stops; 0: none
  std::string save = "";    // checkpoint to write
  std::string resume = "";  // checkpoint to go on from
  bool no_capture = false;  // no step is captured in a graph
};

}}}  // namespace tern::train
