// What all trainers share: options, ranks, precisions and reports.
#pragma once
#include <tern/core/processors.hpp>
#include <tern/data/loader.hpp>

#include "options.hpp"
#include "precision.hpp"
#include "ranks.hpp"
#include "report.hpp"

namespace support {

/// How batches for training are made.
inline tern::data::LoaderOptions loader_options(const Options& options) {
  return {.batch_size = options.batch_size, .num_workers = int(options.workers), .seed = std::uint64_t(options.seed)};
}

/// What keeps the number of threads below that of the processors, in brackets; empty if nothing does.
inline std::string threads_note() {
  const auto found = tern::detail::processors();
  const int threads = tern::get_num_threads();
  return threads < found.affinity && threads == found.threads() ? " (" + std::string(found.reason()) + ")" : "";
}

/// Prints what is trained, where, and `more`: the sizes of the data.
inline void introduce(const Options& options, const char* device, const std::string& more = "") {
  std::printf("%s: %s, %d threads%s, %s%s\n%s", options.model.c_str(), device, tern::get_num_threads(),
              threads_note().c_str(), tern::build_info().instruction_set, more.c_str(),
              precision_note(options.precision, device).c_str());
}

}  // namespace support
