// What all trainers share: options, ranks, precisions and reports.
#pragma once
#include <tern/data/loader.hpp>

#include "options.hpp"
#include "precision.hpp"
#include "ranks.hpp"
#include "report.hpp"

namespace support {

/// How batches for training are made.
inline tern::data::LoaderOptions loader_options(const Options& options) {
  return {.batch_size = options.batch_size, .workers = int(options.workers), .seed = std::uint64_t(options.seed)};
}

/// Prints what is trained, where, and `more`: the sizes of the data.
inline void introduce(const Options& options, const char* device, const std::string& more = "") {
  std::printf("%s: %s, %d threads, %s%s\n%s", options.model.c_str(), device, tern::get_num_threads(),
              tern::build_info().instruction_set, more.c_str(), precision_note(options.precision, device).c_str());
}

}  // namespace support
