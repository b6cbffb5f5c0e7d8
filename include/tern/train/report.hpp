// The report of an epoch, and of a training.
#pragma once
#include <cstdio>
#include <string>
#include <vector>

#include "../core/error.hpp"
#include "../io/json.hpp"

namespace tern::inline TERN_BUILD::train {

/// One epoch. Times are in seconds. transfer_s and wait_s belong to a device other than the host's.
struct EpochReport {
  double loss = 0, accuracy = 0;
  double seconds = 0, forward_s = 0, backward_s = 0, optimizer_s = 0, input_s = 0, transfer_s = 0, wait_s = 0;
  Index samples = 0;
  double flops = 0;
  double test_accuracy = 0;

  double samples_per_second() const { return seconds > 0 ? double(samples) / seconds : 0; }
};

/// The report of a whole training.
struct Report {
  std::string model, data, device;
  int threads = 1;
  double test_accuracy = 0;
  std::vector<EpochReport> epochs;
};

/// The report as lines of text. `peak` is in operations a second, `price` in dollars an hour; 0 leaves out their lines.
/// The rate counts only time that is not spent waiting for input, because a device computes while the host goes on.
TERN_API std::string epoch_text(Index epoch, const EpochReport& r, double peak, double price);

TERN_API std::string report_json(const Report& report);

}  // namespace tern::train

#ifndef TERN_COMPILED
#include "report.ipp"
#endif
